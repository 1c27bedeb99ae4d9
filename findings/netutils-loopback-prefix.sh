#!/usr/bin/env bash
# netutils 1.19.2: the usable addresses of the /32 of a loopback.
# Expected: its one address, as get_all_host gives it and as the /31 of a link gives both. Seen: get_first_usable and
# get_usable_range raise IndexError for /32 and for /128.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q netutils==1.19.2
"$work/venv/bin/python" - <<'PY'
from netutils.ip import get_all_host, get_first_usable, get_usable_range

print("/31 ->", get_usable_range("10.0.0.0/31"))
assert get_usable_range("10.0.0.0/31") == "10.0.0.0 - 10.0.0.1"
assert list(get_all_host("10.255.0.1/32")) == ["10.255.0.1"]
for call in (get_first_usable, get_usable_range):
    for prefix in ("10.255.0.1/32", "2001:db8::1/128"):
        try:
            call(prefix)
        except IndexError as error:
            print(call.__name__, prefix, "->", type(error).__name__, error)
        else:
            raise SystemExit(f"{call.__name__}({prefix}) has a value now")
PY

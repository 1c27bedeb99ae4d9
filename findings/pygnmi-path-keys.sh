#!/usr/bin/env bash
# pygnmi 0.8.15, string paths: a value of a list key with `=`, and one with `]` escaped as gNMI's path conventions say.
# Expected: both are one key with the whole value. Seen: `=` raises ValueError; an escaped `]` ends the key, and the
# rest of the value is dropped without an error, so that the request names another entry.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pygnmi==0.8.15
"$work/venv/bin/python" - <<'PY'
from pygnmi.create_gnmi_path import gnmi_path_generator

try:
    gnmi_path_generator("/routing-policy/policy[name=metric=10]")
except ValueError as error:
    print("a value with '=' ->", error)
    assert "too many values to unpack" in str(error)
else:
    raise SystemExit("a value with '=' is read now")
(elem,) = gnmi_path_generator(r"/community-set[name=rail\[1\]]").elem
print(r"rail\[1\] ->", dict(elem.key))
assert dict(elem.key) == {"name": "rail\\[1\\"}, dict(elem.key)
PY

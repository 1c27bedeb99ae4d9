#!/usr/bin/env bash
# netutils 1.19.2 (napalm 5.2.0 does the same): the canonical name of eth0 and of mgmt0.
# Expected: both unchanged, as swp1, et-0/0/0 and ethernet-1/1 are: they are whole names on SONiC, Linux, NX-OS and SR Linux.
# Seen: eth0, SONiC's management port, becomes Ethernet0, which is SONiC's first front-panel port; mgmt0 becomes Management0.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q netutils==1.19.2 napalm==5.2.0
"$work/venv/bin/python" - <<'PY'
from napalm.base.helpers import canonical_interface_name as napalm_name
from netutils.interface import canonical_interface_name

for port in ("eth0", "mgmt0", "swp1", "et-0/0/0", "ethernet-1/1", "Ethernet0"):
    print(port, "->", canonical_interface_name(port), napalm_name(port))
for name in (canonical_interface_name, napalm_name):
    assert [name(port) for port in ("eth0", "mgmt0")] == ["Ethernet0", "Management0"]
    assert [name(port) for port in ("swp1", "et-0/0/0", "ethernet-1/1")] == ["swp1", "et-0/0/0", "ethernet-1/1"]
PY

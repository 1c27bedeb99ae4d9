#!/usr/bin/env bash
# ntc-templates 9.3.0, Junos: `show interfaces` of a port with a /31, and of one with an IPv6 address.
# Expected: their addresses are read. Seen: the template takes an address only with a broadcast address after it, which
# such subnets do not have, and raises an error for the whole answer.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q ntc_templates==9.3.0
"$work/venv/bin/python" - <<'PY'
from ntc_templates.parse import parse_output

PORT = """Physical interface: et-0/0/0, Enabled, Physical link is Up
  Link-level type: Ethernet, MTU: 9216, Speed: 100Gbps

  Logical interface et-0/0/0.0 (Index 2000) (SNMP ifIndex 1500)
    Protocol inet, MTU: 9202
      Addresses, Flags: Is-Preferred Is-Primary
        Destination: {}
"""


def is_read(address):
    try:
        rows = parse_output(platform="juniper_junos", command="show interfaces", data=PORT.format(address))
    except Exception as error:
        assert "Destination" in str(error), error
        return False
    return rows[-1]["local"] != ""


seen = {
    "a /24": is_read("10.1.1.0/24, Local: 10.1.1.7, Broadcast: 10.1.1.255"),
    "a /31": is_read("10.1.1.0/31, Local: 10.1.1.0"),
    "IPv6": is_read("2001:db8::/64, Local: 2001:db8::1"),
}
print(seen)
assert seen == {"a /24": True, "a /31": False, "IPv6": False}, seen
PY

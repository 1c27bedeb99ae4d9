#!/usr/bin/env bash
# pygnmi 0.8.15, string paths: a path that begins with `/` and whose first element has its YANG module's prefix.
# Expected: the prefix stays in the element, as in later elements (RFC 7951 names), and the origin stays empty.
# Seen: the prefix of the first element becomes the path's origin; that of a later element stays in its name.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pygnmi==0.8.15
"$work/venv/bin/python" - <<'PY'
from pygnmi.create_gnmi_path import gnmi_path_generator

path = gnmi_path_generator("/srl_nokia-interfaces:interface[name=ethernet-1/1]/srl_nokia-if-mpls:mpls")
seen = path.origin, [elem.name for elem in path.elem]
print("origin and elements ->", seen)
assert seen == ("srl_nokia-interfaces", ["interface", "srl_nokia-if-mpls:mpls"]), seen
PY

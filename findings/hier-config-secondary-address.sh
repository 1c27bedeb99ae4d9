#!/usr/bin/env bash
# hier_config 3.7.1, Arista EOS: the primary address of an interface changes, and its secondary address is to go.
# Expected: the remediation removes the secondary address. Seen: it has the new primary address only; the secondary one
# stays on the switch, and the next comparison finds the same difference.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q hier_config==3.7.1
"$work/venv/bin/python" - <<'PY'
from hier_config import Platform, WorkflowRemediation, get_hconfig

running = "interface Ethernet1\n   ip address 10.0.0.1/31\n   ip address 10.0.9.1/31 secondary\n"
intended = "interface Ethernet1\n   ip address 10.0.0.3/31\n"
workflow = WorkflowRemediation(get_hconfig(Platform.ARISTA_EOS, running), get_hconfig(Platform.ARISTA_EOS, intended))
lines = [line.cisco_style_text().strip() for line in workflow.remediation_config.all_children_sorted()]
print(lines)
assert lines == ["interface Ethernet1", "ip address 10.0.0.3/31"], lines
PY

#!/usr/bin/env bash
# hier_config 3.7.1, Junos: the configuration that results when the remediation is applied to the running one.
# Expected: the intended configuration. Seen: the old lines stay, and the delete commands stand beside them as if they were
# configuration; on EOS the same call gives the intended configuration.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q hier_config==3.7.1
"$work/venv/bin/python" - <<'PY'
from hier_config import Platform, WorkflowRemediation, get_hconfig


def future(platform, running, intended):
    workflow = WorkflowRemediation(get_hconfig(platform, running), get_hconfig(platform, intended))
    after = workflow.running_config.future(workflow.remediation_config)
    return [line.cisco_style_text().strip() for line in after.all_children_sorted()]


eos = future(Platform.ARISTA_EOS, "interface Ethernet1\n   mtu 9214\n", "interface Ethernet1\n   mtu 9000\n")
print("EOS   ->", eos)
assert eos == ["interface Ethernet1", "mtu 9000"], eos
junos = future(Platform.JUNIPER_JUNOS, "set interfaces et-0/0/0 mtu 9216\n", "set interfaces et-0/0/0 mtu 9000\n")
print("Junos ->", junos)
assert sorted(junos) == [
    "delete interfaces et-0/0/0 mtu 9216",
    "set interfaces et-0/0/0 mtu 9000",
    "set interfaces et-0/0/0 mtu 9216",
], junos
PY

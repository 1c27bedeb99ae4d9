"""Designs a fabric, renders it, reads one configuration, and audits it after a change by hand; without a switch."""

from collections import Counter

from railfab.fabric import design
from railfab.fabric.audit import configuration_findings
from railfab.platforms import platform

fabric = design("inventory/fabrics/pod64.yml")
print(len(fabric.topology.switches()), "switches,", len(fabric.topology.hosts()), "hosts")

texts = fabric.configurations()  # raises NotAccepted where the design has errors
leaf = platform("srlinux").parse(texts["pod1-seg1-leaf1"])
print(leaf.name, "has", len(leaf.neighbors), "neighbours")
assert leaf == fabric.models["pod1-seg1-leaf1"]

texts["pod1-seg1-leaf1"] = texts["pod1-seg1-leaf1"].replace('"enable-ecn": true', '"enable-ecn": false')
found = Counter(str(finding.code) for finding in configuration_findings(fabric, texts))
for code, count in found.items():
    print(count, code)

"""Serves a twin, reads states of a switch over gNMI with pygnmi, cuts a link, and reads and verifies again."""

from railfab.deploy import nornir_of, verify_all
from railfab.fabric import design
from railfab.twin import Twin

PATHS = (
    "/interface[name=ethernet-1/32]/oper-state",
    "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=*]/session-state",
)


def show(leaf):
    for path in PATHS:
        answer = leaf.get(path=[path], encoding="json_ietf")
        for update in answer["notification"][0]["update"]:
            print(update["path"], update["val"])


fabric = design("labs/srl-pod/intent.yml")
with Twin(fabric, base_port=0, configured=True) as twin, nornir_of(fabric, twin.endpoints) as nornir:
    leaf = nornir.inventory.hosts["pod1-seg1-leaf1"].get_connection("pygnmi", nornir.config)
    show(leaf)
    twin.set_link("pod1-spine1", "ethernet-1/1", up=False)
    show(leaf)
    for finding in verify_all(nornir, fabric, wait_s=0).findings[:3]:
        print(finding.line)
    for fault in twin.status().faults:
        print(fault)

"""Each list of a rendered path that takes few entries, or has unique leaves: one entry more is refused, as by Nokia."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.oracles.srlinux import NokiaModels
from tests.platforms.srlinux.rendered import as_json, rendered_paths

from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped, tree_of

FEW = 64
INSTANCE, SYSTEM = "/network-instance", "/system/network-instance/protocols"
SEGMENTS = f"{SYSTEM}/evpn/ethernet-segments/bgp-instance"
PAUSED, RECEIVED = "received-pfc-pause-frames queue", "received-traffic unicast-mapping pfc-queue"

TOO_MANY = {
    "/interface/subinterface/ipv4/address": "interface ethernet-1/1 subinterface 0 ipv4 address 10.0.{n}.1/31",
    "/interface/subinterface/ipv6/address": "interface ethernet-1/1 subinterface 0 ipv6 address 2001:db8:{n}::1/64",
    f"{INSTANCE}/protocols/bgp/dynamic-neighbors/interface/allowed-peer-as": """
        interface ethernet-1/1 subinterface 0 admin-state enable
        network-instance v interface ethernet-1/1.0
        network-instance v protocols bgp autonomous-system 65001
        network-instance v protocols bgp router-id 10.0.0.1
        network-instance v protocols bgp afi-safi ipv4-unicast admin-state enable
        network-instance v protocols bgp group g admin-state enable
        network-instance v protocols bgp dynamic-neighbors interface ethernet-1/1.0 peer-group g
        network-instance v protocols bgp dynamic-neighbors interface ethernet-1/1.0 allowed-peer-as {n}""",
    **{
        f"{INSTANCE}/protocols/bgp/group/{policies}": f"""
        network-instance v protocols bgp autonomous-system 65001
        network-instance v protocols bgp router-id 10.0.0.1
        network-instance v protocols bgp afi-safi ipv4-unicast admin-state enable
        routing-policy policy p{{n}} default-action policy-result accept
        network-instance v protocols bgp group g {policies} p{{n}}"""
        for policies in ("export-policy", "import-policy")
    },
    f"{INSTANCE}/protocols/bgp-evpn/bgp-instance": """
        network-instance v protocols bgp-vpn bgp-instance {n}
        network-instance v protocols bgp-evpn bgp-instance {n} evi {n}""",
    f"{INSTANCE}/vxlan-interface": """
        tunnel-interface vxlan1 vxlan-interface {n} type routed
        tunnel-interface vxlan1 vxlan-interface {n} ingress vni {n}
        network-instance v vxlan-interface vxlan1.{n}""",
    "/qos/pfc-mapping-profile": "qos pfc-mapping-profile m{n}",
    "/routing-policy/as-path-set/as-path-set-member": "routing-policy as-path-set s as-path-set-member {n}",
    "/system/aaa/server-group": "system aaa server-group s{n} type tacacs",
    "/system/aaa/server-group/server": """
        system aaa server-group s type tacacs
        system aaa server-group s server 10.0.0.{n} network-instance v""",
    f"{SYSTEM}/bgp-vpn/bgp-instance": "system network-instance protocols bgp-vpn bgp-instance {n}",
    f"{SEGMENTS}/ethernet-segment/interface": f"""
        interface ethernet-1/{{n}} admin-state enable
        system network-instance protocols bgp-vpn bgp-instance 1
        {SEGMENTS.replace("/", " ")} 1 ethernet-segment e interface ethernet-1/{{n}}""",
}
"""Lines of an entry, numbered {n}, by the path of the list."""

UNREACHABLE = {
    f"{INSTANCE}/protocols/bgp-vpn/bgp-instance": "the range of its key has no more numbers",
    SEGMENTS: "its entries are those of bgp-vpn, which has one at most",
}

TWICE = {
    f"/qos/pfc-mapping-profile/{list_name.replace(' ', '/')}": f"""
        qos queues queue q{{n}} queue-index {{n}}
        qos queues pfc-queue q{{n}} queue-index {{n}}
        qos pfc-mapping-profile m {list_name} q{{n}} pfc-pause-frame-priority 3"""
    for list_name in (PAUSED, RECEIVED)
}
"""Lines of an entry with the unique leaves of the others, by the path of the list."""


def configuration(lines: str, entries: int) -> Json:
    """As many entries of these lines, in a switch with the network instance that they name."""
    words = {line.strip().format(n=number): None for number in range(1, entries + 1) for line in lines.split("\n")}
    every = ["network-instance v type ip-vrf", *filter(None, words)]
    tree: Json = as_json(tree_of("\n".join(f"set / {line.strip()}" for line in every)))
    return tree


def cases() -> Iterator[tuple[Json, str, str]]:
    """Configurations, each with what the twin says, and libyang."""
    for path, lines in TOO_MANY.items():
        most = schema().entries[path][1] or 0
        said = f'Too many "{path.rpartition("/")[2]}" instances'
        yield configuration(lines, most + 1), f"has {most + 1} entries, more than {most}", said
    for lines in TWICE.values():
        yield configuration(lines, 2), "has pfc-pause-frame-priority 3, which q1 has", "Unique data leaf(s)"


def test_there_is_a_configuration_for_each_list_of_few_entries_and_each_with_unique_leaves() -> None:
    few = {path for path, (_, most) in schema().entries.items() if most is not None and most <= FEW}
    assert few & rendered_paths() == TOO_MANY.keys() | UNREACHABLE.keys()
    assert schema().unique.keys() & rendered_paths() == TWICE.keys()
    assert not any(least for path, (least, _) in schema().entries.items() if path in rendered_paths())


def test_a_virtual_switch_refuses_each() -> None:
    for tree, problem, _ in cases():
        assert problem in [one.problem for one in violations(stripped(tree))]


@pytest.mark.oracle
def test_nokias_models_refuse_each_for_it(nokia: NokiaModels, tmp_path: Path) -> None:
    trees, _, reasons = zip(*cases(), strict=True)
    files = [tmp_path / f"{number}.json" for number in range(len(trees))]
    for file, tree in zip(files, trees, strict=True):
        file.write_text(text(tree))
    said = nokia.complaints_of_each(files)
    assert [lines for lines, reason in zip(said, reasons, strict=True) if reason not in "".join(lines)] == []

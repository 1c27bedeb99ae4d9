"""Checks of large and of broken fabrics: quick, few lines, no traceback."""

from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.edits import end, said, with_links, with_node
from tests.topology.fabric_intents import fabric, fabrics

from railfab.intent import FabricIntent, load_intent
from railfab.topology import Link, Net, Topology, failure_domains, findings, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


@pytest.fixture(scope="module")
def large() -> tuple[Topology, FabricIntent]:
    intent = load_intent(FABRICS / "gpu16384.yml")
    return wire(intent), intent


def test_16384_gpus_are_checked_in_a_moment(large: tuple[Topology, FabricIntent]) -> None:
    """About 0.4 s each when written; 131,072 GPUs take eight times as long."""
    began = process_time()
    assert findings(*large) == ()
    checked = process_time()
    assert len(failure_domains(*large)) == 7
    assert max(checked - began, process_time() - checked) < 3


def test_what_is_wrong_everywhere_is_said_once(large: tuple[Topology, FabricIntent]) -> None:
    """Every leaf loses a link, every host port has one address, and every leaf one AS number and loopback."""
    topology, intent = large
    first: set[str] = set()

    def broken(link: Link) -> Link | None:
        if "-host" in link.a.node:
            return end(link, a={"address": topology.links[0].a.address})
        if link.a.node in first:
            return link
        first.add(link.a.node)
        return None

    model = next(node for node in topology.nodes if "-leaf" in node.name)
    nodes = tuple(
        replace(node, asn=model.asn, loopback=model.loopback) if "-leaf" in node.name else node
        for node in topology.nodes
    )
    odd = replace(with_links(topology, broken), nodes=nodes)
    found = findings(odd, intent)
    assert 4 < len(found) < 16
    assert any(one.where == "pod1-seg1-leaf1 and 511 more" for one in found)


@pytest.mark.parametrize("attach", ["routed", "mlag"])
def test_a_cable_between_two_hosts_is_an_error_and_no_traceback(attach: str) -> None:
    intent = fabric(hosts__attach=attach)
    topology = wire(intent)
    first, second, *_ = (link.a for link in topology.links)
    between = replace(topology, links=(Link(a=first, z=second, rate_gbps=100, cable_m=5), *topology.links[2:]))
    assert said(between, intent) == [
        "error pod1-seg1-host1 rail1-p0: the cable leads to pod1-seg1-host1 rail1-p1, which is no port of a switch."
        " Connect one of its ends to a switch."
    ]
    assert failure_domains(between, intent)


@given(fabrics(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_no_odd_topology_ends_in_a_traceback_or_in_a_flood(
    built: tuple[FabricIntent, Topology], data: st.DataObject
) -> None:
    """Cables cut, moved and doubled, nodes moved to other planes and networks, what is optional taken away."""
    intent, topology = built
    switches = [node.name for node in topology.switches()]
    for _ in range(data.draw(st.integers(0, 4))):
        victim, other = (data.draw(st.sampled_from(topology.links)) for _ in range(2))
        changed = data.draw(
            st.sampled_from(
                [
                    None,
                    replace(victim, z=other.z),
                    replace(victim, a=other.z, z=victim.a),
                    replace(victim, a=replace(victim.a, rail=None, address=None)),
                    replace(victim, rate_gbps=1),
                ]
            )
        )
        topology = with_links(topology, lambda link, a=victim, b=changed: b if link is a else link)  # type: ignore[misc]
        node = topology.node(data.draw(st.sampled_from(switches)))
        like = topology.node(data.draw(st.sampled_from(switches)))
        change = data.draw(st.sampled_from([{}, {"plane": 2}, {"asn": None, "loopback": None}, {"net": Net.STORAGE}]))
        topology = with_node(topology, node.name, pod=like.pod, role=like.role, **change)
        if not topology.links:
            break
    found = findings(topology, intent)
    assert len(found) == len(set(found))
    assert len(found) <= 40
    for domain in failure_domains(topology, intent):
        assert domain.count > 0
        assert 0 <= domain.cut_off <= domain.affected

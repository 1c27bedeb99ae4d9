"""What the switches observe of each cable: proved, wrong, or unknown; never right because nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from railfab.deploy.cabling import Cabling, CablingGap, CablingSource, CablingState, cabling_of
from railfab.deploy.verify import _wrong_hosts, live_findings
from railfab.device import Observed, ObservedBgpSession, ObservedInterface
from railfab.fabric import Design, design

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "frr-pod" / "intent.yml")


def with_lldp(fabric: Design, name: str, *, hosts: bool) -> Observed:
    """What a switch observes as intended. hosts: whether these speak LLDP too."""
    ports = [(port, peer, hosts or peer.node in fabric.models) for port, peer, _ in fabric.topology.ports_of(name)]
    interfaces = tuple(
        ObservedInterface(
            name=port.name,
            oper_up=True,
            neighbor_device=peer.node if speaks else None,
            neighbor_interface=peer.name if speaks else None,
        )
        for port, peer, speaks in ports
    )
    return Observed(interfaces=interfaces, sessions=())


def with_bgp(fabric: Design, name: str) -> Observed:
    """What a switch without LLDP observes as intended: the name of its peer in each unnumbered session."""
    ports = fabric.topology.ports_of(name)
    interfaces = tuple(ObservedInterface(name=port.name, oper_up=True) for port, _, _ in ports)
    sessions = tuple(
        ObservedBgpSession(peer=port.name, interface=port.name, state="established", neighbor_device=peer.node)
        for port, peer, _ in ports
        if peer.node in fabric.models
    )
    return Observed(interfaces=interfaces, sessions=sessions, lldp=False)


def judged(fabric: Design, observed: dict[str, Observed]) -> Cabling:
    return cabling_of(fabric.topology, fabric.models.keys(), observed)


def everywhere(fabric: Design, of: Callable[[str], Observed]) -> dict[str, Observed]:
    return {name: of(name) for name in fabric.models}


def exchanged(observed: Observed, *names: str) -> Observed:
    """The switch with the cables of two ports exchanged: each port has what the other heard."""
    first, second = (next(port for port in observed.interfaces if port.name == name) for name in names)
    moved = {first.name: replace(second, name=first.name), second.name: replace(first, name=second.name)}
    return replace(observed, interfaces=tuple(moved.get(port.name, port) for port in observed.interfaces))


def test_hosts_without_lldp_are_unknown_and_counted_and_no_finding(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_lldp(fabric, name, hosts=False))
    cabling = judged(fabric, observed)
    assert {link.peer in fabric.models for link in cabling.of(CablingState.PROVED)} == {True}
    assert cabling.summary == (
        "cabling: 8 of 24 links proved, 16 unknown (hosts without LLDP: pod1-seg[1-2]-leaf[1-2] swp[1-4])"
    )
    swapped = observed | {LEAF: exchanged(observed[LEAF], "swp1", "swp3")}
    assert judged(fabric, swapped) == cabling
    assert list(live_findings(fabric, LEAF, swapped[LEAF])) == list(live_findings(fabric, LEAF, observed[LEAF]))


def test_two_host_cables_exchanged_on_a_leaf_are_wrong_where_the_hosts_speak_lldp(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_lldp(fabric, name, hosts=True))
    assert judged(fabric, observed).summary == "cabling: 24 of 24 links proved"
    swapped = observed | {LEAF: exchanged(observed[LEAF], "swp1", "swp3")}
    cabling = judged(fabric, swapped)
    assert cabling.summary == "cabling: 22 of 24 links proved, 2 wrong"
    assert [(link.switch, link.interface, link.source) for link in cabling.of(CablingState.WRONG)] == [
        (LEAF, "swp1", CablingSource.LLDP),
        (LEAF, "swp3", CablingSource.LLDP),
    ]
    miscabled = [found.line for found in live_findings(fabric, LEAF, swapped[LEAF]) if found.code == "miscabled"]
    assert miscabled == [
        f"error {LEAF} swp1: is cabled to pod1-seg1-host2 rail1-p0, the intent says pod1-seg1-host1 rail1-p0. "
        "Correct the cabling. [miscabled]",
        f"error {LEAF} swp3: is cabled to pod1-seg1-host1 rail1-p0, the intent says pod1-seg1-host2 rail1-p0. "
        "Correct the cabling. [miscabled]",
    ]


def test_either_end_proves_a_link_but_not_a_port_that_is_down_or_a_name_without_a_port(fabric: Design) -> None:
    leaf, spine = (with_lldp(fabric, name, hosts=False) for name in (LEAF, SPINE))

    def state_of_uplink(**observed: Observed) -> CablingState:
        read = {name.replace("_", "-"): seen for name, seen in observed.items()}
        links = judged(fabric, read).links
        return next(link.state for link in links if {link.switch, link.peer} == {LEAF, SPINE})

    assert state_of_uplink(pod1_seg1_leaf1=leaf) is state_of_uplink(pod1_spine1=spine) is CablingState.PROVED
    for lacking in ({"oper_up": False}, {"neighbor_interface": None}):
        ports = tuple(replace(port, **lacking) for port in leaf.interfaces)  # type: ignore[arg-type]
        assert state_of_uplink(pod1_seg1_leaf1=replace(leaf, interfaces=ports)) is CablingState.UNKNOWN
    assert state_of_uplink() is CablingState.UNKNOWN


def test_the_summary_says_why_links_are_unknown(fabric: Design) -> None:
    leaf = with_lldp(fabric, LEAF, hosts=False)
    first, *others = leaf.interfaces
    down = Observed(interfaces=(replace(first, oper_up=False), *others), sessions=())
    cabling = cabling_of(fabric.topology, [LEAF, "pod1-seg1-leaf2"], {LEAF: down})
    assert cabling.summary == (
        "cabling: 2 of 12 links proved, 10 unknown (switches not read: pod1-seg1-leaf2 swp[1-4,15-16]; "
        "ports that are down: pod1-seg1-leaf1 swp1; hosts without LLDP: pod1-seg1-leaf1 swp[2-4])"
    )
    silent = everywhere(fabric, lambda name: replace(with_bgp(fabric, name), sessions=()))
    assert judged(fabric, silent).summary == (
        "cabling: 0 of 24 links proved, 24 unknown (hosts without LLDP: pod1-seg[1-2]-leaf[1-2] swp[1-4]; "
        "switches that neither LLDP nor BGP identifies: pod1-seg[1-2]-leaf[1-2] swp[15-16])"
    )


def test_without_lldp_the_sessions_of_both_ends_prove_the_only_link_between_two_switches(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_bgp(fabric, name))
    cabling = judged(fabric, observed)
    assert {(link.state, link.source) for link in cabling.links if link.peer in fabric.models} == {
        (CablingState.PROVED, CablingSource.BGP)
    }
    del observed[SPINE]
    (unread,) = [link for link in judged(fabric, observed).links if {link.switch, link.peer} == {LEAF, SPINE}]
    assert unread.state is CablingState.UNKNOWN


def test_a_session_with_another_switch_is_a_wrong_cable(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_bgp(fabric, name))
    first, *others = observed[LEAF].sessions
    sessions = (replace(first, neighbor_device="pod1-seg1-leaf2"), *others)
    (wrong,) = judged(fabric, observed | {LEAF: replace(observed[LEAF], sessions=sessions)}).of(CablingState.WRONG)
    assert (wrong.source, wrong.switch) == (CablingSource.BGP, LEAF)


def test_two_host_cables_exchanged_on_a_leaf_are_wrong_where_arp_resolves_the_addresses(fabric: Design) -> None:
    addresses = {port.name: peer.address for port, peer, _ in fabric.topology.ports_of(LEAF)}

    def resolving(interface: ObservedInterface) -> ObservedInterface:
        address = addresses[interface.name]
        resolved = frozenset() if address is None else frozenset({address.ip, ip_address("fe80::1")})
        return replace(interface, resolved_addresses=resolved)

    observed = with_bgp(fabric, LEAF)
    right = replace(observed, interfaces=tuple(map(resolving, observed.interfaces)))
    cabling = cabling_of(fabric.topology, [LEAF], {LEAF: right})
    assert [(link.state, link.gap) for link in cabling.links if link.interface == "swp1"] == [
        (CablingState.UNKNOWN, CablingGap.NIC)
    ]
    wrong = cabling_of(fabric.topology, [LEAF], {LEAF: exchanged(right, "swp1", "swp3")})
    assert [(link.interface, link.source, link.seen) for link in wrong.of(CablingState.WRONG)] == [
        ("swp1", CablingSource.ARP, "10.17.0.3 of pod1-seg1-host2"),
        ("swp3", CablingSource.ARP, "10.17.0.1 of pod1-seg1-host1"),
    ]
    assert [found.line for found in wrong.findings()] == [
        f"error {LEAF} swp1 and {LEAF} swp3: are swapped: the first is cabled to pod1-seg1-host2 rail1-p0, the other "
        "to pod1-seg1-host1 rail1-p0. Swap the two plugs. [cables-swapped]"
    ]
    assert [found.line for found in _wrong_hosts(wrong)][:1] == [
        f"error {LEAF} swp1: resolves 10.17.0.3 of pod1-seg1-host2, the intent says pod1-seg1-host1 rail1-p0. "
        "Correct the cabling, or the addresses of the host. [miscabled]"
    ]
    own_nics = cabling_of(fabric.topology, [LEAF], {LEAF: exchanged(right, "swp1", "swp2")})
    assert own_nics.of(CablingState.WRONG) == ()  # a host may answer for its addresses on any NIC


@pytest.mark.parametrize(
    ("resolved", "gap"),
    [
        (("10.17.0.1", "10.17.0.3"), CablingGap.NIC),  # an entry of an address that the host had before
        (("10.18.0.1",), CablingGap.NIC),
        (("10.17.0.0", "192.0.2.1", "fe80::1"), CablingGap.UNRESOLVED),
        ((), CablingGap.UNRESOLVED),
        (None, CablingGap.HOST),
    ],
    ids=["an old entry", "the other NIC", "addresses of no host", "no entry", "no table"],
)
def test_addresses_that_do_not_show_another_host_leave_a_link_unknown(
    fabric: Design, resolved: tuple[str, ...] | None, gap: CablingGap
) -> None:
    first, *others = with_bgp(fabric, LEAF).interfaces
    port = replace(first, resolved_addresses=None if resolved is None else frozenset(map(ip_address, resolved)))
    cabling = cabling_of(fabric.topology, [LEAF], {LEAF: Observed(interfaces=(port, *others), sessions=())})
    (link,) = (link for link in cabling.links if link.interface == first.name)
    assert (link.state, link.gap) == (CablingState.UNKNOWN, gap)
    assert list(_wrong_hosts(cabling)) == []


def test_only_links_of_the_chosen_switches_are_counted(fabric: Design) -> None:
    leaf = with_lldp(fabric, LEAF, hosts=True)
    assert cabling_of(fabric.topology, [LEAF], {LEAF: leaf}).summary == "cabling: 6 of 6 links proved"


def sessions_exchanged(observed: Observed, *names: str) -> Observed:
    """The switch with the sessions of two ports exchanged, as the names of their neighbours show it."""
    first, second = (next(each for each in observed.sessions if each.peer == name) for name in names)
    moved = {
        first.peer: replace(first, neighbor_device=second.neighbor_device),
        second.peer: replace(second, neighbor_device=first.neighbor_device),
    }
    return replace(observed, sessions=tuple(moved.get(session.peer, session) for session in observed.sessions))


def test_swapped_uplinks_are_two_plugs_of_the_leaf_where_only_bgp_names_the_far_ends(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_bgp(fabric, name))
    observed[LEAF] = sessions_exchanged(observed[LEAF], "swp15", "swp16")
    (swap,) = judged(fabric, observed).swaps
    assert [cable[0] for cable in swap] == [(LEAF, "swp15"), (LEAF, "swp16")]
    (finding,) = judged(fabric, observed).findings()
    assert finding.where == f"{LEAF} swp15 and {LEAF} swp16"
    del observed[SPINE]
    lines = [found.line for found in judged(fabric, observed).findings()]
    assert len(lines) == 2  # that both are the plugs to swap is not known where a spine was not read
    assert all("miscabled" in line and "the intent says" in line for line in lines)


def test_a_cable_that_is_elsewhere_is_no_swap(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_lldp(fabric, name, hosts=True))
    first, *others = observed[LEAF].interfaces
    moved = replace(first, neighbor_device="pod1-seg1-host2", neighbor_interface="rail4-p0")
    cabling = judged(fabric, observed | {LEAF: replace(observed[LEAF], interfaces=(moved, *others))})
    assert cabling.swaps == ()
    assert [found.line for found in cabling.findings()] == [
        f"error {LEAF} swp1: is cabled to pod1-seg1-host2 rail4-p0, the intent says pod1-seg1-host1 rail1-p0. "
        "Move the cable. [miscabled]"
    ]


def test_three_plugs_in_a_ring_are_three_cables_to_move(fabric: Design) -> None:
    observed = everywhere(fabric, lambda name: with_lldp(fabric, name, hosts=True))
    ring = exchanged(exchanged(observed[LEAF], "swp1", "swp2"), "swp2", "swp3")
    cabling = judged(fabric, observed | {LEAF: ring})
    assert cabling.swaps == ()
    assert [found.code for found in cabling.findings()] == ["miscabled"] * 3

"""Which sessions come up from what both ends hold, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

import pytest
from tests.forwarding.fabrics import (
    LEAF,
    SPINE,
    deployed,
    model,
    planned,
    session,
    with_bgp,
    with_interface,
    with_neighbors,
    with_port,
)

from railfab.device import BfdTimers, DeviceModel, Family, Fec, Port, Remote, SecretReference
from railfab.errors import TopologyError

UPLINK, DOWNLINK = "ethernet-1/32", "ethernet-1/1"
"""The ends of one cable between LEAF and SPINE."""


def test_the_planned_fabric_has_all_its_sessions() -> None:
    fabric = deployed()
    found = [session for name in planned()[1] for session in fabric.sessions(name)]
    assert len(found) == 64
    assert all(session.established and session.state == "established" and session.bfd_up for session in found)
    assert session(fabric, LEAF, UPLINK).peer == UPLINK
    assert session(fabric, LEAF, UPLINK).peer_device == SPINE


def wrong_as(found: DeviceModel) -> DeviceModel:
    return with_neighbors(
        found, lambda neighbor: replace(neighbor, remote_as=65002) if neighbor.peer == DOWNLINK else neighbor
    )


def without_neighbor(found: DeviceModel) -> DeviceModel:
    return with_neighbors(found, lambda neighbor: None if neighbor.peer == DOWNLINK else neighbor)


def disabled(found: DeviceModel) -> DeviceModel:
    return with_interface(found, DOWNLINK, lambda port: replace(port, enabled=False))


def slower(found: DeviceModel) -> DeviceModel:
    return with_port(found, DOWNLINK, lambda port: replace(port, rate_gbps=200))


def without_link_local(found: DeviceModel) -> DeviceModel:
    return with_interface(found, DOWNLINK, lambda port: replace(port, unnumbered=False))


def numbered(found: DeviceModel) -> DeviceModel:
    addressed = with_interface(found, DOWNLINK, lambda port: replace(port, addresses=(IPv4Interface("100.64.0.0/31"),)))
    return with_neighbors(
        addressed,
        lambda neighbor: replace(neighbor, peer=IPv4Address("100.64.0.1")) if neighbor.peer == DOWNLINK else neighbor,
    )


def same_as(found: DeviceModel) -> DeviceModel:
    return with_bgp(found, lambda bgp: replace(bgp, asn=4200001001))


def any_other_as(found: DeviceModel) -> DeviceModel:
    same = with_bgp(found, lambda bgp: replace(bgp, asn=4200001001))
    return with_neighbors(same, lambda neighbor: replace(neighbor, remote_as=Remote.EXTERNAL))


def own_as(found: DeviceModel) -> DeviceModel:
    return with_neighbors(found, lambda neighbor: replace(neighbor, remote_as=Remote.INTERNAL))


def shut_down(found: DeviceModel) -> DeviceModel:
    return with_neighbors(found, lambda held: replace(held, enabled=held.peer != DOWNLINK))


def with_password(found: DeviceModel) -> DeviceModel:
    return with_neighbors(found, lambda held: replace(held, password=SecretReference(variable="BGP_PASSWORD")))


def without_bgp(found: DeviceModel) -> DeviceModel:
    return replace(found, bgp=None)


def other_fec(found: DeviceModel) -> DeviceModel:
    return with_port(found, DOWNLINK, lambda port: replace(port, fec=Fec.RS_528))


@pytest.mark.parametrize(
    ("change", "state", "reason"),
    [
        (own_as, "active", "pod1-spine1 expects its own AS 65001, pod1-seg1-leaf1 is AS 4200001001"),
        (any_other_as, "active", "pod1-seg1-leaf1 expects AS 65001, pod1-spine1 is AS 4200001001"),
        (shut_down, "active", "pod1-spine1 has shut down its neighbour ethernet-1/1"),
        (with_password, "active", "pod1-spine1 has a password for the session, pod1-seg1-leaf1 has none"),
        (without_bgp, "active", "pod1-spine1 runs no BGP"),
        (wrong_as, "active", "pod1-spine1 expects AS 65002, pod1-seg1-leaf1 is AS 4200001001"),
        (same_as, "active", "pod1-seg1-leaf1 expects AS 65001, pod1-spine1 is AS 4200001001"),
        (without_neighbor, "active", "pod1-spine1 has no neighbour on ethernet-1/1"),
        (disabled, "idle", "pod1-spine1 ethernet-1/1 is disabled"),
        (slower, "idle", "pod1-spine1 ethernet-1/1 runs at 200 Gb/s, pod1-seg1-leaf1 ethernet-1/32 at 400"),
        (without_link_local, "active", "pod1-spine1 ethernet-1/1 has no IPv6 link-local"),
        (numbered, "active", "pod1-spine1 ethernet-1/1 is numbered, pod1-seg1-leaf1 ethernet-1/32 is not"),
    ],
)
def test_a_session_that_is_down_says_why_and_the_others_stay_up(
    change: Callable[[DeviceModel], DeviceModel], state: str, reason: str
) -> None:
    fabric = deployed()
    fabric.configure(SPINE, change(model(SPINE)))
    broken = session(fabric, LEAF, UPLINK)
    assert (broken.state, broken.reason, broken.established) == (state, reason, False)
    others = [found for found in fabric.sessions(LEAF) if found.peer_device != SPINE]
    assert len(others) == 6
    assert all(found.established for found in others)


def test_sessions_to_any_other_as_come_up_unless_both_ends_have_one_as() -> None:
    fabric = deployed()
    for name, found in planned()[1].items():
        fabric.configure(name, with_neighbors(found, lambda held: replace(held, remote_as=Remote.EXTERNAL)))
    assert all(found.established for found in fabric.sessions(LEAF))
    assert session(fabric, LEAF, UPLINK).remote_as == 65001
    fabric.configure(SPINE, any_other_as(model(SPINE)))
    reason = "pod1-seg1-leaf1 and pod1-spine1 are both AS 4200001001, the session is external"
    assert session(fabric, LEAF, UPLINK).reason == reason


def test_a_switch_shuts_a_neighbour_down_and_takes_its_bfd_with_it() -> None:
    fabric = deployed()
    fabric.configure(SPINE, shut_down(model(SPINE)))
    down = session(fabric, SPINE, DOWNLINK)
    assert (down.state, down.reason) == ("idle", "pod1-spine1 has shut down its neighbour ethernet-1/1")
    assert (down.bfd_up, session(fabric, LEAF, UPLINK).bfd_up) == (False, False)


def test_a_password_at_both_ends_lets_the_session_come_up() -> None:
    fabric = deployed()
    fabric.configure(SPINE, with_password(model(SPINE)))
    fabric.configure(LEAF, with_password(model(LEAF)))
    assert session(fabric, LEAF, UPLINK).established


def at_100g(fec: Fec | None) -> Callable[[Port], Port]:
    return lambda port: replace(port, rate_gbps=100, fec=fec)


def test_a_port_is_down_while_its_ends_use_different_fec() -> None:
    fabric = deployed()
    fabric.configure(SPINE, with_port(model(SPINE), DOWNLINK, at_100g(Fec.RS_528)))
    fabric.configure(LEAF, with_port(model(LEAF), UPLINK, at_100g(None)))
    assert session(fabric, LEAF, UPLINK).established, "RS-528 is the default of 100 Gb/s"
    fabric.configure(LEAF, with_port(model(LEAF), UPLINK, at_100g(Fec.OFF)))
    reason = "pod1-spine1 ethernet-1/1 uses FEC rs-528, pod1-seg1-leaf1 ethernet-1/32 off"
    assert session(fabric, LEAF, UPLINK).reason == reason


def test_a_port_with_pam4_is_down_with_any_other_fec_than_its_own() -> None:
    fabric = deployed()
    fabric.configure(LEAF, with_port(model(LEAF), UPLINK, lambda port: replace(port, fec=Fec.RS_544)))
    assert session(fabric, LEAF, UPLINK).established
    fabric.configure(SPINE, other_fec(model(SPINE)))
    reason = "pod1-spine1 ethernet-1/1 cannot use FEC rs-528: a port of 400 Gb/s with PAM4 has rs-544"
    assert session(fabric, LEAF, UPLINK).reason == reason


def with_ipv6_session(name: str, port: str, own: str, peer: str) -> DeviceModel:
    """A switch with one more session over a port, for IPv6 alone."""
    found = with_interface(model(name), port, lambda held: replace(held, addresses=(IPv6Interface(own),)))
    first = next(held for held in found.neighbors if held.key == port)
    more = replace(first, peer=IPv6Address(peer), families=(Family.IPV6,))
    return with_bgp(found, lambda bgp: replace(bgp, neighbors=(*bgp.neighbors, more)))


def test_two_sessions_over_one_link_have_keys_and_families_of_their_own() -> None:
    fabric = deployed()
    fabric.configure(LEAF, with_ipv6_session(LEAF, UPLINK, "2001:db8::1/127", "2001:db8::"))
    fabric.configure(SPINE, with_ipv6_session(SPINE, DOWNLINK, "2001:db8::/127", "2001:db8::1"))
    over = [found for found in fabric.sessions(LEAF) if found.interface == UPLINK]
    assert [(found.key, found.received) for found in over] == [
        (UPLINK, (Family.IPV4,)),
        ("2001:db8::", (Family.IPV6,)),
    ]
    assert [found.peer_key for found in over] == [DOWNLINK, "2001:db8::1"]


def test_a_switch_without_configuration_takes_its_ports_and_sessions_down() -> None:
    fabric = deployed()
    fabric.configure(SPINE, None)
    assert session(fabric, LEAF, UPLINK).reason == "pod1-spine1 ethernet-1/1 is not configured"
    assert fabric.sessions(SPINE) == ()
    assert all(sample.value == 0 for sample in fabric.samples(SPINE) if sample.metric == "fabric_interface_oper_up")


def test_a_cage_that_is_not_broken_out_has_no_host_ports() -> None:
    fabric = deployed()
    fabric.configure(LEAF, replace(model(LEAF), breakouts=model(LEAF).breakouts[1:]))
    down = [
        sample.labels["interface"]
        for sample in fabric.samples(LEAF)
        if sample.metric == "fabric_interface_oper_up" and not sample.value
    ]
    assert down == [f"ethernet-1/1/{lane}" for lane in (1, 2, 3, 4)]


def numbered_pair(leaf_peer: str = "100.64.0.0") -> tuple[DeviceModel, DeviceModel]:
    """Leaf and spine with their one link numbered."""
    leaf = with_interface(
        model(LEAF), UPLINK, lambda port: replace(port, addresses=(IPv4Interface("100.64.0.1/31"),), unnumbered=False)
    )
    leaf = with_neighbors(
        leaf,
        lambda neighbor: replace(neighbor, peer=IPv4Address(leaf_peer)) if neighbor.peer == UPLINK else neighbor,
    )
    return leaf, numbered(model(SPINE))


def test_a_numbered_session_comes_up_and_is_named_by_its_address() -> None:
    fabric = deployed()
    leaf, spine = numbered_pair()
    fabric.configure(LEAF, leaf)
    fabric.configure(SPINE, spine)
    assert session(fabric, LEAF, UPLINK).established
    assert session(fabric, LEAF, UPLINK).peer == "100.64.0.0"


def test_a_neighbour_address_that_the_peer_does_not_have() -> None:
    fabric = deployed()
    leaf, spine = numbered_pair()
    fabric.configure(LEAF, leaf)
    fabric.configure(
        SPINE, with_interface(spine, DOWNLINK, lambda port: replace(port, addresses=(IPv4Interface("100.64.0.2/30"),)))
    )
    reason = session(fabric, SPINE, DOWNLINK).reason
    assert reason == "pod1-seg1-leaf1 expects 100.64.0.0, which is not on pod1-spine1 ethernet-1/1"


def test_a_neighbour_address_in_no_subnet_of_the_switch() -> None:
    fabric = deployed()
    leaf, spine = numbered_pair("100.64.0.4")
    fabric.configure(LEAF, leaf)
    fabric.configure(SPINE, spine)
    (lost,) = (found for found in fabric.sessions(LEAF) if found.peer == "100.64.0.4")
    assert (lost.state, lost.reason, lost.interface) == ("idle", "100.64.0.4 is in no subnet of pod1-seg1-leaf1", None)
    assert session(fabric, SPINE, DOWNLINK).reason == "pod1-seg1-leaf1 has no neighbour on ethernet-1/32"


def test_the_ends_of_a_bfd_session_use_the_slower_of_their_intervals() -> None:
    """RFC 5880, 6.8.7 and 6.8.4; the multiplier that counts at one end is that of the other."""
    fabric = deployed()
    fast = BfdTimers(interval_ms=10, multiplier=5, receive_ms=50)

    def with_fast_uplink(found: DeviceModel) -> DeviceModel:
        return with_neighbors(found, lambda held: replace(held, bfd=fast) if held.key == UPLINK else held)

    fabric.configure(LEAF, with_fast_uplink(model(LEAF)))
    near, far = session(fabric, LEAF, UPLINK).bfd, session(fabric, SPINE, DOWNLINK).bfd
    assert near is not None
    assert far is not None
    assert (near.transmit_ms, near.receive_ms, near.remote_receive_ms, near.detection_ms) == (300, 300, 300, 900)
    assert (far.transmit_ms, far.receive_ms, far.remote_receive_ms, far.detection_ms) == (300, 300, 50, 1500)
    fabric.configure(SPINE, with_neighbors(model(SPINE), lambda neighbor: replace(neighbor, bfd=None)))
    assert session(fabric, LEAF, UPLINK).bfd == (1000, None, None, None)


def test_equal_router_ids_end_only_sessions_inside_an_as() -> None:
    """RFC 6286, 2.2."""
    fabric, bgp = deployed(), model(SPINE).bgp
    assert bgp is not None
    same = with_bgp(model(LEAF), lambda held: replace(held, router_id=bgp.router_id))
    fabric.configure(LEAF, same)
    found = session(fabric, LEAF, UPLINK)
    assert (found.state, found.peer_router_id) == ("established", bgp.router_id)
    inside = with_neighbors(same, lambda held: replace(held, remote_as=Remote.INTERNAL))
    fabric.configure(LEAF, with_bgp(inside, lambda held: replace(held, asn=bgp.asn)))
    towards = with_neighbors(model(SPINE), lambda held: replace(held, remote_as=Remote.INTERNAL))
    fabric.configure(SPINE, towards)
    found = session(fabric, LEAF, UPLINK)
    assert (found.state, found.refused, found.peer_router_id) == ("active", True, None)
    assert found.reason == f"{LEAF} and {SPINE} are of one AS and both have the router ID {bgp.router_id}"


def test_bfd_at_one_end_only_is_down_and_leaves_bgp_up() -> None:
    fabric = deployed()
    fabric.configure(SPINE, with_neighbors(model(SPINE), lambda neighbor: replace(neighbor, bfd=None)))
    assert session(fabric, LEAF, UPLINK).established
    assert session(fabric, LEAF, UPLINK).bfd_up is False
    assert session(fabric, SPINE, DOWNLINK).bfd_up is None


def test_a_broken_cable_takes_both_ends_down_until_it_is_mended_at_either() -> None:
    fabric = deployed()
    fabric.set_link(LEAF, UPLINK, False)
    assert session(fabric, LEAF, UPLINK).reason == "no light from pod1-spine1 ethernet-1/1"
    assert session(fabric, SPINE, DOWNLINK).reason == "no light from pod1-seg1-leaf1 ethernet-1/32"
    assert session(fabric, SPINE, DOWNLINK).bfd_up is False
    fabric.set_link(SPINE, DOWNLINK, True)
    assert session(fabric, LEAF, UPLINK).established


def test_flaps_are_counted_where_they_happen() -> None:
    fabric = deployed()

    def counted(metric: str, **labels: str) -> float:
        return next(
            sample.value
            for sample in fabric.samples(LEAF)
            if sample.metric == metric and labels.items() <= sample.labels.items()
        )

    fabric.advance(2_000_000_000)
    fabric.set_link(LEAF, UPLINK, False)
    fabric.set_link(LEAF, UPLINK, True)
    assert counted("fabric_interface_carrier_transitions_total", interface=UPLINK) == 3
    assert counted("fabric_interface_last_change_timestamp_seconds", interface=UPLINK) == 1_700_000_002.0
    assert counted("fabric_bgp_established_transitions_total", peer=UPLINK) == 2
    assert counted("fabric_bgp_last_established_timestamp_seconds", peer=UPLINK) == 1_700_000_002.0
    assert counted("fabric_bfd_failure_transitions_total", peer=UPLINK) == 1
    assert counted("fabric_bgp_established_transitions_total", peer="ethernet-1/31") == 1


def test_names_that_the_fabric_does_not_have() -> None:
    fabric = deployed()
    with pytest.raises(TopologyError, match=r"fabric pod64: has no switch 'pod9-leaf1'. Use a name of railfab plan."):
        fabric.samples("pod9-leaf1")
    with pytest.raises(TopologyError, match=r"link pod1-spine1 ethernet-1/32: there is no cable. Use a port of the"):
        fabric.set_link(SPINE, "ethernet-1/32", False)

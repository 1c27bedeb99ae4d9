"""What convergence does not compute: an intent is refused by its name, a switch keeps it and says so."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address

import pytest
from tests.forwarding.fabrics import (
    LEAF,
    SPINE,
    deployed,
    model,
    permitting,
    planned,
    session,
    with_bgp,
    with_neighbors,
    with_policy,
    with_port,
    with_qos,
)

from railfab.device import (
    LOOPBACK,
    Aggregate,
    BalancingMode,
    DeviceModel,
    Family,
    Lag,
    LoadBalancing,
    Mlag,
    Policy,
    Svi,
    VlanMembership,
    Vtep,
)
from railfab.errors import Problems, UnsupportedFeature
from railfab.forwarding import refuse, uncomputed
from railfab.twin.live import LiveFabric

PORT, UPLINK = "ethernet-1/1/1", "ethernet-1/32"


def with_uplink(**changes: object) -> DeviceModel:
    return with_neighbors(model(LEAF), lambda held: replace(held, **changes) if held.key == UPLINK else held)  # type: ignore[arg-type]


def with_more(*more: Lag | Svi) -> DeviceModel:
    return replace(model(LEAF), interfaces=(*model(LEAF).interfaces, *more))


def importing(**settings: object) -> DeviceModel:
    return with_policy(model(LEAF), "import", Policy(name="tested", rules=(permitting(**settings),)))  # type: ignore[arg-type]


POD = model(LEAF).interfaces[0].subnets[0].supernet(new_prefix=16)
USE_DEFAULT = "Use the network instance default."
REFUSED = {
    f"{LEAF} lag1: the twin does not compute LAGs without LACP. Use LACP.": with_more(
        Lag(name="lag1", members=(PORT,), lacp=False)
    ),
    f"{LEAF} lag2: the twin does not compute VLANs and SVIs. Use `attach: routed`.": with_more(
        Lag(name="lag2", members=(PORT,), vlans=VlanMembership(untagged=10))
    ),
    f"{LEAF} vlan10: the twin does not compute VLANs and SVIs. Use `attach: routed`.": with_more(
        Svi(name="vlan10", vlan=10)
    ),
    f"{LEAF} {PORT}: the twin does not compute VLANs and SVIs. Use `attach: routed`.": with_port(
        model(LEAF), PORT, lambda port: replace(port, vlans=VlanMembership(untagged=10))
    ),
    f"{LEAF} {PORT}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_port(
        model(LEAF), PORT, lambda port: replace(port, network_instance="blue")
    ),
    f"{LEAF} BGP neighbour {UPLINK}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_uplink(
        network_instance="blue"
    ),
    f"{LEAF} BGP neighbour {UPLINK}: the twin does not compute EVPN. Use IPv4 and IPv6 unicast.": with_uplink(
        families=(Family.IPV4, Family.EVPN)
    ),
    (
        f"{LEAF} BGP neighbour 10.255.9.9: the twin does not compute sessions over several hops. "
        "Use a directly connected neighbour."
    ): with_uplink(peer=IPv4Address("10.255.9.9"), multihop_ttl=3),
    (
        f"{LEAF} BGP neighbour {UPLINK}: the twin does not compute sessions from another interface. "
        "Leave the update source out."
    ): with_uplink(update_source=LOOPBACK),
    (
        f"{LEAF} policy tested: the twin does not compute '(', which is no regular expression: missing ), unterminated "
        "subpattern at position 0. Correct the AS path."
    ): importing(as_path="("),
    f"{LEAF}: the twin does not compute MLAG. Use `attach: routed`.": replace(
        model(LEAF), mlag=Mlag(domain="pair", peer_link="lag1")
    ),
    f"{LEAF}: the twin does not compute VXLAN. Use `attach: routed`.": replace(
        model(LEAF), vtep=Vtep(source=LOOPBACK, address=POD[1])
    ),
    f"{LEAF} aggregate {POD}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_bgp(
        model(LEAF), lambda bgp: replace(bgp, aggregates=(Aggregate(prefix=POD, network_instance="blue"),))
    ),
    f"{LEAF} class default: the twin does not compute priority 8. Use priorities 0 to 7.": with_qos(
        model(LEAF), lambda qos: replace(qos, classes=(replace(qos.classes[0], pfc_priority=8), *qos.classes[1:]))
    ),
    f"{LEAF} class default: the twin does not compute queue 9. Use queues 0 to 7.": with_qos(
        model(LEAF), lambda qos: replace(qos, classes=(replace(qos.classes[0], queue=9), *qos.classes[1:]))
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_an_intent_that_is_not_computed_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedFeature) as caught:
        refuse([REFUSED[text]])
    assert str(caught.value) == text


@pytest.mark.parametrize("text", REFUSED)
def test_a_switch_keeps_what_is_not_computed_and_says_so(fabric: LiveFabric, text: str) -> None:
    """It has no effect elsewhere, and none that is left after it is gone."""
    before = seen(fabric)
    fabric.configure(LEAF, REFUSED[text])
    state = fabric.state()
    assert len(state.routing.begin) > 1
    assert state.network.rate_gbps.shape == (len(state.links.near),)
    assert uncomputed(REFUSED[text])
    assert all(fabric.samples(name) for name in (LEAF, SPINE))
    fabric.configure(LEAF, model(LEAF))
    assert seen(fabric) == before


def seen(fabric: LiveFabric) -> list[object]:
    """What the sessions of the switches and their routes are."""
    return [fabric.sessions(name) for name in planned()[1]]


@pytest.fixture(scope="module")
def fabric() -> LiveFabric:
    return deployed()


def test_everything_that_an_intent_lacks_is_reported_together() -> None:
    both = replace(with_uplink(families=(Family.EVPN,)), mlag=Mlag(domain="pair", peer_link="lag1"))
    with pytest.raises(Problems) as caught:
        refuse([both])
    assert "EVPN" in str(caught.value)
    assert "MLAG" in str(caught.value)


@pytest.mark.parametrize(
    "accepted",
    [
        importing(set_local_preference=200),
        *(replace(model(LEAF), load_balancing=LoadBalancing(mode=mode)) for mode in BalancingMode),
        with_uplink(update_source=UPLINK),
        with_uplink(multihop_ttl=3),
    ],
)
def test_what_is_computed_is_not_named(accepted: DeviceModel) -> None:
    refuse([accepted])


@pytest.mark.parametrize(
    ("settings", "state", "received"),
    [({"update_source": LOOPBACK}, "active", 0), ({"families": (Family.EVPN,)}, "established", 0)],
    ids=["from the loopback", "EVPN alone"],
)
def test_a_session_that_is_not_computed_carries_nothing(
    fabric: LiveFabric, settings: dict[str, object], state: str, received: int
) -> None:
    fabric.configure(LEAF, with_uplink(**settings))
    found = session(fabric, LEAF, UPLINK)
    assert (found.state, found.total.received) == (state, received)
    assert session(fabric, LEAF, "ethernet-1/31").total.received > 0
    fabric.configure(LEAF, model(LEAF))


@pytest.mark.parametrize("instance", ["blue", None])
def test_a_port_outside_the_default_network_instance_carries_nothing(fabric: LiveFabric, instance: str | None) -> None:
    fabric.configure(LEAF, with_port(model(LEAF), PORT, lambda port: replace(port, network_instance=instance)))
    state = fabric.state()
    link = state.links.egress[LEAF, PORT]
    assert {link, link ^ 1} <= set(state.closed)
    host = state.links.near[link ^ 1].address
    assert host is not None
    assert state.routes.egress(SPINE, host.ip) == ()
    fabric.configure(LEAF, model(LEAF))
    assert fabric.state().closed == ()

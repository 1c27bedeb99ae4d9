"""What cannot be computed is refused by its name, in one line, and nothing changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.forwarding.fabrics import (
    LEAF,
    deployed,
    model,
    permitting,
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
from railfab.errors import ConfigError, Problems, RailfabError, UnsupportedFeature

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
    f"{LEAF} lag1: the twin does not compute LAGs. Route over its members.": with_more(
        Lag(name="lag1", members=(PORT,))
    ),
    f"{LEAF} vlan10: the twin does not compute VLANs and SVIs. Use routed ports.": with_more(
        Svi(name="vlan10", vlan=10)
    ),
    f"{LEAF} {PORT}: the twin does not compute VLANs and SVIs. Use routed ports.": with_port(
        model(LEAF), PORT, lambda port: replace(port, vlans=VlanMembership(untagged=10))
    ),
    f"{LEAF} {PORT}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_port(
        model(LEAF), PORT, lambda port: replace(port, network_instance="blue")
    ),
    f"{LEAF}: BGP neighbour {UPLINK}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_uplink(
        network_instance="blue"
    ),
    f"{LEAF}: BGP neighbour {UPLINK}: the twin does not compute EVPN. Use IPv4 and IPv6 unicast.": with_uplink(
        families=(Family.IPV4, Family.EVPN)
    ),
    (
        f"{LEAF}: BGP neighbour {UPLINK}: the twin does not compute sessions over several hops. "
        "Use a directly connected neighbour."
    ): with_uplink(multihop_ttl=3),
    (
        f"{LEAF}: BGP neighbour {UPLINK}: the twin does not compute sessions from another interface. "
        "Leave the update source out."
    ): with_uplink(update_source=LOOPBACK),
    (
        f"{LEAF}: policy tested: the twin does not compute local preference 200. "
        "Prepend the AS path, or use the community graceful-shutdown."
    ): importing(set_local_preference=200),
    f"{LEAF}: policy tested: '(' is no regular expression: missing ), unterminated subpattern at position 0. Correct"
    " the AS path.": importing(as_path="("),
    f"{LEAF}: MLAG: the twin does not compute MLAG. Use routed ports.": replace(
        model(LEAF), mlag=Mlag(domain="pair", peer_link="lag1")
    ),
    f"{LEAF}: VTEP: the twin does not compute VXLAN. Use routed ports.": replace(
        model(LEAF), vtep=Vtep(source=LOOPBACK, address=POD[1])
    ),
    f"{LEAF}: aggregate {POD}: the twin does not compute VRFs, here blue. {USE_DEFAULT}": with_bgp(
        model(LEAF), lambda bgp: replace(bgp, aggregates=(Aggregate(prefix=POD, network_instance="blue"),))
    ),
    f"{LEAF}: class default: there is no priority 8. Use priorities 0 to 7.": with_qos(
        model(LEAF), lambda qos: replace(qos, classes=(replace(qos.classes[0], pfc_priority=8), *qos.classes[1:]))
    ),
    f"{LEAF}: class default: there is no queue 9. Use queues 0 to 7.": with_qos(
        model(LEAF), lambda qos: replace(qos, classes=(replace(qos.classes[0], queue=9), *qos.classes[1:]))
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_configuration_that_cannot_be_computed_is_refused_and_changes_nothing(text: str) -> None:
    fabric = deployed()
    before = fabric.state()
    with pytest.raises((UnsupportedFeature, ConfigError)) as caught:
        fabric.configure(LEAF, REFUSED[text])
    assert str(caught.value) == text
    assert fabric.state() is before


def test_everything_that_is_refused_is_reported_together() -> None:
    both = replace(with_uplink(multihop_ttl=3), mlag=Mlag(domain="pair", peer_link="lag1"))
    with pytest.raises(Problems) as caught:
        deployed().configure(LEAF, both)
    assert "several hops" in str(caught.value)
    assert "MLAG" in str(caught.value)


@pytest.mark.parametrize(
    "accepted",
    [
        importing(communities=("graceful-shutdown",), set_local_preference=0),
        *(replace(model(LEAF), load_balancing=LoadBalancing(mode=mode)) for mode in BalancingMode),
        with_uplink(update_source=UPLINK),
    ],
)
def test_what_changes_nothing_beside_it_is_accepted(accepted: DeviceModel) -> None:
    fabric = deployed()
    try:
        fabric.configure(LEAF, accepted)
    except RailfabError as error:
        pytest.fail(str(error))

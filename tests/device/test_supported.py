"""Features of an intent that no device model can express: each refusal names its key."""

from __future__ import annotations

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import plan, unsupported
from railfab.errors import NotRenderedYet
from railfab.topology import wire


def test_what_cannot_be_rendered_is_not_planned() -> None:
    intent = fabric(profile__control_plane="ibgp", backend__spines__count=4)
    with pytest.raises(NotRenderedYet, match="2 of 4 spines reflect routes"):
        plan(wire(intent), intent)


def test_ultra_ethernet_has_the_classes_of_roce() -> None:
    """Data and control packets of both differ in their DSCP, and nothing else of a switch depends on them."""
    uet, roce = (fabric(profile__transport=transport) for transport in ("uet", "rocev2"))
    assert plan(wire(uet), uet) == plan(wire(roce), roce)


@pytest.mark.parametrize(("spines", "remedy"), [(4, "Use 4"), (20, "Use control_plane: ebgp")])
def test_spines_that_would_forward_nothing_are_refused(spines: int, remedy: str) -> None:
    intent = fabric(profile__control_plane="ibgp", backend__spines__count=spines)
    assert [str(error) for error in unsupported(intent)] == [
        f"profile.reflectors: 2 of {spines} spines reflect routes, and the others would forward nothing. {remedy}."
    ]


def test_every_other_choice_is_planned() -> None:
    network = {
        "leaves": {"count": 2, "model": "7220-ixr-d5"},
        "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
    }
    overlay = {"control_plane": "evpn", "data_plane": "vxlan", "ecmp": "flowlet"}
    intent = fabric(profile=overlay, hosts__attach="esi", frontend=network, storage=network, management=network)
    assert list(unsupported(intent)) == []

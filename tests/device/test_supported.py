"""Features that are planned but cannot be rendered yet, and their error messages."""

from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import plan, unsupported
from railfab.errors import UnsupportedFeature
from railfab.topology import wire

NETWORK = {
    "leaves": {"count": 2, "model": "7220-ixr-d5"},
    "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
}
TOP = {"count": 4, "links_per_spine": 1, "rate_gbps": 400, "model": "7220-ixr-d5", "bundle": True}


@pytest.mark.parametrize(
    ("changes", "where", "value", "supported"),
    [
        ({"profile__control_plane": "ibgp"}, "profile.control_plane", "ibgp", "ebgp"),
        ({"profile__family": "ipv6"}, "profile.family", "ipv6", "ipv4"),
        ({"profile__ecmp": "flowlet"}, "profile.ecmp", "flowlet", "flow"),
        ({"profile__transport": "uet"}, "profile.transport", "uet", "rocev2"),
        ({"hosts__attach": "mlag"}, "hosts.attach", "mlag", "routed"),
        ({"backend__spines__bundle": True}, "backend.spines.bundle", "a port channel", "single links"),
        ({"backend__super_spines": TOP}, "backend.super_spines.bundle", "a port channel", "single links"),
    ],
)
def test_a_choice_that_cannot_be_rendered_is_refused_by_name(
    changes: dict[str, Any], where: str, value: str, supported: str
) -> None:
    intent = fabric(**changes)
    with pytest.raises(UnsupportedFeature) as caught:
        plan(wire(intent), intent)
    assert str(caught.value) == (
        f"{where}: configurations cannot be rendered with {value} yet. "
        f"`railfab plan` documents it; to render, use {supported}."
    )


def test_an_overlay_and_other_networks_are_refused_together() -> None:
    overlay = {"control_plane": "evpn", "data_plane": "vxlan"}
    intent = fabric(profile=overlay, frontend=NETWORK, storage=NETWORK, management=NETWORK)
    cannot, plans = "configurations cannot be rendered with", "`railfab plan` documents it; to render,"
    assert [str(error) for error in unsupported(intent)] == [
        f"profile.control_plane: {cannot} evpn yet. {plans} use ebgp.",
        f"profile.data_plane: {cannot} vxlan yet. {plans} use ethernet.",
        *(
            f"{name}: configurations of this network cannot be rendered yet. {plans} leave it out."
            for name in ("frontend", "storage", "management")
        ),
    ]

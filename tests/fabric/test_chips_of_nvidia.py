"""Adaptive routing and telemetry by what NVIDIA's chips have of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import plan
from railfab.errors import RailfabError, each
from railfab.platforms import admit, platform
from railfab.platforms.admission import support_of
from railfab.topology import wire


def refusals(model: str, *, rate_gbps: int = 400, **changes: Any) -> set[str]:
    """Why a spine of a switch model is refused for adaptive routing; nothing where it is not."""
    intent = fabric(
        profile__ecmp="adaptive",
        hosts={"gpus": 4, "rate_gbps": rate_gbps, "reorder": True},
        backend__segments={"count": 2, "hosts": 2, "rail_switches": 1, "model": model, "platform": "cumulus"},
        backend__spines={"count": 2, "rate_gbps": rate_gbps, "model": model, "platform": "cumulus", **changes},
        backend__growth={"hosts": 2, "segments": 2},
    )
    try:
        admit(plan(wire(intent), intent)["pod1-spine1"], platform("cumulus"))
    except RailfabError as error:
        return {str(one).partition(". ")[0] for one in each(error)}
    return set()


@pytest.mark.parametrize(("silicon", "support"), [("Spectrum", "no"), ("Spectrum-3", "yes"), ("Spectrum-4", "yes")])
def test_the_first_spectrum_streams_no_telemetry(silicon: str, support: str) -> None:
    """Cumulus Linux 5.17, gNMI Streaming."""
    assert support_of(platform("cumulus").capabilities, "gnmi_server", silicon) == support


@pytest.mark.parametrize(
    ("model", "changes", "lacking"),
    [
        ("sn5600", {}, None),
        ("sn5600", {"rate_gbps": 800}, "adaptive_at_other_speeds on Spectrum-4"),
        ("sn5600", {"bundle": True}, "adaptive_over_lags"),
        ("sn4700", {}, "load_balancing_adaptive on Spectrum-3"),
    ],
)
def test_adaptive_routing_is_refused_where_the_chip_has_it_not(
    model: str, changes: dict[str, Any], lacking: str | None
) -> None:
    """Cumulus Linux 5.17, Equal Cost Multipath Load Sharing, Adaptive Routing."""
    assert refusals(model, **changes) == (
        {f"pod1-spine1: platform cumulus does not support {lacking}"} if lacking else set()
    )

"""The order of a device model: whatever order a configuration has, equal configurations are equal models."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.device.planned import planned_with, pod64
from tests.laws import examples

from railfab.device import DeviceModel, in_order
from railfab.device.order import natural


def shuffled(model: DeviceModel, random: Random) -> DeviceModel:
    """The same configuration in another order."""

    def turn(elements: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(random.sample(elements, len(elements)))

    assert model.bgp is not None
    qos = model.qos
    return replace(
        model,
        breakouts=turn(model.breakouts),
        interfaces=turn(model.interfaces),
        policies=turn(model.policies),
        network_instances=turn(model.network_instances),
        vlans=turn(model.vlans),
        bgp=replace(model.bgp, neighbors=turn(model.bgp.neighbors), aggregates=turn(model.bgp.aggregates)),
        qos=qos and replace(qos, classes=turn(qos.classes), profiles=turn(qos.profiles), ports=turn(qos.ports)),
    )


@settings(max_examples=examples(30), deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_a_configuration_in_any_order_is_the_planned_model(random: Random) -> None:
    for model in pod64()[1].values():
        assert in_order(model) == model
        assert in_order(shuffled(model, random)) == model


@pytest.mark.parametrize("attach", ["vlan", "mlag", "esi"])
def test_a_model_with_vlans_and_lags_has_its_order(attach: str) -> None:
    evpn = {"profile__control_plane": "evpn", "profile__data_plane": "vxlan"} if attach == "esi" else {}
    _, models = planned_with(hosts__attach=attach, **evpn)
    for model in models.values():
        assert in_order(shuffled(model, Random(1))) == model


def test_numbers_in_names_sort_by_value() -> None:
    names = ["ethernet-1/10", "ethernet-1/2", "ethernet-1/2/1", "swp9", "swp10s2", "swp10"]
    assert sorted(names, key=natural) == ["ethernet-1/2", "ethernet-1/2/1", "ethernet-1/10", "swp9", "swp10", "swp10s2"]

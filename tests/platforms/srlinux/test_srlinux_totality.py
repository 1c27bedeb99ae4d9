"""No leaf of a configuration is lost: another leaf is another model, or another unmodelled line, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.platforms.srlinux.configuration import SRLINUX, parsed, tree
from tests.platforms.srlinux.mutations import Place, at, changed, entries, is_key, leaves, without
from tests.platforms.srlinux.switches import rail_switch, spine
from tests.sampled import sampled

from railfab.device import DeviceModel
from railfab.errors import RailfabError
from railfab.platforms import admit
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.parse import parse_tree
from railfab.platforms.srlinux.tree import deviations, stripped
from railfab.platforms.srlinux.twin import factory
from railfab.testing.device_models import device_models

drawn_briefly = settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))


def mutations(configuration: Json) -> Iterator[tuple[str, Json]]:
    """Every configuration with one leaf changed or deleted, or one entry deleted."""
    for place in leaves(configuration):
        yield f"another {place}", changed(configuration, place)
        yield f"without {place}", without(configuration, place)
    for place in entries(configuration):
        yield f"without {place}", without(configuration, place)


def reading(configuration: Json) -> DeviceModel | str:
    """The model of a configuration, or what is wrong with it."""
    try:
        return parsed(configuration)
    except RailfabError as error:
        return str(error)


@pytest.mark.parametrize("every", sampled([5, 1], few=[5]))
@pytest.mark.parametrize("switch", [rail_switch, spine], ids=lambda switch: switch.__name__)
def test_every_leaf_of_a_rendered_configuration_is_read(switch: Callable[[], DeviceModel], every: int) -> None:
    configuration = tree(switch())
    assert parsed(configuration) == switch()
    tried = islice(mutations(configuration), None, None, every)
    assert [name for name, other in tried if reading(other) == switch()] == []


def test_every_leaf_of_a_leaf_of_pod64_is_read(repository: Path) -> None:
    file = repository / "tests" / "golden" / "configurations" / "pod64" / "pod1-seg1-leaf1.json"
    configuration = json.loads(file.read_text())
    model = parsed(configuration)
    assert model.unmodelled == ()
    places = [*leaves(configuration)][::40]
    for place in places:
        assert reading(changed(configuration, place)) != model, place
        assert reading(without(configuration, place)) != model, place


@given(model=device_models("srlinux"), choice=st.data())
@drawn_briefly
def test_every_leaf_of_any_configuration_is_read(model: DeviceModel, choice: st.DataObject) -> None:
    admitted = admit(model, SRLINUX)
    configuration = tree(admitted)
    place = choice.draw(st.sampled_from(list(leaves(configuration))))
    assert reading(changed(configuration, place)) != admitted
    assert reading(without(configuration, place)) != admitted


@given(choice=st.data(), word=st.text("abcdefghij", min_size=1, max_size=8), value=st.integers(0, 10**6))
@drawn_briefly
def test_a_leaf_that_no_model_knows_is_a_line(choice: st.DataObject, word: str, value: int) -> None:
    configuration = tree()
    place = choice.draw(st.sampled_from(list(entries(configuration))))
    at(configuration, place)[f"x-{word}"] = value
    found = reading(configuration)
    assert isinstance(found, DeviceModel)
    own = [line for line in found.unmodelled if line.endswith(f" x-{word} {value}")]
    assert len(own) == 1
    if place[-1] == "match" or place[-2:] == ("match", "bgp"):
        # No rule of a model asks for it, so all of the statement is unmodelled.
        assert rules(found) == rules(rail_switch()) - 1
    else:
        assert replace(found, unmodelled=()) == rail_switch()
        assert list(found.unmodelled) == own


def rules(model: DeviceModel) -> int:
    """How many rules the policies of a model have."""
    return sum(len(policy.rules) for policy in model.policies)


@given(model=device_models("srlinux"), other=device_models("srlinux"))
@drawn_briefly
def test_deviations_are_exact(model: DeviceModel, other: DeviceModel) -> None:
    """Two configurations deviate from a third in the same lines only if they are equal."""
    first, second = (stripped(SRLINUX.render(admit(found, SRLINUX))) for found in (model, other))
    assert deviations(first, first) == []
    assert (deviations(first, second) == []) == (first == second)


def test_of_a_factory_configuration_its_management_access_alone_is_unmodelled() -> None:
    assert parse_tree(factory("leaf1"), like=tree()).unmodelled == (
        "set / interface mgmt0 admin-state enable",
        "set / interface mgmt0 subinterface 0 admin-state enable",
        "set / network-instance mgmt interface mgmt0.0",
        "set / network-instance mgmt type ip-vrf",
        "set / system grpc-server mgmt admin-state enable",
        "set / system grpc-server mgmt network-instance mgmt",
        "set / system grpc-server mgmt services [ gnmi ]",
    )


def test_mutations_change_keys_too() -> None:
    configuration = tree()
    assert any(is_key(configuration, place) for place in leaves(configuration))


@pytest.mark.parametrize("every", sampled([4, 1], few=[4]))
def test_malformed_configuration_is_read_or_refused(every: int) -> None:
    """Whatever type a leaf has, the parser reads it or says what is wrong; it never fails otherwise."""
    configuration = tree()
    malformed = product(leaves(configuration), ({"x": [1]}, [[]], [{"x": 1}], None, 1.5))
    for place, value in islice(malformed, None, None, every):
        other = changed(configuration, place)
        parent: Place = place[:-1]
        at(other, parent)[place[-1]] = value
        reading(other)

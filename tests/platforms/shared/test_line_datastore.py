"""The configuration of a virtual switch as lines: replaced as a whole, over its factory configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.platforms.frr.switches import LEAF, text

from railfab.errors import ConfigError
from railfab.gnmi.paths import elements
from railfab.gnmi.target import Edit, Found, Operation, RequestRefused
from railfab.platforms import platform
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.shared.line_datastore import LineDatastore

FRR = platform("frr")
FACTORY = "frr defaults datacenter\nhostname rft-leaf\nservice integrated-vtysh-config\n!\nend\n"


def datastore() -> LineDatastore:
    return LineDatastore("rft-leaf", FORMAT, factory=FACTORY, parse=FRR.parse)


def test_a_new_switch_has_its_factory_configuration_and_no_model() -> None:
    store = datastore()
    assert store.text(store.running) == FACTORY
    assert store.model(store.running) is None
    assert store.model(store.replaced(f"! remark\n{FACTORY}")) is None


def test_a_candidate_takes_effect_when_it_is_committed() -> None:
    store = datastore()
    candidate = store.replaced(text(LEAF))
    assert store.model(candidate) == LEAF
    assert store.text(store.running) == FACTORY
    store.commit(candidate)
    assert store.text(store.running) == text(LEAF)


def test_a_rendered_configuration_keeps_the_factory_lines_that_it_does_not_name() -> None:
    store = LineDatastore("rft-leaf", FORMAT, factory=f"log stdout\n{FACTORY}", parse=FRR.parse)
    merged = store.merged(FRR.render(LEAF))
    assert merged.count("hostname rft-leaf") == 1
    assert store.model(merged) == replace(LEAF, unmodelled=("log stdout",))


def test_a_configuration_that_is_not_valid_is_refused() -> None:
    with pytest.raises(ConfigError, match="'maximum-paths 512' has a bad value"):
        datastore().model(text(LEAF).replace("maximum-paths 64", "maximum-paths 512"))


def test_gnmi_reads_state_and_sets_nothing() -> None:
    store, path = datastore(), elements("/interfaces")
    state = [Found(path, {"interface": []})]
    assert store.get(store.running, path, state) == state
    assert list(store.selected(store.running, ())) == []
    with pytest.raises(RequestRefused) as refused:
        store.edited([Edit(Operation.REPLACE, path, {})])
    assert str(refused.value) == "rft-leaf: is not configured over gNMI. Use its CLI."

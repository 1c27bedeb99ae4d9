"""SONiC's configuration against SONiC's own models, and our checker of them against both."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.oracles import sonic_schema
from tests.oracles.sonic import ARCHIVE, SonicModels
from tests.platforms.other_switches import judged
from tests.platforms.sonic.configuration import SONIC, unlisted_fields, whole
from tests.platforms.sonic.designs import with_sonic

from railfab.platforms import admit
from railfab.platforms.sonic.schema import tree_refusals
from railfab.platforms.sonic.tables import Tables
from railfab.testing.device_models import device_models

pytestmark = pytest.mark.oracle
INTENTS = (
    *("dual-esi", "dual-plane", "dual-rail", "dual-vlan", "multi-pod", "multi-rail", "multi-rail-own"),
    *("pod64", "pod64-800g", "pod64-bundle", "rail-blocks", "shared-nic", "single-switch"),
)
"""Design documents whose switches can all be DS5000."""


@pytest.mark.parametrize("name", INTENTS)
def test_the_models_and_our_checker_accept_the_switches_of_a_design(
    sonic_models: SonicModels, repository: Path, name: str, tmp_path: Path
) -> None:
    switches = [admit(model, SONIC) for model in judged(with_sonic(repository, name, tmp_path).models.values())]
    assert switches
    trees = [whole(model) for model in switches]
    assert sonic_models.complaints_of_each(trees, tmp_path) == [[]] * len(trees)
    assert [tree_refusals(tree) for tree in trees] == [()] * len(trees)
    assert unlisted_fields(trees) == []
    assert [SONIC.parse(SONIC.text(SONIC.render(model))) for model in switches] == switches


def test_the_models_and_our_checker_accept_the_rows_of_nvidias_chips(
    sonic_models: SonicModels, repository: Path, tmp_path: Path
) -> None:
    (switch, *_) = judged(with_sonic(repository, "pod64", tmp_path).models.values())
    model = admit(replace(switch, silicon="Spectrum-4"), SONIC)
    tree = whole(model)
    assert "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" in tree
    assert (sonic_models.complaints_of_each([tree], tmp_path), tree_refusals(tree)) == ([[]], ())
    assert unlisted_fields([tree]) == []
    assert SONIC.parse(SONIC.text(SONIC.render(model))) == model


def test_the_models_accept_every_model_that_the_capabilities_allow(sonic_models: SonicModels, tmp_path: Path) -> None:
    trees: list[Tables] = []

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(drawn=st.data())
    def draw(drawn: st.DataObject) -> None:
        trees.append(whole(drawn.draw(device_models("sonic"))))

    draw()
    assert sonic_models.complaints_of_each(trees, tmp_path) == [[]] * len(trees)
    assert unlisted_fields(trees) == []


def test_the_schema_is_that_of_the_models(oracles: Path, sonic_models: SonicModels) -> None:
    del sonic_models
    assert json.loads(sonic_schema.FILE.read_text()) == json.loads(
        sonic_schema.text_of(sonic_schema.document(oracles / ARCHIVE))
    )

"""Every committed design is rendered for its platforms and audits clean; its shape is rendered for two others."""

from __future__ import annotations

import pytest
from tests.docs.tables import own_platforms
from tests.fabric.design_pairs import FABRICS, Pair, pairs, rendered
from tests.fabric.sampled import sampled_file
from tests.platforms.other_switches import EVERY

from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings
from railfab.findings import Severity
from railfab.intent import load_intent
from railfab.intent.starters import designs
from railfab.topology.dimensions import Dimensions

ANEW = "write them anew: python -m tests.fabric.design_pairs"
LARGE = ("gpu16384", "gpu32768", "gpu131072")
"""Designs of which even `make oracles` renders one switch of each kind."""
TRIED = [pair for pair in pairs() if EVERY or pair.design not in LARGE]
"""Pairs that are rendered; wiring the largest designs twice takes longest, and `make oracles` does it."""


def audited(found: Design) -> list[str]:
    """Errors and warnings about the configurations, each of which is parsed: a text that is the rendered one is not."""
    texts = {name: f"{text}\n" for name, text in found.texts.items()}
    return [str(one) for one in configuration_findings(found, texts) if one.severity is not Severity.NOTE]


@pytest.mark.parametrize("name", designs())
def test_a_design_is_rendered_for_its_platforms_and_audits_clean(name: str) -> None:
    """One switch of each kind, and with `RAILFAB_SWITCHES=all` every one, but of the largest designs.

    That each design plans without a finding, tests/topology/test_design_goldens.py holds.
    """
    path = FABRICS / f"{name}.yml"
    every = EVERY and name not in LARGE
    assert audited(design(path) if every else sampled_file(path)) == []


@pytest.mark.parametrize("pair", TRIED, ids=lambda pair: pair.name)
def test_the_shape_of_a_design_is_rendered_for_another_platform_or_refused_by_name(pair: Pair) -> None:
    found = rendered(pair)
    if pair.refused:
        assert found == pair.refused, ANEW
    else:
        assert isinstance(found, Design), (found, ANEW)
        assert pair.platform in {model.platform for model in found.models.values()}
        assert audited(found) == []


def test_each_design_has_two_pairs_of_other_platforms() -> None:
    for name in designs():
        intent = load_intent(FABRICS / f"{name}.yml")
        sizes = Dimensions(intent)
        tiers = (sizes.segments, sizes.leaf_model), (sizes.spines, sizes.spine_model)
        used = {tier.platform or model.platform for tier, model in tiers if tier is not None and model is not None}
        others = {pair.platform for pair in pairs() if pair.design == name}
        assert len(others) == 2, name
        assert not used & others, name


def test_every_platform_is_in_a_pair() -> None:
    assert {pair.platform for pair in pairs()} >= {*own_platforms()}

"""The silences that docs/telemetry.md shows match the alerts of the cable that it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.dashboards.promql_labels import labels_of

from railfab.dashboards import ALERTS
from railfab.fabric.design import design

ROOT = Path(__file__).parents[2]
PORT, SESSION = frozenset(("fabric", "device", "interface")), frozenset(("fabric", "device", "peer"))
OF_A_CABLE = {
    "FabricLinkDown": PORT,
    "FabricLinkFlap": PORT,
    "FabricCablingMismatch": PORT,
    "FabricBgpSessionDown": SESSION,
    "FabricBgpFlapping": SESSION,
    "FabricBfdDown": SESSION,
}
"""What a cable that is replaced raises at both of its ends, with its labels."""


def silences() -> Iterator[dict[str, str]]:
    """The matchers of each silence of the example."""
    text = (ROOT / "docs" / "telemetry.md").read_text()
    for line in re.findall(r"^\$ amtool silence add (.*)$", text, re.MULTILINE):
        yield dict(word.split("=", 1) for word in shlex.split(line) if re.match(r"[a-z]+=", word))


@pytest.mark.parametrize(("name", "labels"), OF_A_CABLE.items())
def test_an_alert_of_a_cable_has_the_labels_that_a_silence_matches(name: str, labels: frozenset[str]) -> None:
    (alert,) = (alert for alert in ALERTS if alert.alert == name)
    assert labels <= labels_of(alert.expr)
    assert [found.keys() for found in silences()].count(labels) == 2


def test_the_silences_are_those_of_both_ends_of_one_cable() -> None:
    topology = design(ROOT / "inventory" / "fabrics" / "pod64.yml").topology
    ends = {(found["device"], found.get("interface") or found["peer"]) for found in silences()}
    assert ends in [{(link.a.node, link.a.name), (link.z.node, link.z.name)} for link in topology.links]

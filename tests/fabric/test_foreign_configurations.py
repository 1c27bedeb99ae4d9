"""A configuration of another platform is one finding, also where its ports have the names of the intent's."""

from __future__ import annotations

from itertools import permutations

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.fabric.audit import switch_audit
from railfab.findings import DifferenceCode
from railfab.platforms import platform_names

SPINE = "pod1-spine1"


@pytest.mark.parametrize(("own", "other"), [pair for pair in permutations(platform_names(), 2) if "eos" in pair])
def test_it_is_one_finding(own: str, other: str) -> None:
    """Each line of it differs from the intent's: some fifty findings, none of which names the cause."""
    found = switch_audit(design_of(own, own), SPINE, design_of(other, other).texts[SPINE]).findings
    assert [finding.code for finding in found] == [DifferenceCode.CONFIGURATION_INVALID]


@pytest.mark.parametrize(("own", "other"), [("eos", "nxos"), ("nxos", "eos"), ("frr", "eos"), ("srlinux", "sonic")])
def test_the_finding_names_the_platform(own: str, other: str) -> None:
    (found,) = switch_audit(design_of(own, own), SPINE, design_of(other, other).texts[SPINE]).findings
    assert found.line == (
        f"error {SPINE}: configuration: is one of platform {other}, and the intent has {own} on this switch. Take that "
        "of this switch, or correct its platform in the intent. [configuration-invalid]"
    )


@pytest.mark.parametrize("name", ["eos", "frr", "nxos"])
def test_one_of_the_own_platform_that_an_operator_has_extended_is_read(name: str) -> None:
    fabric = design_of(name, name)
    text = fabric.texts[SPINE]
    more = "".join(f"event-handler own-{number}\n" for number in range(2 * text.count("\n")))
    found = switch_audit(fabric, SPINE, more + text).findings
    assert DifferenceCode.CONFIGURATION_INVALID not in {finding.code for finding in found}

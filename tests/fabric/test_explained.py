"""One cause is one finding: a value that differs in nothing but lines that hazards name has no finding of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.audit.cases import PLATFORMS, cases
from tests.platforms.small_fabrics import design_of
from tests.sampled import sampled

from railfab.device import DeviceModel, Port
from railfab.fabric import audit
from railfab.fabric.audit import switch_audit
from railfab.fabric.design import render_text
from railfab.fabric.explained import with_replaced
from railfab.findings import DifferenceCode, Finding
from railfab.platforms import Difference, Platform, Side, platform

LEAF = "pod1-seg1-leaf1"
OF_MTU = [name for name in PLATFORMS if name != "frr"]
SMALL, MISMATCH = 4200, 9014
"""An MTU that is a hazard, and one in which RoCE fits."""


def differing(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.code is DifferenceCode.CONFIGURATION_DIFFERS]


def without_patterns(name: str) -> Platform:
    return replace(platform(name), hazards=lambda: ())


@pytest.mark.parametrize("every", sampled([15, 1], few=[15]))
@pytest.mark.parametrize("name", PLATFORMS)
def test_without_the_patterns_every_difference_is_back(name: str, every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mistakes = list(cases("mistakes", [name]))[::every]
    audited = [case.findings for case in mistakes]
    monkeypatch.setattr(audit, "platform", without_patterns)
    explained = 0
    for case, findings in zip(mistakes, audited, strict=True):
        left, whole = differing(findings), differing(case.findings)
        assert [finding for finding in whole if finding in left] == left
        assert left == whole or any(finding.is_hazard for finding in findings), case.words
        explained += len(whole) - len(left)
    assert explained > 0


def with_mtus(model: DeviceModel, *mtus: int) -> DeviceModel:
    """The model with these MTUs on its first ports that state one."""
    stated = [port for port in model.interfaces if isinstance(port, Port) and port.mtu_bytes]
    changed = {port.name: replace(port, mtu_bytes=mtu) for port, mtu in zip(stated, mtus, strict=False)}
    return replace(model, interfaces=tuple(changed.get(port.name, port) for port in model.interfaces))


@pytest.mark.parametrize("name", OF_MTU)
def test_a_difference_of_the_same_field_that_no_hazard_names_stays(name: str) -> None:
    fabric = design_of(name, name)
    ports = [port.name for port in fabric.models[LEAF].interfaces if isinstance(port, Port) and port.mtu_bytes]

    def places(*mtus: int) -> list[str]:
        text = render_text(with_mtus(fabric.models[LEAF], *mtus))
        return [finding.where for finding in differing(switch_audit(fabric, LEAF, text).findings)]

    small, mismatch = (f"{LEAF}: interfaces[{port}].mtu_bytes" for port in ports[:2])
    assert places(SMALL) == []
    assert places(SMALL, MISMATCH) == [small, mismatch]


@pytest.mark.parametrize("name", OF_MTU)
def test_a_difference_of_another_field_does_not_bring_it_back(name: str) -> None:
    fabric = design_of(name, name)
    model = with_mtus(fabric.models[LEAF], SMALL)
    renamed = replace(model.interfaces[1], description="spare")
    model = replace(model, interfaces=(model.interfaces[0], renamed, *model.interfaces[2:]))
    findings = switch_audit(fabric, LEAF, render_text(model)).findings
    assert [finding.where for finding in differing(findings)] == [f"{LEAF}: interfaces[{renamed.name}].description"]
    assert "small-mtu" in {finding.code for finding in findings}


WARNINGS = {
    "eos": "thresholds ten times as high",
    "sonic": "every packet is marked at Kmax",
    "nxos": "the watchdog waits for a second",
    "cumulus": "a BFD multiplier of ten",
    "srlinux": "the default timers of other vendors",
    "junos": "watchdog that waits for longer",
    "frr": "BFD packets every three seconds",
}


@pytest.mark.parametrize("name", WARNINGS)
def test_no_error_stands_beside_the_warning_that_names_all_lines_that_differ(name: str) -> None:
    case = next(case for case in cases("mistakes", [name]) if case.words == WARNINGS[name])
    assert [str(finding.severity) for finding in case.findings] == ["warning"] * len(case.findings)


@pytest.mark.parametrize(
    ("missing", "added", "is_replaced"),
    [
        ("section: no timers 3 9", "section: timers 60 180", True),
        ("section: no action drop", "section: action log", True),
        ("section: no timers 3 9", "other: timers 60 180", False),
        ("section: no neighbor swp1 bfd", "section: neighbor swp2 bfd", False),
        ("delete schedulers roce buffer 3", "schedulers roce buffer 5", True),
    ],
)
def test_a_line_takes_the_place_of_another_with_the_same_words_before_its_value(
    missing: str, added: str, is_replaced: bool
) -> None:
    differences = [
        Difference(side=Side.MISSING, path=missing, text=missing, section=""),
        Difference(side=Side.ADDED, path=added, text=added, section=""),
    ]
    assert with_replaced(frozenset({added}), differences) == {added, *([missing] if is_replaced else [])}
    assert with_replaced(frozenset(), differences) == frozenset()

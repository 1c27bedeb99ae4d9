"""The design of a fabric: findings of every check, and what they stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import NotRenderedYet
from railfab.fabric import NotAccepted, design
from railfab.findings import DesignCode, Severity

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


@pytest.fixture
def oversubscribed(tmp_path: Path) -> Path:
    """pod64 with half its spines, stated to be non-blocking."""
    path = tmp_path / "pod64.yml"
    text = (FABRICS / "pod64.yml").read_text()
    path.write_text(text.replace("  spines:\n    count: 4", "  oversubscription: 1\n  spines:\n    count: 2"))
    return path


def test_an_error_stops_configurations_until_its_code_is_accepted(oversubscribed: Path) -> None:
    fabric = design(oversubscribed)
    with pytest.raises(NotAccepted) as caught:
        fabric.configurations()
    assert [finding.code for finding in caught.value.findings] == [DesignCode.OVERSUBSCRIPTION]
    assert str(caught.value) == (
        f"{oversubscribed}: the design has 1 error (oversubscription), and nothing was changed. "
        "Correct the intent, or continue with --accept oversubscription."
    )
    with pytest.raises(NotAccepted):
        fabric.configurations([DesignCode.PORT_BUDGET])
    assert set(fabric.configurations([DesignCode.OVERSUBSCRIPTION])) == set(fabric.models)


def test_a_warning_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pod64.yml"
    path.write_text((FABRICS / "pod64.yml").read_text().replace("    count: 4", "    count: 2"))
    fabric = design(path)
    assert [finding.severity for finding in fabric.findings] == [Severity.WARNING]
    assert fabric.configurations()


def test_findings_of_topology_racks_and_buffers_are_together_errors_first(tmp_path: Path) -> None:
    path = tmp_path / "pod64.yml"
    text = (FABRICS / "pod64.yml").read_text()
    for old, new in (
        ("  spines:\n    count: 4", "  oversubscription: 1\n  spines:\n    count: 2"),
        ("lossless: {dscp: 26", "lossless: {ecn: false, dscp: 26"),
        ("hosts: {gpus: 8", "hosts: {model: dgx-b200, per_rack: 8, gpus: 8"),
        ("    hosts: 4", "    hosts: 8"),
    ):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    codes = [finding.code for finding in design(path).findings]
    assert codes[0] is DesignCode.OVERSUBSCRIPTION
    assert {DesignCode.PFC_WITHOUT_ECN, DesignCode.RACK_SPACE} < set(codes)


def test_a_design_that_cannot_be_rendered_has_a_topology_and_findings_and_no_models(tmp_path: Path) -> None:
    text = (FABRICS / "dual-esi.yml").read_text()
    path = tmp_path / "intent.yml"
    path.write_text(text.replace("profile:\n", "profile:\n  transport: uet\n"))
    fabric = design(path)
    assert fabric.topology.switches()
    assert [finding.code for finding in fabric.findings] == [DesignCode.UET_PFC]
    with pytest.raises(NotRenderedYet) as caught:
        fabric.check(DesignCode)
    assert str(caught.value).startswith(f"{fabric.path}: profile.transport: configurations cannot be rendered with uet")
    assert fabric.refusals() == ()

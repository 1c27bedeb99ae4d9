"""Documents show the thresholds that a switch is configured with, and say which it chooses by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from railfab.documents import Plan, headroom_text, is_configured, planned, ramp_texts, xoff_text
from railfab.documents.explain import explained
from railfab.documents.plan_json import document

VALUES = ("xoff_bytes", "xon_offset_bytes", "headroom_percent", "headroom_bytes")


def plan_of(repository: Path, name: str) -> Plan:
    return planned(repository / "inventory" / "fabrics" / f"{name}.yml")


@pytest.mark.parametrize("name", ["mixed-eos-spine", "mixed-junos-spine", "mixed-sonic-leaf", "single-rail", "pod64"])
def test_a_document_has_the_values_that_the_configurations_have(repository: Path, name: str) -> None:
    """The values of the device models, after each platform has left out what it has no setting for."""
    fabric = plan_of(repository, name)
    shown = json.loads("".join(document(fabric)))["thresholds"]
    for kind in fabric.buffers:
        qos = fabric.models[kind.where.partition(" ")[0]].qos
        assert qos is not None
        (stated, *_) = (found for profile in qos.profiles for found in profile.thresholds if found.ecn)
        for value in VALUES:
            assert is_configured(kind, value) is (getattr(stated, value) is not None), (kind.where, value)
        for record in shown[kind.switches[0].name]:
            assert [value for value in VALUES if record[value] is None] == [
                value for value in VALUES if not is_configured(kind, value)
            ]


def texts(fabric: Plan) -> list[tuple[str, ...]]:
    kinds = [(kind, kind.thresholds[0]) for kind in fabric.buffers]
    return [(*ramp_texts(kind, port), xoff_text(kind, port), headroom_text(kind, "stated")) for kind, port in kinds]


def test_a_table_says_what_the_switch_chooses_and_what_it_does_not_have(repository: Path, tmp_path: Path) -> None:
    ramp = ("485", "1455", "10 %")
    assert texts(plan_of(repository, "mixed-eos-spine")) == [
        (*ramp, "by the switch", "by the switch"),
        (*ramp, "by the switch", "stated"),
    ]
    assert texts(plan_of(repository, "pod64"))[0] == ("150", "450", "10 %", "585", "stated")
    text = (repository / "inventory" / "fabrics" / "pod64.yml").read_text()
    lossy = tmp_path / "lossy.yml"
    lossy.write_text(text.replace("lossless: {", "lossless: {pfc: false, "))
    assert texts(planned(lossy))[0] == ("150", "450", "10 %", "none", "none")
    lossy.write_text(text.replace("lossless: {", "lossless: {ecn: false, "))
    assert texts(planned(lossy))[0] == ("none", "none", "none", "585", "stated")


def explanation(fabric: Plan) -> str:
    return "\n".join(text for section in explained(fabric) for text in section.statements)


def test_an_explanation_names_the_platform_that_chooses(repository: Path) -> None:
    text = explanation(plan_of(repository, "mixed-eos-spine"))
    assert "XOFF is chosen by the switch, as nxos has no setting for it; Kmax + 485 kB = 1,940 kB is planned" in text
    assert "(planned: nxos divides the buffer by itself)" in text
    assert "eos divides" not in text
    assert "XOFF" not in explanation(plan_of(repository, "dual-plane"))

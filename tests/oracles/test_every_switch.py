"""The run of `make oracles`, on a design of eight switches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.oracles.every_switch import Court, Verdict, page

from railfab.device import DeviceModel, Port
from railfab.fabric import design

pytestmark = pytest.mark.oracle


@pytest.fixture
def court(oracles: Path, tmp_path: Path) -> Court:
    if not (oracles / "srlinux-yang-25.3.1.tar.xz").exists():
        pytest.skip(f"needs srlinux-yang-25.3.1.tar.xz in {oracles}; tests/README.md says where to get it")
    return Court(oracles, tmp_path)


def test_every_switch_of_a_design_is_judged(court: Court, repository: Path) -> None:
    court.hear(repository / "inventory" / "fabrics" / "pod64.yml")
    verdict = court.verdicts["srlinux"]
    assert (verdict.designs, verdict.switches, verdict.refused) == (1, 8, [])
    assert verdict.lines > 8_000


def test_a_refused_switch_is_named(court: Court, repository: Path) -> None:
    models = list(design(repository / "inventory" / "fabrics" / "pod64.yml").models.values())
    court.judge("pod64", [_with_mtu(models[0], 99_999), *models[1:]])
    (said,) = court.verdicts["srlinux"].refused
    assert said.startswith(f"pod64: {models[0].name}: ")
    assert said in page(court.verdicts, (), "")


def _with_mtu(model: DeviceModel, mtu_bytes: int) -> DeviceModel:
    first, *others = model.interfaces
    assert isinstance(first, Port)
    return replace(model, interfaces=(replace(first, mtu_bytes=mtu_bytes), *others))


def test_a_design_that_is_not_rendered_is_listed(court: Court, repository: Path) -> None:
    court.hear(repository / "inventory" / "fabrics" / "missing.yml")
    assert court.verdicts == {}
    assert court.missing[0].startswith("missing: ")
    assert f"- {court.missing[0]}\n" in page({"srlinux": Verdict("models")}, court.missing, "")

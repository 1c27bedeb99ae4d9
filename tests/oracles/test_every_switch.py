"""The run of `make oracles`, on a design of eight switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.fabric.configuration_goldens import GOLDEN, HASHES
from tests.oracles.every_switch import OracleRun, Verdict, oracle_of, page

from railfab.device import DeviceModel, Port
from railfab.fabric import design
from railfab.platforms import platform, platform_names

pytestmark = pytest.mark.oracle


@pytest.fixture
def run(oracles: Path, tmp_path: Path) -> OracleRun:
    if not (oracles / "srlinux-yang-25.3.1.tar.xz").exists():
        pytest.skip(f"needs srlinux-yang-25.3.1.tar.xz in {oracles}; tests/README.md says where to get it")
    return OracleRun(oracles, tmp_path)


BEGINNINGS = {"eos": "service routing", "frr": "frr defaults", "junos": "system {", "srlinux": '{\n  "srl_nokia'}
"""What the text of a platform begins with, after comments, where another one has files of the same suffix."""


@cache
def shapes() -> Mapping[str, Mapping[str, DeviceModel]]:
    """One switch of each network and role of every design and lab, with one port of each kind, by platform and file.

    They are the committed configurations, of which tests/fabric/test_configuration_goldens.py holds that they are
    what is rendered.
    """
    found: dict[str, dict[str, DeviceModel]] = {name: {} for name in platform_names()}
    for file in sorted(GOLDEN.glob("*/*")):
        if file.name != HASHES:
            text = file.read_text()
            name = platform_of(file.suffix.removeprefix("."), text)
            found[name][f"{file.parent.name}/{file.name}"] = platform(name).parse(text)
    return found


def platform_of(suffix: str, text: str) -> str:
    names = [name for name in platform_names() if platform(name).suffix == suffix]
    begun = [name for name in names if f"\n{text}".find(f"\n{BEGINNINGS.get(name, chr(0))}") >= 0]
    (found,) = begun or [name for name in names if name not in BEGINNINGS]
    return found


@pytest.mark.parametrize("name", platform_names())
def test_one_switch_of_each_shape_of_every_design_is_taken_by_its_oracle(
    name: str, oracles: Path, tmp_path: Path
) -> None:
    found = oracle_of(name)
    assert found is not None
    if name == "eos":
        pytest.importorskip("pyavd", reason="needs PyAVD; run: make oracle-deps", exc_type=ImportError)
    assert shapes()[name]
    judge = found[1](oracles, tmp_path)
    assert list(judge([*shapes()[name].values()])) == []


def test_every_committed_configuration_is_judged() -> None:
    files = [file for file in GOLDEN.glob("*/*") if file.name != HASHES]
    assert sum(map(len, shapes().values())) == len(files)


def test_every_switch_of_a_design_is_judged(run: OracleRun, repository: Path) -> None:
    run.judge_design(repository / "inventory" / "fabrics" / "pod64.yml")
    verdict = run.verdicts["srlinux"]
    assert (verdict.designs, verdict.switches, verdict.refused) == (1, 8, [])
    assert verdict.lines > 8_000


def test_of_a_larger_design_as_many_switches_are_judged_as_wanted(
    oracles: Path, tmp_path: Path, repository: Path
) -> None:
    run = OracleRun(oracles, tmp_path, most=3)
    run.judge_design(repository / "inventory" / "fabrics" / "rail-blocks.yml")
    run.judge_design(repository / "inventory" / "fabrics" / "routed.yml")
    verdict = run.verdicts["nxos"]
    assert (verdict.designs, verdict.switches, verdict.refused) == (2, 1 + 3, [])


def test_the_design_of_a_lab_is_named_by_its_folder(oracles: Path, tmp_path: Path, repository: Path) -> None:
    run = OracleRun(oracles, tmp_path, most=1)
    run.judge_design(repository / "labs" / "srl-pod" / "intent.yml")
    assert run.verdicts["srlinux"].names == {"srl-pod"}


def test_a_refused_switch_is_named(run: OracleRun, repository: Path) -> None:
    models = list(design(repository / "inventory" / "fabrics" / "pod64.yml").models.values())
    run.judge("pod64", [_with_mtu(models[0], 99_999), models[1]])
    (said,) = run.verdicts["srlinux"].refused
    assert said.startswith(f"pod64: {models[0].name}: ")
    assert said in page(run.verdicts, (), "")


def _with_mtu(model: DeviceModel, mtu_bytes: int) -> DeviceModel:
    first, *others = model.interfaces
    assert isinstance(first, Port)
    return replace(model, interfaces=(replace(first, mtu_bytes=mtu_bytes), *others))


def test_a_design_that_is_not_rendered_is_listed(run: OracleRun, repository: Path) -> None:
    run.judge_design(repository / "inventory" / "fabrics" / "missing.yml")
    assert run.verdicts == {}
    assert run.missing[0].startswith("missing: ")
    assert f"- {run.missing[0]}\n" in page({"srlinux": Verdict("models")}, run.missing, "")

"""Runs that are kept are those that were computed, and whatever they follow from makes another digest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from railfab.fabric import design
from railfab.intent.load import load_job_file
from railfab.simulate import FabricEstimate, SweepRun, inputs, simulate_job
from railfab.simulate.kept_runs import KeptRuns
from railfab.simulate.memo import Memo

INVENTORY = Path(__file__).parents[2] / "inventory"
SWITCH = "tor"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An intent, the catalogue that it names, and a job."""
    intent = yaml.safe_load((INVENTORY / "fabrics" / "pod64.yml").read_text()) | {"catalogue": "switches.yml"}
    (tmp_path / "fabric.yml").write_text(yaml.safe_dump(intent))
    (tmp_path / "switches.yml").write_text(f"switches:\n  {SWITCH}: {{like: 7220-ixr-d5}}\n")
    (tmp_path / "job.yml").write_text((INVENTORY / "jobs" / "alltoall.yml").read_text())
    return tmp_path


def kept(folder: Path, options: Sequence[str] = ("alltoall", "1"), *, version: str = "v1") -> KeptRuns:
    runs = KeptRuns.of(folder / "fabric.yml", folder / "job.yml", options, folder=folder / "kept", version=version)
    assert runs is not None
    return runs


def edited(name: str, before: str, after: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text()
        assert before in text
        (folder / name).write_text(text.replace(before, after))

    return edit


@pytest.fixture(scope="module")
def computed() -> tuple[FabricEstimate, ...]:
    job = load_job_file(INVENTORY / "jobs" / "alltoall.yml")[0]
    return (simulate_job(job, design(INVENTORY / "fabrics" / "pod64.yml"), packets=Memo(None)),)


def test_what_is_read_is_what_was_written(folder: Path, computed: tuple[FabricEstimate, ...]) -> None:
    assert kept(folder).read() is None
    kept(folder).write("pod64", computed)
    assert kept(folder).read() == ("pod64", computed)
    assert computed[0].contentions[0].sample is not None


@pytest.mark.parametrize(
    "change",
    [
        edited("fabric.yml", "cable_m: 5", "cable_m: 6"),
        edited("switches.yml", "7220-ixr-d5", "7220-ixr-h5"),
        edited("job.yml", "64MB", "65MB"),
    ],
    ids=["intent", "catalogue", "job"],
)
def test_another_file_is_another_run(
    folder: Path, computed: tuple[FabricEstimate, ...], change: Callable[[Path], None]
) -> None:
    kept(folder).write("pod64", computed)
    sweep_key = SweepRun(str(folder / "fabric.yml"), str(folder / "job.yml")).key
    change(folder)
    assert kept(folder).read() is None
    assert SweepRun(str(folder / "fabric.yml"), str(folder / "job.yml")).key != sweep_key


@pytest.mark.parametrize(
    "options",
    [("alltoall", "2"), ("alltoall", "1", "switch=pod1-spine1"), ("alltoall",), ("all", "toall1")],
    ids=["seeds", "fault", "fewer", "the same text"],
)
def test_other_options_are_another_run(
    folder: Path, computed: tuple[FabricEstimate, ...], options: Sequence[str]
) -> None:
    kept(folder).write("pod64", computed)
    assert kept(folder, options).read() is None


def test_other_software_computes_anew(folder: Path, computed: tuple[FabricEstimate, ...]) -> None:
    kept(folder).write("pod64", computed)
    assert kept(folder, version="v2").read() is None


def test_a_changed_source_a_platform_or_a_library_is_other_software(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = inputs.software_version()
    assert inputs.software_version() == first
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "outside_platform.py").write_text("PLATFORM = 1\n")
    monkeypatch.setattr(inputs, "registered_modules", lambda: ("outside_platform",))
    with_platform = inputs.software_version()
    (tmp_path / "outside_platform.py").write_text("PLATFORM = 2\n")
    assert len({first, with_platform, inputs.software_version()}) == 3
    monkeypatch.setattr(inputs, "LIBRARIES", ("pydantic",))
    assert inputs.software_version() not in (first, with_platform)


@pytest.mark.parametrize("name", ["simulate/packets.py", "forwarding/routes.py", "topology/catalogue.yml"])
def test_the_sources_of_railfab_are_part_of_the_software(name: str) -> None:
    sources = set(inputs.sources("railfab"))
    assert Path(inputs.__file__).parents[1] / name in sources
    assert not any("__pycache__" in path.parts for path in sources)


def test_a_result_that_does_not_read_back_equal_is_not_kept(folder: Path, computed: tuple[FabricEstimate, ...]) -> None:
    step = replace(computed[0].step, exposed_s={"all": float("inf")})
    kept(folder).write("pod64", (replace(computed[0], step=step),))
    assert kept(folder).read() is None


def test_files_that_cannot_be_read_are_left_to_the_command(folder: Path) -> None:
    missing = KeptRuns.of(folder / "no.yml", folder / "job.yml", (), folder=folder, version="v1")
    (folder / "fabric.yml").write_text("a: [")
    broken = KeptRuns.of(folder / "fabric.yml", folder / "job.yml", (), folder=folder, version="v1")
    assert (missing, broken) == (None, None)

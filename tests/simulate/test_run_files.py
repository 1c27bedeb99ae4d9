"""Pictures and tables of runs: equal bytes for equal runs, and columns that say what the run does."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import (
    FabricEstimate,
    SweepResult,
    simulate_job,
    write_distribution,
    write_pictures,
    write_results,
    write_tables,
)
from railfab.simulate.link_places import link_places
from railfab.simulate.named_faults import faults
from railfab.simulate.pictures import step_rows

pytest.importorskip("matplotlib")
parquet = pytest.importorskip("pyarrow.parquet")

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
EXCHANGE = {"op": "alltoall", "bytes": 64_000_000, "group": "all"}


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


@pytest.fixture(scope="module")
def narrow(pod64: Design) -> FabricEstimate:
    """An AllToAll over one spine of four, behind 5 ms of computation."""
    phases = [{"compute": {"ms": 5}}, {"collective": EXCHANGE}]
    change = faults([f"switch=pod1-spine{number}" for number in (1, 2, 3)], pod64.topology)
    return simulate_job(
        Job.model_validate({"version": 1, "job": "made", "phases": phases}), pod64, change=change, details=True
    )


def test_equal_runs_are_equal_pictures_of_whole_files(pod64: Design, narrow: FabricEstimate, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        paths = write_pictures("made", pod64, narrow, folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    names = {f"pod64-{kind}.{ending}" for kind in ("step", "loads", "rails") for ending in ("svg", "png")}
    assert {path.name for path in paths} == names
    for name in names:
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second, name
    for path in folders[0].glob("*.svg"):
        ElementTree.parse(path)
        assert not re.search(rb"<dc:date>|\d{4}-\d\d-\d\dT", path.read_bytes())


def test_a_step_is_the_sum_of_its_blocks(narrow: FabricEstimate) -> None:
    (row,) = step_rows(narrow.step)
    assert [block.kind for block in row.blocks] == ["computation", "exposed all"]
    assert row.blocks[0].duration_s == 5e-3
    assert row.blocks[1].begin_s + row.blocks[1].duration_s == pytest.approx(narrow.step.step_s)


def test_columns_of_links_and_ranks_are_those_of_the_run(pod64: Design, narrow: FabricEstimate, tmp_path: Path) -> None:
    write_tables([(pod64, narrow)], tmp_path)
    operations, links, ranks = (
        parquet.read_table(tmp_path / f"{name}.parquet").to_pylist() for name in ("operations", "links", "ranks")
    )
    (contention,) = narrow.contentions
    assert [(row["op"], row["slowest_s"], row["link"]) for row in operations] == [
        ("alltoall", contention.slowest_s, contention.link)
    ]
    assert len(links) == 2 * len(pod64.topology.links)
    busiest = next(row for row in links if contention.link.startswith(f"{row['node']} {row['port']} "))
    assert (busiest["tier"], busiest["peak_load"]) == ("spine > leaf", pytest.approx(1.0, abs=2e-3))
    up = [row["carried_bytes"] for row in links if row["tier"] == "host > leaf"]
    assert sum(up) == pytest.approx(56 * 64_000_000)
    for row in links:
        whole = row["capacity_bytes_per_s"] * contention.slowest_s
        assert row["mean_load"] == pytest.approx(row["carried_bytes"] / whole if whole else 0.0)
    assert len(ranks) == 64
    assert max(row["seconds"] for row in ranks) == contention.slowest_s
    assert {(row["host"], row["gpu"]) for row in ranks} == {
        (host.name, gpu) for host in pod64.topology.hosts() for gpu in range(8)
    }


def test_several_designs_share_a_table_and_one_in_closed_form_has_no_links(
    pod64: Design, narrow: FabricEstimate, tmp_path: Path
) -> None:
    plain = FabricEstimate(seed=0, step=narrow.step, contentions=())
    assert [path.name for path in write_tables([(pod64, plain)], tmp_path)] == ["operations.parquet"]
    pictures = write_pictures("made", pod64, plain, tmp_path)
    assert [path.name for path in pictures] == ["pod64-step.svg", "pod64-step.png"]
    write_tables([(pod64, plain), (pod64, narrow)], tmp_path)
    rows = parquet.read_table(tmp_path / "operations.parquet").to_pylist()
    assert [(row["seed"], row["groups"]) for row in rows] == [(0, None), (1, 1)]


@pytest.mark.parametrize(
    ("name", "tiers", "rails"),
    [
        ("pod64", ["host > leaf", "leaf > spine", "spine > leaf", "leaf > host"], 9),
        (
            "multi-pod",
            [
                "host > leaf",
                "leaf > spine",
                "spine > super-spine",
                "super-spine > spine",
                "spine > leaf",
                "leaf > host",
            ],
            None,
        ),
        ("single-switch", ["host > leaf", "leaf > host"], None),
    ],
)
def test_links_have_tiers_from_the_hosts_up_and_down_again(name: str, tiers: list[str], rails: int | None) -> None:
    fabric = design(FABRICS / f"{name}.yml")
    places = link_places(fabric.topology)
    assert list(places.tiers) == tiers
    assert rails is None or len(places.rails) == rails, "each rail, and those that a leaf serves together"
    up = places.links[places.tier == 0]
    assert len(up) == sum(len(fabric.topology.ports_of(host.name)) for host in fabric.topology.hosts())


def sweep_result(seed: int, step_s: float | None, *texts: str, fabric: str = "pod64") -> SweepResult:
    return SweepResult(f"{fabric}{seed}{texts}", fabric, "made", seed, texts, step_s)


def test_a_sweep_is_a_table_with_each_result_and_an_equal_picture_each_time(tmp_path: Path) -> None:
    results = [
        sweep_result(1, 2.0),
        sweep_result(2, 2.1),
        sweep_result(1, 3.0, "switch=a", "cable=b:c"),
        sweep_result(1, None, "switch=d"),
    ]
    rows = parquet.read_table(write_results(results, tmp_path / "results.parquet")).to_pylist()
    assert [(row["step_s"], row["faults"]) for row in rows] == [
        (2.0, []),
        (2.1, []),
        (3.0, ["switch=a", "cable=b:c"]),
        (None, ["switch=d"]),
    ]
    pictures = [write_distribution(results, tmp_path / name)[0].read_bytes() for name in ("a", "b")]
    assert pictures[0] == pictures[1]

"""Output of nccl-tests: what its own code prints is read, as text and as JSON alike, and what is no run is one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.imports.nccl_output import Output, Row

from railfab.imports.existing import SourceError
from railfab.imports.nccl_tests import read_nccl_tests
from railfab.workload.measured_run import MeasuredRun

RECORDED = Path("tests/reference/nccl_tests")
PLAIN = Output(
    "allreduce",
    ("pod1-seg1-host1", "pod1-seg1-host2"),
    (Row(8, (41.203, 40.871)), Row(1 << 30, (5610.4, 5605.1)), Row(1 << 34, (88120.5, 88040.9))),
)
"""The run of plain.in."""


def read(text: str, folder: Path, name: str = "run.txt") -> MeasuredRun:
    path = folder / name
    path.write_text(text)
    return read_nccl_tests(path)


def test_the_output_of_these_tests_is_what_its_own_code_prints() -> None:
    announced, _, printed = (RECORDED / "plain.txt").read_text().partition("\n")
    assert announced == "# Writing JSON output to plain.json"
    assert PLAIN.text() == printed
    recorded = json.loads((RECORDED / "plain.json").read_text())
    written = PLAIN.document()
    assert recorded["config"]["devices"][1]["rank"] == written["config"]["devices"][1]["rank"] == 8
    for ours, theirs in zip(written["results"], recorded["results"], strict=True):
        for half in ("out_of_place", "in_place"):
            assert ours[half] == pytest.approx(theirs[half], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("name", ["plain", "iterations"])
def test_text_and_json_of_a_run_are_the_same_run(name: str) -> None:
    text, document = (read_nccl_tests(RECORDED / f"{name}.{kind}") for kind in ("txt", "json"))
    assert (text.op, text.gpus, text.groups, text.iterations) == (
        document.op,
        document.gpus,
        document.groups,
        document.iterations,
    )
    for printed, written in zip(text.sizes, document.sizes, strict=True):
        assert (printed.size_bytes, printed.wrong) == (written.size_bytes, written.wrong)
        assert printed.bus_bytes_per_s == pytest.approx(written.bus_bytes_per_s, rel=0.01)
        variations = [[each.variation for each in size.valid] for size in (printed, written)]
        assert variations[0] == pytest.approx(variations[1], abs=1e-4) or variations == [[None] * 2] * 2


def test_a_run_has_the_gpus_sizes_and_bandwidths_that_were_stated() -> None:
    run = read_nccl_tests(RECORDED / "plain.txt")
    assert (run.op, run.iterations, run.ranks) == ("allreduce", 20, 16)
    assert run.gpus == [(host, gpu) for host in PLAIN.hosts for gpu in range(8)]
    assert [size.size_bytes for size in run.sizes] == [8, 1 << 30, 1 << 34]
    assert run.sizes[1].bus_bytes_per_s == pytest.approx(359.015e9, rel=1e-4)
    assert run.sizes[0].bus_bytes_per_s == pytest.approx(8 * 1.875 / 41.036e-6, rel=1e-3)


def test_what_was_not_measured_or_checked_is_not_zero() -> None:
    for name in ("iterations.txt", "iterations.json"):
        first, second = read_nccl_tests(RECORDED / name).sizes
        assert [each.wrong for each in first.measurements] == [None, None]
        assert [each.wrong for each in second.measurements] == [12, 0]
        assert [each.is_measured for each in second.measurements] == [True, False]
        assert second.bus_bytes_per_s == pytest.approx(5.57e9, rel=1e-3)


def test_an_infinite_bandwidth_in_json_is_no_measurement(tmp_path: Path) -> None:
    text = PLAIN.json().replace(": ", ":")
    first = json.dumps(PLAIN.document()["results"][0]["in_place"]).replace(": ", ":")
    zero = '{"time":0.000000,"alg_bw":inf,"bus_bw":inf,"nwrong":0}'
    assert first in text
    run = read(text.replace(first, zero), tmp_path, "run.json")
    assert [each.is_measured for each in run.sizes[0].measurements] == [True, False]


@pytest.mark.parametrize("prefix", ["[1,0]<stdout>:", "0: "])
def test_prefixes_of_launchers_and_lines_of_nccl_are_no_part_of_a_run(prefix: str, tmp_path: Path) -> None:
    noise = "gpu01:4000:4021 [0] NCCL INFO Channel 00/16\n"
    text = noise + "".join(f"{prefix}{line}\n{noise}" for line in PLAIN.text().splitlines())
    assert read(text, tmp_path).sizes == read(PLAIN.text(), tmp_path).sizes


def test_cycles_of_a_run_are_measurements_of_one_size(tmp_path: Path) -> None:
    row = next(line for line in PLAIN.text().splitlines(keepends=True) if line.startswith("  1073741824"))
    run = read(PLAIN.text().replace(row, row * 3), tmp_path)
    assert [len(size.measurements) for size in run.sizes] == [2, 6, 2]


def test_processes_that_see_their_gpu_as_0_are_told_apart_by_the_bus(tmp_path: Path) -> None:
    lines = PLAIN.text().splitlines(keepends=True)
    text = "".join(
        f"{line[:61].split(' device ')[0]} device  0{line[line.index(' [') :]}" if "Rank" in line else line
        for line in lines
    )
    assert "device  0 [0000:30:00]" in text
    assert "device  7" not in text
    assert read(text, tmp_path).gpus == read(PLAIN.text(), tmp_path).gpus


def test_ranks_of_several_groups_measure_at_once(tmp_path: Path) -> None:
    lines = PLAIN.text().splitlines(keepends=True)
    devices = [number for number, line in enumerate(lines) if "Rank" in line]
    for number in devices:
        rank = int(lines[number].split()[2])
        lines[number] = lines[number].replace("Group  0", f"Group {rank % 8:2}")
    text = "".join(lines)
    with pytest.raises(SourceError, match=r"run.txt:27: a bus bandwidth of 358.85 GB/s is not that of 2 ranks\."):
        read(text, tmp_path)


def _without(text: str, start: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(start))


TEXT_FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "another operation": (
        lambda text: text.replace("all_reduce_perf", "gather_perf"),
        "run.txt:2: railfab has no ceiling for gather. Use a run of all_reduce, all_gather,",
    ),
    "no operation": (
        lambda text: _without(text, "# Collective"),
        "run.txt: has no line `# Collective test starting`, which names the operation. Use nccl-tests 2.17",
    ),
    "cut in the middle": (lambda text: text[: text.index("# Out")], "run.txt: ends before the line `# Avg bus band"),
    "cut in a row": (lambda text: text[: text.index("# Out") - 20], "run.txt:28: a row has"),
    "cut before the table": (lambda text: text[:300], "run.txt: has no table of nccl-tests. Name the output of"),
    "nothing": (lambda _: "", "run.txt: has no table of nccl-tests. Name the output of nccl-tests, as text or as JSON"),
    "two runs": (lambda text: text + text, "run.txt:36: a second run begins. Put each run into a file of its own."),
    "no ranks": (
        lambda text: _without(text, "#  Rank"),
        "run.txt: does not list rank 0. Give the whole output, with a line `#  Rank ...` for each GPU.",
    ),
    "a rank is missing": (lambda text: _without(text, "#  Rank  3"), "run.txt: does not list rank 3. Give the whole"),
    "a word in a row": (
        lambda text: text.replace("5610.40", "5610,40"),
        "run.txt:27: '5610,40 191.38 358.85 0' are no",
    ),
    "two ranks on a GPU": (
        lambda text: text.replace("device  1 [0000:1e:00]", "device  0 [0000:1b:00]"),
        "run.txt: 2 ranks of pod1-seg1-host1 are on GPU 0. Use a run with a GPU for each rank.",
    ),
}


@pytest.mark.parametrize("fault", TEXT_FAULTS)
def test_a_text_that_is_no_whole_run_is_one_line(fault: str, tmp_path: Path) -> None:
    edit, message = TEXT_FAULTS[fault]
    with pytest.raises(SourceError) as refused:
        read(edit(PLAIN.text()), tmp_path)
    assert str(refused.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(refused.value)


def _set(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def edit(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return edit


JSON_FAULTS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "another version": (
        _set("version", value=4),
        "run.json: is format version 4 of nccl-tests' JSON, and railfab reads 3. Give the text that nccl-tests prints.",
    ),
    "no average": (lambda document: document.pop("average_bus_bandwidth"), "run.json: has no average_bus_bandwidth: "),
    "no devices": (_set("config", "devices", value=None), "run.json: devices is missing or of another type. Name the"),
    "a result is a text": (_set("results", 0, value="x"), "run.json: size is missing or of another type. Name the out"),
    "a time is a list": (_set("results", 0, "in_place", "time", value=[]), "run.json: time is missing or of another"),
    "no results": (_set("results", value=[]), "run.json: has no results. Name the output of nccl-tests,"),
}


@pytest.mark.parametrize("fault", JSON_FAULTS)
def test_a_document_that_is_no_whole_run_is_one_line(fault: str, tmp_path: Path) -> None:
    edit, message = JSON_FAULTS[fault]
    document = PLAIN.document()
    edit(document)
    with pytest.raises(SourceError) as refused:
        read(json.dumps(document), tmp_path, "run.json")
    assert str(refused.value).startswith(f"{tmp_path}/{message}")


def test_a_document_is_cut_off_anywhere(tmp_path: Path) -> None:
    text = PLAIN.json()
    for length in range(1, len(text) - 1, 40):
        with pytest.raises(SourceError, match=r"run.json(:\d+)?: (is cut off|is not JSON|has no table)"):
            read(text[:length], tmp_path, "run.json")


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r": cannot be read \(is a directory\)\. Name the output of nccl-tests"):
        read_nccl_tests(tmp_path)

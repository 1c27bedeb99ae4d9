"""The text that nccl-tests prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from railfab.imports.existing import SourceError
from railfab.imports.nccl_tests_run import OTHER_FILE, RankDevice, ResultRow, measured_run, operation
from railfab.workload.measured_run import MeasuredRun

PREFIX = re.compile(r"^(?:\[\d+,\d+\](?:<std(?:out|err)>)?:? ?|\s*\d+: )")
"""What launchers put before a line: mpirun --tag-output, srun --label."""
DEVICE = re.compile(
    r"#\s+Rank\s+(\d+)(?:\s+Group\s+(\d+))?\s+Pid\s+\d+\s+on\s+(\S+)\s+device\s+(\d+)\s+\[([0-9a-fA-Fx:.]+)\]"
)
PROGRAM = re.compile(r"#\s*Collective test starting:\s*(\S+)")
ITERATIONS = re.compile(r"\biters:\s*(\d+) agg iters")
ROW = re.compile(r"\s*\d+\s+\d+\s+[a-z]\w*\s")
END = re.compile(r"#\s*Avg bus bandwidth")
CUT = re.compile(r"#\s*Rank .*\.\.\.$")
TIMES = ("time", "cputime")


@dataclass(slots=True)
class _Output:
    """What the lines so far say. columns: of a row, by their headings."""

    op: str = ""
    iterations: int | None = None
    devices: list[RankDevice] = field(default_factory=list)
    columns: Sequence[str] = ()
    rows: list[ResultRow] = field(default_factory=list)
    is_whole: bool = False


def parsed(path: Path, text: str) -> MeasuredRun:
    """The run that a text shows. Raises SourceError with the line."""
    output = _Output()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = PREFIX.sub("", raw)
        where = f"{path}:{number}"
        if line.lstrip().startswith("#"):
            _comment(where, line, output)
        elif output.columns and not output.is_whole and ROW.match(line):
            output.rows += _halves(where, line, output.columns)
    if not output.columns:
        raise SourceError(str(path), "has no table of nccl-tests", OTHER_FILE)
    if not output.is_whole:
        problem = "ends before the line `# Avg bus bandwidth`: the run, or the file, was cut off"
        raise SourceError(str(path), problem, "Give the whole output of a run that ended")
    if not output.op:
        problem = "has no line `# Collective test starting`, which names the operation"
        raise SourceError(str(path), problem, "Use nccl-tests 2.17 or later, or add that line")
    return measured_run(path, output.op, output.devices, output.rows, output.iterations)


def _comment(where: str, line: str, output: _Output) -> None:
    if program := PROGRAM.match(line):
        if output.op:
            raise SourceError(where, "a second run begins", "Put each run into a file of its own")
        output.op = operation(where, program[1])
    elif device := DEVICE.match(line):
        rank, group, host, gpu, bus = device.groups()
        output.devices.append(RankDevice(int(rank), int(group or 0), host, int(gpu), bus))
    elif CUT.match(line):
        problem = "nccl-tests has cut its list of GPUs here"
        raise SourceError(where, problem, "Run with one GPU a process (-g 1), whose list is whole")
    elif END.match(line):
        output.is_whole = True
    elif steps := ITERATIONS.search(line):
        output.iterations = int(steps[1])
    else:
        names = line.lstrip(" #").split()
        if names[:2] == ["size", "count"]:
            output.columns = names


def _halves(where: str, line: str, columns: Sequence[str]) -> Iterator[ResultRow]:
    """The two halves of a row."""
    cells = line.split()
    stamps = "timestamp" in columns
    begins = [place for place, name in enumerate(columns) if name in TIMES]
    if len(cells) != len(columns) + stamps or len(begins) != 2:
        problem = f"a row has {len(cells)} values for {len(columns) + stamps} columns"
        raise SourceError(where, problem, "Correct the row, or give the whole output of a run that ended")
    first, second = begins
    size_bytes = int(cells[0])
    for in_place, place, end in ((False, first, second), (True, second, 2 * second - first)):
        yield _half(where, size_bytes, dict(zip(columns[place:end], cells[place:end], strict=True)), in_place=in_place)


def _half(where: str, size_bytes: int, cells: Mapping[str, str], *, in_place: bool) -> ResultRow:
    try:
        checked = cells.get("#wrong", cells.get("error", "N/A"))
        variation = cells.get("i_cv%")
        return ResultRow(
            where=where,
            size_bytes=size_bytes,
            in_place=in_place,
            seconds=float(cells["time"]) * 1e-6 if "time" in cells else None,
            bus_bytes_per_s=float(cells["busbw"]) * 1e9,
            wrong=None if checked == "N/A" else float(checked),
            variation=float(variation) / 100 if variation is not None else None,
        )
    except (KeyError, ValueError):
        shown = " ".join(cells.values())
        raise SourceError(where, f"{shown!r} are no results", "Correct the row, or give the output as it was") from None

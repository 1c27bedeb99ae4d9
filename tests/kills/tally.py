"""The cases of the kill matrix: each is written to a file as it ends, and counted by platform and event."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "RAILFAB_KILLS"
"""The variable with the path of the file; without it, cases are not kept."""
RESULTS = ("old", "new", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One deploy that was disturbed, and how it was ended.

    change: what it deploys. step: the number of the step at which the event happened, or of the
    change that waited for its confirmation; moment says which. ending: `--resume`, `--abort`, or
    `none` for a deploy that ended well by itself. result: what every switch runs and boots then, `old` or `new`, or
    `failed` for anything else. problem: of a failed one. began, took_s: Unix time and duration [s].
    """

    platform: str
    change: str
    event: str
    step: int
    moment: str
    ending: str
    result: str
    problem: str = ""
    began: float = 0.0
    took_s: float = 0.0


def keep(case: Case) -> Case:
    """Append a case to the file, as a whole line also where several processes do so at a time."""
    if path := os.environ.get(FILE):
        with Path(path).open("ab", buffering=0) as file:
            file.write(json.dumps(asdict(case)).encode() + b"\n")
    return case


def recorded(platform: str, change: str, event: str, moment: str) -> set[tuple[int, str]]:
    """Step and ending of the cases that an earlier run has kept in the file."""
    path = os.environ.get(FILE)
    every = cases(Path(path)) if path and Path(path).exists() else []
    of_sweep = (platform, change, event, moment)
    return {
        (case.step, case.ending) for case in every if (case.platform, case.change, case.event, case.moment) == of_sweep
    }


def cases(path: Path) -> list[Case]:
    return [Case(**json.loads(line)) for line in path.read_text().splitlines()]


def table(every: Sequence[Case]) -> str:
    """The cases by platform and event, at most 80 columns."""
    rows = [("platform", "event", "cases", "old", "new", "failed"), *_rows(every)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "".join(f"{_line(row, widths)}\n" for row in rows)


def _rows(every: Iterable[Case]) -> Iterator[tuple[str, ...]]:
    counted = Counter((case.platform, case.event, case.result) for case in every)
    for platform, event in sorted({(platform, event) for platform, event, _ in counted}):
        yield _row(platform, event, [counted[platform, event, result] for result in RESULTS])
    totals = [sum(number for key, number in counted.items() if key[2] == result) for result in RESULTS]
    yield _row("every", "", totals)


def _row(platform: str, event: str, numbers: Sequence[int]) -> tuple[str, ...]:
    return (platform, event, str(sum(numbers)), *map(str, numbers))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = (text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True))
    numbers = (text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True))
    return "  ".join((*texts, *numbers))

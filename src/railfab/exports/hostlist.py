"""Sets of host names in the notation of Slurm: `gpu[001-008,012]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

NUMBERED = re.compile(r"(.*?)(\d+)")


def hostlist(names: Iterable[str]) -> str:
    """Names in one text, in their order, as `scontrol show hostlist` writes them."""
    return ",".join(hostlists(names))


def hostlists(names: Iterable[str]) -> list[str]:
    """Names in texts of one bracket each: numbers at the end of those that begin alike are its ranges.

    Leading zeros stay, and no other number is folded.
    """
    groups: list[tuple[str, list[list[str]]]] = []
    for name in names:
        match = NUMBERED.fullmatch(name)
        head, number = match.groups() if match else (name, "")
        if not number or not groups or groups[-1][0] != head or not groups[-1][1]:
            groups.append((head, [[number, number]] if number else []))
            continue
        runs = groups[-1][1]
        if number == _next(runs[-1][1]):
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [head + _bracket(runs) for head, runs in groups]


def _next(number: str) -> str:
    return str(int(number) + 1).zfill(len(number))


def _bracket(runs: list[list[str]]) -> str:
    """The numbers after a name."""
    if not runs:
        return ""
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        return runs[0][0]
    return f"[{','.join(first if first == last else f'{first}-{last}' for first, last in runs)}]"

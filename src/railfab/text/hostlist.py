"""Sets of host names in the notation of Slurm: `gpu[001-008,012]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

MOST_NAMES = 1_000_000
"""Names of one hostlist, from which on it is no list of hosts."""
NUMBERED = re.compile(r"(.*?)(\d+)")
ITEM = re.compile(r"((?:[^,\[\]]|\[[^\]]*\])+)(?:,|$)")
PART = re.compile(r"\[([^\]]*)\]|([^\[\]]+)")


class HostlistError(ValueError):
    """A text that is no hostlist. remedy: the notation, in words of advice."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


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


def expanded(hosts: str) -> Iterator[str]:
    """The names of a hostlist, with any number of brackets. Raises HostlistError for one that is malformed."""
    left = MOST_NAMES
    place = 0
    while place < len(hosts):
        item = ITEM.match(hosts, place)
        if item is None:
            raise HostlistError(f"{hosts[place:]!r} is no list of hosts", "Write it as gpu[001-008,012]")
        if "[" in item[1] and not item[1].endswith("]"):
            raise HostlistError(f"Slurm reads no text after the last bracket of {item[1]}", "List these hosts singly")
        choices = [_numbers(bracket) if bracket else [plain] for bracket, plain in PART.findall(item[1])]
        for parts in product(*choices):
            left -= 1
            if left < 0:
                raise HostlistError(f"a list has more than {MOST_NAMES:,} hosts", "Write it as gpu[001-008,012]")
            yield "".join(parts)
        place = item.end()


def _numbers(bracket: str) -> list[str]:
    """The numbers in a bracket, with their leading zeros."""
    numbers: list[str] = []
    for part in bracket.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise HostlistError(f"[{bracket}] is no list of numbers", "Write it as [001-008,012]")
        low, high = int(first), int(last or first)
        if high - low + len(numbers) >= MOST_NAMES:
            raise HostlistError(f"[{bracket}] has more than {MOST_NAMES:,} numbers", "Write it as [001-008,012]")
        numbers += [str(number).zfill(len(first)) for number in range(low, high + 1)]
    return numbers

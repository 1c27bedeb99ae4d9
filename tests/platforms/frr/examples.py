"""Lines that commands in FRR's notation stand for."""

from __future__ import annotations

import re

from railfab.platforms.frr.commands import CommandWord, WordGroup, elements

VALUES = {
    "A.B.C.D": "192.0.2.1",
    "A.B.C.D/M": "192.0.2.0/24",
    "X:X::X:X": "2001:db8::1",
    "X:X::X:X/M": "2001:db8::/32",
    "X:X:X:X:X:X": "00:00:5e:00:53:01",
    "X:X:X:X:X:X/M": "00:00:5e:00:53:01/48",
    "AA:NN": "65001:1",
    "AA:BB:CC": "65001:1:1",
    "AA:AA:NN": "65001:1:1",
    "ASN:NN_OR_IP-ADDRESS:NN": "65001:1",
}
_RANGE = re.compile(r"\((-?\d+)-(\d+)\)")


def example(command: str) -> str:
    """A line of a command: the first alternative of each group, all that is optional, the largest numbers."""
    return " ".join(_words(elements(command), beyond=0)).removeprefix("no " if command.startswith("[no] ") else "")


def out_of_range(command: str) -> str:
    """The same line with numbers beyond their ranges; equal for a command without a range."""
    return " ".join(_words(elements(command), beyond=1)).removeprefix("no " if command.startswith("[no] ") else "")


def _words(sequence: tuple[CommandWord | WordGroup, ...], *, beyond: int) -> list[str]:
    found: list[str] = []
    for element in sequence:
        if isinstance(element, WordGroup):
            found += _words(element.alternatives[0], beyond=beyond)
        elif numbers := _RANGE.fullmatch(element.text):
            found.append(str(int(numbers[2]) + beyond))
        else:
            found.append(VALUES.get(element.text, "any" if element.text.isupper() else element.text))
    return found

"""Tcl that writes a text to a file on `bootflash:`, as it is pasted into `tclsh`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

BLOCK_LINES = 20
"""Lines that one command writes."""
_SPECIAL = re.compile(r'[\\{}?\[\]$"]|[^ -~]')
"""Signs that Tcl or the terminal may take for something else: braces, backslashes, tabs, `?`, which asks for help."""


def written(file: str, text: str) -> Iterator[str]:
    """The commands that write a file; a command may have several lines."""
    yield f'set fl [open "/bootflash/{file}" wb+]'
    for is_special, lines in groupby(text.splitlines(), key=_is_special):
        if is_special:
            yield from (f'puts -nonewline $fl "{_SPECIAL.sub(_escaped, line)}\\n"' for line in lines)
        else:
            yield from _blocks(list(lines))
    yield "close $fl"


def _is_special(line: str) -> bool:
    return any(sign in line for sign in "{}\\?") or not line.isprintable() or not line.isascii()


def _blocks(lines: list[str]) -> Iterator[str]:
    for first in range(0, len(lines), BLOCK_LINES):
        block = "\n".join(lines[first : first + BLOCK_LINES])
        yield f"puts -nonewline $fl {{{block}\n}}"


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in match[0].encode())

"""What the pages of docs/ hold: examples to run, files to show, tables to generate, links to follow.

An HTML comment before a fence says what is done with it:

    <!-- run: WORLD -->                    its commands are run in that world (worlds.py) and must print what is shown
    <!-- run: WORLD, exit 1 -->            the last command ends with this code
    <!-- run: WORLD, numbers any -->       numbers may differ, `numbers 40%`: by so much;
                                          such commands are repeated until they fit, for a minute at most
    <!-- paste -->                         its commands are pasted into a shell, all at once, and none may fail
    <!-- not pasted: REASON -->            they are neither run nor pasted
    <!-- file: PATH -->                    it is this file
    <!-- table: NAME --> ... <!-- end -->  it is what tables.py gives

In an output `...` stands for any text in a line, and alone on a line for any lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN = re.compile(
    r"^<!-- run: (?P<world>\w+)(?:, exit (?P<exit>\d))?(?:, numbers (?P<numbers>any|\d+%))? -->\n"
    r"```console\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SHOWN = re.compile(r"^<!-- file: (?P<path>\S+) -->\n```\w*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- table: (?P<name>[\w-]+) -->\n(?P<body>.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PASTED = re.compile(r"^<!-- paste -->\n```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
UNMARKED = re.compile(r"(?<!-->\n)^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
"""Commands of which nothing is said."""
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
NUMBER = re.compile(r"(?<![^\s+])\d+(?:\.\d+)?(?!\S)")
"""A number that stands alone, or behind a plus sign: what may differ from run to run."""
HERE = re.compile(r"<<'(?P<end>\w+)'$", re.MULTILINE)
PROMPT = "$ "


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command and what it prints. exit: its exit code. numbers: how far numbers may be off; None is not at all."""

    page: str
    line: int
    world: str
    command: str
    output: str
    exit: int
    numbers: float | None


def steps(page: Path) -> Iterator[Step]:
    """The commands of a page, in their order."""
    text = page.read_text()
    for found in RUN.finditer(text):
        first = text.count("\n", 0, found.start("body")) + 1
        commands = list(_commands(found["body"], first))
        for place, (line, command, output) in enumerate(commands, 1):
            yield Step(
                page=page.name,
                line=line,
                world=found["world"],
                command=command,
                output=output,
                exit=int(found["exit"] or 0) if place == len(commands) else 0,
                numbers=_tolerance(found["numbers"]),
            )


def _tolerance(text: str | None) -> float | None:
    if text is None:
        return None
    return float("inf") if text == "any" else int(text.rstrip("%")) / 100


def _commands(body: str, first: int) -> Iterator[tuple[int, str, str]]:
    """(line, command, output) of a console block; a trailing backslash, or a here-document, goes on."""
    command, output, began = "", [], first
    lines = body.splitlines()
    for place, line in enumerate(lines):
        if line.startswith(PROMPT):
            if command:
                yield began, command, "\n".join(output)
            command, output, began = line.removeprefix(PROMPT), [], first + place
        elif command.endswith("\\") or _inside_document(command):
            command += "\n" + line
        else:
            output.append(line)
    if command:
        yield began, command, "\n".join(output)


def _inside_document(command: str) -> bool:
    found = HERE.search(command)
    return found is not None and command.splitlines()[-1] != found["end"]


def differs(shown: str, printed: str, numbers: float | None) -> str:
    """Why what was printed is not what is shown; empty when it is."""
    expected, found = _lines(shown), _lines(printed)
    pattern = "".join(_pattern(line, numbers is None) for line in expected)
    match = re.fullmatch(pattern, "".join(f"{line}\n" for line in found))
    if match is None:
        return f"shown:\n{shown}\nprinted:\n{printed}"
    pairs = zip(NUMBER.findall("\n".join(expected)), match.groups(), strict=True) if numbers is not None else ()
    return "\n".join(
        f"{ours} is shown, {theirs} was printed" for ours, theirs in pairs if not _near(ours, theirs, numbers)
    )


def _lines(text: str) -> list[str]:
    """Without what cannot be seen: spaces at line ends, several between columns, empty lines."""
    return [re.sub(r"(?<=\S) {2,}", "  ", line.rstrip()) for line in text.splitlines() if line.strip()]


def _pattern(line: str, exact: bool) -> str:
    """What a shown line stands for; its numbers are groups unless they are exact."""
    if line == "...":
        return r"(?:.*\n)*?"
    if exact:
        return _text(line) + "\n"
    return r"(\d+(?:\.\d+)?)".join(_text(part) for part in NUMBER.split(line)) + "\n"


def _text(part: str) -> str:
    return ".*".join(re.escape(piece) for piece in part.split("..."))


def _near(shown: str, printed: str, tolerance: float | None) -> bool:
    return tolerance is None or abs(float(printed) - float(shown)) <= tolerance * float(shown)

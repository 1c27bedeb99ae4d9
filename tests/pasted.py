"""Sessions with a switch that the page of the twin shows, typed into a real one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "twin.md"
ANYTHING = "..."
"""A line that stands for lines which differ from run to run."""


def type_session(connection: Any, section: str, prompt: str, *, differs: str = r"(?!)") -> None:
    """Type the commands of a section with netmiko, and assert that the lines of the page are among those printed.

    prompt, differs: regular expressions; what matches the second differs from run to run.
    """
    for command, output in _steps(section, prompt):
        answer = str(connection.send_command(command, expect_string=f"{prompt.rstrip()} ?$", strip_prompt=False))
        printed = {re.sub(differs, "", line.rstrip()) for line in answer.splitlines()}
        shown = [re.sub(differs, "", line.rstrip()) for line in output if line not in ("", ANYTHING)]
        assert [line for line in shown if line not in printed] == [], (command, answer)


def _steps(section: str, prompt: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The commands behind `$ ssh` in a section, each with the lines below it."""
    text = PAGE.read_text().partition(f"## {section}\n")[2].partition("$ ssh ")[2].partition("```")[0]
    steps = re.split(f"^{prompt}", text, flags=re.MULTILINE)[1:]
    assert steps, f"no session below {section}"
    for step in steps:
        command, *output = step.splitlines()
        if command:
            yield command, output

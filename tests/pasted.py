"""Sessions with a switch that the documentation shows: what is typed, and the lines that it prints below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

ANYTHING = "..."
"""A line that stands for lines which differ from run to run."""


def steps(page: Path, section: str, prompt: str) -> list[tuple[str, Sequence[str]]]:
    """The commands behind `$ ssh` in a section, each with the lines below it. prompt: a regular expression."""
    _, _, text = page.read_text().partition(f"## {section}\n")
    block = text.partition("$ ssh ")[2].partition("```")[0]
    shown = (step.splitlines() for step in re.split(f"^{prompt}", block, flags=re.MULTILINE)[1:])
    return [(command, output) for command, *output in shown if command]


def missing(output: Sequence[str], shown: str) -> list[str]:
    """The lines of a page that a switch did not print."""
    printed = {line.rstrip() for line in shown.splitlines()}
    return [line for line in output if line and line != ANYTHING and line.rstrip() not in printed]

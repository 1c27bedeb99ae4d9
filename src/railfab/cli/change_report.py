"""Output of a change of switches: differences, results, JSON; and its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from railfab.cli.common import CANNOT, FOUND, Output, print_json, print_table, stderr, stdout
from railfab.device import change_lines
from railfab.errors import ConfigError, Problems
from railfab.fabric import Design
from railfab.platforms import platform
from railfab.units import counted

if TYPE_CHECKING:
    from railfab.deploy import Outcome, Preview

RESULTS = {
    "changed": "changed",
    "no change": "no change",
    "failed": "failed, unchanged",
    "unsettled": "failed, check it",
}
"""The result of a switch in a table."""


def print_previews(fabric: Design, previews: Sequence[Preview], texts: Mapping[str, str], output: Output) -> None:
    """Print the changes that these configurations would make."""
    from railfab.deploy import Outcome

    if output is Output.JSON:
        settings = changed_settings(fabric, previews, texts)
        outcomes = [Outcome(name=one.name, changed=one.changed, failed=False, diff=one.diff) for one in previews]
        print_json([_document(outcome, settings[outcome.name]) for outcome in outcomes])
        return
    print_changes(fabric, [found for found in previews if found.changed], texts)
    rows = [(one.name, "would change" if one.changed else "no change", _extent(one.diff)) for one in previews]
    print_table("", ("switch", "result", "lines"), rows)
    would = sum(found.changed for found in previews)
    stdout().print(f"{_of(fabric, previews)}: {would} would change")


def print_changes(fabric: Design, changing: Sequence[Preview], texts: Mapping[str, str]) -> None:
    """Print the settings that change, and below them the lines."""
    from rich.syntax import Syntax

    console, settings = stdout(), changed_settings(fabric, changing, texts)
    for found in changing:
        console.print(f"[bold]{found.name}[/bold]")
        for line in settings[found.name]:
            console.print(f"  {line}", soft_wrap=True, markup=False)
        console.print(Syntax(found.diff, "diff", theme="ansi_dark", background_color="default", word_wrap=True))


def print_outcomes(
    fabric: Design, outcomes: Sequence[Outcome], settings: Mapping[str, Sequence[str]], output: Output
) -> None:
    """Print the result of each switch, and the error of each that failed: in the document of `--output json`, else on
    stderr. settings: see `changed_settings`."""
    if output is Output.JSON:
        print_json([_document(outcome, settings[outcome.name]) for outcome in outcomes])
    else:
        rows = [(outcome.name, RESULTS[outcome.result], _extent(outcome.diff)) for outcome in outcomes]
        print_table("", ("switch", "result", "lines"), rows)
        stdout().print(_totals(fabric, outcomes))
        for outcome in outcomes:
            if outcome.failed:
                stderr().print(f"railfab: {outcome.error}", soft_wrap=True, markup=False)


def changed_settings(
    fabric: Design, previews: Sequence[Preview], texts: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """The settings of each switch that change, one line each; none where a text does not parse."""
    return {
        found.name: _settings(fabric, found.name, found.text, texts[found.name]) if found.changed else ()
        for found in previews
    }


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when all succeeded, 1 when some failed, 2 when all failed."""
    failed = sum(outcome.failed for outcome in outcomes)
    return 0 if not failed else CANNOT if failed == len(outcomes) else FOUND


def _settings(fabric: Design, name: str, before: str, after: str) -> tuple[str, ...]:
    parse = platform(fabric.models[name].platform).parse
    try:
        return change_lines(parse(before), parse(after))
    except (ConfigError, Problems):
        return ()


def _document(outcome: Outcome, settings: Sequence[str]) -> dict[str, Any]:
    """One switch in the output of `--output json`. changes: the settings that change."""
    return {**asdict(outcome), "changes": list(settings)}


def _of(fabric: Design, switches: Sequence[object]) -> str:
    """`5 of 6 switches`; the second number is that of the intent."""
    return f"{len(switches)} of {counted(len(fabric.topology.switches()), 'switch')}"


def _totals(fabric: Design, outcomes: Sequence[Outcome]) -> str:
    """`5 of 6 switches: 4 changed, 1 failed`."""
    changed = sum(outcome.changed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    result = f"{_of(fabric, outcomes)}: {changed} changed"
    return f"{result}, {failed} failed" if failed else result


def _extent(diff: str) -> str:
    """Number of added and removed lines: `+120 -3`."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{added} -{removed}" if diff else ""

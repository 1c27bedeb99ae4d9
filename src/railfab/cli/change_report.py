"""Output of a change of switches: differences, results, JSON; and its exit code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from railfab.cli.common import CANNOT, FOUND, Output, print_folded, print_json, print_text, report_switches
from railfab.cli.echo import echo_line
from railfab.device import change_lines
from railfab.errors import ConfigError, Problems
from railfab.fabric import Design
from railfab.platforms import platform
from railfab.text.counted import counted
from railfab.text.folding import folded_sets
from railfab.topology.grouping import grouped

if TYPE_CHECKING:
    from railfab.deploy import Outcome, Preview


class View(StrEnum):
    """The part of the differences that is shown: equal ones once, each, or only their extent."""

    FOLDED = "folded"
    FULL = "full"
    STAT = "stat"


DIFF_STYLES = {"+": "green", "-": "red", "@": "dim"}
"""Style of a line of a difference by its first character."""
WORD = re.compile(r"[\w.:/-]+")
MASK = "\0"
OTHER_END = re.compile(rf"{MASK} (?P<port>[\w.:/-]+)")
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+(?:/\d+)?|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:/\d+)?")
RESULTS = {
    "changed": "changed",
    "no change": "no change",
    "failed": "failed, unchanged",
    "unsettled": "failed, check it",
    "reverted": "reverted",
    "not begun": "not begun",
}
"""The result of a switch in a table."""


def print_previews(fabric: Design, previews: Sequence[Preview], output: Output, view: View = View.FOLDED) -> None:
    """Print the changes that a deploy would make."""
    from railfab.deploy import Outcome

    if output is Output.JSON:
        settings = changed_settings(fabric, previews)
        outcomes = [
            Outcome(name=one.name, changed=one.changed, failed=False, diff=one.diff, drained=one.drained)
            for one in previews
        ]
        print_json([_document(outcome, settings[outcome.name]) for outcome in outcomes])
        return
    if view is not View.STAT:
        print_changes(fabric, [found for found in previews if found.changed], view)
    _print_results([(one.name, "would change" if one.changed else "no change", _extent(one.diff)) for one in previews])
    print_drained(previews)
    would = sum(found.changed for found in previews)
    print_text(f"{_of(fabric, previews)}: {would} would change")


def print_drained(switches: Iterable[Preview | Outcome]) -> None:
    """Name the switches that a verb has drained: no change of their configurations ends that."""
    for switch in switches:
        if switch.drained:
            echo_line(f"{switch.name}: is drained by railfab drain, and stays so until railfab undrain")


def print_changes(fabric: Design, changing: Sequence[Preview], view: View) -> None:
    """Print the settings that change, and below them the lines; for `View.STAT` the number of lines."""
    if view is View.STAT:
        _print_results([(found.name, "would change", _extent(found.diff)) for found in changing])
        return
    settings = changed_settings(fabric, changing)
    mask = _Mask.of(fabric)
    groups = grouped(changing, lambda one: one.name if view is View.FULL else mask.key(settings[one.name], one.diff))
    for group in groups:
        first = group[0]
        print_text((", ".join(folded_sets([one.name for one in group])), "bold"))
        for line in settings[first.name]:
            echo_line(f"  {line}")
        if any(one.diff != first.diff for one in group):
            echo_line(f"  {first.name} is shown; the others differ in {OWN} (--full shows each)")
        print_diff(first.diff)


def print_diff(diff: str) -> None:
    """Print a unified difference, with added and removed lines in colour; nothing wraps."""
    for line in diff.split("\n"):
        print_text((line, DIFF_STYLES.get(line[:1], "")), whole=True)


OWN = "their own names, addresses and AS numbers, and the ports at the other ends of their cables"


@dataclass(frozen=True, slots=True)
class _Mask:
    """Replaces what each switch of a fabric has for itself, so that texts of equal switches are equal: names of nodes,
    addresses, AS numbers, and the port after the name of a node. Nothing else: other thresholds are another change.

    ports: names of ports, as descriptions have them after the name of their node.
    """

    own: frozenset[str]
    ports: frozenset[str]

    @classmethod
    def of(cls, fabric: Design) -> _Mask:
        nodes = fabric.topology.nodes
        own = {node.name for node in nodes} | {str(node.asn) for node in nodes if node.asn}
        return cls(frozenset(own), frozenset(port.name for link in fabric.topology.links for port in (link.a, link.z)))

    def key(self, settings: Sequence[str], diff: str) -> tuple[str, ...]:
        return tuple(OTHER_END.sub(self._without_port, WORD.sub(self._masked, text)) for text in (*settings, diff))

    def _masked(self, word: re.Match[str]) -> str:
        return MASK if word[0] in self.own or ADDRESS.fullmatch(word[0]) else word[0]

    def _without_port(self, end: re.Match[str]) -> str:
        return MASK if end["port"] in self.ports else end[0]


def _print_results(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print the result of each switch: switches with the same result and number of lines in one row."""
    print_folded(("switch", "result", "lines"), rows)


def print_outcomes(fabric: Design, outcomes: Sequence[Outcome], previews: Sequence[Preview], output: Output) -> None:
    """Print the result of each switch, and the error of each that failed: in the document of `--output json`, which has
    the changed settings too, else on stderr."""
    if output is Output.JSON:
        settings = changed_settings(fabric, previews)
        print_json([_document(outcome, settings.get(outcome.name, ())) for outcome in outcomes])
    else:
        _print_results([(outcome.name, RESULTS[outcome.result], _extent(outcome.diff)) for outcome in outcomes])
        print_drained(outcomes)
        print_text(_totals(fabric, outcomes))
        report_switches((outcome.name, str(outcome.error)) for outcome in outcomes if outcome.failed)


def changed_settings(fabric: Design, previews: Sequence[Preview]) -> dict[str, tuple[str, ...]]:
    """The settings of each switch that change, one line each; none where a text does not parse."""
    return {found.name: _settings(fabric, found) if found.changed else () for found in previews}


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when all succeeded, 1 when some failed, 2 when all failed."""
    failed = sum(outcome.failed for outcome in outcomes)
    return 0 if not failed else CANNOT if failed == len(outcomes) else FOUND


def _settings(fabric: Design, preview: Preview) -> tuple[str, ...]:
    parse = platform(fabric.models[preview.name].platform).parse
    try:
        return change_lines(parse(preview.text), parse(preview.candidate), preview.diff)
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
    counts = {"failed": failed}
    counts |= {word: sum(outcome.result == word for outcome in outcomes) for word in ("reverted", "not begun")}
    more = [f", {count} {word}" for word, count in counts.items() if count]
    return f"{_of(fabric, outcomes)}: {changed} changed{''.join(more)}"


def _extent(diff: str) -> str:
    """Number of added and removed lines: `+120 -3`."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"+{added} -{removed}" if diff else ""

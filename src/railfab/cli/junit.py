"""`--junit FILE`: the outcome of a command as JUnit XML, for a CI server."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.errors import RailfabError
from railfab.findings import Finding, Severity
from railfab.text.junit import JunitCase, junit_text

if TYPE_CHECKING:
    from railfab.deploy import Outcome

JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the outcome as JUnit XML, for CI.", show_default=False),
]


@dataclass(frozen=True, slots=True)
class JunitReport:
    """The file of `--junit`; nothing is written without one. It begins with the command, for the time that it takes.

    also: cases that are written beside the others.
    """

    command: str
    path: Path | None
    also: list[JunitCase] = field(default_factory=list)
    began_s: float = field(default_factory=time.monotonic)

    def write(self, fabric: str, cases: Iterable[JunitCase]) -> None:
        """Write the file, whole or not at all."""
        if self.path is None:
            return
        took_s = time.monotonic() - self.began_s
        text = junit_text(f"railfab {self.command} {fabric}", [*cases, *self.also], took_s)
        part = self.path.with_name(f".{self.path.name}.part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)


def switch_cases(
    group: str, names: Sequence[str], findings: Sequence[Finding], unread: Mapping[str, RailfabError]
) -> Iterator[JunitCase]:
    """A case for each switch, which fails by its errors and warnings, and for what else findings are about."""
    by_place: dict[str, list[str]] = {name: [] for name in names}
    for finding in findings:
        if finding.severity is not Severity.NOTE:
            by_place.setdefault(finding.switch, []).append(finding.line)
    for place, lines in by_place.items():
        error = str(unread[place]) if place in unread else ""
        yield JunitCase(name=place, group=group, failures=tuple(lines), error=error)


def outcome_cases(verb: str, outcomes: Iterable[Outcome], gates: Sequence[str] = ()) -> Iterator[JunitCase]:
    """A case for each switch of a change: it fails where the change failed, and is in error where a part may run.

    gates: what failed at a gate, a line each, which is a case of its own.
    """
    if gates:
        yield JunitCase(name="gates", group=verb, failures=tuple(gates))
    for outcome in outcomes:
        said = outcome.error or "failed" if outcome.failed else ""
        failures = (said,) if said and not outcome.unsettled else ()
        yield JunitCase(name=outcome.name, group=verb, failures=failures, error=said if outcome.unsettled else "")

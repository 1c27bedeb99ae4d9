"""report: a page for a design review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli import completion
from railfab.cli.common import (
    STATE_DEFAULT,
    OnOption,
    StateOption,
    findings_document,
    findings_exit,
    print_findings,
    refuse_state,
    uncollected,
)
from railfab.cli.echo import echo_line
from railfab.errors import RailfabError
from railfab.fabric import Design, session_endpoints

if TYPE_CHECKING:
    from railfab.documents.report import ReportSection

MOST_FABRICS = 2

IntentFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="The intent of a fabric (YAML), or of two that are compared.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]


@uncollected()
def report(
    context: typer.Context,
    intents: IntentFiles,
    out: Annotated[Path, typer.Option("-o", metavar="FILE", help="The page, an .html file.")] = Path("report.html"),
    pdf: Annotated[
        Path | None,
        typer.Option("--pdf", metavar="FILE", help="Also as PDF, which needs Chromium.", show_default=False),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--results",
            metavar="FILE",
            help="Results to include: what simulate, measured, verify or doctor print with --output json; repeatable.",
            show_default=False,
        ),
    ] = None,
    on: OnOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Write a page for a design review: picture, numbers with their reasons, failure domains, findings, settings.

    Two intents stand side by side. The page is one file that works offline.
    """
    from railfab import __version__
    from railfab.documents import planned
    from railfab.documents.pdf import write_pdf
    from railfab.documents.report import report as page
    from railfab.documents.report_results import result_section

    refuse_state(context, on)
    if len(intents) > MOST_FABRICS:
        raise RailfabError(str(intents[MOST_FABRICS]), "is the third intent", "Compare two at a time")
    if on is not None and len(intents) > 1:
        raise RailfabError("--on", "is for the switches of one fabric", "Leave it out, or give one intent")
    further = [result_section(path) for path in results or ()]
    plans = [planned(path) for path in intents]
    if on is not None:
        further.append(_state(plans[0], on, state))
    _write(out, page(plans, __version__, further))
    echo_line(f"wrote {out}", err=True)
    if pdf is not None:
        write_pdf(out, pdf)
        echo_line(f"wrote {pdf}", err=True)
    findings = tuple(finding for plan in plans for finding in plan.findings)
    print_findings(findings)
    findings_exit(findings)


def _state(fabric: Design, on: str, state: Path) -> ReportSection:
    """What `verify` says of the switches now."""
    from railfab.deploy import nornir_of, verify_all
    from railfab.documents.report_results import document_section

    result = verify_all(nornir_of(fabric, session_endpoints(fabric, on, state)), fabric, wait_s=0)
    unread = [{"severity": "error", "where": name, "problem": error.problem} for name, error in result.unread.items()]
    findings = [*unread, *findings_document(result.findings)]
    section = document_section({"fabric": fabric.intent.fabric, "checked": result.checked, "findings": findings})
    assert section is not None
    return section


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise RailfabError(str(path), problem, "Give another path with -o") from None

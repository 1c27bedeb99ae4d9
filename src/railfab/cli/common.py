"""Options, tables, JSON, progress and findings, shared by all commands."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli import completion
from railfab.cli.acceptance import print_accepted
from railfab.cli.echo import echo
from railfab.cli.tables import columns as width
from railfab.cli.tables import laid_out, wrapped
from railfab.endpoints import STATE_DIR
from railfab.errors import DeviceError, Problems, RailfabError, each
from railfab.findings import OF_NICS, DesignCode, Finding, Severity, findings_text, worst_switches
from railfab.text.counted import counted, listed
from railfab.text.folding import alike_as_one
from railfab.text.printable import json_text, printable, printable_lines

if TYPE_CHECKING:
    from rich.progress import Progress

    from railfab.cli.console import PrintableConsole
    from railfab.fabric import Design
    from railfab.fabric.host_names import HostNames

FOUND = 1
"""Exit code: findings, or partly failed."""
CANNOT = 2
"""Exit code: bad input, or unreachable."""


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"


IntentFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The fabric's intent (YAML); - is standard input.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
HostNamesOption = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="Names of the hosts in the cluster: YAML or CSV, the name in the plan first.",
        show_default=False,
    ),
]
OutputOption = Annotated[Output, typer.Option("--output", help="Tables for people, JSON for machines.")]
StateOption = Annotated[Path, typer.Option("--state", metavar="DIR", help="State directory of labs and twins.")]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="twin|lab|FILE",
        help="A running twin or lab, an endpoints file or a Nornir hosts.yml; else the intent's inventory.",
        show_default=False,
        autocompletion=completion.sources,
    ),
]
HostsOption = Annotated[
    Path | None,
    typer.Option("--hosts", metavar="DIR", help="Documents of hosts: look at their NICs too.", show_default=False),
]
LimitOption = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="EXPR",
        help="Switches or groups: leaf&rail_1,pod1-spine*",
        show_default=False,
        autocompletion=completion.limits,
    ),
]
STATE_DEFAULT = STATE_DIR


def _share_of_a_core(value: float) -> float:
    """Refuse what is not above 0 and at most 1, `nan` included."""
    if not 0 < value <= 1:
        raise typer.BadParameter(f"{value:g} is not above 0 and at most 1, the simulation runs in one thread.")
    return value


CpuOption = Annotated[
    float,
    typer.Option(
        "--cpu",
        metavar="N",
        callback=_share_of_a_core,
        help="How much of a core the simulation may use, such as 0.5; it falls behind the wall clock where that is "
        "too little.",
    ),
]


def finite(value: float | None) -> float | None:
    """Refuse `inf` and `nan`, which are numbers to the parser of options."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number of seconds.")
    return value


def given_parameters(context: typer.Context) -> dict[str, Any]:
    """The parameters of the command line; no defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name: context.params[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def refuse(given: Collection[str], options: Mapping[str, str], why: str) -> None:
    """Refuse options, by parameter, that would have no effect. Raises BadParameter with the reason and those given."""
    if refused := [option for name, option in options.items() if name in given]:
        raise typer.BadParameter(f"{why} {listed(refused)}.")


def refuse_state(context: typer.Context, on: str | None) -> None:
    """Refuse the state directory of labs and twins for a command that uses none of them."""
    if on not in ("twin", "lab"):
        refuse(given_parameters(context), {"state": "--state"}, "Add --on twin or --on lab, or leave out")


def stderr() -> PrintableConsole:
    """Console of progress and errors."""
    from railfab.cli.console import PrintableConsole

    return PrintableConsole(stderr=True)


def report(error: RailfabError) -> None:
    """Write errors to stderr: a line each, and one for those of many switches that are alike; with `--output json` one
    line with a JSON document of all of them."""
    errors = each(error)
    if json_wanted(sys.argv[1:]):
        _report([_error_document(single) for single in errors])
        return
    _report([_error_document(single) for single in errors if not isinstance(single, DeviceError)])
    report_switches((single.where, str(single)) for single in errors if isinstance(single, DeviceError))


def report_switches(lines: Iterable[tuple[str, str]]) -> None:
    """Write errors of switches to stderr, each with its name: a line each, and one for many that are alike."""
    for line in alike_as_one(lines):
        echo(f"railfab: {line}", err=True)


def report_line(line: str) -> None:
    """Write an error that has no place and remedy of its own, such as misuse of an option, in the same way."""
    _report([{"message": line, "where": None, "problem": None, "remedy": None}])


def _report(errors: Sequence[Mapping[str, str | None]]) -> None:
    if json_wanted(sys.argv[1:]):
        echo(json_text({"errors": errors}), err=True)
        return
    for error in errors:
        echo(f"railfab: {error['message']}", err=True)


def _error_document(error: RailfabError) -> dict[str, str]:
    return {"message": str(error), "where": error.where, "problem": error.problem, "remedy": error.remedy}


def prepare_simulator(*, here: bool = True) -> None:
    """Load the simulator, or compile it; say on stderr why it starts or runs slowly, if it does.

    here: this process runs it, and none that it starts.
    """
    with uncollected():
        from railfab.sim.warm import prepare

        prepare(lambda text: echo(f"railfab: {text}", err=True), here=here)


def json_wanted(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also one that cannot be parsed."""
    stated = [value for option, value in pairwise((*arguments, "")) if option == "--output"]
    stated += [word.removeprefix("--output=") for word in arguments if word.startswith("--output=")]
    return Output.JSON in stated


def print_json(value: Any) -> None:
    echo(json_text(value, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as wide as COLUMNS or the terminal allows, numbers aligned right; names stay whole."""
    cells = [["" if cell is None else printable(" ".join(str(cell).splitlines())) for cell in row] for row in rows]
    heading, *lines = laid_out([list(columns), *cells], width())
    for line in (title, heading):
        if line:
            print_text((line, "bold"), whole=True)
    echo("\n".join((*lines, "")))


def print_folded(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table whose first column are names: those of equal rows in one row."""
    from railfab.text.folding import folded_sets
    from railfab.topology.grouping import grouped

    folded = [
        (names, *group[0][1:])
        for group in grouped(rows, lambda row: row[1:])
        for names in folded_sets([name for name, *_ in group])
    ]
    print_table("", columns, folded)


def print_text(*parts: str | tuple[str, str], whole: bool = False, err: bool = False) -> None:
    """Print a text, of which parts have a style on a terminal; rich is imported for that alone.

    parts: texts, or texts and the style of each; whole: lines that are not wrapped where they are long, as those
    which a command is copied from.
    """
    styled = [(part, "") if isinstance(part, str) else part for part in parts]
    stream = sys.stderr if err else sys.stdout
    if stream is not None and stream.isatty():
        from rich.text import Text

        from railfab.cli.console import PrintableConsole

        PrintableConsole(stderr=err).print(
            Text.assemble(*((printable_lines(part), style) for part, style in styled)), soft_wrap=whole
        )
        return
    text = "".join(part for part, _ in styled)
    limit = None if whole else width()
    echo(text if limit is None else "\n".join(wrapped(text, limit)), err=err)


def progress_bar() -> Progress:
    """Progress bar for work that takes seconds; silent where stderr is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def ticking_bar(title: str, total: int) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal, for which alone rich is imported; yields the function to call after each part."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    with progress_bar() as progress:
        task = progress.add_task(title, total=total)
        yield lambda *_: progress.advance(task)


@contextmanager
def telling_bar(title: str, total: int) -> Iterator[tuple[Callable[[], None], Callable[[str], None]]]:
    """A progress bar as `ticking_bar` is; yields the function to call after each part, and one that takes what is done
    now."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None, lambda _: None
        return
    with progress_bar() as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task), lambda now: progress.update(task, description=f"{title}: {now}")


@contextmanager
def uncollected() -> Iterator[None]:
    """Turn Python's garbage collector off for work that creates many lasting objects, and exempt them afterwards: it
    took half of the time of a large fabric."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def print_findings(findings: Iterable[Finding], *, err: bool = False) -> None:
    """One line each, the severity in its colour."""
    for finding in findings:
        severity = finding.severity
        rest = printable(finding.line.removeprefix(severity))
        print_text((str(severity), COLOURS[severity]), rest, whole=True, err=err)


MOST_SWITCHES = 10
"""Switches of a summary: the worst ones."""


def print_worst_switches(findings: Sequence[Finding]) -> None:
    """Print the number of errors and warnings of each switch, where there are several."""
    switches = worst_switches(findings)
    if len(switches) < 2:
        return
    device = "device" if any(finding.code in OF_NICS for finding in findings) else "switch"
    print_table("", (device, "findings"), [(switch, findings_text(of)) for switch, of in switches[:MOST_SWITCHES]])
    if len(switches) > MOST_SWITCHES:
        print_text(f"and {counted(len(switches) - MOST_SWITCHES, device)} more with findings")


def findings_document(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings about switches for `--output json`."""
    return [
        {
            "class": finding.severity,
            "code": finding.code,
            "switch": finding.switch,
            "where": finding.where,
            "problem": finding.problem,
            "remedy": finding.remedy,
            "more": list(finding.more),
        }
        for finding in found
    ]


def findings_exit(findings: Sequence[Finding], unread: Collection[RailfabError] = ()) -> None:
    """Leave with 2, after printing the errors, when switches could not be read; with 1 for findings but notes."""
    if unread:
        report(Problems(tuple(unread)))
        raise typer.Exit(CANNOT)
    if any(finding.severity is not Severity.NOTE for finding in findings):
        raise typer.Exit(FOUND)


def host_names(fabric: Design, hosts: Path | None) -> HostNames:
    """The names of the hosts in the cluster: those of a file, else of the plan. Raises as `read_host_names` does."""
    from railfab.fabric.host_names import HostNames, read_host_names

    return HostNames() if hosts is None else read_host_names(hosts, fabric.topology)


def stop_at_errors(
    fabric: Design, accept: Sequence[DesignCode] | None, output: Output = Output.TABLE, *, rendered: bool = True
) -> None:
    """Leave with 1, after printing them, when the design has errors that are not accepted; name accepted ones.

    rendered: as of `Design.check`. Raises UnsupportedFeature, UnknownPlatform or Problems for a design that cannot be
    rendered.
    """
    from railfab.fabric import NotAccepted

    try:
        fabric.check(accept or (), rendered=rendered)
    except NotAccepted as refused:
        if output is Output.JSON:
            print_json({"fabric": fabric.intent.fabric, "findings": [asdict(finding) for finding in refused.findings]})
        else:
            print_findings(refused.findings)
        report(refused)
        raise typer.Exit(FOUND) from None
    print_accepted(fabric.errors)

"""render, audit and schema: configurations, without changing a switch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.acceptance import AcceptFindingsOption, AcceptOption, accepted_count, print_accepted
from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    Output,
    OutputOption,
    StateOption,
    findings_document,
    findings_exit,
    print_findings,
    print_json,
    print_table,
    print_text,
    print_worst_switches,
    refuse_state,
    stop_at_errors,
    uncollected,
)
from railfab.cli.configuration_files import configuration_files, configurations_in
from railfab.cli.junit import JunitOption, JunitReport, switch_cases
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.findings import DifferenceCode, Finding, error, findings_text, note, without_accepted
from railfab.intent import json_schema
from railfab.text.counted import counted, listed

if TYPE_CHECKING:
    from railfab.endpoints import Endpoints

ReadFromOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="twin|lab|FILE",
        help="Read them from a running twin or lab, or from the switches of an endpoints file or a Nornir hosts.yml.",
        show_default=False,
    ),
]


@uncollected()
def render(
    intent: IntentFile,
    out: Annotated[Path, typer.Option("-o", metavar="DIR", help="Output directory, one file per switch.")],
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write one configuration file per switch."""
    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    texts = fabric.texts
    out.mkdir(parents=True, exist_ok=True)
    files = configuration_files(fabric, out)
    for name, text in texts.items():
        files[name].write_text(text)
    if output is Output.JSON:
        print_json(
            [{"name": name, "file": str(file), "lines": texts[name].count("\n")} for name, file in files.items()]
        )
    else:
        rows = [(name, fabric.models[name].platform, texts[name].count("\n"), file) for name, file in files.items()]
        print_table(fabric.topology.fabric, ("switch", "platform", "lines", "file"), rows)


def audit(
    context: typer.Context,
    intent: IntentFile,
    configs: Annotated[
        Path | None, typer.Option("--configs", metavar="DIR", help="Configurations to check.", show_default=False)
    ] = None,
    on: ReadFromOption = None,
    limit: LimitOption = None,
    accept: AcceptFindingsOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check the design, and configurations from files or switches: against the intent, and the two ends of each link.

    Without --configs and --on, the configurations that railfab renders are checked.
    """
    from railfab.fabric import limited, session_endpoints
    from railfab.fabric.audit import CABLING, CABLING_UNCHECKED, configuration_findings, folded

    if configs is not None and on is not None:
        raise RailfabError("audit", "both --configs and --on are given", "Use one of them")
    refuse_state(context, on)
    file = JunitReport("audit", junit)
    fabric = design(intent)
    names = [node.name for node in limited(fabric.topology, limit)]
    endpoints = session_endpoints(fabric, on, state, limit) if on is not None else None
    texts, drained, unread = _texts(fabric, configs, endpoints, names)
    findings = (
        *fabric.findings,
        *_missing(names, (*texts, *unread)),
        *configuration_findings(fabric, texts, drained),
        *(_strangers(fabric, configs) if configs is not None else ()),
    )
    left, accepted = without_accepted(findings, accept or ())
    if output is Output.JSON:
        document = {"fabric": fabric.topology.fabric, "checked": sorted(texts), "not_checked": [CABLING]}
        print_json(document | {"findings": findings_document(left), "accepted": findings_document(accepted)})
    else:
        print_accepted(folded(accepted))
        print_findings(folded(left))
        print_worst_switches(left)
        checked = f"{len(texts)} of {counted(len(fabric.models), 'switch')} checked"
        print_text(f"{checked}, {findings_text(left)}{accepted_count(accepted)}")
        print_text(CABLING_UNCHECKED)
    file.write(fabric.intent.fabric, switch_cases("audit", names, left, unread))
    findings_exit(left, unread.values())


def _missing(names: Sequence[str], present: Collection[str]) -> Iterator[Finding]:
    for name in names:
        if name not in present:
            problem = "has no configuration here"
            yield error(DifferenceCode.CONFIGURATION_MISSING, name, problem, "Render or read it as well")


def _strangers(fabric: Design, configs: Path) -> Iterator[Finding]:
    """One finding for the files that are of no switch, such as one that has been taken out, or with another ending."""
    names = {file.name for file in configuration_files(fabric, configs).values()}
    others = sorted(file.name for file in configs.iterdir() if file.is_file() and file.name not in names)
    if others:
        expected = next(iter(configuration_files(fabric, configs).values())).name
        problem = f"not checked, as {'they are' if len(others) > 1 else 'it is'} of no switch: {listed(others)}"
        remedy = f"Name the file of a switch as render does, {expected}"
        yield note(DifferenceCode.NODE_UNEXPECTED, str(configs), problem, remedy)


def _texts(
    fabric: Design, configs: Path | None, endpoints: Endpoints | None, names: list[str]
) -> tuple[Mapping[str, str], Collection[str], Mapping[str, RailfabError]]:
    """Configuration texts of these switches by name: from files, from the switches, or as rendered.

    And the switches that a verb has drained, and the errors of those that could not be read.
    """
    if configs is not None:
        return configurations_in(fabric, configs, names), (), {}
    if endpoints is not None:
        from railfab.deploy import read_configurations

        read = read_configurations(fabric, endpoints)
        texts = {name: running.text for name, running in read.answers.items()}
        return texts, [name for name, running in read.answers.items() if running.drained], read.unread
    return {name: fabric.texts[name] for name in names}, (), {}


def schema(job: Annotated[bool, typer.Option("--job", help="Of jobs instead of intents.")] = False) -> None:
    """Print the JSON Schema of intents, or of jobs, for editors."""
    print_json(json_schema(job=job))

"""render, audit and schema: configurations, before anything is touched."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    Output,
    OutputOption,
    StateOption,
    findings_exit,
    print_json,
    print_table,
    stdout,
    uncollected,
)
from railfab.device import changes, disagreements
from railfab.errors import ConfigError, Problems, RailfabError, each
from railfab.fabric import Design, design, resolve_endpoints
from railfab.findings import DifferenceCode, Finding, Severity, error
from railfab.intent import json_schema
from railfab.platforms import platform
from railfab.units import counted

ReadFromOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="twin|lab|FILE",
        help="Read them from a running twin or lab, or from the switches of an endpoints file or a Nornir hosts.yml.",
        show_default=False,
    ),
]


def print_findings(found: tuple[Finding, ...]) -> None:
    """One line each, in red for errors."""
    console = stdout()
    for finding in found:
        colour = "red" if finding.severity is Severity.ERROR else "yellow"
        line = Text.assemble((str(finding.severity), colour), finding.line.removeprefix(finding.severity))
        console.print(line, soft_wrap=True)


@uncollected()
def render(
    intent: IntentFile,
    out: Annotated[Path, typer.Option("-o", metavar="DIR", help="Folder for one configuration a switch.")],
    output: OutputOption = Output.TABLE,
) -> None:
    """Write one configuration file per switch."""
    fabric = design(intent)
    texts = fabric.configurations()
    out.mkdir(parents=True, exist_ok=True)
    files = {name: out / f"{name}.{platform(fabric.models[name].platform).suffix}" for name in texts}
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
    intent: IntentFile,
    configs: Annotated[
        Path | None, typer.Option("--configs", metavar="DIR", help="Configurations to check.", show_default=False)
    ] = None,
    on: ReadFromOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check configurations, from files or read from switches, against the intent and the two ends of each link.

    Without --configs and --on, what railfab itself renders is checked.
    """
    fabric = design(intent)
    texts = _texts(fabric, configs, on, state)
    found, models = _parsed(fabric, texts)
    for name, model in models.items():
        found.extend(_deviations(name, fabric, model))
    found.extend(disagreements(fabric.topology, models))
    if on is not None:
        found.extend(_unnamed(fabric, on, state, found))
    if output is Output.JSON:
        print_json({"fabric": fabric.topology.fabric, "checked": sorted(texts), "findings": [asdict(f) for f in found]})
    else:
        print_findings(tuple(found))
        stdout().print(f"{len(texts)} of {len(fabric.models)} switches checked, {counted(len(found), 'finding')}")
    findings_exit(found)


def _texts(fabric: Design, configs: Path | None, on: str | None, state: Path) -> dict[str, str]:
    """Configuration texts by switch, from where the user said."""
    if configs is not None and on is not None:
        raise RailfabError("audit", "both --configs and --on are given", "Use one of them")
    if configs is not None:
        return _from_files(fabric, configs)
    if on is not None:
        from railfab.deploy import read_configurations

        return read_configurations(fabric, resolve_endpoints(fabric, on, state))
    return fabric.configurations()


def _unnamed(fabric: Design, on: str, state: Path, found: list[Finding]) -> tuple[Finding, ...]:
    """What a deploy would change though the models are as intended."""
    from railfab.deploy import nornir_of, unmodelled_differences

    return unmodelled_differences(nornir_of(fabric, resolve_endpoints(fabric, on, state)), fabric, found)


def _from_files(fabric: Design, configs: Path) -> dict[str, str]:
    """One file a switch, as `render` names them."""
    files = {name: configs / f"{name}.{platform(model.platform).suffix}" for name, model in fabric.models.items()}
    present = {name: file for name, file in files.items() if file.is_file()}
    if not present:
        raise RailfabError(str(configs), "holds no configuration of this fabric", "Name a folder that `render` wrote")
    return {name: file.read_text() for name, file in present.items()}


def _parsed(fabric: Design, texts: dict[str, str]) -> tuple[list[Finding], dict[str, Any]]:
    """Models of the texts, and a finding for each that does not parse."""
    found: list[Finding] = []
    models = {}
    for name, text in texts.items():
        try:
            models[name] = platform(fabric.models[name].platform).parse(text)
        except (ConfigError, Problems) as invalid:
            found.extend(
                error(DifferenceCode.CONFIGURATION_INVALID, f"{name}: {one.where}", one.problem, one.remedy)
                for one in each(invalid)
            )
    missing = [name for name in fabric.models if name not in texts]
    found.extend(
        error(DifferenceCode.CONFIGURATION_MISSING, name, "has no configuration here", "Render or read it as well")
        for name in missing
    )
    return found, models


def _deviations(name: str, fabric: Design, model: Any) -> list[Finding]:
    """Where a switch differs from its intent."""
    return [
        error(DifferenceCode.CONFIGURATION_DIFFERS, f"{name}: {change.path}", change.problem, "Deploy the intent")
        for change in changes(model, fabric.models[name])
    ]


def schema() -> None:
    """Print the intent's JSON Schema, for editors."""
    typer.echo(json.dumps(json_schema(), indent=2))

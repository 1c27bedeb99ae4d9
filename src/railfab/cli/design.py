"""plan, render, audit and schema: what a fabric will be, before anything is touched."""

from __future__ import annotations

import json
from collections import Counter
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
    stderr,
    stdout,
)
from railfab.device import changes, disagreements
from railfab.errors import ConfigError, Finding, Problems, RailfabError, Severity, each
from railfab.intent import json_schema
from railfab.platforms import Design, design, platform, resolve_endpoints
from railfab.topology import Capacity, LinkKind, Role, cabling_csv, capacities, findings, link_kind

ReadFromOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="twin|lab|FILE",
        help="Read them from a running twin or lab, or from the switches of an endpoints file or a Nornir hosts.yml.",
        show_default=False,
    ),
]
OutDir = Annotated[Path | None, typer.Option("-o", metavar="DIR", help="Write files here.", show_default=False)]


def plan(intent: IntentFile, out: OutDir = None, output: OutputOption = Output.TABLE) -> None:
    """Expand a fabric, check it, and show it as tables; -o writes the cabling plan as CSV."""
    fabric = design(intent)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "cabling.csv").write_text(cabling_csv(fabric.topology))
        stderr().print(f"wrote {out / 'cabling.csv'}")
    found = findings(fabric.topology, fabric.intent)
    if output is Output.JSON:
        print_json(plan_document(fabric, found))
    else:
        _print_plan(fabric)
        print_findings(found)
    findings_exit(found)


def plan_document(fabric: Design, found: tuple[Finding, ...]) -> dict[str, Any]:
    """The plan for machines: nodes, links, thresholds and findings."""
    topology = fabric.topology
    return {
        "fabric": topology.fabric,
        "gpus": len(topology.hosts()) * fabric.intent.hosts.gpus,
        "nodes": [asdict(node) for node in topology.nodes],
        "links": [asdict(link) for link in topology.links],
        "capacity": [{**asdict(capacity), "ratio": capacity.ratio} for capacity in capacities(topology)],
        "thresholds": {
            name: [asdict(profile) for profile in model.qos.profiles]
            for name, model in fabric.models.items()
            if model.qos is not None
        },
        "findings": [asdict(finding) for finding in found],
    }


def _print_plan(fabric: Design) -> None:
    topology, intent = fabric.topology, fabric.intent
    gpus = len(topology.hosts()) * intent.hosts.gpus
    stdout().print(
        f"[bold]{topology.fabric}[/bold]: {gpus} GPUs on {len(topology.hosts())} hosts, "
        f"{len(topology.switches())} switches, {len(topology.links)} cables, {intent.hosts.gpus} rails\n"
    )
    _print_switches(fabric)
    _print_tiers(fabric)
    _print_rails(fabric)
    _print_thresholds(fabric)


def _print_switches(fabric: Design) -> None:
    capacity = {found.node: found for found in capacities(fabric.topology)}
    rows = [
        (
            node.name,
            node.role,
            node.model,
            node.platform,
            node.asn,
            node.loopback,
            *_ports(fabric, node.name),
            _capacity(capacity.get(node.name)),
        )
        for node in fabric.topology.switches()
    ]
    columns = ("switch", "role", "model", "platform", "AS", "loopback", "host ports", "fabric ports", "down / up")
    print_table("Switches", columns, rows)


def _ports(fabric: Design, switch: str) -> tuple[int, int]:
    """Host-facing and fabric ports of a switch."""
    ports = fabric.topology.ports_of(switch)
    hosts = sum(1 for port, _, _ in ports if port.rail is not None)
    return hosts, len(ports) - hosts


def _capacity(capacity: Capacity | None) -> str:
    if capacity is None:
        return ""
    verdict = "non-blocking" if capacity.non_blocking else f"{capacity.ratio:.2f}:1"
    return f"{capacity.down_gbps / 1000:g} / {capacity.up_gbps / 1000:g} Tb/s, {verdict}"


def _print_tiers(fabric: Design) -> None:
    """Cables by what they join: how many, how fast, how long."""
    roles = {node.name: node.role for node in fabric.topology.nodes}
    groups = Counter(
        (link_kind(roles[link.z.node], roles[link.a.node]), link.rate_gbps, link.cable_m)
        for link in fabric.topology.links
    )
    rows = [
        ("host to leaf" if kind is LinkKind.HOST else "leaf to spine", count, rate, f"{metres:g}")
        for (kind, rate, metres), count in groups.items()
    ]
    print_table("Cables", ("between", "count", "Gb/s", "metres"), rows)


def _print_rails(fabric: Design) -> None:
    """Where each rail's host links lie and from which subnets."""
    rails: dict[int, dict[str, list[str]]] = {}
    for link in fabric.topology.links:
        if link.z.rail is not None and link.z.address is not None:
            rails.setdefault(link.z.rail, {}).setdefault(link.z.node, []).append(link.z.name)
    subnets = {
        (link.z.rail, link.z.node): f"{link.z.address.network.supernet(new_prefix=24)}"
        for link in fabric.topology.links
        if link.z.address is not None
    }
    rows = [
        (rail, leaf, len(ports), f"{ports[0]} .. {ports[-1]}", subnets[rail, leaf])
        for rail, leaves in sorted(rails.items())
        for leaf, ports in leaves.items()
    ]
    print_table("Rails", ("rail", "switch", "ports", "from .. to", "a /31 each of"), rows)


def _print_thresholds(fabric: Design) -> None:
    kinds = {role: node.name for role in (Role.LEAF, Role.SPINE) for node in fabric.topology.nodes if node.role is role}
    rows = [
        (
            role,
            profile.name,
            f"{profile.kmin_bytes / 1000:g}",
            f"{profile.kmax_bytes / 1000:g}",
            f"{profile.pmax_percent} %",
            f"{profile.xoff_bytes / 1000:g}",
            f"{profile.headroom_percent} % of {qos.headroom_pool_percent} %",
        )
        for role, name in kinds.items()
        if (qos := fabric.models[name].qos) is not None
        for profile in qos.profiles
    ]
    if rows:
        columns = ("on", "speed-cable", "Kmin kB", "Kmax kB", "Pmax", "XOFF kB", "headroom of buffer")
        print_table("Lossless queue", columns, rows)


def print_findings(found: tuple[Finding, ...]) -> None:
    """One line each, in red for errors."""
    console = stdout()
    for finding in found:
        colour = "red" if finding.severity is Severity.ERROR else "yellow"
        console.print(Text.assemble((str(finding.severity), colour), f" {finding}"), soft_wrap=True)


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
        stdout().print(f"{len(texts)} of {len(fabric.models)} switches checked, {len(found)} findings")
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
    from railfab.deploy import differences_unnamed, nornir_of

    return differences_unnamed(nornir_of(fabric, resolve_endpoints(fabric, on, state)), fabric, found)


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
        except (ConfigError, Problems) as error:
            found.extend(_error(f"{name}: {one.where}", one.problem, one.remedy) for one in each(error))
    missing = [name for name in fabric.models if name not in texts]
    found.extend(_error(name, "has no configuration here", "Render or read it as well") for name in missing)
    return found, models


def _deviations(name: str, fabric: Design, model: Any) -> list[Finding]:
    """Where a switch differs from its intent."""
    return [
        _error(f"{name}: {change.place}", change.problem, "Deploy the intent")
        for change in changes(model, fabric.models[name])
    ]


def _error(where: str, problem: str, remedy: str) -> Finding:
    return Finding(severity=Severity.ERROR, where=where, problem=problem, remedy=remedy)


def schema() -> None:
    """Print the intent's JSON Schema, for editors."""
    typer.echo(json.dumps(json_schema(), indent=2))

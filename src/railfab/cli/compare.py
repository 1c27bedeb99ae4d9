"""compare: differences between an existing topology, from containerlab, DSX Air or NetBox, and the intent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli.common import (
    HostNamesOption,
    IntentFile,
    Output,
    OutputOption,
    findings_exit,
    host_names,
    print_findings,
    print_json,
)
from railfab.cli.echo import echo_line
from railfab.cli.netbox_options import CaOption, SiteOption, SkipVerifyOption, TagOption, TokenFileOption, netbox_at
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.findings import Finding
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.imports import ExistingTopology
    from railfab.imports.compare import Matching
    from railfab.topology import Topology

WithOption = Annotated[
    str,
    typer.Option(
        "--with",
        metavar="FILE|DIR|URL",
        help="A topology of containerlab or DSX Air, a NetBox, Slurm's topology.conf or topology.yaml, or a folder "
        "with the LLDP of hosts.",
        show_default=False,
    ),
]


def compare(
    intent: IntentFile,
    existing: WithOption,
    site: SiteOption = None,
    tag: TagOption = None,
    token_file: TokenFileOption = None,
    ca: CaOption = None,
    skip_verify: SkipVerifyOption = False,
    hosts: HostNamesOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare an existing topology with the intent: nodes, cables, speeds, addresses, AS numbers; of Slurm's topology
    the hosts of each segment and pod; of LLDP of hosts the cabling of each NIC. Changes nothing."""
    from railfab.imports import is_air, read_air, read_containerlab, read_netbox
    from railfab.imports.compare import differences, match_topology
    from railfab.imports.slurm import is_slurm

    fabric = design(intent)
    topology = fabric.topology
    is_url = existing.startswith(("http://", "https://"))
    if not is_url and any((site, tag, token_file, ca, skip_verify)):
        remedy = "Leave out --site, --tag, --token-file, --ca and --skip-verify"
        raise RailfabError(existing, "is a file, not the URL of a NetBox", remedy)
    if is_slurm(existing):
        _compare_slurm(fabric, Path(existing), hosts, output)
        return
    if not is_url and Path(existing).is_dir():
        _compare_lldp(fabric, Path(existing), hosts, output)
        return
    if hosts is not None:
        problem = "is no topology of Slurm and no folder of LLDP, which --hosts is for"
        raise RailfabError(existing, problem, "Leave out --hosts")
    if is_url:
        wired = read_netbox(netbox_at(existing, token_file, ca, skip_verify, site, tag))
    elif is_air(Path(existing)):
        wired = read_air(Path(existing))
    else:
        wired = read_containerlab(Path(existing), os.environ)
    matching = match_topology(topology, wired)
    if output is Output.JSON:
        findings = differences(topology, wired, matching, most=None)
        counts = len(wired.nodes), len(wired.links)
        print_json(_document(topology.fabric, wired.source, *counts, matching.not_compared, findings))
    else:
        findings = differences(topology, wired, matching)
        _print(topology, wired, matching, findings)
    findings_exit(findings)


def _compare_slurm(fabric: Design, path: Path, hosts: Path | None, output: Output) -> None:
    """Compare the hosts of Slurm's leaf switches or blocks with the segments and pods of the plan."""
    from railfab.fabric.segments import places
    from railfab.imports.slurm import read_slurm
    from railfab.imports.slurm_compare import slurm_differences

    names = host_names(fabric, hosts)
    tree, slurm = places(fabric), read_slurm(path)
    if output is Output.JSON:
        findings = slurm_differences(tree, slurm, names, most=None)
        print_json(_document(fabric.topology.fabric, slurm.source, len(slurm.hosts), 0, ["cables"], findings))
    else:
        findings = slurm_differences(tree, slurm, names)
        print_findings(findings)
        counts = f"{counted(len(slurm.hosts), 'host')} in {counted(len(slurm.groups), 'group')} of {slurm.source}"
        _print_verdict(counts, fabric.topology.fabric, findings)
    findings_exit(findings)


def _compare_lldp(fabric: Design, folder: Path, hosts: Path | None, output: Output) -> None:
    """Compare what hosts see by LLDP with the cabling of the plan, down to the NIC."""
    from railfab.imports.compare import LISTED
    from railfab.imports.lldp import read_host_neighbors
    from railfab.imports.lldp_compare import lldp_comparison

    most = None if output is Output.JSON else LISTED
    files = read_host_neighbors(folder)
    compared = lldp_comparison(fabric.topology, files, host_names(fabric, hosts), most)
    gap = f"hosts without a file: {compared.gap}" if compared.without_file else ""
    if output is Output.JSON:
        links = sum(len(file.neighbors) for file in files)
        not_compared = [gap] if gap else []
        print_json(_document(fabric.intent.fabric, folder.name, len(files), links, not_compared, compared.findings))
    else:
        print_findings(compared.findings)
        ports = f"{compared.proved:,} of {counted(compared.ports, 'NIC port')} proved, {compared.wrong:,} wrong"
        echo_line(
            f"cabling of {fabric.intent.fabric}: {ports}, {compared.unknown:,} unknown{f' ({gap})' if gap else ''}"
        )
    findings_exit(compared.findings)


def _document(
    fabric: str, source: str, nodes: int, links: int, not_compared: Sequence[str], findings: Sequence[Finding]
) -> dict[str, Any]:
    """The comparison as a JSON document."""
    return {
        "fabric": fabric,
        "with": source,
        "nodes": nodes,
        "links": links,
        "not_compared": list(not_compared),
        "findings": [asdict(finding) for finding in findings],
    }


def _print(topology: Topology, wired: ExistingTopology, matching: Matching, findings: tuple[Finding, ...]) -> None:
    print_findings(findings)
    for words in matching.not_compared:
        echo_line(f"not compared: {words}")
    counts = f"{counted(len(wired.nodes), 'node')} and {counted(len(wired.links), 'link')} of {wired.source}"
    _print_verdict(counts, topology.fabric, findings)


def _print_verdict(counts: str, fabric: str, findings: Sequence[Finding]) -> None:
    verdict = counted(len(findings), "finding") if findings else "no difference"
    echo_line(f"{counts} compared with {fabric}: {verdict}")

"""cabling: the cables that switches see by LLDP, BGP and ARP against the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    findings_document,
    print_findings,
    print_folded,
    print_json,
    print_text,
    refuse_state,
    report,
    ticking_bar,
)
from railfab.cli.junit import JunitOption, JunitReport
from railfab.errors import Problems, RailfabError
from railfab.fabric import design, limited, readable_endpoints
from railfab.findings import Finding
from railfab.text.junit import JunitCase

if TYPE_CHECKING:
    from railfab.deploy import Cabling


def cabling(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Compare the cables that switches see, by LLDP above all, with the plan, and name the two plugs to swap."""
    from railfab.deploy import nornir_of, read_cabling

    refuse_state(context, on)
    file = JunitReport("cabling", junit)
    fabric = design(intent)
    endpoints, without_address = readable_endpoints(fabric, on, state, limit)
    nornir = nornir_of(fabric, endpoints)
    names = [node.name for node in limited(fabric.topology, limit)]
    with ticking_bar("reading", len(endpoints.nodes)) as on_done:
        seen, unread = read_cabling(nornir, fabric, names, without_address=without_address, on_done=on_done)
    findings = tuple(seen.findings())
    if output is Output.JSON:
        print_json(_document(fabric.intent.fabric, seen, findings, unread))
    else:
        print_findings(findings)
        print_folded(("switch", "links", "proved", "wrong", "unknown"), list(_rows(seen, names)))
        print_text(seen.summary, whole=True)
    file.write(fabric.intent.fabric, _cases(seen, findings, unread))
    if unread:
        report(Problems(tuple(unread.values())))
    if findings or unread:
        raise typer.Exit(FOUND if findings else CANNOT)


def cabling_document(cabling: Cabling) -> dict[str, Any]:
    """The number of links by state, and each link."""
    from railfab.deploy import CablingState

    counts = {str(state): len(cabling.of(state)) for state in CablingState}
    return counts | {"links": [asdict(link) for link in cabling.links]}


def _document(
    fabric: str, cabling: Cabling, findings: Sequence[Finding], unread: Mapping[str, RailfabError]
) -> dict[str, Any]:
    swaps = [
        [{"switch": cable[0][0], "interface": cable[0][1], "seen": " ".join(cable[1])} for cable in pair]
        for pair in cabling.swaps
    ]
    return {
        "fabric": fabric,
        "findings": findings_document(findings),
        "swaps": swaps,
        "unread": [{"name": name, "error": str(error)} for name, error in unread.items()],
        **cabling_document(cabling),
    }


def _rows(cabling: Cabling, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each switch, with the number of its links by state."""
    from railfab.deploy import CablingState

    counts = Counter((node, link.state) for link in cabling.links for node in (link.switch, link.peer))
    for name in names:
        of_state = [counts[name, state] for state in CablingState]
        yield name, str(sum(of_state)), *map(str, of_state)


def _cases(cabling: Cabling, findings: Sequence[Finding], unread: Mapping[str, RailfabError]) -> Iterator[JunitCase]:
    """A case for each link: a wrong one fails, one that no switch was read for is in error, other unknown ones are
    skipped."""
    from railfab.deploy import CablingGap

    lines = {port: finding.line for finding in findings for port in finding.where.split(" and ")}
    for link in cabling.links:
        ends = (f"{link.switch} {link.interface}", f"{link.peer} {link.peer_interface}")
        missing = unread.get(link.switch) or unread.get(link.peer)
        yield JunitCase(
            name=" - ".join(ends),
            group="cabling",
            failures=tuple(dict.fromkeys(lines[end] for end in ends if end in lines)),
            error=str(missing) if link.gap is CablingGap.UNREAD and missing else "",
            skipped=link.gap or "",
        )

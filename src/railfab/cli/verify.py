"""verify: the live state of switches against the intent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from railfab.cli.acceptance import AcceptFindingsOption, accepted_count, print_accepted
from railfab.cli.cabling import cabling_document
from railfab.cli.common import (
    STATE_DEFAULT,
    HostsOption,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    findings_document,
    findings_exit,
    print_findings,
    print_json,
    print_text,
    print_worst_switches,
    refuse_state,
    stderr,
)
from railfab.cli.junit import JunitOption, JunitReport, switch_cases
from railfab.fabric import design, limited, session_endpoints
from railfab.findings import Severity, findings_text, without_accepted
from railfab.text.counted import counted


def verify(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="S", help="Repeat the check for this long until nothing is found.")
    ] = 15.0,
    hosts: HostsOption = None,
    accept: AcceptFindingsOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Check the live state against the intent: sessions, neighbours, MTU, and both ends of every link."""
    from railfab.deploy import nornir_of, verify_all
    from railfab.fabric.audit import folded
    from railfab.fabric.nic_agreement import read_nic_states

    refuse_state(context, on)
    file = JunitReport("verify", junit)
    fabric = design(intent)
    nics = None if hosts is None else read_nic_states(fabric, hosts)
    nornir = nornir_of(fabric, session_endpoints(fabric, on, state, limit))
    with stderr().status("reading the switches"):
        result = verify_all(nornir, fabric, wait_s=wait, accept=accept or (), nics=nics)
    switches = result.checked
    left, accepted = without_accepted(result.findings, accept or ())
    if output is Output.JSON:
        document = {"fabric": fabric.intent.fabric, "checked": switches, "findings": findings_document(left)}
        accepted_document = {"accepted": findings_document(accepted)}
        nics_document = {"nics": None if result.nics is None else asdict(result.nics)}
        print_json(document | accepted_document | {"cabling": cabling_document(result.cabling)} | nics_document)
    else:
        wrong = [finding for finding in left if finding.severity is not Severity.NOTE]
        print_accepted(folded(accepted))
        print_findings(folded(wrong))
        print_worst_switches(wrong)
        sessions = sum(len(fabric.models[name].neighbors) for name in switches)
        healthy = f"all {sessions} BGP session ends are as the intent says"
        verdict = findings_text(wrong) if wrong else healthy
        checked = f"{len(switches)} of {counted(len(fabric.models), 'switch')} checked"
        print_text(f"{checked}: {verdict}{accepted_count(accepted)}")
        print_text(result.cabling.summary, whole=True)
        if result.nics is not None:
            print_text(f"NICs: {result.nics.compared:,} of {result.nics.ports:,} compared with their switch ports")
    names = [node.name for node in limited(fabric.topology, limit)]
    file.write(fabric.intent.fabric, switch_cases("verify", names, left, result.unread))
    findings_exit(left, result.unread.values())

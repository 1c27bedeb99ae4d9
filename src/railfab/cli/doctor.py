"""doctor: why a fabric or a job is slow, as ranked causes with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    HostsOption,
    IntentFile,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    print_json,
    print_text,
    refuse_state,
    ticking_bar,
    uncollected,
)
from railfab.fabric import Design, design, readable_endpoints
from railfab.text.counted import counted, listed
from railfab.text.folding import alike_as_one

if TYPE_CHECKING:
    from railfab.diagnosis import FabricDiagnosis, RankedCause, Symptom

WINDOW_S = 20.0
SHOWN = 3
"""Lines of evidence, and symptoms, that a cause has in the table."""


def doctor(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    telemetry: Annotated[
        str | None,
        typer.Option(
            "--telemetry",
            metavar="URL",
            help="Prometheus or collector to read the telemetry from; else `change.telemetry` of the intent, else a"
            " collector of its own.",
        ),
    ] = None,
    window: Annotated[
        float, typer.Option("--for", metavar="S", min=5, max=600, help="Seconds of telemetry to judge.")
    ] = WINDOW_S,
    hosts: HostsOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Name the causes of what is wrong or slow, the most likely first, with evidence and the next command."""
    refuse_state(context, on)
    with uncollected():
        fabric = design(intent)
    result = _diagnosis(fabric, on, telemetry, window, state, hosts)
    if output is Output.JSON:
        print_json(asdict(result))
    else:
        _print(result)
    if result.causes or result.unexplained:
        raise typer.Exit(FOUND)
    if result.unread:
        raise typer.Exit(CANNOT)


def _diagnosis(
    fabric: Design, on: str | None, telemetry: str | None, window_s: float, state: Path, hosts: Path | None
) -> FabricDiagnosis:
    from railfab.app.doctor import collected, diagnosed
    from railfab.deploy.gates import source_of
    from railfab.fabric.nic_agreement import read_nic_states

    nics = None if hosts is None else read_nic_states(fabric, hosts)
    endpoints, without_address = readable_endpoints(fabric, on, state, None)
    words = {"intent": quote(str(fabric.path)), "on": f" --on {quote(on)}" if on else ""}
    words["hosts"] = "" if hosts is None else f" --hosts {quote(str(hosts))}"
    source = source_of(fabric, telemetry)
    reading = nullcontext(source) if source else collected(fabric, endpoints, state, has_twin=on == "twin")
    with reading as present, ticking_bar("reading", len(endpoints.nodes)) as on_done:
        return diagnosed(
            fabric,
            endpoints,
            present,
            window_s=window_s,
            state=state,
            words=words,
            without_address=without_address,
            nics=nics,
            on_done=on_done,
        )


def _print(result: FabricDiagnosis) -> None:
    """Print each cause with what shows it, what it accounts for and the next command; then the verdict."""
    for cause in result.causes:
        print_text((f"{cause.rank}. {cause.title}", "bold"), f" ({cause.confidence:.0%})")
        for line in _lines(cause):
            print_text(f"   {line}")
        print_text(f"   next: {cause.next}", whole=True)
    for symptom in result.unexplained:
        print_text(("no cause known: ", "yellow"), _text(symptom))
    for line in alike_as_one(result.unread.items()):
        print_text(("unknown: ", "yellow"), line)
    print_text(_verdict(result))


def _lines(cause: RankedCause) -> Iterator[str]:
    for evidence in cause.evidence[:SHOWN]:
        yield f"{evidence.kind}: {evidence.place} {evidence.text}"
    if len(cause.evidence) > SHOWN:
        yield f"and {counted(len(cause.evidence) - SHOWN, 'line')} of evidence more, see --output json"
    if cause.explains:
        yield f"accounts for: {', '.join(_kinds(cause.explains))}"


def _kinds(symptoms: Iterable[Symptom]) -> Iterator[str]:
    """`link-down of leaf1 ethernet-1/32 and 1 more` for each kind of symptom."""
    by_kind: dict[str, list[str]] = {}
    for symptom in symptoms:
        by_kind.setdefault(str(symptom.kind), []).append(str(symptom.place))
    for kind, places in by_kind.items():
        yield f"{kind} of {listed(tuple(dict.fromkeys(places)), 1)}"


def _text(symptom: Symptom) -> str:
    value = f" ({symptom.value})" if symptom.value else ""
    return f"{symptom.place} {symptom.text}{value}"


def _verdict(result: FabricDiagnosis) -> str:
    """`4 of 4 switches read, 20 s of telemetry: 1 cause`; the second number is that of the intent."""
    read = f"{result.read} of {counted(result.switches, 'switch')} read, {result.window_s:.0f} s of telemetry"
    if result.sampled < result.switches:
        read += f" of {result.sampled}"
    if result.causes:
        return f"{read}: {counted(len(result.causes), 'cause')}"
    if result.unexplained:
        return f"{read}: {counted(len(result.unexplained), 'symptom')} without a known cause"
    if result.symptoms and not result.unread:
        shown = listed(tuple(dict.fromkeys(str(symptom.kind) for symptom in result.symptoms)), SHOWN)
        return f"{read}: nothing found that is wrong with switches, links or NICs ({shown})"
    return f"{read}: {'nothing found in what was read' if result.unread else 'nothing found'}"

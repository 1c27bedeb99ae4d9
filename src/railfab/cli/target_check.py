"""targets check: what the targets answer, before anything is collected from them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import typer

from railfab.cli.collect_options import MapOption, OptionalIntentFile, TargetsOption, Wanted, refuse_without_targets
from railfab.cli.common import (
    CANNOT,
    FOUND,
    STATE_DEFAULT,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    print_json,
    print_table,
    print_text,
    progress_bar,
    report,
)
from railfab.cli.echo import echo_line
from railfab.errors import EndpointError, LoginRefused
from railfab.fabric import design, resolve_endpoints
from railfab.text.counted import counted, listed
from railfab.text.folding import folded_sets
from railfab.topology.grouping import grouped

if TYPE_CHECKING:
    from railfab.telemetry.target_check import Needed, PathCheck, TargetCheck
    from railfab.telemetry.targets import PartlyFailed, TargetSpec

RENEW_WITHIN = timedelta(days=30)
MAX_SKEW_S = 5.0
DATE = "%Y-%m-%d"


targets_app = typer.Typer(no_args_is_help=True, help="Check the targets that are collected from.")


@targets_app.command("check")
def check(
    context: typer.Context,
    intent: OptionalIntentFile = None,
    on: OnOption = None,
    limit: LimitOption = None,
    targets: TargetsOption = None,
    mappings: MapOption = None,
    output: OutputOption = Output.TABLE,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Ask each target once: login, certificate, encodings, clock, and every path. Collects nothing.

    Exit code 1 with findings, 2 where no target could be asked for a path.
    """
    from railfab.telemetry.target_check import check_targets

    refuse_without_targets(given_parameters(context))
    wanted = Wanted(intent, on, limit, state, lists=targets or (), mappings=mappings or ())
    specs, needed, unread = _targets_now(wanted)
    with progress_bar() as progress:
        task = progress.add_task("targets", total=len(specs))
        checks = asyncio.run(check_targets(specs, needed, lambda: progress.advance(task)))
    findings = [(check.target.name, text) for check in checks for text in _findings(check)]
    if output is Output.JSON:
        print_json(_document(checks, findings))
    else:
        _print(checks, findings)
    for error in unread:
        report(error)
    if findings or unread:
        raise typer.Exit(FOUND if any(check.paths for check in checks) else CANNOT)


def _targets_now(wanted: Wanted) -> tuple[list[TargetSpec], Needed, list[PartlyFailed]]:
    """The switches of an intent and those that lists have now, with the user's telemetry maps, the paths that they
    need, and the lists with wrong entries."""
    from railfab.fabric.telemetry_needs import TelemetryNeeds
    from railfab.platforms.telemetry_files import telemetry_maps
    from railfab.telemetry.target_check import all_needed
    from railfab.telemetry.targets import PartlyFailed, mapped_telemetry, targets_of_intent
    from railfab.telemetry.targets.config import source_of

    telemetry = mapped_telemetry(telemetry_maps(wanted.mappings))
    targets: list[TargetSpec] = []
    needed: Needed = all_needed
    if wanted.intent is not None:
        fabric = design(wanted.intent)
        endpoints = resolve_endpoints(fabric, wanted.on, wanted.state, wanted.limit)
        names = endpoints.by_name().keys()
        targets += targets_of_intent(fabric.topology, endpoints, among=names, telemetry=telemetry)
        needed = TelemetryNeeds(fabric).needed
    unread: list[PartlyFailed] = []
    for where in wanted.lists:
        try:
            listed_now = asyncio.run(source_of(where, telemetry=telemetry).poll())
            targets += listed_now or ()
        except PartlyFailed as error:
            targets += error.specs
            unread.append(error)
    return targets, needed, unread


def _findings(check: TargetCheck) -> Iterator[str]:
    """What is wrong with one target, most important first."""
    if check.error is not None:
        yield f"{check.error.problem}. {check.error.remedy}"
    elif not check.target.telemetry.subscriptions:
        yield f"platform {check.target.platform!r} has no telemetry map. Correct it, or describe it with --map"
    now = datetime.now(UTC)
    if check.expires is not None and now < check.expires < now + RENEW_WITHIN:
        yield f"the certificate expires on {check.expires:{DATE}}. Renew it"
    if check.skew_s is not None and abs(check.skew_s) > MAX_SKEW_S:
        way = "ahead of" if check.skew_s > 0 else "behind"
        yield f"its clock is {abs(check.skew_s):.0f} s {way} ours. Synchronise both with NTP"
    if refused := _refused_encoding(check):
        yield f"refuses {refused}, which gnmi_encoding states. It is received in another one; correct or remove it"
    if not isinstance(check.error, LoginRefused):
        yield from _findings_of_paths(check.paths)


def _findings_of_paths(paths: Sequence[PathCheck]) -> Iterator[str]:
    """What is wrong with the paths; what the whole server refuses in one line."""
    refused = [path for path in paths if path.error and not path.subscription.optional]
    if len(paths) > 1 and all(path.error == paths[0].error for path in paths) and refused:
        yield f"refuses all {len(paths)} paths ({paths[0].error}). Check that it serves gNMI Subscribe at its gnmi_port"
        return
    for path in refused:
        yield f"refuses {path.subscription.path} ({path.error}). Drop the subscription with --map"
    if empty := [path.subscription.path for path in paths if path.needed and not (path.leaves or path.error)]:
        yield f"has no data at {listed(empty)}. Check that what they count is configured, or drop them with --map"


def _refused_encoding(check: TargetCheck) -> str:
    """The encoding that the endpoint states, where the target answers paths in another one only; else empty."""
    from railfab.telemetry.subscriptions import encoding_number

    stated = check.target.endpoint.gnmi_encoding if check.target.endpoint else None
    used = {path.encoding for path in check.paths} - {None}
    return stated.upper() if stated and used and encoding_number(stated) not in used else ""


def _print(checks: Sequence[TargetCheck], findings: Sequence[tuple[str, str]]) -> None:
    heading = ("target", "login", "TLS until", "encodings", "skew", "paths")
    print_table("Targets", heading, map(_row, checks))
    if paths := [*_path_rows(checks)]:
        print_table("Paths without data everywhere", ("path", "data", "none", "refused"), paths)
    for group in grouped(findings, lambda finding: finding[1]):
        names = ", ".join(folded_sets([name for name, _ in group]))
        echo_line(f"{names}: {group[0][1]}")
    well = len(checks) - len({name for name, _ in findings})
    print_text(f"{well} of {counted(len(checks), 'target')} without findings")


def _row(check: TargetCheck) -> tuple[str, ...]:
    login = {None: "-", True: "ok", False: "refused"}[check.logged_in]
    wanted = [path for path in check.paths if path.is_counted]
    return (
        check.target.name,
        login if check.reachable else "not tried" if isinstance(check.error, EndpointError) else "unreachable",
        _tls(check),
        _encodings(check),
        "-" if check.skew_s is None else f"{check.skew_s:+.1f} s",
        f"{sum(bool(path.leaves) for path in wanted)} of {len(wanted)}" if check.paths else "-",
    )


def _tls(check: TargetCheck) -> str:
    endpoint = check.target.endpoint
    if endpoint is not None and endpoint.plaintext:
        return "plaintext"
    if endpoint is None or check.expires is None:
        return "-"
    return f"{check.expires:{DATE}}" + (" (not verified)" if endpoint.skip_verify else "")


def _encodings(check: TargetCheck) -> str:
    from railfab.gnmi import messages

    if check.encodings is None:
        return "not told" if check.paths else "-"
    return ", ".join(messages.Encoding.Name(one) for one in check.encodings)


def _path_rows(checks: Iterable[TargetCheck]) -> Iterator[tuple[object, ...]]:
    """Paths that not all targets have that need them: numbers of targets with data, without and refusing."""
    rows: dict[str, list[PathCheck]] = {}
    for check in checks:
        for path in check.paths:
            if path.is_counted:
                rows.setdefault(path.subscription.path, []).append(path)
    for name, found in rows.items():
        refused = sum(bool(path.error) for path in found)
        data = sum(bool(path.leaves) for path in found)
        if data < len(found):
            yield name, data, len(found) - data - refused, refused


def _document(checks: Iterable[TargetCheck], findings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {
        "targets": [_target_document(check) for check in checks],
        "findings": [{"target": name, "problem": text} for name, text in findings],
    }


def _target_document(check: TargetCheck) -> dict[str, Any]:
    from railfab.gnmi import messages

    encodings = None if check.encodings is None else [messages.Encoding.Name(one) for one in check.encodings]
    endpoint = check.target.endpoint
    return {
        "target": check.target.name,
        "address": None if endpoint is None else f"{endpoint.host}:{endpoint.gnmi_port}",
        "reachable": check.reachable,
        "logged_in": check.logged_in,
        "tls_verified": endpoint is not None and endpoint.tls_verified,
        "tls_until": None if check.expires is None else check.expires.isoformat(),
        "gnmi_version": check.version,
        "encodings": encodings,
        "skew_s": check.skew_s,
        "interval_s": endpoint.gnmi_interval_s if endpoint else None,
        "paths": [
            {
                "path": path.subscription.path,
                "mode": path.subscription.mode,
                "optional": path.subscription.optional,
                "needed": path.needed,
                "leaves": path.leaves,
                "unmapped": path.unmapped,
                "encoding": None if path.encoding is None else messages.Encoding.Name(path.encoding),
                "error": path.error,
            }
            for path in check.paths
        ],
    }

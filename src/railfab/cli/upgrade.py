"""upgrade: install a software image on switches and reload them, one failure domain at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli import completion
from railfab.cli.change import FINISHING, require_answer
from railfab.cli.change_options import YesOption
from railfab.cli.common import (
    CANNOT,
    STATE_DEFAULT,
    IntentFile,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    finite,
    print_findings,
    print_json,
    print_table,
    print_text,
    report,
    telling_bar,
)
from railfab.cli.echo import echo, echo_line
from railfab.cli.junit import JunitOption, JunitReport
from railfab.endpoints import Endpoints
from railfab.errors import Problems, RailfabError
from railfab.fabric import Design, design, limited, present_endpoints, session_endpoints
from railfab.findings import Finding
from railfab.process.signals import INTERRUPTED, stop_on_signal
from railfab.text.counted import counted, listed
from railfab.text.junit import JunitCase

if TYPE_CHECKING:
    from railfab.deploy import Upgraded, UpgradeLimits
    from railfab.platforms import Image

STOPPED = 3
"""Exit code: stopped at a switch that is not as it should be."""
MOVED_UNKNOWN = "no telemetry is configured, so that it is not known whether the traffic of a drained switch has moved"

SwitchesOrGroups = Annotated[
    list[str],
    typer.Argument(
        metavar="SWITCH|GROUP...",
        help="Switches or groups, as of --limit: spine, pod1-seg1-leaf1.",
        show_default=False,
        autocompletion=completion.limits,
    ),
]
ImageOption = Annotated[
    str, typer.Option("--image", metavar="FILE|URL", help="File on the switch, or URL from which it fetches it.")
]
VersionOption = Annotated[
    str, typer.Option("--version", metavar="V", help="Its version; else the file name states it.", show_default=False)
]
ChecksumOption = Annotated[
    str,
    typer.Option(
        "--checksum", metavar="HEX", help="MD5, SHA-256 or SHA-512 that the file must have.", show_default=False
    ),
]
BackOption = Annotated[
    float,
    typer.Option("--back-within", metavar="S", min=1, callback=finite, help="Seconds in which a reload has to end."),
]
VerifiedOption = Annotated[
    float,
    typer.Option("--verified-within", metavar="S", min=0, callback=finite, help="Seconds for sessions to come up."),
]
SettleOption = Annotated[
    float,
    typer.Option(
        "--settle", metavar="S", min=0, callback=finite, help="Seconds for traffic to move, where no telemetry tells."
    ),
]
MovedOption = Annotated[
    float,
    typer.Option(
        "--moved-within", metavar="S", min=0, callback=finite, help="Seconds in which the telemetry has to show it."
    ),
]
WithTrafficOption = Annotated[
    bool, typer.Option("--with-traffic", metavar="", help="Reload switches that still carry traffic, too.")
]
DESCRIBED = {
    "upgraded": "upgraded",
    "undrained": "ran it already, undrained",
    "no change": "runs it already",
    "failed": "failed",
    "installed": "installed, not reloaded",
    "not begun": "not begun",
}
"""The result of a switch in a table."""


def upgrade(
    intent: IntentFile,
    switches: SwitchesOrGroups,
    image: ImageOption,
    on: OnOption = None,
    version: VersionOption = "",
    checksum: ChecksumOption = "",
    back_within: BackOption = 900.0,
    verified_within: VerifiedOption = 180.0,
    settle: SettleOption = 10.0,
    moved_within: MovedOption = 120.0,
    with_traffic: WithTrafficOption = False,
    yes: YesOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
    junit: JunitOption = None,
) -> None:
    """Install a software image on switches: install, drain, reload, verify, undrain, one failure domain at a time."""
    from railfab.deploy import UpgradeLimits, check_verb
    from railfab.platforms import Verb

    file, wanted = JunitReport("upgrade", junit), _image(image, version, checksum)
    fabric = design(intent)
    names = _selected(fabric, switches)
    check_verb(fabric, names, Verb.DRAIN)
    session_endpoints(fabric, on, state, among=names)
    limits = UpgradeLimits(
        back_s=back_within,
        verified_s=verified_within,
        moved_s=moved_within,
        settle_s=settle,
        with_traffic=with_traffic,
    )
    results = _UpgradeCommand(fabric, names, wanted, limits, on, state, output).upgrade(asks=not yes)
    file.write(fabric.intent.fabric, map(_case, results))
    raise typer.Exit(_exit_code(results))


def _image(place: str, version: str, checksum: str) -> Image:
    """The image of the options. Raises RailfabError."""
    from railfab.platforms import Image

    try:
        image = Image(place=place, version=version, checksum=checksum.lower())
    except ValueError as error:
        option, given = ("--checksum", checksum) if "hexadecimal" in str(error) else ("--image", place)
        remedy = "Copy it from the vendor's page" if option == "--checksum" else "Name a file on the switch, or a URL"
        raise RailfabError(f"{option} {given!r}", str(error), remedy) from None
    if not image.states_version:
        problem = "states no version in its name, by which the switches could be verified"
        raise RailfabError(f"--image {place!r}", problem, "Add --version")
    return image


def _selected(fabric: Design, switches: Sequence[str]) -> tuple[str, ...]:
    """The names of the switches of some names and groups. Raises RailfabError."""
    expression = ",".join(switches)
    try:
        return tuple(node.name for node in limited(fabric.topology, expression))
    except RailfabError as error:
        raise error.changed(where=expression) from None


class _UpgradeCommand:
    """One run of the command."""

    def __init__(
        self,
        fabric: Design,
        names: tuple[str, ...],
        image: Image,
        limits: UpgradeLimits,
        on: str | None,
        state: Path,
        output: Output,
    ) -> None:
        from railfab.deploy import waves_of

        self._fabric, self._image, self._limits = fabric, image, limits
        self._domains = tuple(wave.switches for wave in waves_of(fabric, names))
        self._on, self._state, self._output = on, state, output

    def upgrade(self, *, asks: bool) -> list[Upgraded]:
        """Ask where that is wanted, upgrade, and print. Leaves with the exit code of a signal that stopped the run."""
        from railfab.deploy import Journal, UpgradeRun, drained_by_upgrades
        from railfab.deploy.gates import source_of

        journal = Journal(self._state, self._fabric.intent.fabric)
        if asks:
            require_answer("upgrade", self._output, "Read what it would do, then add --yes")
        with journal.open("upgrade") as entry:
            findings = self._remaining()
            if asks:
                self._ask()
            telemetry = source_of(self._fabric)
            if telemetry is None:
                echo(f"warning: {MOVED_UNKNOWN}; each drain is given {self._limits.settle_s:g} s", err=True)
            with (
                stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested,
                telling_bar("upgrading", sum(map(len, self._domains))) as (advance, tell),
            ):
                run = UpgradeRun(
                    fabric=self._fabric,
                    endpoints=self._endpoints(),
                    image=self._image,
                    keep=entry.keep,
                    resumed=drained_by_upgrades(journal.deploys()),
                    limits=self._limits,
                    telemetry=telemetry,
                    on_step=lambda names, step: self._on_step(names, step, tell),
                    stop_requested=stop_requested,
                )
                results = run.upgrade(self._domains, lambda _name: advance())
            entry.finish({result.name: result.journalled for result in results if result.result != "not begun"})
        self._print(findings, results)
        if stop_requested.is_set():
            raise typer.Exit(INTERRUPTED)
        return results

    def _endpoints(self) -> Endpoints:
        endpoints, _ = present_endpoints(self._fabric, self._on, self._state)
        return endpoints

    def _remaining(self) -> tuple[Finding, ...]:
        """Traffic that stays on switches while they are drained."""
        from railfab.deploy import remaining_in_turn

        domains = tuple(map(frozenset, self._domains))
        findings, unread = remaining_in_turn(self._fabric, domains, self._on, self._state)
        if unread:
            report(Problems(unread))
        if self._output is Output.TABLE:
            print_findings(findings)
        return findings

    def _ask(self) -> None:
        for number, domain in enumerate(self._domains, start=1):
            print_text(f"domain {number}: {', '.join(domain)}", whole=True)
        count = counted(sum(map(len, self._domains)), "switch")
        typer.confirm(f"Install {self._image.file} on {count}, and reload them, one domain at a time?", abort=True)

    def _on_step(self, names: Sequence[str], step: str, tell: Any) -> None:
        tell(f"{listed(names)} {step}")
        if self._output is Output.TABLE:
            echo_line(f"{listed(names)}: {step}", err=True)

    def _print(self, findings: Sequence[Finding], results: Sequence[Upgraded]) -> None:
        if self._output is Output.JSON:
            keys = ("name", "domain", "before", "after", "result", "changed", "drained", "error")
            document = {
                "fabric": self._fabric.intent.fabric,
                "image": self._image.place,
                "findings": [asdict(finding) for finding in findings],
                "switches": [{key: getattr(result, key) for key in keys} for result in results],
            }
            print_json(document)
            return
        rows = [
            (
                result.name,
                result.domain,
                result.before or "-",
                result.after or "-",
                DESCRIBED[result.result] + (", drained" if result.drained else ""),
            )
            for result in results
        ]
        print_table("", ("switch", "domain", "before", "after", "result"), rows)
        for result in results:
            if result.failed:
                echo(f"railfab: {result.error}", err=True)


def _case(result: Upgraded) -> JunitCase:
    skipped = DESCRIBED[result.result] if result.result in ("not begun", "installed") else ""
    failures = (result.error or "failed",) if result.failed else ()
    return JunitCase(name=result.name, group="upgrade", failures=failures, skipped=skipped)


def _exit_code(results: Sequence[Upgraded]) -> int:
    """3 where a switch stopped the run; 2 where that was before anything was changed."""
    if not any(result.failed for result in results):
        return 0
    return STOPPED if any(result.changed for result in results) else CANNOT

"""replace: put a new device in the place of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    print_json,
    print_table,
    stop_at_errors,
    telling_bar,
)
from railfab.cli.echo import echo, echo_line
from railfab.cli.junit import JunitOption, JunitReport
from railfab.cli.upgrade import STOPPED, VerifiedOption
from railfab.fabric import Design, design, named, present_endpoints, session_endpoints
from railfab.process.signals import INTERRUPTED, stop_on_signal
from railfab.text.junit import JunitCase

if TYPE_CHECKING:
    from railfab.deploy import Replaced

SwitchName = Annotated[
    str,
    typer.Argument(metavar="SWITCH", help="A switch, by name.", show_default=False, autocompletion=completion.switches),
]
DESCRIBED = {"replaced": "replaced", "no change": "has its configuration already", "failed": "failed"}
"""The result in a table."""


def replace(
    intent: IntentFile,
    switch: SwitchName,
    on: OnOption = None,
    verified_within: VerifiedOption = 180.0,
    yes: YesOption = False,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
    junit: JunitOption = None,
) -> None:
    """Put a new device in the place of a switch: check it, configure it drained, verify it, and end the drain."""
    from railfab.deploy import Journal, Replacement

    file, fabric = JunitReport("replace", junit), design(intent)
    stop_at_errors(fabric, None, output)
    (name,) = named(fabric.topology, [switch])
    session_endpoints(fabric, on, state, among=[name])
    if not yes:
        require_answer("replace", output, "Read what it would do, then add --yes")
    with stop_on_signal(lambda: echo(FINISHING, err=True)) as stop_requested, telling_bar("replacing", 1) as (_, tell):

        def on_step(step: str) -> None:
            tell(step)
            if output is Output.TABLE:
                echo_line(f"{name}: {step}", err=True)

        replacement = Replacement(
            fabric=fabric,
            endpoints=present_endpoints(fabric, on, state)[0],
            journal=Journal(state, fabric.intent.fabric),
            name=name,
            verified_s=verified_within,
            on_step=on_step,
            stop_requested=stop_requested,
        )
        device = replacement.check()
        if not yes:
            typer.confirm(f"Configure {device.model or 'it'} with version {device.version} as {name}?", abort=True)
        result = replacement.replace(device)
    failures = (result.error or "failed",) if result.failed else ()
    file.write(fabric.intent.fabric, [JunitCase(name=name, group="replace", failures=failures)])
    _print(fabric, result, output)
    raise typer.Exit(INTERRUPTED if stop_requested.is_set() else _exit_code(result))


def _print(fabric: Design, result: Replaced, output: Output) -> None:
    if output is Output.JSON:
        keys = ("name", "model", "version", "result", "changed", "drained", "error")
        print_json({"fabric": fabric.intent.fabric, **{key: getattr(result, key) for key in keys}})
        return
    described = DESCRIBED[result.result] + (", drained" if result.drained else "")
    row = (result.name, result.model or "-", result.version or "-", described)
    print_table("", ("switch", "model", "version", "result"), [row])
    if result.failed:
        echo(f"railfab: {result.error}", err=True)


def _exit_code(result: Replaced) -> int:
    """3 where the device was configured and is not as it should be; 2 where nothing was changed."""
    if not result.failed:
        return 0
    return STOPPED if result.changed else CANNOT

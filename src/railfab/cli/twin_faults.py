"""`railfab twin cable`, `link`, `fault` and `switch`: cables plugged the wrong way, broken cables and fibres, dirty
optics, and switches that hang or have no power, of a running twin."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from railfab.cli.common import STATE_DEFAULT, StateOption
from railfab.cli.echo import echo
from railfab.cli.twin import TwinOption, only_twin, twin_app

__all__ = ["twin_app"]

MOST_LOSS_DB = 60.0
"""Greatest loss of light that a receiver can be given [dB]."""

NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="A switch or host of the cabling plan.")]
PortArgument = Annotated[str, typer.Argument(metavar="PORT", help="Its port.")]


class LinkState(StrEnum):
    UP = "up"
    DOWN = "down"


class FibreSide(StrEnum):
    """The words of `railfab.twin.Direction`."""

    BOTH = "both"
    RECEIVE = "receive"
    TRANSMIT = "transmit"


class SwitchVerb(StrEnum):
    """The words of `railfab.twin.SwitchOperation`."""

    STOP = "stop"
    START = "start"
    HANG = "hang"
    RESUME = "resume"
    SLOW = "slow"
    QUICK = "quick"
    OFF = "off"
    ON = "on"


NOW = {
    SwitchVerb.STOP: "has no gNMI and no SSH server",
    SwitchVerb.START: "has its servers",
    SwitchVerb.HANG: "hangs",
    SwitchVerb.RESUME: "does not hang",
    SwitchVerb.SLOW: "takes 10 s for every answer",
    SwitchVerb.QUICK: "answers at once",
    SwitchVerb.OFF: "has no power",
    SwitchVerb.ON: "has power",
}

StateArgument = Annotated[LinkState, typer.Argument(help="What becomes of it.")]
DirectionOption = Annotated[
    FibreSide, typer.Option("--direction", help="The fibre by which the port receives, or by which it transmits.")
]
UndetectedOption = Annotated[
    bool,
    typer.Option(
        "--undetected",
        metavar="",
        help="Both ports stay up; data and pause frames are lost, but acknowledgements arrive.",
    ),
]


def _is_loss(value: float) -> float:
    """Refuse what is no loss of light, `nan` included."""
    if not 0 <= value <= MOST_LOSS_DB:
        raise typer.BadParameter(f"{value:g} is not a number of dB from 0 to {MOST_LOSS_DB:g}.")
    return value


@twin_app.command("cable")
def exchange_cables(
    node: NodeArgument,
    port: PortArgument,
    other_node: NodeArgument,
    other_port: PortArgument,
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Let two ports exchange their far ends, as cables plugged the wrong way; the same command undoes it.

    Both cables have to work: `railfab twin link NODE PORT up` restores a broken one. A job that runs begins its present
    stage again.
    """
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).exchange_cables((node, port), (other_node, other_port))
    echo(f"{fabric}: {node} {port} and {other_node} {other_port} have exchanged their far ends", err=True)


@twin_app.command("fault")
def set_optic_loss(
    node: NodeArgument,
    port: PortArgument,
    loss_db: Annotated[
        float,
        typer.Option(
            "--optic-loss", metavar="DB", callback=_is_loss, help="Light that the port misses, in dB; 0: none."
        ),
    ],
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Make the optic of a port dirty: bit errors, then lost frames, then flaps; from 10 dB on it has no signal.

    With RS-544 frames are lost from 2.4 dB on, and the link flaps from 2.9 dB on.
    """
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).set_optic_loss(node, port, loss_db=loss_db)
    echo(f"{fabric}: {node} {port} misses {loss_db:g} dB of light", err=True)


@twin_app.command("link")
def set_link(
    node: NodeArgument,
    port: PortArgument,
    wanted: StateArgument,
    direction: DirectionOption = FibreSide.BOTH,
    undetected: UndetectedOption = False,
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Break the cable of a port, or one of its fibres, or restore it.

    A receiver without light takes its port down, and the far end's by a remote fault. With --undetected neither port
    notices, as when a MAC hangs: BFD does, or else the hold time of BGP.
    """
    from railfab.twin import Direction, connect

    if wanted is LinkState.UP and undetected:
        raise typer.BadParameter("A link that works loses nothing: leave out --undetected.")
    fabric, up = only_twin(file, state).fabric, wanted is LinkState.UP
    connect(state, fabric).set_link(node, port, up=up, direction=Direction(direction), detected=not undetected)
    end = f"{node} {port}"
    what = f"the cable of {end}" if direction is FibreSide.BOTH else f"the fibre by which {end} {direction}s"
    echo(f"{fabric}: {what} {_said(up, undetected)}", err=True)


def _said(up: bool, undetected: bool) -> str:
    if up:
        return "works"
    return "loses everything, and both ports stay up" if undetected else "is broken"


@twin_app.command("switch")
def operate(
    name: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the twin.")],
    operation: Annotated[
        SwitchVerb,
        typer.Argument(
            help="Of its servers: stop, start. Of its control plane: hang, resume. Of its answers: slow, quick. "
            "Of its power: off, on."
        ),
    ],
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stop the servers of a switch, let its control plane hang or answer late, or take its power; each with its
    opposite.

    A switch that hangs forwards as before and does nothing else. A slow one takes 10 s for every answer over SSH and
    gNMI. One without power boots its startup configuration
    when it is switched on.
    """
    from railfab.twin import SwitchOperation, connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).operate(name, SwitchOperation(operation))
    echo(f"{fabric}: {name} {NOW[operation]}", err=True)

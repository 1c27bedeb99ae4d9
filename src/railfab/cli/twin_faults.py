"""`railfab twin cable` and `railfab twin fault`: cables plugged the wrong way, and dirty optics, of a running twin."""

from __future__ import annotations

from typing import Annotated

import typer

from railfab.cli.common import STATE_DEFAULT, StateOption
from railfab.cli.twin import TwinOption, only_twin

NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="A switch or host of the cabling plan.")]
PortArgument = Annotated[str, typer.Argument(metavar="PORT", help="Its port.")]


def exchange_cables(
    node: NodeArgument,
    port: PortArgument,
    other_node: NodeArgument,
    other_port: PortArgument,
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Let two ports exchange their far ends, as cables plugged the wrong way; the same command undoes it.

    A job that runs begins its present stage again.
    """
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).exchange_cables((node, port), (other_node, other_port))
    typer.echo(f"{fabric}: {node} {port} and {other_node} {other_port} have exchanged their far ends", err=True)


def set_optic_loss(
    node: NodeArgument,
    port: PortArgument,
    loss_db: Annotated[
        float,
        typer.Option("--optic-loss", metavar="DB", min=0.0, max=60.0, help="Light that the port misses [dB]; 0: none."),
    ],
    file: TwinOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Make the optic of a port dirty: bit errors, beyond 2.5 dB lost frames, beyond 3 dB flaps, at 10 dB no signal."""
    from railfab.twin import connect

    fabric = only_twin(file, state).fabric
    connect(state, fabric).set_optic_loss(node, port, loss_db=loss_db)
    typer.echo(f"{fabric}: {node} {port} misses {loss_db:g} dB of light", err=True)

"""agent: the NICs of a host beside what the plan wants of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from railfab.hostagent.options import HELP, AgentOptions, AgentOutput

DEFAULT = AgentOptions()


def _option(name: str, metavar: str | None = None) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=HELP[name])


def agent(
    data: Annotated[Path, _option("data", "FILE")] = DEFAULT.data,
    host: Annotated[str, _option("host", "NAME")] = DEFAULT.host,
    root: Annotated[Path, _option("root", "DIR")] = DEFAULT.root,
    state: Annotated[Path | None, _option("state", "DIR")] = DEFAULT.state,
    listen: Annotated[str, _option("listen", "ADDRESS")] = DEFAULT.listen,
    port: Annotated[int, _option("port", "N")] = DEFAULT.port,
    standalone: Annotated[bool, _option("standalone")] = DEFAULT.standalone,
    once: Annotated[bool, _option("once")] = DEFAULT.once,
    output: Annotated[AgentOutput, _option("output")] = DEFAULT.output,
) -> None:
    """Watch the NICs of this host: settings, links, PCIe and cables beside the plan, as metrics. Changes nothing.

    The process becomes `python -m railfab.hostagent`, which imports a tenth of this command line.
    """
    options = AgentOptions(
        data=data,
        host=host,
        root=root,
        state=state,
        listen=listen,
        port=port,
        standalone=standalone,
        once=once,
        output=output,
    )
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "railfab.hostagent", *options.words()])

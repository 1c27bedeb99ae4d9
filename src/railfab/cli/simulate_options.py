"""Options of `railfab simulate` and `railfab sweep`, and the designs that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import Output, stop_at_errors
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.text.remedies import install

MOST_GPUS = 16_384
"""GPUs up to which collectives are run on the links of the fabric unless --tier says otherwise."""


class SimulationTier(StrEnum):
    """How durations of collectives are computed."""

    CLOSED_FORM = "closed-form"
    MAX_MIN = "max-min"
    PACKETS = "packets"


IntentFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Intents of fabrics (YAML), compared with each other; - is standard input.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
JobOption = Annotated[
    list[Path],
    typer.Option(
        "--job",
        metavar="FILE",
        help="The job: YAML, a workload text of AICB or SimAI, or the prefix of Chakra traces PREFIX.RANK.et.",
        show_default=False,
    ),
]
JobsOption = Annotated[
    list[Path],
    typer.Option(
        "--job",
        metavar="FILE",
        help="The job: YAML, a workload text of AICB or SimAI, or the prefix of Chakra traces PREFIX.RANK.et. Several "
        "share the fabric.",
        show_default=False,
    ),
]
TierOption = Annotated[
    SimulationTier | None,
    typer.Option(
        help="closed-form: rates of NICs alone. max-min: collectives on the links of the fabric, with its routes and "
        f"hashes; the default up to {MOST_GPUS:,} GPUs. packets: the same packet by packet, with queues, ECN and PFC.",
        show_default=False,
    ),
]
FaultOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="KIND=WHERE",
        help="A fault: cable=NODE:INTERFACE, switch=NAME, host=NAME, slow-host=HOST:GBPS or "
        "slow-port=NODE:INTERFACE:GBPS. Repeatable.",
        show_default=False,
    ),
]
SeedsOption = Annotated[int, typer.Option("--seeds", min=1, max=1000, help="Seeds of the hashes that are tried.")]
WhyOption = Annotated[
    bool,
    typer.Option(
        "--why", help="Show the slowest ranks of each operation, the links on which they wait, and the flows."
    ),
]
FilesOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Write pictures (SVG, PNG) of the step and of the loads of links, and Parquet files.",
        show_default=False,
    ),
]


def designs_of(intents: Iterable[Path], accept: AcceptOption, output: Output) -> Iterator[Design]:
    """The designs of intents. Raises RailfabError for two fabrics of one name, and what stops a design."""
    names: set[str] = set()
    for path in intents:
        fabric = design(path)
        stop_at_errors(fabric, accept, output)
        name = fabric.intent.fabric
        if name in names:
            raise RailfabError(str(path), f"a second fabric is named {name}", "Rename one of them")
        names.add(name)
        yield fabric


def closed_form_by_default(fabric: Design) -> str:
    """Why collectives are not run on the links of a design unless that is asked for; empty where they are."""
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        return f"numpy is not installed. {install('sim')}"
    from railfab.fabric.routed import uncomputed_routes

    gpus = len(fabric.topology.hosts()) * fabric.intent.hosts.gpus
    return f"the design has {gpus:,} GPUs, more than {MOST_GPUS:,}" if gpus > MOST_GPUS else uncomputed_routes(fabric)

"""How many GPUs a model needs to be held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from railfab.documents.table import Cell, Table
from railfab.intent import FabricIntent, ModelSize
from railfab.topology.equipment import host_of
from railfab.topology.model import Topology

COLUMNS = (
    "model",
    "parameters_billion",
    "bytes_per_parameter",
    "memory_gb",
    "gpu_memory_gb",
    "gpus",
    "hosts",
    "copies_in_fabric",
)
EXAMPLES = {"8B": 8, "70B": 70, "405B": 405}
"""Sizes that people ask for first [10^9 parameters], at two bytes a parameter."""


def gpu_count(topology: Topology, intent: FabricIntent) -> Table:
    """For each model: what its parameters take, how many GPUs and hosts hold them, how often the fabric holds it.

    Parameters alone: training holds optimiser state and activations besides, serving holds caches.
    """
    return Table(name="gpu-count", columns=COLUMNS, rows=list(_rows(topology, intent)))


def _rows(topology: Topology, intent: FabricIntent) -> Iterator[tuple[Cell, ...]]:
    memory_gb = host_of(intent.hosts).gpu_memory_gb
    fabric_gpus = len(topology.hosts()) * intent.hosts.gpus
    examples = {name: ModelSize(parameters_billion=size) for name, size in EXAMPLES.items()}
    for name, size in {**examples, **intent.models}.items():
        needed = _exact(size.parameters_billion) * _exact(size.bytes_per_parameter)
        gpus = ceil(needed / memory_gb)
        hosts = -(-gpus // intent.hosts.gpus)
        yield (
            name,
            f"{size.parameters_billion:g}",
            f"{size.bytes_per_parameter:g}",
            f"{float(needed):g}",
            memory_gb,
            gpus,
            hosts,
            fabric_gpus // gpus,
        )


def _exact(number: float) -> Fraction:
    """A number as it was written: 0.1 is a tenth."""
    return Fraction(str(number))

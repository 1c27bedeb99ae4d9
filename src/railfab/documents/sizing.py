"""Number of GPUs that an AI model needs for its parameters."""

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
"""Common model sizes [10^9 parameters], with two bytes per parameter."""


def gpu_count(topology: Topology, intent: FabricIntent) -> Table:
    """Memory, GPUs and hosts for the parameters of each model, and the number of copies that fit into the fabric.

    Only parameters: training also needs memory for optimiser state and activations, serving for caches.
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
            size.parameters_billion,
            size.bytes_per_parameter,
            float(needed),
            memory_gb,
            gpus,
            hosts,
            fabric_gpus // gpus,
        )


def _exact(number: float) -> Fraction:
    """The exact decimal value of a number: 0.1 is a tenth."""
    return Fraction(str(number))

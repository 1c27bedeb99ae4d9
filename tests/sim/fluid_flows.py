"""Flows of the fluid model from lists of links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from railfab.sim.fluid import FluidFlows


def rows(paths: Sequence[Sequence[int]]) -> np.ndarray:
    """(path, hop) the links of paths, -1 behind the last."""
    table = np.full((len(paths), max(map(len, paths), default=0)), -1, np.int64)
    for row, path in zip(table, paths, strict=True):
        row[: len(path)] = path
    return table


def fluid_flows(
    paths: Sequence[Sequence[int]],
    sizes: Sequence[float],
    waits: Sequence[tuple[int, int]] = (),
    latency_s: float = 0.0,
    alike: Sequence[int] | None = None,
) -> FluidFlows:
    """waits: (earlier, later). A flow with an empty path crosses no link. alike: by default each stands for itself."""
    pairs = np.array(waits, np.int64).reshape(-1, 2)
    return FluidFlows(
        paths=rows([path or [0] for path in paths]),
        route=np.array([number if path else -1 for number, path in enumerate(paths)]),
        alike=np.ones(len(paths), np.int64) if alike is None else np.array(alike),
        payload_bytes=np.array(sizes, float),
        latency_s=np.array([latency_s if path else 0.0 for path in paths]),
        earlier=pairs[:, 0],
        later=pairs[:, 1],
    )

"""Max-min fair shares in numpy, which those of the fluid model are held against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from railfab.sim.network import Floats


def max_min_rates(paths: Sequence[Sequence[int]], capacity: Floats) -> Floats:
    """The max-min fair rate of each flow, in the unit of `capacity`; (flow,), from links of (link,).

    Progressive filling: all rates rise together, and the flows of a link stop when it is full (Bertsekas and
    Gallager, Data Networks, 6.5.2). A flow that crosses no link has an infinite rate.
    """
    flows = len(paths)
    flow_of = np.repeat(np.arange(flows), [len(path) for path in paths])
    link_of = np.array([link for path in paths for link in path], np.int64)
    rates = np.full(flows, np.inf)
    left = np.asarray(capacity, float).copy()
    rising = np.ones(flows, bool)
    while rising.any():
        crossing = np.bincount(link_of, rising[flow_of], len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            fair = np.where(crossing > 0, left / crossing, np.inf)
        level = fair.min(initial=np.inf)
        if not np.isfinite(level):
            break
        full = fair <= level * (1 + 1e-12)
        stop = np.zeros(flows, bool)
        stop[flow_of[full[link_of]]] = True
        stop &= rising
        rates[stop] = level
        left = np.maximum(0.0, left - np.bincount(link_of, stop[flow_of] * level, len(left)))
        rising &= ~stop
    return rates

"""Samples as lines of a plot: the longest queues, and the rates of their ports."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from railfab.sim.network import Floats
from railfab.sim.replay.sampling import Samples
from railfab.sim.replay.scenario import Scenario

MOST_PORTS = 8
MOST_RATES = 128
"""Intervals over which rates are taken."""

Panel = tuple[str, str, Floats, Mapping[str, Floats]]
"""Title, unit, times [ms] and lines by name."""


def port_series(scenario: Scenario, samples: Samples) -> list[Panel]:
    """Depths of the longest queues of switches, and the rates at which those ports send."""
    from_switch = scenario.network.is_switch[scenario.network.near]
    longest = np.where(from_switch, samples.depth_bytes.max(axis=0), -1)
    carried = samples.sent_bytes[-1]
    chosen = np.lexsort((-carried, -longest))[: min(MOST_PORTS, int(from_switch.sum()))]
    names = {int(link): "{}:{}".format(*scenario.ports[link]) for link in chosen}
    depth = {name: samples.depth_bytes[:, link] / 1000.0 for link, name in names.items()}
    step = max(1, -(-len(samples.times_ns) // MOST_RATES))
    times, sent = samples.times_ns[::step], samples.sent_bytes[::step]
    rates = np.diff(sent, axis=0) * 8 / np.diff(times)[:, None]
    return [
        ("Bytes in the queue", "kB", samples.times_ns / 1e6, depth),
        ("Rate", "Gb/s", times[1:] / 1e6, {name: rates[:, link] for link, name in names.items()}),
    ]

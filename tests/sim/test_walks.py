"""Links of flows without a run are those that the engine finds, and so is what does not arrive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.sim.fabrics import flow, leaf_spine, routes, without_cables

from railfab.sim import Engine, FlowEnds
from railfab.sim.walks import flow_links


@pytest.mark.parametrize("cut", [(), (0,), (9, 10)], ids=["healthy", "a host's cable", "uplinks"])
@pytest.mark.parametrize("fresh", [True, False], ids=["routes around", "routes as before"])
def test_links_are_those_of_the_engine(cut: tuple[int, ...], fresh: bool) -> None:
    healthy = leaf_spine(leaves=2, hosts=4, spines=4)
    network = without_cables(healthy, cut)
    routing = routes(network if fresh else healthy)
    draw = np.random.default_rng(1)
    pairs = [pair for pair in draw.integers(0, 8, (200, 2)).tolist() if pair[0] != pair[1]]
    flows = [flow(number, source, target, 1) for number, (source, target) in enumerate(pairs)]
    flows = [replace(each, back_entropy=each.entropy) for each in flows]
    engine = Engine(network, routing)
    engine.add(flows)
    engine.run(1.0, stop_when_done=False)
    paths = engine.flow_paths()
    ends = {
        name: np.array([getattr(each, name) for each in flows])
        for name in ("source", "target", "source_word", "target_word", "entropy")
    }
    links, arrives = flow_links(network, routing, FlowEnds(**ends))
    assert np.array_equal(links, paths.links)
    assert np.array_equal(arrives, ~paths.stalled)
    assert arrives.any()
    assert arrives.all() == (cut != (0,))

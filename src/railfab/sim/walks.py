"""The links that flows take where switches choose them: those that the engine finds when a flow begins."""

from __future__ import annotations

import numpy as np

from railfab.sim.kernel.entry import WALK, kernel
from railfab.sim.kernel.records import FLOW, MAX_HOPS, NONE, STALLED
from railfab.sim.layout import records, routes_state
from railfab.sim.network import Bools, FlowEnds, Ints, Network, Routing


def flow_links(network: Network, routing: Routing, ends: FlowEnds) -> tuple[Ints, Bools]:
    """(flow, MAX_HOPS) the links of each flow as far as they lead, -1 behind the last; (flow,) whether it arrives, and
    its acknowledgements, which have the same entropy, come back."""
    st = routes_state(network, routing)
    flows, none = records(len(ends.source), FLOW), np.zeros(0, np.int64)
    flows.source, flows.target = ends.source, ends.target
    flows.destination = st.nodes.destination[ends.target]
    flows.source_word, flows.target_word = ends.source_word, ends.target_word
    flows.entropy_word = flows.back_word = ends.entropy
    path, back = (np.full(len(flows) * MAX_HOPS, NONE, np.int32) for _ in range(2))
    st = st._replace(flows=flows, path=path, back=back)
    kernel(st, WALK, 0, False, none, none, none)
    return path.reshape(-1, MAX_HOPS).astype(np.int64), np.asarray(flows.state != STALLED)

"""How long the trains of each flow may be."""

from __future__ import annotations

import numpy as np

from railfab.sim.fast_forward.loads import Loads
from railfab.sim.fast_forward.policy import FastForwardPolicy
from railfab.sim.fast_forward.trains import remaining_frames
from railfab.sim.kernel.records import FIXED_RATE, MOST_FRAMES, NO_RECOVERY, SELECTIVE, State
from railfab.sim.network import Floats, Framing, Ints

_HEADROOM_SHARE = 0.25


def train_lengths(st: State, loads: Loads, policy: FastForwardPolicy, framing: Framing) -> Ints:
    """(flow,) of `loads`: frames of a train; 1 where every frame has to be simulated.

    Shortest of: a share of Kmin at links that may congest; Kmin over the number of flows elsewhere; a share of the
    headroom behind each link. Flows of fixed rate, which only PFC stops, and flows that may lose packets get 1.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        octets = _least(loads, np.minimum(_by_marking(st, loads, policy), _by_headroom(st, loads)))
        frames = np.nan_to_num(np.floor(octets / framing.frame_bytes), nan=1.0, posinf=MOST_FRAMES)
    flows = st.flows[loads.numbers]
    transport = st.transports[flows.transport]
    whole = (transport.control == FIXED_RATE) | (transport.recovery == SELECTIVE) | (transport.recovery == NO_RECOVERY)
    lossy = loads.any_on_path(st.links.loss > 0) | _limited(st, loads)
    most = np.minimum(frames, remaining_frames(st, loads.numbers) // policy.least_trains)
    single = whole | lossy | (flows.dynamic > 0) | (most < policy.shortest_train)
    return np.where(single, 1, np.minimum(most, MOST_FRAMES)).astype(np.int64)


def _limited(st: State, loads: Loads) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """(flow,) whether a queue on the path drops packets when it is too long."""
    queues = np.where(loads.queues[:, 1:] >= 0, loads.queues[:, 1:], loads.queues[:, 1:2])
    fixed = np.isfinite(st.queues.limit[queues]) | np.isfinite(st.queues.drop_from[queues])
    return np.asarray((fixed | (st.queues.alpha[queues] > 0)).any(axis=1))


def _by_marking(st: State, loads: Loads, policy: FastForwardPolicy) -> Floats:
    """(flow, hop)"""
    kmin = st.queues.kmin[np.maximum(loads.queues, 0)]
    links = np.maximum(loads.links, 0)
    shared = kmin / np.maximum(loads.flows[links], 1)
    return np.asarray(np.where(loads.congestible[links], kmin * policy.train_share, shared))


def _by_headroom(st: State, loads: Loads) -> Floats:
    """(flow, hop); the far end of a link has the priority of the queue before it."""
    group = st.ingress[np.maximum(loads.queues, 0)]
    return np.where(group.sends > 0, np.minimum(group.headroom, group.xoff) * _HEADROOM_SHARE, np.inf)


def _least(loads: Loads, octets: Floats) -> Floats:
    return np.asarray(np.where(loads.links >= 0, octets, np.inf).min(axis=1))

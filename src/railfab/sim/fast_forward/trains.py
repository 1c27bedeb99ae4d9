"""Trains: several frames of a flow that cross the network as one packet.

A train of k frames costs as much as one. Octets, frames and acknowledgements stay whole numbers and exact; the frames
of a train are marked one by one by the bytes behind each. What changes: a train is sent at once, at the rate of the
NIC's port, and every switch has received it in full before it sends it on.
"""

from __future__ import annotations

import numpy as np

from railfab.sim.kernel.records import SENDING, State
from railfab.sim.network import Framing, Ints


def remaining_frames(st: State, numbers: Ints) -> Ints:
    """Frames that these flows have still to send for the first time."""
    flows = st.flows[numbers]
    whole = (flows.packets.astype(np.int64) - flows.sent - 1) * flows.train + flows.last_train
    return np.asarray(np.where(flows.sent < flows.packets, whole, 0))


def may_change(st: State, numbers: Ints) -> Ints:
    """Those of these flows whose trains may get another length: nothing is sent again, and all trains on their way have
    the present length."""
    f = st.flows[numbers]
    fresh = (f.state == SENDING) & (f.sent < f.packets) & (f.sent == f.highest_sent) & (f.resend_head < 0)
    return np.asarray(numbers[fresh & (f.expected >= f.train_from)])


def set_trains(st: State, numbers: Ints, train: Ints, framing: Framing) -> None:
    """Let flows that `may_change` send trains of this many frames from now on; the last one is what is left."""
    frames = remaining_frames(st, numbers)
    flows = st.flows
    one = framing.frame_bytes
    end = flows.last_frame[numbers] - (flows.last_train[numbers] - 1) * one
    count = -(-frames // train)
    last = frames - (count - 1) * train
    flows.train_before[numbers] = flows.train[numbers]
    flows.train_from[numbers] = flows.sent[numbers]
    flows.packets[numbers] = flows.sent[numbers] + count
    flows.train[numbers], flows.frame[numbers] = train, train * one
    flows.last_train[numbers], flows.last_frame[numbers] = last, (last - 1) * one + end
    wire = train * (one + framing.gap_bytes)
    quantum = int(st.sim[0].quantum)
    interval = (wire * 8000.0 / flows.rate[numbers]).astype(np.int64)
    flows.interval[numbers] = interval - interval % quantum

"""What a phase of a job did, from an idle network to its last packet: samples of its flows and of what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields

from railfab.sim.kernel.records import DONE, FREE, MAX_HOPS, SENDING, STALLED, State
from railfab.sim.network import Floats, Ints

CUMULATIVE = (
    ("queues", ("waiting_byte_ps", "marked", "marked_bytes")),
    ("ingress", ("xoff_sent", "xon_sent", "refreshed", "xoff_received", "xon_received", "held_time")),
)
"""Counters that are replayed; octets and packets follow from the flows and their paths."""
CONTROL = ("rate", "target_rate", "alpha", "bytes_left", "alpha_flag", "cut_flag", "controlled", "stage", "byte_stage")
TIMES = ("timer", "alpha_at", "cut_base", "cut_at", "increase_at", "last_cnp")
"""Fields of a flow with which the engine continues it."""
SAMPLED = ("received", "cnps", "received_marked", *CONTROL, *TIMES)
"""Fields of a flow that each sample has; all of them would take three times the memory."""
PEAKS = (("queues", ("peak",)), ("ingress", ("peak", "headroom_peak")))

Key = bytes


def key_of(st: State, first: int) -> Key:
    """What makes two phases of the flows from `first` on, which have just been added, alike but for random draws."""
    flows = st.flows[first:].copy()
    flows.id = flows.first_dependent = flows.bitmap = 0
    flows.start -= st.sim[0].now
    dependents = st.dependents[len(st.dependents) - int(flows.dependents.sum()) :] - first
    digest = blake2b(flows.tobytes())
    digest.update(dependents.tobytes())
    digest.update(st.path[first * MAX_HOPS :].tobytes())
    return digest.digest()


def is_idle(st: State) -> bool:
    """Whether nothing is under way and nothing is to come."""
    sim = st.sim[0]
    over = sim.open_flows == 0 and (st.flows.state == DONE).all()
    return bool(over and sim.timer_count == 0 and (st.packets.kind == FREE).all())


def joined(st: State, parts: Sequence[tuple[str, Sequence[str]]]) -> Floats:
    """These fields, one after the other."""
    return np.concatenate([getattr(st, name)[part].astype(float) for name, fields in parts for part in fields])


def lost_packets(st: State) -> int:
    """Packets that were lost or sent again."""
    queues, flows = st.queues, st.flows
    dropped = queues.dropped_packets.sum() + queues.storm_packets.sum() + st.ingress.dropped_packets.sum()
    return int(dropped + st.links.lost_packets.sum() + flows.retransmitted.sum() + flows.dropped.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """A recorded phase. passed_ps: (sample,) since its begin. flows: of each sample, the numbers of the flows that
    send, and their records of SAMPLED; last: (flow,) records at its end. columns: the entries of the joined counters
    that changed; counts: (sample, column). depths: (sample, queue) in bytes. peaks: joined. start_ps, done_ps: (flow,)
    when it began, and when the last packet came. path, back: (flow, hop) links.
    """

    passed_ps: Ints
    flows: Sequence[tuple[Ints, Any]]
    last: Any
    columns: Ints
    counts: Floats
    depths: Ints
    peaks: Floats
    start_ps: Ints
    done_ps: Ints
    path: Ints
    back: Ints

    def sampled(self, name: str, at: int) -> Ints:
        """(flow,) a field at a sample: before a flow sends 0, and then as at the end."""
        values = np.where(self.done_ps <= self.passed_ps[at], self.last[name], 0)
        numbers, records = self.flows[at]
        values[numbers] = records[name]
        return values

    def __deepcopy__(self, memo: object) -> Recording:
        return self


@dataclass(slots=True, kw_only=True, eq=False)
class Recorder:
    """Takes samples of a phase whose flows are those from `first` on. counts: of each sample, the entries of the joined
    counters that have changed since the begin, and by how much."""

    key: Key
    first: int
    begin_ps: int
    base: Floats
    lost: int
    peaks: Floats
    peaks_seen: Floats
    passed_ps: list[int] = field(default_factory=list)
    flows: list[tuple[Ints, Any]] = field(default_factory=list)
    counts: list[tuple[Ints, Floats]] = field(default_factory=list)
    depths: list[Ints] = field(default_factory=list)

    @classmethod
    def begin(cls, key: Key, st: State, first: int) -> Recorder:
        peaks = joined(st, PEAKS)
        found = cls(
            key=key,
            first=first,
            begin_ps=int(st.sim[0].now),
            base=joined(st, CUMULATIVE),
            lost=lost_packets(st),
            peaks=np.zeros(len(peaks)),
            peaks_seen=peaks,
        )
        found.sample(st)
        return found

    def sample(self, st: State) -> None:
        """Note the present state; a peak counts where it has changed since it was seen last."""
        self.passed_ps.append(int(st.sim[0].now) - self.begin_ps)
        flows = np.asarray(st.flows[self.first :])
        numbers = np.flatnonzero(flows["state"] == SENDING)
        self.flows.append((numbers, repack_fields(flows[numbers][list(SAMPLED)])))
        counted = joined(st, CUMULATIVE) - self.base
        columns = np.flatnonzero(counted)
        self.counts.append((columns, counted[columns]))
        self.depths.append(st.queues.bytes.astype(np.int32))
        peaks = joined(st, PEAKS)
        self.peaks = np.maximum(self.peaks, np.where(peaks == self.peaks_seen, 0.0, peaks))
        self.peaks_seen = peaks

    def finish(self, st: State) -> Recording | None:
        """The recording; None where packets were lost or took ways that were chosen for each."""
        self.sample(st)
        last = st.flows[self.first :].copy()
        if lost_packets(st) != self.lost or (last.dynamic > 0).any() or (last.state == STALLED).any():
            return None
        columns, _ = self.counts[-1]
        rows = slice(self.first * MAX_HOPS, None)
        return Recording(
            passed_ps=np.array(self.passed_ps),
            flows=tuple(self.flows),
            last=last,
            columns=columns,
            counts=np.stack([_at(columns, *counted) for counted in self.counts]),
            depths=np.array(self.depths),
            peaks=self.peaks,
            start_ps=(last.start - self.begin_ps).astype(np.int64),
            done_ps=(last.finish - last.back_delay - self.begin_ps).astype(np.int64),
            path=st.path[rows].copy(),
            back=st.back[rows].copy(),
        )


def _at(columns: Ints, changed: Ints, values: Floats) -> Floats:
    """The values at some entries, of those that have changed; 0 at the others."""
    place = np.searchsorted(changed, columns)
    found = np.zeros(len(columns))
    known = np.isin(columns, changed)
    found[known] = values[place[known]]
    return found

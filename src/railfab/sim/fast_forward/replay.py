"""A recorded phase in place of a simulated one: its flows end as recorded, and everything counts up to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from railfab.sim.fast_forward.recording import CONTROL, CUMULATIVE, PEAKS, TIMES, Recording
from railfab.sim.kernel.records import DONE, MAX_HOPS, NEVER, QUEUES, SENDING, UNPARKED, WAITING, State
from railfab.sim.network import Floats, Framing, Ints

_LINE = ("line_rate", "back_hops", "back_delay")


@dataclass(slots=True, kw_only=True, eq=False)
class PhaseReplay:
    """The flows from `first` on follow a recording that begins at begin_ps. counted: what is in the state by now."""

    recording: Recording
    first: int
    begin_ps: int
    queues: Ints
    counted: Floats
    peaks_due: bool = True

    @classmethod
    def begin(cls, recording: Recording, st: State, first: int, queue_of: Ints) -> PhaseReplay:
        """Take flows that have just been added to an idle network out of its hands."""
        st.sim[0].timer_count = 0
        rows = slice(first * MAX_HOPS, None)
        st.path[rows], st.back[rows] = recording.path, recording.back
        flows = st.flows[first:]
        last = recording.last
        flows.start = st.sim[0].now + recording.start_ps
        for name in _LINE:
            flows[name] = last[name]
        links = recording.path.reshape(-1, MAX_HOPS).astype(np.int64)
        queue = np.empty_like(links)
        queue[:, 0] = flows.queue
        queue[:, 1:] = queue_of[links[:, :-1], flows.traffic_class[:, None]]
        return cls(
            recording=recording,
            first=first,
            begin_ps=int(st.sim[0].now),
            queues=np.where(links >= 0, links * QUEUES + queue, -1),
            counted=np.zeros(len(recording.columns)),
        )

    @property
    def end_ps(self) -> int:
        """When the last flow ends."""
        return self.begin_ps + int(self.recording.done_ps.max())

    def _place(self, now_ps: int) -> tuple[int, float]:
        """The sample before a time, and the share of the way to the next one."""
        passed = self.recording.passed_ps
        at = min(int(np.searchsorted(passed, now_ps - self.begin_ps, side="right")) - 1, len(passed) - 2)
        return at, min(1.0, (now_ps - self.begin_ps - int(passed[at])) / max(1, int(passed[at + 1] - passed[at])))

    def settle(self, st: State) -> None:
        """Bring flows and counters to the present time: linear between samples, in whole frames."""
        now = int(st.sim[0].now)
        at, share = self._place(now)
        self._advance_flows(st, now, at, share)
        counts = self.recording.counts
        over = now >= self.end_ps
        target = counts[-1] if over else np.floor(counts[at] + share * (counts[at + 1] - counts[at]))
        _add(st, self.recording.columns, target - self.counted)
        self.counted = target
        if self.peaks_due:
            self.peaks_due = False
            _raise(st, self.recording.peaks)

    def _between(self, name: str, at: int, share: float) -> Ints:
        low, high = self.recording.sampled(name, at), self.recording.sampled(name, at + 1)
        return np.asarray(low + ((high - low) * share).astype(np.int64))

    def _advance_flows(self, st: State, now: int, at: int, share: float) -> None:
        flows, last = st.flows[self.first :], self.recording.last
        done = self.recording.done_ps <= now - self.begin_ps
        frames = np.where(done, last["received"], self._between("received", at, share))
        octets = np.where(done, last["received_bytes"], np.minimum(frames * flows.frame, last["received_bytes"]))
        self._pass(st, frames - flows.received, octets - flows.received_bytes)
        flows.acks += frames - flows.received
        for name in ("cnps", "received_marked"):
            target = np.where(done, last[name], self._between(name, at, share))
            if name == "cnps":
                flows.notices += target - flows.cnps
            flows[name] = target
        flows.received = flows.sent_packets = frames
        flows.received_bytes = flows.sent_bytes = octets
        flows.sent = flows.expected = flows.highest_sent = frames
        flows.rate = self.recording.sampled("rate", at)
        st.sim[0].open_flows -= int((done & (flows.state != DONE)).sum())
        begun = self.recording.start_ps <= now - self.begin_ps
        flows.state = np.where(done, DONE, np.where(begun, SENDING, WAITING))
        flows.finish = np.where(done, self.begin_ps + self.recording.done_ps + flows.back_delay, 0)

    def _pass(self, st: State, frames: Ints, octets: Ints) -> None:
        moved = np.flatnonzero(frames)
        used = self.queues[moved] >= 0
        queues = self.queues[moved][used]
        np.add.at(st.queues.tx_packets, queues, np.broadcast_to(frames[moved, None], used.shape)[used])
        np.add.at(st.queues.tx_bytes, queues, np.broadcast_to(octets[moved, None], used.shape)[used])

    def depths(self, now_ps: int) -> Ints:
        """(queue,) bytes at the sample before this time."""
        return np.asarray(self.recording.depths[self._place(now_ps)[0]], np.int64)

    def hand_over(self, st: State, framing: Framing) -> None:
        """Let the engine continue the flows that have not ended, at the rates of the last sample; those that have not
        begun wait for what they waited for."""
        self.settle(st)
        now = int(st.sim[0].now)
        at, _ = self._place(now)
        flows, (numbers, sample) = st.flows[self.first :], self.recording.flows[at]
        shift = now - self.begin_ps - int(self.recording.passed_ps[at])
        moved = self.begin_ps + shift - self._recorded_begin_ps()
        for name in CONTROL:
            flows[name][numbers] = sample[name]
        for name in TIMES:
            times = np.where(np.abs(sample[name]) < NEVER // 4, sample[name] + moved, sample[name])
            flows[name][numbers] = times
        begun = flows.state != WAITING
        flows.line_rate = np.where(begun, flows.line_rate, 0.0)
        flows.rate = np.where(flows.rate > 0, flows.rate, flows.line_rate)
        with np.errstate(divide="ignore"):
            interval = (framing.frame_bytes + framing.gap_bytes) * 8000.0 / flows.rate
        flows.interval = np.where(flows.rate > 0, interval, 0.0).astype(np.int64)
        flows.next_at = np.where(begun, now, 0)
        flows.parked = np.where(flows.state == SENDING, UNPARKED, 0)
        self._wait_again(st)

    def _wait_again(self, st: State) -> None:
        """Count for what each flow that has not begun waits."""
        flows = st.flows[self.first :]
        place = np.repeat(np.arange(len(flows)), flows.dependents)
        later = st.dependents[len(st.dependents) - len(place) :] - self.first
        done = (flows.state == DONE)[place]
        flows.waits_for = np.bincount(later[~done], minlength=len(flows))
        start = np.where(flows.waits_for == 0, flows.start, self.begin_ps)
        np.maximum.at(start, later[done], flows.finish[place[done]] + flows.gap[later[done]])
        flows.start = np.where(flows.state == WAITING, start, flows.start)

    def _recorded_begin_ps(self) -> int:
        last = self.recording.last
        return int(last["finish"][0] - last["back_delay"][0] - self.recording.done_ps[0])


def _add(st: State, columns: Ints, values: Floats) -> None:
    """Add to entries of the joined counters."""
    begin = 0
    for name, fields in CUMULATIVE:
        for part in fields:
            column: Any = getattr(st, name)[part]
            mine = (columns >= begin) & (columns < begin + len(column))
            column[columns[mine] - begin] += values[mine].astype(column.dtype)
            begin += len(column)


def _raise(st: State, peaks: Floats) -> None:
    """Raise peaks to those of the recording."""
    begin = 0
    for name, fields in PEAKS:
        for part in fields:
            column: Any = getattr(st, name)[part]
            np.maximum(column, peaks[begin : begin + len(column)].astype(column.dtype), out=column)
            begin += len(column)

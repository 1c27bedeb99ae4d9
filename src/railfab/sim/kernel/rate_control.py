"""DCQCN at the sender: cuts by notifications, increases by a timer and a byte counter.

Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3, in the form of
Mellanox's NICs, whose cuts come at most once in an interval that begins with the first notification.
"""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.records import NEVER, State


@inlined
def pacing_interval(size: int, gap: int, rate: float, quantum: int) -> int:
    """Time from the start of one packet to the next at this rate [ps]. rate in Gb/s."""
    exact = int((size + gap) * 8000.0 / rate)
    return exact - exact % quantum if quantum > 1 else exact


@inlined
def _set_rate(st: State, f: Any, rate: float) -> None:
    sim = st.sim[0]
    f.rate = rate
    f.interval = pacing_interval(f.frame, sim.gap * f.train, rate, sim.quantum)


@called
def _power(base: float, exponent: int) -> float:
    """By squaring, so that the compiled and the interpreted kernel agree to the bit."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inlined
def _advance_alpha(f: Any, t: Any, time: int) -> None:
    """Apply the updates of alpha up to this time: the first sees the notification since the last one, if any."""
    if time < f.alpha_at:
        return
    ticks = (time - f.alpha_at) // t.alpha_interval + 1
    f.alpha = (1.0 - t.gain) * f.alpha + (t.gain if f.alpha_flag else 0.0)
    f.alpha_flag = 0
    if ticks > 1:
        f.alpha *= _power(1.0 - t.gain, ticks - 1)
    f.alpha_at += ticks * t.alpha_interval


@inlined
def _next_timer(f: Any) -> None:
    cut = f.cut_at if f.cut_flag else NEVER
    f.timer = min(cut, f.increase_at)


@called
def _increase(st: State, f: Any, t: Any) -> None:
    """One event of the timer or of the byte counter; `stage` and `byte_stage` count those before it."""
    stage = f.stage
    if t.byte_counter > 0:
        low, high = min(f.stage, f.byte_stage), max(f.stage, f.byte_stage)
        stage = high if high < t.rounds else (t.rounds + 1 if low > t.rounds else t.rounds)
    if stage == t.rounds:
        f.target_rate = min(f.target_rate + t.additive, f.line_rate)
    elif stage > t.rounds:
        f.target_rate = min(f.target_rate + t.hyper, f.line_rate)
    _set_rate(st, f, f.rate / 2.0 + f.target_rate / 2.0)


@called
def advance_control(st: State, flow: int, time: int) -> None:
    """Apply the cut and the increases that are due by this time, in their order."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    while f.timer <= time:
        if f.cut_flag and f.cut_at <= f.increase_at:
            at = f.cut_at
            _advance_alpha(f, t, at)
            if t.clamp or f.stage > 0 or f.byte_stage > 0:
                f.target_rate = f.rate
            _set_rate(st, f, max(t.minimum, f.rate * (1.0 - f.alpha / 2.0)))
            f.stage = 0
            f.byte_stage = 0
            f.bytes_left = t.byte_counter
            f.cut_flag = 0
            f.increase_at = at + t.increase_interval
        else:
            _increase(st, f, t)
            f.stage += 1
            f.increase_at += t.increase_interval
        _next_timer(f)


@called
def count_bytes(st: State, flow: int, size: int) -> None:
    """The byte counter: an increase after every so many bytes since the last cut."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    f.bytes_left -= size
    if f.bytes_left <= 0:
        f.bytes_left += t.byte_counter
        _increase(st, f, t)
        f.byte_stage += 1


@called
def notified(st: State, flow: int, time: int) -> None:
    """A notification has arrived at the sender."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    advance_control(st, flow, time)
    if f.controlled == 0:
        f.controlled = 1
        f.alpha = 1.0
        f.alpha_at = time + t.alpha_interval
        f.cut_base = time + 1000
        f.target_rate = f.rate
        f.alpha_flag = 0
    else:
        _advance_alpha(f, t, time)
        f.alpha_flag = 1
    if f.cut_flag == 0:
        f.cut_flag = 1
        passed = time - f.cut_base
        rounds = 1 if passed < t.cut_interval else passed // t.cut_interval + 1
        f.cut_at = f.cut_base + rounds * t.cut_interval
        _next_timer(f)


@called
def cut_after_loss(st: State, flow: int, time: int, factor: float) -> None:
    """The cut of a sender that has to send again. factor: what is left of its rate."""
    f = st.flows[flow]
    t = st.transports[f.transport]
    advance_control(st, flow, time)
    if factor < 1.0:
        if f.stage > 0 or f.byte_stage > 0 or f.controlled == 0:
            f.target_rate = f.rate
        _set_rate(st, f, max(t.minimum, f.rate * factor))
        f.stage = 0
        f.byte_stage = 0
        f.bytes_left = t.byte_counter
        f.increase_at = time + t.increase_interval
        _next_timer(f)

"""Frames: the state of every port in a few bytes, and what has changed of it since the frame before."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from railfab.page.columns import Numbers
from railfab.page.plan import PAUSES_PER_DECADE, PagePlan
from railfab.page.rates import PortRates

Bytes = NDArray[np.uint8]
UNKNOWN = 255
SHARE_STEPS = 200
"""The value of a whole share."""
QUEUE_STEPS = (0.0, 80.0, 160.0, 250.0)
"""The values of an empty queue, and of one at Kmin, at Kmax and at xoff."""
LOSSY, LOSSLESS = 1, 2
POOR_BIT_ERRORS = 2.4e-4
"""Share of wrong bits above which FEC begins to fail: RS-544 corrects up to this (IEEE 802.3, 119 and 120)."""
COLUMNS = ("utilisation", "queue", "ecn", "pause", "drops", "state")


class ShownState(IntEnum):
    """The state of a port, the worst that is known first where several hold."""

    UP = 0
    DOWN = 1
    SESSION_DOWN = 2
    STALE = 3
    POOR_OPTICS = 4
    DRAINED = 5
    UNKNOWN = UNKNOWN


def quantised(plan: PagePlan, rates: PortRates) -> dict[str, Bytes]:
    """The columns of a frame, one byte for each port."""
    pauses = PAUSES_PER_DECADE * np.log10(1 + rates.pause_frames_per_s)
    return {
        "utilisation": _steps(rates.utilisation * SHARE_STEPS, SHARE_STEPS),
        "queue": _steps(_queue_steps(rates.queue_bytes, plan.bounds), round(QUEUE_STEPS[-1])),
        "ecn": _steps(rates.ecn_share * SHARE_STEPS, SHARE_STEPS),
        "pause": _steps(pauses, SHARE_STEPS),
        "drops": _drops(rates),
        "state": _states(plan, rates),
    }


def _steps(values: Numbers, most: int) -> Bytes:
    """Whole steps; UNKNOWN for NaN. What is not zero is at least one."""
    whole = np.clip(np.rint(values), 0, most)
    whole = np.where((values > 0) & (whole == 0), 1, whole)
    return np.where(np.isnan(values), UNKNOWN, whole).astype(np.uint8)


def _queue_steps(queue_bytes: Numbers, bounds: Numbers) -> Numbers:
    """The place of a queue between 0, Kmin, Kmax and xoff. bounds: shape (port, 3)."""
    edges = np.concatenate((np.zeros((len(bounds), 1)), bounds), axis=1)
    steps = np.zeros(len(queue_bytes))
    for place, (low, high) in enumerate(zip(edges.T[:-1], edges.T[1:], strict=True)):
        share = np.clip((queue_bytes - low) / (high - low), 0, 1)
        steps = steps + share * (QUEUE_STEPS[place + 1] - QUEUE_STEPS[place])
    return steps


def _drops(rates: PortRates) -> Bytes:
    drops = np.where(rates.drops_per_s > 0, LOSSY, 0)
    drops = np.where(rates.lossless_drops_per_s > 0, LOSSLESS, drops)
    return np.where(np.isnan(rates.drops_per_s), UNKNOWN, drops).astype(np.uint8)


def _states(plan: PagePlan, rates: PortRates) -> Bytes:
    """The state of each port; a switch without fresh samples is stale, whatever it sent last."""
    session_down = np.zeros(len(plan.ports), bool)
    for session, is_up in zip(plan.sessions, rates.sessions_up.tolist(), strict=True):
        if session.port is not None and is_up == 0:
            session_down[session.port] = True
    drained = (rates.switches["drained"] > 0)[plan.switch_of_port]
    is_poor = (rates.bit_error_ratio > POOR_BIT_ERRORS) | (rates.uncorrected_per_s > 0)
    states = np.where(np.isnan(rates.is_up), UNKNOWN, np.where(drained, ShownState.DRAINED, ShownState.UP))
    for is_so, state in (
        (is_poor, ShownState.POOR_OPTICS),
        (session_down & ~drained, ShownState.SESSION_DOWN),
        (rates.is_up == 0, ShownState.DOWN),
        (rates.stale[plan.switch_of_port], ShownState.STALE),
    ):
        states = np.where(is_so, state, states)
    return states.astype(np.uint8)


@dataclass
class FrameEncoder:
    """Encodes each frame once for all browsers: whole for those that begin, as a difference for the others."""

    _last: Mapping[str, Bytes] = field(default_factory=dict)

    def encode(self, columns: Mapping[str, Bytes], at_s: float, simulated_s: float) -> tuple[str, str]:
        """The whole frame and the difference to the one before, as JSON; the same text where no difference is less."""
        head = {"at_s": round(at_s, 3), "sim_s": None if np.isnan(simulated_s) else round(simulated_s, 3)}
        whole = _json({**head, "full": True, "columns": {name: _text(held) for name, held in columns.items()}})
        last, self._last = self._last, dict(columns)
        if last.keys() != columns.keys():
            return whole, whole
        changed = {name: _changed(last[name], held) for name, held in columns.items()}
        delta = _json({**head, "full": False, "columns": changed})
        return whole, min((delta, whole), key=len)


def _changed(before: Bytes, now: Bytes) -> dict[str, str]:
    places = np.flatnonzero(before != now)
    width = np.dtype("<u2") if len(now) < 1 << 16 else np.dtype("<u4")
    return {"index": _text(places.astype(width)), "value": _text(now[places])}


def _text(held: NDArray[Any]) -> str:
    return b64encode(held.tobytes()).decode()


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))

"""The engine beside the simplest model of an incast, with thresholds that the reference lacks."""

from __future__ import annotations

from statistics import fmean

import pytest
from tests.sim.fabrics import engine_of, incast, marking, star
from tests.sim.plain_incast import SAMPLE_NS, PlainIncast

SENDERS = 16
WARM_NS, UNTIL_NS = 8e6, 20e6
"""The overshoot of senders that begin at line rate is over by then."""


@pytest.mark.parametrize(("kmin_bytes", "kmax_bytes"), [(150e3, 450e3), (5e3, 20e3)], ids=["design", "low"])
def test_marks_queue_and_throughput_of_a_lasting_incast_are_those_of_the_plain_model(
    kmin_bytes: float, kmax_bytes: float
) -> None:
    plain = PlainIncast(SENDERS, kmin_bytes=kmin_bytes, kmax_bytes=kmax_bytes, pmax=0.1, seed=1)
    plain.run(WARM_NS)
    plain.forget()
    plain.run(UNTIL_NS)

    engine = engine_of(marking(star(SENDERS + 1), kmin_bytes, kmax_bytes, 0.1), incast(SENDERS, 10**9))
    engine.run(WARM_NS)
    before, depths = engine.counters(), []
    for sample in range(1, int((UNTIL_NS - WARM_NS) / SAMPLE_NS) + 1):
        engine.run(WARM_NS + sample * SAMPLE_NS)
        depths.append(engine.depths()[0][1].sum())
    after = engine.counters()
    sent, marked = (
        (getattr(after, name) - getattr(before, name))[1].sum() for name in ("sent_packets", "marked_packets")
    )

    assert sent == pytest.approx(plain.sent, rel=0.04)
    assert marked / sent == pytest.approx(plain.marked / plain.sent, rel=0.15)
    assert fmean(depths) == pytest.approx(fmean(plain.depths), rel=0.1)

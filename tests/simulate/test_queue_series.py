"""Queues over time: a recorded run is the run without a recorder, and its series is what fluid queues do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.sim.fabrics import lossless, star

from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import FabricEstimate, queue_series, simulate_job, write_pictures
from railfab.simulate.canonical import CanonicalForm, canonical
from railfab.simulate.components import Component
from railfab.simulate.memo import Memo
from railfab.simulate.named_faults import faults
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.packet_run import PacketOutcome, PacketSettings, run_packets
from railfab.simulate.queue_series import QueueRecorder, QueueSeries

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
KMIN, KMAX, XOFF = 4e6, 8e6, 3e5


@pytest.fixture(scope="module")
def incast() -> Callable[..., tuple[CanonicalForm, Any]]:
    """Two hosts that send to a third over 100 Gb/s each, where marks begin far above the queue of the first moment."""

    def make(xoff_bytes: float = XOFF, payload_bytes: int = 4_000_000) -> tuple[CanonicalForm, Any]:
        network = lossless(star(3), xoff_bytes=xoff_bytes)
        ramp = {name: np.full_like(network.kmin_bytes, value) for name, value in (("kmin", KMIN), ("kmax", KMAX))}
        network = replace(network, kmin_bytes=ramp["kmin"], kmax_bytes=ramp["kmax"])
        none = np.zeros(0, np.int64)
        part = Component(
            payload_bytes=np.full(2, payload_bytes),
            latency_ns=np.zeros(2, np.int64),
            paths=np.array([[0, 5], [2, 5]]),
            shares=np.ones((2, 2)),
            earlier=none,
            later=none,
            carrier=np.arange(2),
        )
        return canonical(part, NetworkColours.of(network)), network

    return make


def recorded(form: CanonicalForm, network: Any) -> tuple[QueueSeries, PacketOutcome]:
    recorder = QueueRecorder()
    outcome = run_packets(form, network, 1e-3, PacketSettings(), advance=recorder.run)
    return recorder.series(form.links), outcome


@pytest.mark.parametrize("xoff_bytes", [1e9, XOFF, 3e4])
def test_a_recorded_run_is_the_run_without_a_recorder(incast, xoff_bytes: float) -> None:
    form, network = incast(xoff_bytes)
    (series, outcome), plain = recorded(form, network), run_packets(form, network, 1e-3, PacketSettings())
    assert outcome.ends_ns.tolist() == plain.ends_ns.tolist()
    assert (outcome.marked, outcome.pauses, outcome.dropped) == (plain.marked, plain.pauses, plain.dropped)
    assert (outcome.pauses > 0) == (xoff_bytes < 1e9)
    assert series.times_s[-1] == pytest.approx(outcome.ends_ns.max() / 1e9, abs=3e-6)
    assert (np.diff(series.times_s) > 0).all()


def test_the_queue_before_a_port_grows_by_what_arrives_too_much(incast) -> None:
    """Twice 100 Gb/s arrive at a port of 100 Gb/s: 12.5 kB a microsecond, until the last byte of 4 MB has come in."""
    series, _ = recorded(*incast(1e9))
    (queue,) = series.queues
    assert (queue.link, queue.kmin_bytes, queue.kmax_bytes) == (5, KMIN, KMAX)
    early = (series.times_s > 20e-6) & (series.times_s < 200e-6)
    slope = np.polyfit(series.times_s[early], queue.peak_bytes[early], 1)[0]
    assert slope == pytest.approx(12.5e9, rel=0.02)
    assert queue.peak_bytes.max() == pytest.approx(4.06e6, rel=0.02)
    assert queue.peak_bytes[-1] < 20_000


def test_a_buffer_stops_at_its_threshold_and_a_round_trip(incast) -> None:
    series, outcome = recorded(*incast())
    assert outcome.pauses > 0
    assert {buffer.link for buffer in series.buffers} == {0, 2}
    for buffer in series.buffers:
        assert (buffer.xoff_bytes == XOFF).all()
        assert XOFF < buffer.peak_bytes.max() < XOFF + 2 * 12.5 * 3000 + 4 * 4200


def test_a_threshold_that_is_a_share_of_the_free_buffer_falls_as_the_buffer_fills(incast) -> None:
    form, network = incast()
    alpha = np.where(network.pfc_sent, 0.25, 0.0)
    shared = replace(network, xoff_alpha=alpha, shared_bytes=np.full(4, 2e6))
    series, _ = recorded(form, shared)
    assert [float(buffer.xoff_bytes.max()) for buffer in series.buffers] == pytest.approx([0.25 * 2e6] * 2, rel=0.05)
    held = sum(float(buffer.peak_bytes.max()) for buffer in series.buffers)
    least = min(float(buffer.xoff_bytes.min()) for buffer in series.buffers)
    assert least == pytest.approx(0.25 * (2e6 - held), rel=0.1)


def test_fewer_samples_have_the_same_peaks_and_end(incast, monkeypatch: pytest.MonkeyPatch) -> None:
    fine, _ = recorded(*incast())
    monkeypatch.setattr(queue_series, "MOST_SAMPLES", 40)
    coarse, _ = recorded(*incast())
    assert 20 <= len(coarse.times_s) <= 40 < len(fine.times_s)
    assert coarse.times_s[-1] == fine.times_s[-1]
    for few, many in zip(peaks(coarse), peaks(fine), strict=True):
        assert few.max() == many.max()
        for time_s, peak in zip(coarse.times_s, few, strict=True):
            assert peak >= many[np.searchsorted(fine.times_s, time_s)], "the most of the interval"


def peaks(series: QueueSeries) -> list[Any]:
    return [*(queue.peak_bytes for queue in series.queues), *(buffer.peak_bytes for buffer in series.buffers)]


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(POD64)


@pytest.fixture(scope="module")
def narrow(pod64: Design) -> FabricEstimate:
    """An AllToAll in packets over one spine of four."""
    phases = [{"collective": {"op": "alltoall", "bytes": "8MB", "group": "all"}}]
    change = faults([f"switch=pod1-spine{number}" for number in (1, 2, 3)], pod64.topology)
    asked = Job.model_validate({"version": 1, "job": "made", "phases": phases})
    return simulate_job(asked, pod64, change=change, details=True, packets=Memo(None))


def test_the_queues_of_an_operation_are_those_of_its_slowest_component(pod64: Design, narrow: FabricEstimate) -> None:
    (detail,), (held,) = narrow.details, narrow.contentions
    assert detail.queues is not None
    assert held.sample is not None
    series = detail.queues()
    assert series.part == ""
    assert series.times_s[-1] == pytest.approx(held.slowest_s, rel=3e-3)
    assert held.sample.marked > 0
    assert max(queue.peak_bytes.max() - queue.kmin_bytes for queue in series.queues) > 0
    assert (held.sample.pauses > 0) == any((buffer.peak_bytes > buffer.xoff_bytes).any() for buffer in series.buffers)
    peaks = [queue.peak_bytes.max() for queue in series.queues]
    assert peaks == sorted(peaks, reverse=True)


def test_a_picture_of_queues_has_ports_and_thresholds(pod64: Design, narrow: FabricEstimate, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = write_pictures("made", pod64, narrow, tmp_path)
    assert [path.name for path in paths[-2:]] == ["pod64-queues.svg", "pod64-queues.png"]
    text = (tmp_path / "pod64-queues.svg").read_text()
    ElementTree.fromstring(text)
    (detail,) = narrow.details
    assert detail.queues is not None
    series = detail.queues()
    for name, value in (
        ("Kmin", series.queues[0].kmin_bytes),
        ("Kmax", series.queues[0].kmax_bytes),
        ("XOFF", series.buffers[0].xoff_bytes[0]),
    ):
        assert f"<!-- {name} {value / 1e3:,.0f} kB -->" in text
    assert "<!-- pod1-" in text


def test_an_operation_at_max_min_fair_rates_has_no_queues(pod64: Design) -> None:
    phases = [{"collective": {"op": "alltoall", "bytes": "1MB", "group": "all"}}]
    asked = Job.model_validate({"version": 1, "job": "made", "phases": phases})
    (detail,) = simulate_job(asked, pod64, details=True).details
    assert detail.queues is None

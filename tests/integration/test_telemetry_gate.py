"""The gate of the telemetry, on a twin under jobs: healthy ones pass, and each kind of harm is a series that fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.observed_twin import ALLREDUCE, INCAST, ObservedTwin, observed
from tests.integration.prometheus_server import Prometheus
from tests.twin.qos_twin import FAR_LEAF, LEAF, SPINE, UPLINKS
from tests.twin.test_qos_symptoms import pfc_off

from railfab.dashboards.monitoring import Scrape, prometheus_config
from railfab.deploy.drain import operate_all
from railfab.deploy.gates import Source, TelemetryGate, source_of, wait_until_idle
from railfab.deploy.run import nornir_of
from railfab.platforms import Verb

WAVE = (LEAF, SPINE)
HOST = "pod1-seg1-host1"
WINDOWS = 4
"""Windows in one of which a step ends, on a busy machine too, whose twin simulates little in one."""
NO_ECN = ["/qos/explicit-congestion-notification"]


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObservedTwin]:
    with observed(tmp_path_factory.mktemp("gates")) as running:
        yield running


def telemetry_of(twin: ObservedTwin, url: str | None = None) -> Source:
    source = source_of(twin.fabric, url or twin.url)
    assert source is not None
    return source


def gate_of(twin: ObservedTwin, url: str | None = None) -> TelemetryGate:
    return TelemetryGate(twin.fabric, telemetry_of(twin, url), arrives_within_s=10)


def failed(gate: TelemetryGate) -> list[tuple[str, str]]:
    """Metric and switch of each series that fails."""
    failures = gate.failures(WAVE)
    assert all(failure.before and failure.after and failure.limit for failure in failures)
    return [(failure.series.partition("{")[0], failure.series.partition('device="')[2][:15]) for failure in failures]


@contextmanager
def drained(twin: ObservedTwin) -> Iterator[None]:
    endpoints = twin.qos.twin.endpoints
    nornir = nornir_of(twin.fabric, endpoints).filter(name=SPINE)
    for verb in (Verb.DRAIN, Verb.UNDRAIN):
        (outcome,) = operate_all(nornir, verb, lambda _outcome: None)
        assert not outcome.failed
        if verb is Verb.DRAIN:
            yield


def fails(gate: TelemetryGate, metric: str, device: str) -> bool:
    """Whether the gate fails for this series in one of WINDOWS: on a busy machine a window may see no whole step."""
    return any((metric, device) in failed(gate) for _ in range(WINDOWS))


def test_an_idle_fabric_a_busy_one_and_a_drain_of_the_wave_pass(twin: ObservedTwin) -> None:
    twin.run(None)
    gate = gate_of(twin)
    gate.baseline(WAVE)
    twin.run(ALLREDUCE)
    assert gate.failures(WAVE) == ()
    gate.baseline(WAVE)
    resumed = gate_of(twin)
    resumed.restore(json.loads(json.dumps(gate.saved())))
    with drained(twin):
        assert resumed.failures(WAVE) == ()


def test_traffic_is_waited_for_and_what_still_flows_is_said(twin: ObservedTwin) -> None:
    twin.run(ALLREDUCE)
    source, stop = telemetry_of(twin), threading.Event()
    flows = wait_until_idle(source, [SPINE], within_s=8, stop_requested=stop)
    assert flows.keys() == {SPINE}
    assert 1 < flows[SPINE] < 4 * 2 * 400
    with drained(twin):
        assert wait_until_idle(source, [SPINE], within_s=60, stop_requested=stop) == {}
    assert wait_until_idle(source, ["nobody"], within_s=2, stop_requested=stop) == {"nobody": float("inf")}


def test_a_congested_fabric_passes_and_settings_that_break_roce_fail(twin: ObservedTwin) -> None:
    twin.run(INCAST)
    gate = gate_of(twin)
    gate.baseline(WAVE)
    assert gate.failures(WAVE) == ()
    twin.qos.set(LEAF, update=pfc_off(UPLINKS[1:]))
    assert fails(gate, "fabric_pfc_dropped_packets_total", LEAF)
    twin.qos.heal(LEAF)
    twin.qos.set(LEAF, delete=NO_ECN)
    assert fails(gate, "fabric_pfc_transmit_frames_total", LEAF)
    twin.qos.heal(LEAF)


def test_dirty_optics_and_a_slow_host_fail(twin: ObservedTwin) -> None:
    twin.run(ALLREDUCE)
    gate = gate_of(twin)
    service = twin.qos.twin
    for _ in range(WINDOWS):
        gate.baseline(WAVE)
        if gate.saved()["step time"]:
            break
    service.set_optic_loss(LEAF, UPLINKS[1], loss_db=2.0)
    assert fails(gate, "fabric_interface_pre_fec_ber_ratio", LEAF)
    service.set_optic_loss(LEAF, UPLINKS[1], loss_db=0)
    service.set_host_rate(HOST, 40)
    slow = any(metric == "training_step_duration_seconds" for _ in range(WINDOWS) for metric, _ in failed(gate))
    service.set_host_rate(HOST, None)
    assert slow


def test_a_switch_without_samples_fails_by_name(twin: ObservedTwin) -> None:
    twin.run(None)
    gate = gate_of(twin)
    gate.baseline(WAVE)
    gate.arrives_within_s = 3
    twin.qos.twin.stop_switch(SPINE)
    failures = gate.failures(WAVE)
    twin.qos.twin.start_switch(SPINE)
    assert [failure.line.partition(". ")[0] for failure in failures] == [
        f"gate telemetry: {SPINE}: has no new sample since the wave"
    ]
    recovered = gate_of(twin)
    recovered.baseline(WAVE)
    assert any(recovered.failures(WAVE) == () for _ in range(WINDOWS))


@pytest.mark.prometheus
def test_a_real_prometheus_is_read(twin: ObservedTwin, tmp_path: Path) -> None:
    twin.run(INCAST)
    config = prometheus_config(Scrape(collectors=(twin.url.removeprefix("http://"),), interval_s=1))
    with Prometheus(tmp_path, config) as prometheus:
        prometheus.eventually(f'fabric_interface_oper_up{{device="{FAR_LEAF}"}} == 1')
        gate = gate_of(twin, f"http://{prometheus.address}")
        gate.baseline(WAVE)
        assert gate.failures(WAVE) == ()
        twin.qos.set(LEAF, update=pfc_off(UPLINKS[1:]))
        assert fails(gate, "fabric_pfc_dropped_packets_total", LEAF)
        twin.qos.heal(LEAF)

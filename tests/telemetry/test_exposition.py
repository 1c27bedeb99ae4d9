"""What a scrape sees: types, help, units, the estimate of pause time, the jobs' histograms."""

from __future__ import annotations

import random
import shutil
import subprocess

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from railfab.endpoints import Endpoint, Endpoints
from railfab.metrics import BURSTS, CATALOGUE, Kind, metric, rate_max_name
from railfab.platforms import platform, platform_names
from railfab.telemetry import RetryPolicy, fabric_collector, families
from railfab.telemetry.estimate import SPEED
from railfab.telemetry.exposition import family
from railfab.telemetry.health import Health
from railfab.telemetry.notification import Decoded
from railfab.telemetry.series import Series
from railfab.telemetry.store import TargetStore
from railfab.topology import Topology
from railfab.twin.counters import _PFC_EGRESS


class Everything:
    """One sample of every metric that the fabric's collector can expose."""

    def collect(self) -> list[Metric]:
        plain = [entry for entry in CATALOGUE.values() if entry.kind is not Kind.HISTOGRAM]
        return [family(entry, [(dict.fromkeys(entry.labels, "x"), 1.0)]) for entry in plain]


@pytest.fixture
def everything() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(Everything())
    return registry


def promtool_says(collector: object) -> tuple[int, bytes]:
    """Exit code and all output of `promtool check metrics` for what this exposes."""
    registry = CollectorRegistry()
    registry.register(collector)
    command = [shutil.which("promtool") or "promtool", "check", "metrics"]
    done = subprocess.run(command, input=generate_latest(registry), capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.prometheus
def test_promtool_has_nothing_to_say_about_any_metric() -> None:
    assert promtool_says(Everything()) == (0, b"")


def test_every_metric_has_its_type_and_help_and_no_time_stamp(everything: CollectorRegistry) -> None:
    seen = {found.name: found for found in parse_text(generate_latest(everything).decode())}
    for entry in Everything().collect():
        plain = next(
            one for one in CATALOGUE.values() if one.name.removesuffix("_total") in (entry.name, f"{entry.name}_info")
        )
        found = seen.get(plain.name) or seen[entry.name]
        assert found.documentation == plain.help
        assert found.type == ("gauge" if plain.kind is Kind.INFO else plain.kind.value)
        assert [(one.name, one.timestamp) for one in found.samples] == [(plain.name, None)]


def test_openmetrics_has_units_and_infos(everything: CollectorRegistry) -> None:
    text = openmetrics.generate_latest(everything).decode()
    found = {one.name: one for one in parse_openmetrics(text)}
    assert (found["fabric_interface_receive_bytes"].type, found["fabric_interface_receive_bytes"].unit) == (
        "counter",
        "bytes",
    )
    assert (found["fabric_interface"].type, found["fabric_interface"].unit) == ("info", "")
    assert found["fabric_interface_receive_errors"].unit == ""


def test_everything_in_the_catalogue_is_fed_by_something(topology: Topology) -> None:
    """A metric that nothing feeds is a dashboard that stays empty."""
    fed = {rule.metric for name in platform_names() for rule in platform(name).telemetry.rules}
    collector = fabric_collector(topology, Endpoints(fabric="pod64", backend="twin", nodes=()))
    fed |= set(collector.snapshot().samples)
    own = (
        "training_",
        "roce_nic_",
        "fabric_twin_",
        "fabric_collector_",
        "fabric_configuration_",
        "fabric_maintenance_",
    )
    fed |= {name for name in CATALOGUE if name.startswith(own)}
    fed |= {name for name in CATALOGUE if "_pause_estimated_" in name}
    fed |= {rate_max_name(name) for name in BURSTS} | {"fabric_target_info", "fabric_roce_queue_info"}
    fed |= set(_PFC_EGRESS)  # the simulator measures what SR Linux does not tell
    assert set(CATALOGUE) - fed == set()


def estimates(
    samples: list[tuple[Series, float]], designed_gbps: dict[str, float]
) -> list[tuple[dict[str, str], str, float]]:
    """Labels, metric and value of each estimate, after these samples in this order."""
    store = TargetStore(
        "leaf1", Health(tls_verified=True), expiry_s=6, grace_s=6, max_series=9, designed_gbps=designed_gbps
    )
    store.begin()
    store.synced()
    for each in samples:
        store.begin_batch(1.0, 6.0)
        store.apply(Decoded(None, samples=[each]))
        store.end_batch()
    sample = store.sample(1.0)
    assert sample.count == len(samples), "an estimate is no series of the target"
    found = []
    for row in np.flatnonzero(sample.live).tolist():
        entry, labels = sample.table.describe(row)
        if "estimated" in entry.name:
            found.append((labels, entry.name, float(sample.values[row])))
    return found


def test_a_scrape_in_parts_is_a_scrape(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "admin")
    monkeypatch.setenv("RAILFAB_PASSWORD", "a secret")
    nodes = tuple(Endpoint(name=f"pod1-seg1-leaf{n}", platform="srlinux", host="::1", gnmi_port=1) for n in (1, 2))
    collector = fabric_collector(topology, Endpoints(fabric="pod64", backend="twin", nodes=nodes))
    samples = [frames(1), (Series(metric(SPEED), {"interface": "e1"}), 12.5e9), frames(3, "transmit")]
    for session in collector.fleet.sessions:
        session.store.begin_batch(session.now_s(), 1e6)
        session.store.apply(Decoded(None, samples=samples))
        session.store.end_batch()
    whole = collector.exposition.render(openmetrics=False)
    monkeypatch.setattr(families, "PART_BYTES", 1)
    parts = collector.exposition.render(openmetrics=False)
    assert (
        b'fabric_pfc_receive_frames_total{device="pod1-seg1-leaf2",fabric="pod64",interface="e1",priority="3"} 1\n'
        in parts
    )
    changing = (b"_collector_lag_seconds{", b"process_", b"python_")
    lines = [
        [line for line in text.splitlines() if not any(one in line for one in changing)] for text in (whole, parts)
    ]
    assert lines[0] == lines[1]


def frames(count: float, way: str = "receive", interface: str = "e1") -> tuple[Series, float]:
    labels = {"interface": interface, "priority": "3"}
    return Series(metric(f"fabric_pfc_{way}_frames_total"), labels), count


def test_the_pause_estimate_is_frames_times_the_longest_pause_at_port_speed() -> None:
    speed = Series(metric(SPEED), {"interface": "e1"}), 12.5e9
    for samples in ([frames(1000), speed], [speed, frames(1000)]):
        [(labels, name, seconds)] = estimates(samples, {"e1": 400.0})
        assert name == "fabric_pfc_receive_pause_estimated_seconds_total"
        assert labels == {"device": "leaf1", "interface": "e1", "priority": "3"}
        assert seconds == pytest.approx(1000 * 65535 * 512 / 100e9)


def test_the_designed_speed_serves_where_the_port_tells_none() -> None:
    [(_, _, seconds)] = estimates([frames(1, "transmit")], {"e1": 400.0})
    assert seconds == pytest.approx(65535 * 512 / 400e9)
    assert list(estimates([frames(1)], {})) == []


def test_measured_pause_time_needs_no_estimate() -> None:
    measured = Series(metric("fabric_pfc_receive_pause_seconds_total"), {"interface": "e1", "priority": "3"}), 0.5
    found = estimates([frames(5), frames(5, "transmit"), measured], {"e1": 100.0})
    assert [name for _, name, _ in found] == ["fabric_pfc_transmit_pause_estimated_seconds_total"]


def test_waits_grow_to_their_bound_and_are_spread() -> None:
    policy, draw = RetryPolicy(), random.Random(1)
    waits = [[policy.delay_s(failures, refused=False, draw=draw) for _ in range(200)] for failures in range(1, 12)]
    for place, spread in enumerate(waits):
        bound_s = min(60.0, 2.0**place)
        assert 0.9 * bound_s < max(spread) <= bound_s
        assert min(spread) < 0.1 * bound_s
    refused = [policy.delay_s(30, refused=True, draw=draw) for _ in range(200)]
    assert 270 < max(refused) <= 300

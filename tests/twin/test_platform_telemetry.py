"""Twins of every platform that the twin serves over gNMI: what railfab collects, and what a job does to it.

The denominator is the intent: each port, session and queue of it has its series, named as the intent names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.trial import HARDWARE, PREPARED
from tests.oracles.telemetry_paths import VENDOR_MODELS, NotModelled, TelemetryPaths
from tests.twin.gnmic_collector import Key, canonical, gnmic_values
from tests.twin.twins import made_job, ran, run_over_ssh, until

from railfab.endpoints import read_credentials
from railfab.fabric.design import Design, design
from railfab.gnmi import messages
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.paths import to_text_elements
from railfab.gnmi.target import Found, GnmiOffer
from railfab.gnmi.values import JSON
from railfab.platforms import TelemetryMap, platform
from railfab.platforms.telemetry_map import SIMULATED_TIME
from railfab.telemetry import Collector, fabric_collector
from railfab.twin import Twin

INTENT = """\
version: 1
fabric: small
hosts: {{gpus: 2, rate_gbps: 100}}
backend:
  segments: {{count: 2, hosts: 4, rail_switches: 1, model: {model}, platform: {platform}, cable_m: 5}}
  spines: {{count: 2, links_per_leaf: 1, rate_gbps: 400, model: {model}, platform: {platform}, cable_m: 40}}
"""
pytestmark = pytest.mark.timeout(600)
LEAF = "pod1-seg1-leaf1"
BURST = made_job(
    phases=[{"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}}],
    repeat=1,
)
MARKS = "fabric_queue_ecn_marked_packets_total"
SENT = "fabric_queue_transmit_bytes_total"
SIMULATED = "fabric_twin_simulated_seconds_total"
OF_PORTS = (
    "fabric_interface_oper_up",
    "fabric_interface_admin_up",
    "fabric_interface_receive_bytes_total",
    "fabric_interface_transmit_bytes_total",
    "fabric_interface_receive_discards_total",
    "fabric_interface_speed_bytes_per_second",
)
LOST = "fabric_pfc_dropped_packets_total"
PAUSES = "fabric_pfc_receive_frames_total"
BY = {SENT: "queue", MARKS: "queue", PAUSES: "priority"}
OF_QUEUES = (SENT, "fabric_queue_transmit_packets_total", MARKS)
OF_PRIORITIES = (PAUSES, "fabric_pfc_transmit_frames_total")

SERVED = [name for name in HARDWARE if (face := platform(name).twin) is not None and face().models]
"""Platforms that the twin serves over gNMI."""
Ports = set[tuple[str, str]]
"""By switch and port."""


@dataclass(frozen=True, slots=True)
class Running:
    platform: str
    fabric: Design
    twin: Twin
    collector: Collector

    @property
    def telemetry(self) -> TelemetryMap:
        return platform(self.platform).telemetry

    def maps(self, *metrics: str) -> tuple[str, ...]:
        """Those metrics that the platform has."""
        mapped = {rule.metric for rule in self.telemetry.rules}
        return tuple(metric for metric in metrics if metric in mapped)

    def ports(self) -> Ports:
        """The ports of the intent."""
        topology = self.fabric.topology
        return {
            (node.name, port.name)
            for node in topology.switches()
            for port, *_ in topology.ports_of(node.name)
            if port.cage
        }

    def queues(self) -> set[tuple[str, str, str]]:
        """The ports and traffic classes of the intent, on each platform by the same names."""
        return {
            (device, port, traffic_class.name)
            for device, port in self.ports()
            for traffic_class in self.fabric.traffic_classes[device]
        }

    def values(self, metric: str, *labels: str) -> Mapping[tuple[str, ...], float]:
        """Values counted after this call, by device and these labels."""
        now_s = self.twin.status().simulated_s
        until(lambda: all(value > now_s for _, value in self.collector.snapshot().select(SIMULATED)))
        seen = self.collector.snapshot().select(metric)
        return {self._key(found, labels): value for found, value in seen}

    def until_has(self, metric: str, labels: tuple[str, ...], series: Collection[tuple[str, ...]]) -> None:
        """Wait until a metric has these series, by device and labels."""
        until(lambda: {self._key(found, labels) for found, _ in self.seen(metric)} >= set(series))

    def seen(self, metric: str) -> Sequence[tuple[Mapping[str, str], float]]:
        """The samples that the collector has now."""
        return self.collector.snapshot((metric,)).select(metric)

    def encodings(self) -> list[str]:
        """Those that the map states for each path; all of the gNMI server of the platform where it states none."""
        if stated := {entry.encoding for entry in self.telemetry.subscriptions if entry.encoding}:
            return sorted(stated)
        face = platform(self.platform).twin
        assert face is not None
        offer = face().offer or GnmiOffer()
        return [messages.Encoding.Name(number).lower() for number in offer.encodings]

    def classes_of(self, device: str) -> Mapping[str, Mapping[str, str]]:
        """The class for each name in the counters of a switch, by label."""
        names, classes = self.telemetry.queues, self.fabric.traffic_classes[device]
        assert names is not None
        lossless = [each for each in classes if each.lossless]
        return {
            label: {names.of(label, each): each.name for each in of_label}
            for label, of_label in (("queue", classes), ("priority_group", lossless))
        }

    def series_of(self, device: str) -> Mapping[Key, float]:
        """The series of a switch that its telemetry map has, by metric and the labels that are not its own."""
        mapped = {rule.metric for rule in self.telemetry.rules}
        return {
            (metric, frozenset((name, text) for name, text in found.items() if name not in ("device", "fabric"))): value
            for metric in mapped
            for found, value in self.seen(metric)
            if found["device"] == device
        }

    @staticmethod
    def _key(found: Mapping[str, str], labels: Sequence[str]) -> tuple[str, ...]:
        return tuple(found[label] for label in ("device", *labels))

    def until_risen(self, metric: str, before: Mapping[tuple[str, ...], float], least: float) -> tuple[str, ...]:
        """Wait until one of these series has risen by more than this since then; the labels of the most risen."""

        def rises() -> dict[tuple[str, ...], float]:
            now = self.values(metric, "interface", BY[metric])
            return {labels: now[labels] - value for labels, value in before.items()}

        until(lambda: max(rises().values()) > least)
        risen = rises()
        return max(risen, key=lambda labels: risen[labels])


@pytest.fixture(scope="module", params=SERVED)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp(request.param)
    intent = folder / "small.yml"
    intent.write_text(INTENT.format(platform=request.param, model=HARDWARE[request.param]))
    with ExitStack() as stack:
        fabric = design(intent)
        twin = stack.enter_context(Twin(fabric, state=folder, base_port=0, configured=True))
        for endpoint in twin.endpoints.nodes:
            run_over_ssh(endpoint, *PREPARED.get(endpoint.platform, ()))
        collector = stack.enter_context(
            fabric_collector(fabric.topology, twin.endpoints, classes=fabric.traffic_classes, interval_s=0.5)
        )
        assert collector.wait_until_up(120)
        yield Running(request.param, fabric, twin, collector)


def test_every_port_of_the_intent_has_its_series(running: Running) -> None:
    for metric in running.maps(*OF_PORTS):
        running.until_has(metric, ("interface",), running.ports())
    up = running.values("fabric_interface_oper_up", "interface")
    assert {up[port] for port in running.ports()} == {1.0}


def test_every_queue_and_priority_of_the_intent_has_its_series(running: Running) -> None:
    for metric in running.maps(*OF_QUEUES):
        running.until_has(metric, ("interface", "queue"), running.queues())
        queues = {(labels["device"], labels["interface"], labels["queue"]) for labels, _ in running.seen(metric)}
        assert queues == running.queues(), metric
    priorities = {(*port, number) for port in running.ports() for number in "01234567"}
    for metric in running.maps(*OF_PRIORITIES):
        running.until_has(metric, ("interface", "priority"), priorities)


def test_sessions_and_neighbours_have_the_names_of_the_intent(running: Running) -> None:
    sessions = {
        (name, str(neighbor.peer)): 1.0 for name, model in running.fabric.models.items() for neighbor in model.neighbors
    }
    until(lambda: running.values("fabric_bgp_session_up", "peer") == sessions)
    topology = running.fabric.topology
    heard = {
        (node.name, port.name, peer.node, peer.name)
        for node in topology.switches()
        for port, peer, _ in topology.ports_of(node.name)
        if peer.node in running.fabric.models
    }
    for metric in running.maps("fabric_lldp_neighbor_info"):
        running.until_has(metric, ("interface", "peer_device", "peer_interface"), heard)


def test_a_burst_marks_in_the_queue_of_roce_where_it_meets(running: Running) -> None:
    least = {SENT: 14 * 1_500_000, MARKS: 100}
    before = {metric: running.values(metric, "interface", BY[metric]) for metric in running.maps(*least)}
    running.twin.switch_job(BURST)
    until(lambda: running.twin.status().steps >= 1)
    for metric, old in before.items():
        busiest = running.until_risen(metric, old, least[metric])
        assert busiest[0] == LEAF
        assert busiest[2] == "roce"
    for metric in running.maps(LOST):
        assert not any(running.values(metric, "interface").values())


def test_a_host_that_takes_nothing_pauses_the_priority_of_roce_at_its_leaf(running: Running) -> None:
    for metric in running.maps(PAUSES):
        seen = running.values(metric, "interface", BY[metric])
        before = {labels: value for labels, value in seen.items() if labels[0] == LEAF}
        running.twin.set_host_rate("pod1-seg1-host1", 0.0)
        running.twin.switch_job(BURST)
        paused = running.until_risen(metric, before, 100)
        running.twin.set_host_rate("pod1-seg1-host1", None)
        running.twin.switch_job(None)
        assert paused[2] == "3"


def test_nothing_is_sent_that_the_collector_cannot_read(running: Running) -> None:
    dropped = running.collector.snapshot().select("fabric_collector_dropped_updates_total")
    assert {labels["reason"]: value for labels, value in dropped if value} == {}


@pytest.mark.gnmic
def test_gnmic_stores_what_the_collector_stores(running: Running, tmp_path: Path) -> None:
    """LLDP and BGP move some counters meanwhile, and most stay as the job has left them."""
    ran(running.twin, BURST)
    node = running.twin.endpoints.by_name()[LEAF]
    same = {"fabric_interface_oper_up", "fabric_bgp_session_state", "fabric_lldp_neighbor_info", SENT, MARKS}
    for encoding in running.encodings():
        before = running.series_of(LEAF)
        stored = gnmic_values(node, running.telemetry, encoding, tmp_path)
        theirs = canonical(running.telemetry.rules, stored, running.classes_of(LEAF))
        after = running.series_of(LEAF)
        assert theirs.keys() == before.keys() & after.keys()
        assert {
            key: (before[key], value, after[key])
            for key, value in theirs.items()
            if not min(before[key], after[key]) <= value <= max(before[key], after[key])
        } == {}
        exact = {key[0] for key in theirs if before[key] == after[key] != 0}
        assert exact >= set(running.maps(*same))


@pytest.mark.oracle
@pytest.mark.parametrize("running", [name for name in SERVED if name in VENDOR_MODELS], indirect=True)
def test_every_leaf_that_is_served_is_in_the_vendors_models_with_its_type(running: Running, oracles: Path) -> None:
    """No models of the state of the others are published."""
    models = VENDOR_MODELS[running.platform]
    archive = oracles / models.archive
    if not archive.exists():
        pytest.skip(f"needs {models.archive} in {oracles}; tests/README.md says where to get it")
    paths = TelemetryPaths(models.modules(archive))
    node = running.twin.endpoints.by_name()[LEAF]
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        served = [leaf for leaf in client.once(["/"], JSON) if to_text_elements(leaf.path) != SIMULATED_TIME]
    wrong = "\n".join(filter(None, (objection(paths, leaf) for leaf in served)))
    assert not wrong, wrong
    assert len(served) > 500


def objection(paths: TelemetryPaths, leaf: Found) -> str:
    """What the models say against a leaf; empty where they have it."""
    try:
        paths.check_leaf(leaf.path, leaf.value)
    except NotModelled as error:
        return f"{to_text_elements(leaf.path)}: {error}"
    return ""

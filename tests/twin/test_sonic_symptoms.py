"""A twin of SONiC switches: sessions, the series that railfab collects, mistakes over gNMI and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pygnmi.client import gNMIException
from tests.twin.twins import Switch, made_job, run_over_ssh, switch, until

from railfab.app.configuration_check import ConfigurationCheck
from railfab.fabric.design import Design, design
from railfab.intent import Job
from railfab.telemetry import Collector, fabric_collector
from railfab.twin import Twin

INTENT = """\
version: 1
fabric: small
hosts: {gpus: 2, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: sn4700, platform: sonic, cable_m: 5}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: sn4700, platform: sonic, cable_m: 40}
"""
LEAF = "pod1-seg1-leaf1"
RECEIVER_PORT, SENDER_PORT = "Ethernet0", "Ethernet4"
"""On LEAF: where the senders of an incast meet, and of one of these."""
ROCE = "roce"
LOSSLESS = "3"
"""The priority of RoCE; the queue and the priority group have the same number on the switch."""

Growth = Mapping[tuple[str, str, str], float]
"""By device, port, and queue or priority."""

MARKS = "fabric_queue_ecn_marked_packets_total"
PAUSES = "fabric_pfc_transmit_frames_total"
MARKED_BYTES = "fabric_queue_ecn_marked_bytes_total"
DROPS = "fabric_queue_dropped_packets_total"
PAUSED = "fabric_pfc_receive_frames_total"
HEADROOM = "fabric_buffer_headroom_peak_bytes"
QUEUE_SERIES = (
    MARKS,
    DROPS,
    MARKED_BYTES,
    "fabric_queue_transmit_bytes_total",
    "fabric_queue_transmit_packets_total",
    "fabric_queue_dropped_bytes_total",
    "fabric_queue_depth_bytes",
    "fabric_queue_depth_peak_bytes",
)
SIMULATED = "fabric_twin_simulated_seconds_total"
COLOURS = ("green", "yellow", "red")
TABLES = "/CONFIG_DB/localhost"


BURST = made_job(
    phases=[{"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}}],
    repeat=1,
)


@dataclass(frozen=True, slots=True)
class Running:
    fabric: Design
    twin: Twin
    collector: Collector
    leaf: Switch

    def grown(self, job: Job) -> Mapping[str, Growth]:
        """How much a job adds to each series of these metrics, as railfab collects them."""
        before = self._collected()
        self.twin.switch_job(job)
        until(lambda: self.twin.status().steps >= (job.repeat or 1))
        after = self._collected()
        return {
            metric: {key: value - before[metric].get(key, 0.0) for key, value in found.items()}
            for metric, found in after.items()
        }

    def _collected(self) -> dict[str, Growth]:
        """What was counted after this call; a peak is as it is since the start.

        The simulated time of a switch arrives after its counters of that time.
        """
        now_s = self.twin.status().simulated_s
        until(lambda: all(value > now_s for _, value in self.collector.snapshot().select(SIMULATED)))
        seen = self.collector.snapshot()
        return {
            metric: {
                (labels["device"], labels["interface"], labels[last]): value for labels, value in seen.select(metric)
            }
            for metrics, last in ((QUEUE_SERIES, "queue"), ((PAUSES, PAUSED), "priority"))
            for metric in metrics
        }

    @contextmanager
    def changed(self, path: str, fields: Mapping[str, str | None]) -> Iterator[None]:
        """A row of CONFIG_DB with other fields for a while; None deletes one."""
        (row,) = self.leaf.values(TABLES + path, "config").values()
        stated = {name: value for name, value in fields.items() if value is not None}
        self.leaf.set(
            delete=[f"{TABLES}{path}/{name}" for name, value in fields.items() if value is None],
            update=[(TABLES + path, stated)] if stated else [],
        )
        yield
        self.leaf.set(update=[(TABLES + path, row)])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A twin whose switches count marks, as they do not at first."""
    folder = tmp_path_factory.mktemp("sonic")
    intent = folder / "small.yml"
    intent.write_text(INTENT)
    with ExitStack() as stack:
        found = design(intent)
        twin = stack.enter_context(Twin(found, state=folder, base_port=0, configured=True))
        collector = stack.enter_context(
            fabric_collector(found.topology, twin.endpoints, classes=found.traffic_classes, interval_s=0.5)
        )
        assert collector.wait_until_up(120)
        seen = collector.snapshot()
        assert not any(seen.select(metric) for metric in (MARKS, MARKED_BYTES))
        for node in twin.endpoints.nodes:
            run_over_ssh(node, "sudo counterpoll wredqueue enable")
        yield Running(found, twin, collector, stack.enter_context(switch(twin, LEAF)))


def test_it_is_up_and_every_queue_has_the_name_of_its_class(running: Running) -> None:
    until(lambda: all(running.collector.snapshot().select(metric, device=LEAF) for metric in (*QUEUE_SERIES, HEADROOM)))
    status, seen = running.twin.status(), running.collector.snapshot()
    assert (status.sessions_up, status.sessions, status.faults) == (8, 8, ())
    assert [value for _, value in seen.select("fabric_bgp_session_up")] == [1.0] * 8
    ports = {labels["interface"] for labels, _ in seen.select("fabric_interface_oper_up", device=LEAF)}
    for metric in QUEUE_SERIES:
        found = {(labels["interface"], labels["queue"]) for labels, _ in seen.select(metric, device=LEAF)}
        assert found == {(port, queue) for port in ports for queue in ("default", ROCE, "cnp")}, metric
    groups = {labels["priority_group"] for labels, _ in seen.select(HEADROOM)}
    assert groups == {ROCE}
    for metric in (PAUSES, PAUSED):
        assert {labels["priority"] for labels, _ in seen.select(metric)} == set("01234567"), metric


def test_the_configuration_is_read_over_gnmi_and_compared_with_the_intent(running: Running, tmp_path: Path) -> None:
    check = ConfigurationCheck(running.fabric, running.twin.endpoints, state=tmp_path, interval_s=60)

    names = ("fabric_configuration_findings", "fabric_configuration_hazards")

    def findings() -> set[tuple[str, str]]:
        check.check()
        families = [family for family in check.collect() if family.name in names]
        return {(one.labels["device"], one.labels["code"]) for family in families for one in family.samples}

    assert findings() == set()
    with running.changed("/PORT_QOS_MAP/Ethernet4", {"pfc_enable": None}):
        codes = {code for device, code in findings() if device == LEAF}
    assert "pfc-off" in codes
    assert findings() == set()


def test_a_burst_marks_where_it_meets_and_stands_in_that_queue(running: Running) -> None:
    seen = running.grown(BURST)
    assert seen[MARKS][LEAF, RECEIVER_PORT, ROCE] > 100
    assert max(seen[MARKS], key=seen[MARKS].__getitem__) == (LEAF, RECEIVER_PORT, ROCE)
    assert seen["fabric_queue_depth_peak_bytes"][LEAF, RECEIVER_PORT, ROCE] > 1_000_000
    assert not any(seen[PAUSES].values())
    assert not any(seen[DROPS].values())


def test_wred_thresholds_above_the_queue_mark_nothing(running: Running) -> None:
    high = {f"{colour}_{bound}_threshold": "50000000" for colour in COLOURS for bound in ("min", "max")}
    with running.changed("/WRED_PROFILE/100g-5m_roce", high):
        assert running.grown(BURST)[MARKS][LEAF, RECEIVER_PORT, ROCE] == 0
    assert running.grown(BURST)[MARKS][LEAF, RECEIVER_PORT, ROCE] > 100


def test_wred_without_ecn_drops_what_it_would_have_marked(running: Running) -> None:
    with running.changed("/WRED_PROFILE/100g-5m_roce", {"ecn": "ecn_none"}):
        seen = running.grown(BURST)
    assert seen[MARKS][LEAF, RECEIVER_PORT, ROCE] == 0
    assert seen[DROPS][LEAF, RECEIVER_PORT, ROCE] > 0


def test_a_low_share_of_the_buffer_pauses_every_sender_but_that_of_a_port_without_pfc(running: Running) -> None:
    """The least share, 1/256 of what is free, instead of all of it."""
    with running.changed("/BUFFER_PROFILE/pg_100g-5m_roce", {"dynamic_th": "-8"}):
        seen = running.grown(BURST)
        assert seen[PAUSES][LEAF, SENDER_PORT, LOSSLESS] > 0
        assert {priority for (*_, priority), frames in seen[PAUSES].items() if frames} == {LOSSLESS}
        with running.changed(f"/PORT_QOS_MAP/{SENDER_PORT}", {"pfc_enable": None}):
            seen = running.grown(BURST)
        assert seen[PAUSES][LEAF, SENDER_PORT, LOSSLESS] == 0
        assert any(seen[PAUSES].values())


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("/FOO", {"bar": {"baz": "1"}}, "FOO: is no table"),
        ("/PORT/Ethernet0", {"foo": "1"}, "PORT|Ethernet0 foo: is unknown"),
        ("/DSCP_TO_TC_MAP/fabric", {"70": LOSSLESS}, "DSCP_TO_TC_MAP|fabric name 70: is '70'"),
        ("/WRED_PROFILE/100g-5m_roce", {"green_drop_probability": "101"}, "is '101', which is not 0 to 100"),
    ],
)
def test_what_the_models_refuse_the_switch_refuses(running: Running, path: str, value: Any, said: str) -> None:
    before = running.leaf.values(TABLES, "config")
    with pytest.raises(gNMIException) as refused:
        running.leaf.set(update=[(TABLES + path, value)])
    assert said in str(refused.value)
    assert running.leaf.values(TABLES, "config") == before

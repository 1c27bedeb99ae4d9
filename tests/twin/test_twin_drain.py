"""A spine of a twin is drained by the intent, worked on and returned, and a real Prometheus judges what fires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.judge import Judge, wanted_metrics
from tests.faults.mistakes import FOLDER
from tests.faults.trial import SPEED, Rack, Scrape, rack_of
from tests.twin.twins import made_job

from railfab.dashboards import ALERTS
from railfab.deploy import Journal, apply_all, nornir_of, preview_all
from railfab.fabric.design import Design, design
from railfab.intent import Job

pytestmark = pytest.mark.timeout(600)

SPINE = "pod1-spine1"
ELSEWHERE = ("pod1-seg2-leaf1", "ethernet-1/30")
"""A port of a leaf to the other spine."""
LOST = (
    "fabric_queue_dropped_packets_total",
    "fabric_pfc_dropped_packets_total",
    "fabric_interface_receive_discards_total",
    "fabric_interface_transmit_discards_total",
)


def job(name: str) -> Job:
    """A job every step of which crosses the spines. One that ran before would count as stalled until its next step."""
    return made_job(
        job=name,
        hosts=[f"pod1-seg{segment}-host{host}" for host in range(1, 5) for segment in (1, 2)],
        phases=[
            {"compute": {"ms": 4000}},
            {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "10MB", "group": "rail"}},
        ],
    )


@dataclass(slots=True)
class Work:
    """What was scraped, and the simulated times since the beginning at which each part of the work was done."""

    scrapes: list[Scrape] = field(default_factory=list)
    times_s: dict[str, float] = field(default_factory=dict)


class Workshop(Rack):
    """The twin of the mistakes, on which planned work is done."""

    def worked(self, drained: Design) -> Work:
        """Drain the spine, take it out of service, cut a link elsewhere, mend both, and end the drain."""
        work = Work()
        self._heal()
        began_s = self._now_s()

        def watch(name: str, seconds: float) -> None:
            work.times_s[name] = self._now_s() - began_s
            work.scrapes += self._watch(began_s, work.times_s[name] + seconds)

        self.twin.switch_job(job("before"))
        watch("healthy", 45)
        self.deploy(drained)
        watch("drained", 75)
        self.twin.switch_job(None)
        ports = [port.name for port, peer, _ in self.fabric.topology.ports_of(SPINE)]
        for port in ports:
            self.twin.set_link(SPINE, port, up=False)
        watch("out of service", 60)
        self.twin.set_link(*ELSEWHERE, up=False)
        watch("cut elsewhere", 75)
        for node, port in (*((SPINE, port) for port in ports), ELSEWHERE):
            self.twin.set_link(node, port, up=True)
        self._until(self._is_healthy)
        self.deploy(self.fabric)
        self.twin.switch_job(job("after"))
        watch("returned", 60)
        work.times_s["end"] = self._now_s() - began_s
        return work

    def deploy(self, fabric: Design) -> None:
        """As `railfab deploy` does, with its journal."""
        nornir = nornir_of(fabric, self.twin.endpoints)
        shown = preview_all(nornir, fabric.texts, lambda _: None)
        assert [one.name for one in shown if one.changed] == [SPINE]
        with Journal(self._state, fabric.intent.fabric).open("deploy") as entry:
            outcomes = apply_all(nornir, fabric.texts, entry.change, lambda _: None, keep=entry.keep)
            entry.finish({one.name: one.result for one in outcomes})
        assert {one.name: one.result for one in outcomes}[SPINE] == "changed"
        self.check.check()


@pytest.fixture(scope="module")
def drained(tmp_path_factory: pytest.TempPathFactory) -> Design:
    file = tmp_path_factory.mktemp("intent") / "drained.yml"
    file.write_text(f"{(FOLDER / 'rack.yml').read_text()}drain: [{SPINE}]\n")
    return design(file)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, drained: Design) -> Iterator[Work]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.faults.trial.SCRAPE_S", 10.0)
        patch.setattr("railfab.app.deploys.SHOWN_FOR_S", 30.0 / SPEED)
        wanted = wanted_metrics((*LOST, "fabric_interface_receive_bytes_total"))
        with Workshop(rack_of(), tmp_path_factory.mktemp("state"), wanted) as workshop:
            yield workshop.worked(drained)


def values_of(work: Work, name: str, begin: str, end: str, device: str | None = None) -> list[float]:
    """The sum of a metric, of one switch or of all, at each scrape between two parts of the work."""
    return [
        sum(
            value
            for (metric, labels), value in values.items()
            if metric == name and (device is None or ("device", device) in labels)
        )
        for at_s, values in work.scrapes
        if work.times_s[begin] <= at_s < work.times_s[end]
    ]


def in_maintenance(work: Work, at_s: float) -> set[tuple[str, str]]:
    """The switches in maintenance at the last scrape before a time, with the reasons."""
    _, values = [scrape for scrape in work.scrapes if scrape[0] < at_s][-1]
    found = [dict(labels) for metric, labels in values if metric == "fabric_maintenance_info"]
    return {(labels["device"], labels["reason"]) for labels in found}


def test_a_drain_moves_all_traffic_away_without_loss_and_its_end_brings_it_back(work: Work) -> None:
    name = "fabric_interface_receive_bytes_total"
    healthy = values_of(work, name, "healthy", "drained", SPINE)
    drained = values_of(work, name, "drained", "out of service", SPINE)
    returned = values_of(work, name, "returned", "end", SPINE)
    assert healthy[-1] - healthy[0] > 1e7
    assert drained[-1] - drained[len(drained) // 2] == 0
    assert returned[-1] - returned[len(returned) // 2] > 1e7
    for lost in LOST:
        assert len(set(values_of(work, lost, "healthy", "out of service"))) == 1, lost
    sessions = values_of(work, "fabric_bgp_session_up", "healthy", "out of service")
    assert set(sessions) == {sessions[0]}


def test_maintenance_is_exported_while_it_lasts(work: Work) -> None:
    assert in_maintenance(work, work.times_s["drained"]) == set()
    for part in ("out of service", "cut elsewhere", "returned"):
        assert (SPINE, "drain") in in_maintenance(work, work.times_s[part])
        assert {name for name, _ in in_maintenance(work, work.times_s[part])} == {SPINE}
    assert (SPINE, "drain") not in in_maintenance(work, work.times_s["end"])


def test_only_a_fault_elsewhere_fires(work: Work, tmp_path: Path) -> None:
    with Judge(tmp_path, [work.scrapes]) as judge:
        fired = {alert.alert: judge.fires(0, alert, work.times_s["end"]) for alert in ALERTS}
    found = {name: at_s for name, at_s in fired.items() if at_s is not None}
    assert found.keys() == {"FabricLinkDown", "FabricBgpSessionDown"}
    assert all(work.times_s["cut elsewhere"] < at_s < work.times_s["returned"] for at_s in found.values())

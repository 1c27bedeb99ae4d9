"""A fault slows the training step of a model on a real twin: FabricJobSlow fires in its time, and ends afterwards.

A real Prometheus judges what the twin serves of its job. `make matrix` tries each fault, the suite the first one.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.faults.judge import STEP_S, Judge, wanted_metrics
from tests.faults.trial import SCRAPE_S, Scrape, rack_of
from tests.sampled import sampled

from railfab.dashboards import ALERTS
from railfab.intent import Job
from railfab.twin import Twin

SPEED = 40.0
BEFORE_S, DURING_S, AFTER_S = 45.0, 75.0, 90.0
"""Simulated time: an alert on a rate over a minute fires after 30 s, and ends when the minute has passed."""
HOST, LEAF, HOST_PORT = "pod1-seg1-host1", "pod1-seg1-leaf1", "ethernet-1/1/1"
SLOW = next(alert for alert in ALERTS if alert.alert == "FabricJobSlow")
JOB = Job.model_validate(
    {
        "version": 1,
        "job": "trained",
        "model": {"layers": 4, "hidden": 256, "heads": 4, "ffn": 704, "vocabulary": 2048, "sequence": 256},
        "parallelism": {"tp": 2, "pp": 2, "micro_batches": 2},
        "gpu": {"tflops": 0.01, "efficiency": 0.5},
    }
)
"""Tensor pairs in hosts, two stages, four replicas on the 16 GPUs of the rack, and a step of a second."""
FAULTS: dict[str, tuple[Callable[[Twin], None], Callable[[Twin], None]]] = {
    "dirty optic": (
        lambda twin: twin.set_optic_loss(LEAF, HOST_PORT, loss_db=2.8),
        lambda twin: twin.set_optic_loss(LEAF, HOST_PORT, loss_db=0.0),
    ),
    "slow host": (lambda twin: twin.set_host_rate(HOST, 0.06), lambda twin: twin.set_host_rate(HOST, None)),
}


class Watch:
    """Scrapes of the metrics that a twin serves of its job. now_s: simulated time since the first."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self.scrapes: list[Scrape] = []
        self._began_s = twin.status().simulated_s
        self._wanted = wanted_metrics()

    @property
    def now_s(self) -> float:
        return self._twin.status().simulated_s - self._began_s

    def until(self, until_s: float) -> None:
        """Scrape until this simulated time has passed."""
        while (now_s := self.now_s) < until_s:
            with urllib.request.urlopen(self._twin.control.metrics_url, timeout=30) as answer:
                families = list(text_string_to_metric_families(answer.read().decode()))
            samples = (sample for family in families for sample in family.samples if sample.name in self._wanted)
            self.scrapes.append(
                (now_s, {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples})
            )
            while (left_s := now_s + SCRAPE_S - self.now_s) > 0:
                time.sleep(max(0.02, left_s / SPEED))


@pytest.mark.prometheus
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sampled(list(FAULTS), few=("dirty optic",)))
def test_a_fault_slows_the_step_of_a_model_until_it_is_repaired(name: str, tmp_path: Path) -> None:
    break_it, repair = FAULTS[name]
    (tmp_path / "prometheus").mkdir()
    with Twin(rack_of(), state=tmp_path / "state", base_port=0, configured=True, job=JOB, speed=SPEED) as twin:
        watch = Watch(twin)
        watch.until(BEFORE_S)
        broken_s = watch.now_s
        break_it(twin)
        watch.until(broken_s + DURING_S)
        repaired_s = watch.now_s
        repair(twin)
        watch.until(repaired_s + AFTER_S)
        ended_s = watch.now_s
    with Judge(tmp_path / "prometheus", [watch.scrapes], rules=()) as judge:
        fired_s, results = judge.fires(0, SLOW, ended_s), judge.results(0, SLOW.expr, ended_s)
    assert fired_s is not None
    assert broken_s < results[0] <= fired_s < repaired_s
    assert repaired_s < results[-1] < ended_s - STEP_S, "it ends"

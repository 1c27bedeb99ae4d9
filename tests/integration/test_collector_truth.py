"""`railfab collect` from targets with faults serves what they sent last, to us and to a real Prometheus.

Two collectors at one time, each with targets of its own: one receives as by default, one with grpcio. For
RAILFAB_COLLECTED_S seconds, ten minutes in `make soak`; else one.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.integration.collector_truth import LEAVES, NS, Scrape, Truth, parsed, scrape_of
from tests.integration.faulty_targets import Collecting, Targets, collecting, cpu_s, of_target, targets
from tests.integration.prometheus_server import Prometheus
from tests.twin.process_figures import MOST_MB_PER_MIN, Figures, figures, grown, growth

SECONDS = float(os.environ.get("RAILFAB_COLLECTED_S", "60"))
INTERVAL_S, SCRAPE_EVERY_S, FIGURES_S = 0.5, 0.4, 5.0
RECEIVERS = {"auto": "fast", "grpc": "grpc"}
"""What `--receiver` states, and the receiver with which every target is received then."""
DISTURBED_EVERY_S = 20.0
STOPPED_S, SLOWED_S = 4.0, 8.0
"""The process of a collector is stopped for longer than a target may be silent, and slowed, in turn."""
FAULTS = {
    "sound": "",
    "drop": "drop=7.2",
    "stall": "stall=20/8",
    "pause": "stall=7/1.2",
    "delete": "delete=12/5",
    "omit": "omit=12/5",
    "reset": "reset=15",
    "skew": "skew=90",
    "back": "back=30/8",
    "seconds": "stamp=seconds,encoding=json_ietf",
    "zero": "stamp=zero",
    "nosync": "nosync=1",
    "swap": "swap=1,drop=8.2",
    "flood": "pad=1500000",
    "all": "drop=9,reset=13,delete=17/6,stall=31/5",
}
BLOCKED_S = 0.5
"""A message that takes so long to send waited for the collector, not for the machine."""
CONNECTED_FOR_GOOD = FAULTS.keys() - {"drop", "stall", "swap", "all"}
MOST_WAIT_S = 9.0
"""Backoff after so few failures in a row, and a margin."""


@dataclass
class Run:
    """A run that has ended. prometheus: what it scraped; None where it is not installed."""

    receiver: str
    journal: list
    stopped: list[tuple[float, float]]
    ended_s: float = 0.0
    scrapes: list[Scrape] = field(default_factory=list)
    process: list[Figures] = field(default_factory=list)
    prometheus: list[Scrape] | None = None
    vanished: list[str] = field(default_factory=list)
    resets: dict[tuple[str, str], int] = field(default_factory=dict)
    received: dict[str, str] = field(default_factory=dict)
    cpu_s: float = 0.0
    said: str = ""

    def truth(self, target: str) -> Truth:
        return Truth(of_target(self.journal, target), INTERVAL_S, self.stopped)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folders = {receiver: tmp_path_factory.mktemp(receiver) for receiver in RECEIVERS}
    specs = [f"{name}:{how}" for name, how in FAULTS.items()]
    with ExitStack() as stack:
        running = {name: stack.enter_context(targets(folder, INTERVAL_S, *specs)) for name, folder in folders.items()}
        collectors = {
            name: stack.enter_context(collecting(folder, running[name].ports, *options(name)))
            for name, folder in folders.items()
        }
        prometheus = (
            stack.enter_context(scraping(tmp_path_factory.mktemp("prometheus"), collectors))
            if shutil.which("prometheus")
            else None
        )
        found = {name: Run(name, [], collector.stopped) for name, collector in collectors.items()}
        with ThreadPoolExecutor(len(RECEIVERS)) as observers:
            list(observers.map(observe, found.values(), collectors.values()))
        for name, run in found.items():
            if prometheus:
                ask(run, prometheus)
            run.journal = running[name].entries()
            run.cpu_s, run.said = cpu_s(collectors[name].process.pid), "".join(collectors[name].said)
            report(run, running[name])
    return found


@pytest.fixture(params=RECEIVERS)
def run(request: pytest.FixtureRequest, runs: dict[str, Run]) -> Run:
    return runs[request.param]


def options(receiver: str) -> tuple[str, ...]:
    return ("--interval", str(INTERVAL_S), "--receiver", receiver)


def scraping(folder: Path, collectors: Mapping[str, Collecting]) -> Prometheus:
    jobs = []
    for name, collector in collectors.items():
        address = collector.url.removeprefix("http://").removesuffix("/metrics")
        jobs.append({"job_name": name, "static_configs": [{"targets": [address]}]})
    return Prometheus(folder, {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs})


def observe(found: Run, collector: Collecting) -> None:
    """Scrape again and again, and stop or slow the collector at times."""
    began_s = time.time()
    next_s, slows = began_s + DISTURBED_EVERY_S, False
    slowing: threading.Thread | None = None
    while (now_s := time.time()) - began_s < SECONDS:
        found.scrapes.append(parsed(collector.scrape(), now_s, time.time()))
        if not found.process or now_s - began_s - found.process[-1].at_s >= FIGURES_S:
            found.process.append(figures(collector.process.pid, now_s - began_s))
        if now_s > next_s:
            if slows:
                slowing = threading.Thread(target=collector.slow_for, args=(SLOWED_S,))
                slowing.start()
            else:
                collector.stop_for(STOPPED_S)
            next_s, slows = next_s + DISTURBED_EVERY_S, not slows
        time.sleep(SCRAPE_EVERY_S)
    if slowing:
        slowing.join()
    found.ended_s = time.time()
    text = collector.scrape()
    found.received = dict(re.findall(r'fabric_collector_receiver_info{device="(\w+)",receiver="(\w+)"} 1', text))


def ask(found: Run, prometheus: Prometheus) -> None:
    """Read back what Prometheus has scraped, as it was scraped, and where it marked series as stale."""
    names = "|".join(("fabric_collector_session_up", "fabric_collector_lag_seconds", *(name for name, _ in LEAVES)))
    job = f'job="{found.receiver}"'
    selector = f'{{__name__=~"{names}|scrape_duration_seconds",{job}}}[{SECONDS + 60:.0f}s]'
    by_time: dict[float, list] = {}
    for series in prometheus.ask("query", query=selector, time=f"{found.ended_s:.3f}")["result"]:
        labels = series["metric"]
        for at_s, value in series["values"]:
            by_time.setdefault(at_s, []).append((labels["__name__"], labels, float(value)))
    scrapes = [_scrape(at_s, samples) for at_s, samples in sorted(by_time.items())]
    found.prometheus = [scrape for scrape in scrapes if scrape.up]  # of a collector that is stopped there is none
    present: set[str] = set()
    for scrape in found.prometheus:
        for target in present - scrape.values.keys():
            query = f'fabric_interface_receive_bytes_total{{device="{target}",{job}}}'
            left = prometheus.ask("query", query=query, time=f"{scrape.began_s + 0.001:.3f}")["result"]
            found.vanished.append(f"{target}: {len(left)} left")
        present = set(scrape.values)
    counted = f"resets(fabric_interface_receive_bytes_total{{{job}}}[{SECONDS - 5:.0f}s])"
    for series in prometheus.ask("query", query=counted, time=f"{found.ended_s:.3f}")["result"]:
        found.resets[series["metric"]["device"], series["metric"]["interface"]] = int(series["value"][1])


def _scrape(at_s: float, samples: list) -> Scrape:
    others = {name: value for name, labels, value in samples if "device" not in labels}
    lasted_s = others.get("scrape_duration_seconds", 0.0)
    late_s = others.get("fabric_collector_lag_seconds", 0.0)
    return scrape_of(samples, at_s, at_s + lasted_s + 0.01, late_s)


def report(found: Run, running: Targets) -> None:
    """Say what was measured, of a long run."""
    if "RAILFAB_COLLECTED_S" not in os.environ:
        return
    judged: Counter[str] = Counter()
    for name in FAULTS:
        truth = found.truth(name)
        for scrape in (*found.scrapes, *(found.prometheus or ())):
            list(truth.problems(scrape, name))
        judged += truth.judged
    lines = [
        f"{found.receiver}: {SECONDS:.0f} s, {len(found.scrapes)} scrapes, {len(found.prometheus or ())} of Prometheus",
        f"{len(found.journal)} entries of the journal; {dict(judged)}",
        f"CPU of the collector {found.cpu_s:.1f} s, of the targets {cpu_s(running.process.pid):.1f} s",
        f"vanished: {Counter(found.vanished)}",
    ]
    lines += [
        f"at {at.at_s:5.0f} s: {at.rss_mb:.1f} MB, {at.fds} fds, {at.threads} threads" for at in found.process[::12]
    ]
    if slope := growth(found.process):
        lines.append(f"memory: {10 * slope.mb_per_min:+.2f} +- {10 * slope.plus_minus:.2f} MB in 10 minutes")
    sys.stdout.write("\n".join(("", *lines, "")))


def wrong(run: Run, scrapes: list[Scrape], target: str) -> list[str]:
    truth = run.truth(target)
    found = [f"{scrape.began_s:.2f}: {said}" for scrape in scrapes for said in truth.problems(scrape, target)]
    assert truth.judged["there"] > len(scrapes) / 3
    return found


@pytest.mark.timeout(2 * SECONDS + 300)
def test_every_target_is_received_with_the_receiver_that_was_chosen(run: Run) -> None:
    assert run.received == dict.fromkeys(FAULTS, RECEIVERS[run.receiver])


@pytest.mark.parametrize("target", FAULTS)
def test_every_scrape_has_what_was_sent_last_and_nothing_else(run: Run, target: str) -> None:
    assert len(run.scrapes) > SECONDS / 4
    assert wrong(run, run.scrapes, target) == []


@pytest.mark.prometheus
@pytest.mark.parametrize("target", FAULTS)
def test_prometheus_has_no_sample_that_was_not_sent_last(run: Run, target: str) -> None:
    assert run.prometheus is not None
    assert len(run.prometheus) > SECONDS / 4
    assert wrong(run, run.prometheus, target) == []


@pytest.mark.prometheus
def test_series_are_stale_in_the_scrape_in_which_they_vanish(run: Run) -> None:
    assert {said.partition(":")[0] for said in run.vanished} >= {"stall"}
    assert [said for said in run.vanished if not said.endswith(" 0 left")] == []


@pytest.mark.prometheus
def test_prometheus_sees_the_resets_that_were_and_no_other(run: Run) -> None:
    for (target, interface), resets in run.resets.items():
        truth = run.truth(target)
        assert resets <= truth.resets(f"{interface} in-octets", run.ended_s - SECONDS - 7, run.ended_s), target
    sent = run.truth("reset").resets("eth0 in-octets", run.ended_s - SECONDS + 7, run.ended_s - 2)
    assert run.resets["reset", "eth0"] >= sent > 0


def test_a_target_that_is_reachable_again_is_dialled_soon(run: Run) -> None:
    for target in FAULTS:
        assert max(run.truth(target).waits_s(run.ended_s), default=0.0) < MOST_WAIT_S, target


def test_a_collector_that_is_stopped_subscribes_nothing_again_for_it(run: Run) -> None:
    assert run.stopped
    for target in CONNECTED_FOR_GOOD:
        assert max(run.truth(target).dials_s) < run.stopped[0][0], target
    assert 1 <= run.said.count("s late: it reads updates later than they arrive") <= len(run.stopped)


def test_faults_were_made(run: Run) -> None:
    assert run.truth("all").judged == {}
    truths = {name: run.truth(name) for name in FAULTS}
    for name, truth in truths.items():
        for scrape in run.scrapes:
            list(truth.problems(scrape, name))
    assert [name for name in ("delete", "omit", "swap", "stall", "all") if not truths[name].judged["gone"]] == []
    assert all(truth.judged["up"] for name, truth in truths.items() if name != "nosync")
    assert len(truths["drop"].dials_s) > SECONDS / 15


def test_the_slowed_collector_held_its_target_back(run: Run) -> None:
    """Flow control reached the target: it could not send while nothing was read."""
    sends = [entry for entry in run.journal if entry["target"] == "flood" and entry.get("sent")]
    assert max(entry["done"] - entry["at"] for entry in sends) > BLOCKED_S * NS


def test_memory_stays_flat(runs: dict[str, Run]) -> None:
    assert grown(runs["auto"].process) == []


def test_memory_does_not_surely_grow_with_grpcio(runs: dict[str, Run]) -> None:
    """It comes and goes by more than 10 MB with the messages of the flood, so that less cannot be told."""
    found = growth(runs["grpc"].process)
    assert found is None or found.mb_per_min - found.plus_minus < MOST_MB_PER_MIN

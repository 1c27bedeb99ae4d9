"""A twin on which mistakes are made over gNMI or SSH, and what the collector says meanwhile, in simulated time."""

from __future__ import annotations

import json
import time
import urllib.request
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.faults.mistakes import FOLDER, Mistake, jobs, nothing
from tests.twin.twins import run_over_ssh, switch

from railfab.app.configuration_check import ConfigurationCheck
from railfab.deploy import new_change
from railfab.endpoints import read_credentials
from railfab.errors import DeviceError
from railfab.fabric.design import Design
from railfab.intent import Job, load_intent
from railfab.intent.document import Document
from railfab.platforms import Session, TelemetryMap, platform
from railfab.telemetry import RetryPolicy, fabric_collector
from railfab.topology import wire
from railfab.twin import Direction, SwitchOperation, Twin

SPEED = 20.0
"""Simulated seconds that are due in a second."""
INTERVAL_S = 0.5
"""Sample interval of the collector, on the wall."""
SCRAPE_S = 5.0
"""Simulated time between two scrapes."""
BEFORE_S, AFTER_S = 75.0, 120.0
"""Simulated time before a mistake, and after it, in which an alert may take its time."""
HEALS_WITHIN_S = 60.0
CONFIRM_WITHIN_S = 120
SETTLES_S = 5.0
"""Simulated time in which what was on its way arrives."""
FLAP_S = 5.0
"""Simulated time for which a link that flaps is down, and up."""

HARDWARE = {
    "srlinux": "7220-ixr-d5",
    "sonic": "sn4700",
    "eos": "7050dx4-32s",
    "nxos": "n9k-c9348d-gx2a",
    "junos": "qfx5130-32cd",
    "cumulus": "sn4700",
}
"""Model of the switches of the rack, by platform."""

PREPARED = {"sonic": ("sudo counterpoll wredqueue enable", "sudo config save -y")}
"""Commands with which the operator has a switch count what the rules look at, as the page of its platform says."""

Labels = tuple[tuple[str, str], ...]
Series = tuple[str, Labels]
Scrape = tuple[float, dict[Series, float]]
"""Simulated time since the beginning of a trial, and the value of each series."""


@dataclass(slots=True)
class Trial:
    """What was scraped. made_s: simulated time of the mistake since the beginning. ended_s: when the judgement ends.

    refused: what the switch said, when it refused the mistake.
    """

    mistake: Mistake
    made_s: float = 0.0
    ended_s: float = 0.0
    refused: str = ""
    scrapes: list[Scrape] = field(default_factory=list)


def rack_of(served: str = "srlinux", *, bundle: bool = False) -> Design:
    """The fabric of rack.yml, whose switches run this platform. bundle: with a LAG between each two switches."""
    path = FOLDER / "rack.yml"
    intent = load_intent(path)
    tiers = {
        tier: getattr(intent.backend, tier).model_copy(update={"platform": served, "model": HARDWARE[served]})
        for tier in ("segments", "spines")
    }
    tiers["spines"] = tiers["spines"].model_copy(update={"bundle": bundle})
    intent = intent.model_copy(update={"backend": intent.backend.model_copy(update=tiers)})
    return Design(document=Document(path, {}), intent=intent, topology=wire(intent))


class Rack:
    """The twin of a fabric, its collector and the comparison of configurations; a context manager."""

    def __init__(self, fabric: Design, state: Path, wanted: frozenset[str], speed: float = SPEED) -> None:
        self.fabric = fabric
        self._state, self._wanted, self._speed = state, wanted, speed
        self._stack = ExitStack()
        self._clock: list[tuple[float, float]] = []
        self._labels: dict[Labels, Labels] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.twin = stack.enter_context(
                Twin(self.fabric, state=self._state, base_port=0, configured=True, speed=self._speed)
            )
            for endpoint in self.twin.endpoints.nodes:
                run_over_ssh(endpoint, *PREPARED.get(endpoint.platform, ()))
            self.collector = stack.enter_context(
                fabric_collector(
                    self.fabric.topology,
                    self.twin.endpoints,
                    classes=self.fabric.traffic_classes,
                    interval_s=INTERVAL_S,
                    maps={name: in_simulated_time(platform(name).telemetry, self._speed) for name in self._platforms()},
                    policy=RetryPolicy(first_s=0.1, most_s=0.3, dial_timeout_s=2.0),
                )
            )
            self.check = stack.enter_context(
                ConfigurationCheck(self.fabric, self.twin.endpoints, state=self._state, interval_s=60 / self._speed)
            )
            self._own = CollectorRegistry()
            self._own.register(self.check)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def healthy(self, job: Job, seconds: float) -> Trial:
        """The fabric without a mistake."""
        self._heal()
        self.twin.switch_job(job)
        return Trial(nothing(job.job), ended_s=seconds, scrapes=self._watch(self._now_s(), seconds))

    def tried(
        self, mistake: Mistake, before_s: float = BEFORE_S, after_s: float = AFTER_S, *, idle: bool = False
    ) -> Trial:
        """Make a mistake after a healthy time, and watch; then undo it. idle: without its job."""
        trial = Trial(mistake)
        self._heal()
        configurations = {name: self._configuration(name) for name in mistake.edits}
        self.twin.switch_job(None if idle else jobs()[mistake.job])
        began_s = self._now_s()
        trial.scrapes += self._watch(began_s, before_s)
        try:
            with self._staged(mistake.texts) as run:
                trial.made_s = trial.ended_s = self._now_s() - began_s
                run()  # on a busy machine for a minute of simulated time
                trial.ended_s = self._now_s() - began_s + after_s
                self._make(mistake)
            trial.scrapes += self._watch(began_s, trial.ended_s)
        except (Refused, DeviceError) as refused:
            trial.refused = str(refused)
        finally:
            self._undo(mistake, configurations)
        return trial

    def _make(self, mistake: Mistake) -> None:
        for name, edits in mistake.edits.items():
            self._set(name, edits)
        for node, interface in mistake.links:
            for _ in range(mistake.flaps):
                self.twin.set_link(node, interface, up=False)
                self._pass(FLAP_S)
                self.twin.set_link(node, interface, up=True)
                self._pass(FLAP_S)
            if not mistake.flaps:
                self.twin.set_link(node, interface, up=False)
        if mistake.exchanged:
            self.twin.exchange_cables(*mistake.exchanged)
        for node, interface, loss_db in mistake.optics:
            self.twin.set_optic_loss(node, interface, loss_db=loss_db)
        for host, rate_gbps in mistake.slow_hosts.items():
            self.twin.set_host_rate(host, rate_gbps)
        for node, interface, detected in _fibres(mistake):
            self.twin.set_link(node, interface, up=False, direction=Direction.RECEIVE, detected=detected)
        for name, operation, _ in _operations(mistake):
            self.twin.operate(name, operation)

    def _undo(self, mistake: Mistake, configurations: Mapping[str, Any]) -> None:
        for name, _, operation in _operations(mistake):
            self.twin.operate(name, operation)
        for node, interface, _ in _fibres(mistake):
            self.twin.set_link(node, interface, up=True)
        for node, interface in mistake.links:
            self.twin.set_link(node, interface, up=True)
        if mistake.exchanged:
            self.twin.exchange_cables(*mistake.exchanged)
        for node, interface, _ in mistake.optics:
            self.twin.set_optic_loss(node, interface, loss_db=0.0)
        for host in mistake.slow_hosts:
            self.twin.set_host_rate(host, None)
        for name, configuration in configurations.items():
            self._set(name, {"replace": {"/": configuration}})
        with self._staged({name: self._intended(name) for name in mistake.texts}) as run:
            run()

    @contextmanager
    def _staged(self, texts: Mapping[str, str]) -> Iterator[Callable[[], None]]:
        """Stage these configurations on their switches; what is yielded commits and confirms them."""
        with ExitStack() as stack:
            sessions = {name: stack.enter_context(self._session(name)) for name in texts}
            staged = {name: session.stage(texts[name]) for name, session in sessions.items()}
            change = new_change()

            def run() -> None:
                for name, session in sessions.items():
                    if staged[name].diff:
                        session.commit(staged[name], change, CONFIRM_WITHIN_S)
                for name, session in sessions.items():
                    if staged[name].diff:
                        session.confirm(change)

            yield run

    def _session(self, name: str) -> Session:
        endpoint = self.twin.endpoints.by_name()[name]
        connect = platform(endpoint.platform).session_factory(name)
        return connect(endpoint, read_credentials(endpoint))

    def _intended(self, name: str) -> str:
        """The configuration of the intent."""
        model = self.fabric.models[name]
        system = platform(model.platform)
        return system.text(system.render(model))

    def _configuration(self, name: str) -> Any:
        """All of the configuration of a switch, that of its management included."""
        with switch(self.twin, name) as client:
            found = client.client.get(path=["/"], datatype="config", encoding="json_ietf")
        (update,) = found["notification"][0]["update"]
        return update["val"]

    def _set(self, name: str, edits: Mapping[str, Any]) -> None:
        """One gNMI Set. Raises Refused with what the switch says."""
        with switch(self.twin, name) as client:
            try:
                client.set(
                    delete=list(edits.get("delete", ())),
                    replace=[(path, _json(value)) for path, value in edits.get("replace", {}).items()],
                    update=[(path, _json(value)) for path, value in edits.get("update", {}).items()],
                )
            except Exception as error:
                raise Refused(str(error)) from error

    def _heal(self) -> None:
        """Stop the job, and wait until all sessions are up, and what was before is not counted any more."""
        self.twin.switch_job(None)
        self._until(self._is_healthy)
        self._pass(SETTLES_S)
        time.sleep(2 * INTERVAL_S)
        self.check.check()

    def _is_healthy(self) -> bool:
        self._now_s()
        status = self.twin.status()
        return status.sessions_up == status.sessions == self._sessions() and self.collector.wait_until_up(5)

    def _platforms(self) -> set[str]:
        return {endpoint.platform for endpoint in self.twin.endpoints.nodes}

    def _sessions(self) -> int:
        return sum(len(model.neighbors) for model in self.fabric.models.values())

    def _until(self, condition: Callable[[], bool]) -> None:
        end_s = time.monotonic() + HEALS_WITHIN_S
        while not condition():
            if time.monotonic() > end_s:
                raise TimeoutError("the fabric does not become healthy")
            time.sleep(0.1)

    def _now_s(self) -> float:
        """Simulated time."""
        simulated_s = self.twin.status().simulated_s
        self._clock.append((time.time(), simulated_s))
        return simulated_s

    def _pass(self, seconds: float) -> None:
        self._wait_until(self._now_s() + seconds)

    def _wait_until(self, simulated_s: float) -> None:
        while (left_s := simulated_s - self._now_s()) > 0:
            time.sleep(max(0.02, left_s / self._speed))

    def _watch(self, began_s: float, until_s: float) -> list[Scrape]:
        """Scrape every SCRAPE_S until this time has passed since the beginning."""
        scrapes: list[Scrape] = []
        while (now_s := self._now_s()) - began_s <= until_s:
            scrapes.append((now_s - began_s, self._scrape(began_s)))
            self._wait_until(now_s + SCRAPE_S)
        return scrapes

    def _scrape(self, began_s: float) -> dict[Series, float]:
        found = {}
        for name, labels, value in self._samples():
            if name in self._wanted:
                at = value if not name.endswith("_timestamp_seconds") else self._simulated(value) - began_s
                found[name, self._present(tuple(labels.items()))] = at
        return found

    def _present(self, labels: Labels) -> Labels:
        """The labels that have a value, sorted; the same ones come with every scrape."""
        if labels not in self._labels:
            self._labels[labels] = tuple(sorted((key, text) for key, text in labels if text))
        return self._labels[labels]

    def _samples(self) -> Iterator[tuple[str, Mapping[str, str], float]]:
        yield from self.collector.snapshot()
        for family in (*self._own.collect(), *self._jobs()):
            yield from ((one.name, one.labels, one.value) for one in family.samples)

    def _jobs(self) -> Iterator[Metric]:
        """The metrics that the twin itself serves."""
        with urllib.request.urlopen(self.twin.control.metrics_url, timeout=30) as answer:
            yield from text_string_to_metric_families(answer.read().decode())

    def _simulated(self, unix_s: float) -> float:
        """The simulated time at a moment, by the last reading before it; Unix time 0 is long ago."""
        place = bisect_right(self._clock, (unix_s, float("inf")))
        at_s, simulated_s = self._clock[max(0, place - 1)]
        return simulated_s if place else simulated_s - (at_s - unix_s) * self._speed


def in_simulated_time(telemetry: TelemetryMap, speed: float) -> TelemetryMap:
    """The map with the least sample intervals that it states, such as that of bit errors, in simulated time."""
    subscriptions = (
        replace(subscription, min_interval_s=subscription.min_interval_s / speed)
        for subscription in telemetry.subscriptions
    )
    return replace(telemetry, subscriptions=tuple(subscriptions))


def _fibres(mistake: Mistake) -> Iterator[tuple[str, str, bool]]:
    """Ports that receive nothing, and whether they notice."""
    yield from ((*port, True) for port in mistake.dark)
    yield from ((*port, False) for port in mistake.losing)


def _operations(mistake: Mistake) -> Iterator[tuple[str, SwitchOperation, SwitchOperation]]:
    """Switches, what is done to each, and what undoes it."""
    yield from ((name, SwitchOperation.STOP, SwitchOperation.START) for name in mistake.silent)
    yield from ((name, SwitchOperation.HANG, SwitchOperation.RESUME) for name in mistake.hung)
    yield from ((name, SwitchOperation.OFF, SwitchOperation.ON) for name in mistake.unpowered)


def _json(value: Any) -> Any:
    """A value as pygnmi wants it: texts as JSON."""
    return json.dumps(value) if isinstance(value, str) else value


class Refused(Exception):
    """The switch refused a Set."""

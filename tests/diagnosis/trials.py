"""Faults of tests/faults made on a twin, and what a diagnosis names as their causes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tests.faults.mistakes import LOADER, Mistake
from tests.faults.trial import FLAP_S, SCRAPE_S, Rack, Refused, Scrape

from railfab.deploy import nornir_of
from railfab.deploy.gates import TelemetryReading
from railfab.deploy.gates.contract import CLOCKS, UPDATED
from railfab.deploy.run import Readings, readings_of
from railfab.deploy.tasks import inspect
from railfab.diagnosis import METRICS, FabricDiagnosis, FaultPlace, Observations, TelemetryWindow, diagnose
from railfab.fabric import Design

WANTED = METRICS | frozenset(CLOCKS)
SPEED = 5.0
"""Simulated seconds a second: samples come each 2.5 s of simulated time."""
BEFORE_S, AFTER_S = 5.0, 20.0
"""Simulated time before a fault, and telemetry of the diagnosis after it."""


LONG_AGO_S = -1e8


@dataclass(frozen=True, slots=True)
class ExpectedCause:
    """The codes that are right for a fault, and the places any of which a cause has."""

    codes: frozenset[str]
    places: frozenset[str]

    def is_named(self, diagnosis: FabricDiagnosis, most: int) -> bool:
        """Whether one of the first causes is this one."""
        return any(
            cause.code in self.codes and self.places & set(_names(cause.places)) for cause in diagnosis.causes[:most]
        )


def _names(places: Iterable[FaultPlace]) -> Iterator[str]:
    for place in places:
        yield from filter(None, (place.switch, place.host))


@cache
def expected_codes() -> Mapping[str, frozenset[str]]:
    """The right codes of each fault."""
    document: Mapping[str, list[str]] = yaml.load((Path(__file__).parent / "expected.yml").read_text(), LOADER)
    return {fault: frozenset(codes.split()) for codes, faults in document.items() for fault in faults}


def expected_of(mistake: Mistake, fabric: Design) -> ExpectedCause:
    """The cause of a fault: at its switches, at either end of its links, or at its hosts."""
    ports = {(node, port) for node, port, *_ in (*mistake.links, *mistake.dark, *mistake.losing, *mistake.exchanged)}
    ends = {
        end.node for port, peer, _ in fabric.topology.ports() if (port.node, port.name) in ports for end in (port, peer)
    }
    named = (mistake.edits, mistake.texts, mistake.slow_hosts, mistake.hung, mistake.unpowered, mistake.silent)
    optics = {node for node, *_ in mistake.optics}
    return ExpectedCause(expected_codes()[mistake.id], frozenset().union(ends, optics, *named))


class DiagnosisRack(Rack):
    """A rack on which faults are made, and diagnosed while they last."""

    def __init__(self, fabric: Design, state: Path) -> None:
        super().__init__(fabric, state, WANTED, speed=SPEED)
        self.read: Readings[Any] = Readings({}, {})

    def _undo(self, mistake: Mistake, configurations: Mapping[str, Any]) -> None:
        self.read = readings_of(nornir_of(self.fabric, self.twin.endpoints), inspect)
        super()._undo(mistake, configurations)

    def diagnosis(self, mistake: Mistake, after_s: float = AFTER_S) -> FabricDiagnosis:
        """The diagnosis of a fabric with a fault. Raises Refused where the switch refuses it."""
        flaps_s = 2 * FLAP_S * mistake.flaps
        trial = self.tried(mistake, BEFORE_S, after_s + flaps_s)
        if trial.refused:
            raise Refused(trial.refused)
        since_s = trial.made_s - 2 * SCRAPE_S if mistake.flaps else trial.made_s  # a flap is over by then
        return self._diagnosed([scrape for scrape in trial.scrapes if scrape[0] >= since_s])

    def healthy_diagnosis(self, job: Any, seconds: float = AFTER_S) -> FabricDiagnosis:
        """The diagnosis of a fabric without a fault, under a job."""
        trial = self.healthy(job, BEFORE_S + seconds)
        self.read = readings_of(nornir_of(self.fabric, self.twin.endpoints), inspect)
        return self._diagnosed([scrape for scrape in trial.scrapes if scrape[0] >= BEFORE_S])

    def _diagnosed(self, scrapes: Sequence[Scrape]) -> FabricDiagnosis:
        seen = Observations(
            fabric=self.fabric,
            inspected=self.read.answers,
            unread=self.read.unread,
            window=TelemetryWindow([_reading(values) for _, values in scrapes]),
        )
        return diagnose(seen, {"intent": "rack.yml", "on": " --on twin"}, time.time())


def _reading(scrape: Mapping[Any, float]) -> TelemetryReading:
    """The reading of a scrape, whose clock begins with the trial: LONG_AGO_S is before the first sample."""
    return TelemetryReading.of(
        (name, dict(labels), value - LONG_AGO_S if name == UPDATED else value)
        for (name, labels), value in scrape.items()
    )


def both(first: Mistake, second: Mistake) -> Mistake:
    """Two faults at once. Raises ValueError for two configurations of one switch."""
    shared = (first.edits.keys() | first.texts.keys()) & (second.edits.keys() | second.texts.keys())
    if shared:
        raise ValueError(f"{first.id} and {second.id} both change {sorted(shared)}")
    lists = ("links", "optics", "dark", "losing", "silent", "hung", "unpowered", "exchanged")
    return replace(
        first,
        id=f"{first.id}+{second.id}",
        title=f"{first.title}, and {second.title}",
        edits={**first.edits, **second.edits},
        texts={**first.texts, **second.texts},
        slow_hosts={**first.slow_hosts, **second.slow_hosts},
        flaps=max(first.flaps, second.flaps),
        job=first.job if first.job != "light" else second.job,
        **{name: (*getattr(first, name), *getattr(second, name)) for name in lists},
    )

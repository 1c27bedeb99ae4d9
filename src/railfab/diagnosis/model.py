"""Terms of a diagnosis: places, symptoms, evidence, and causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class SymptomKind(StrEnum):
    """What operators and jobs notice. The order is that of the table of a diagnosis."""

    JOB_STALLED = "job-stalled"
    JOB_SLOW = "job-slow"
    LOSSLESS_DROPS = "lossless-drops"
    QUEUE_DROPS = "queue-drops"
    DISCARDS = "discards"
    DAMAGED = "damaged-packets"
    BIT_ERRORS = "bit-errors"
    STORM = "pfc-storm"
    HOST_PAUSES = "host-pauses"
    PAUSES = "pauses"
    UNMARKED_PAUSES = "unmarked-pauses"
    WRONG_CLASS = "roce-outside-class"
    LINK_DOWN = "link-down"
    FLAP = "link-flap"
    SESSION_DOWN = "bgp-down"
    BFD_DOWN = "bfd-down"
    CABLING = "cabling"
    SILENT = "no-telemetry"
    UNREAD = "unreadable"
    ALERT = "alert"


class EvidenceKind(StrEnum):
    METRIC = "metric"
    CONFIGURATION = "configuration"
    STATE = "state"
    LLDP = "lldp"
    ALERT = "alert"
    HISTORY = "history"


JOB = "job "
"""What a job's name follows where the name of a host would stand."""


@dataclass(frozen=True, slots=True, order=True)
class FaultPlace:
    """A switch, one of its interfaces, or a host. Names that are empty are not said."""

    switch: str = ""
    interface: str = ""
    host: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.switch, self.interface))) or self.host

    @classmethod
    def of_job(cls, job: str) -> Self:
        """The place of what concerns a job, which is in no place of the fabric."""
        return cls(host=f"{JOB}{job}")

    @property
    def is_job(self) -> bool:
        return self.host.startswith(JOB)


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One thing that is not as it should be. value, limit: as text with units; empty where there is none."""

    kind: SymptomKind
    place: FaultPlace
    text: str
    value: str = ""
    limit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reason to believe in a cause. source: the series, file or protocol that shows it."""

    kind: EvidenceKind
    place: FaultPlace
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateCause:
    """A cause that something speaks for. code: of `causes.yml`, or of a kind of change of a configuration.

    words: what is wrong, after the place. configured: whether a difference of a configuration shows it. weight: beside
    that of its code.
    """

    code: str
    places: tuple[FaultPlace, ...]
    evidence: tuple[Evidence, ...]
    words: str = ""
    configured: bool = False
    weight: float = 0.0

    @property
    def switches(self) -> frozenset[str]:
        return frozenset(place.switch for place in self.places if place.switch)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCause:
    """A cause with its place in the order. confidence: 0 to 1. explains: the symptoms that it accounts for."""

    rank: int
    code: str
    title: str
    places: tuple[FaultPlace, ...]
    confidence: float
    evidence: tuple[Evidence, ...]
    explains: tuple[Symptom, ...]
    next: str
    runbook: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricDiagnosis:
    """The causes of the symptoms of a fabric, the most likely first. unread: by name, what could not be read and why.

    healthy: whether all was read, and nothing is wrong. window_s: time that the telemetry covers [s]. switches: of the
    intent; read: those whose configuration and state were read; sampled: those of which new samples arrived.
    """

    fabric: str
    at_s: float
    window_s: float
    healthy: bool
    causes: tuple[RankedCause, ...]
    symptoms: tuple[Symptom, ...]
    unexplained: tuple[Symptom, ...]
    unread: Mapping[str, str]
    switches: int
    read: int
    sampled: int

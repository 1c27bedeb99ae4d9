"""Order of causes: by what they account for of the symptoms, and by what speaks for them by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from railfab.diagnosis.catalogue import KnownCause, Reach, causes
from railfab.diagnosis.model import (
    CandidateCause,
    Evidence,
    EvidenceKind,
    FaultPlace,
    RankedCause,
    Symptom,
    SymptomKind,
)
from railfab.diagnosis.observations import Observations
from railfab.text.counted import listed

WEIGHTS: Mapping[SymptomKind, float] = {
    SymptomKind.JOB_STALLED: 8,
    SymptomKind.JOB_SLOW: 4,
    SymptomKind.LOSSLESS_DROPS: 8,
    SymptomKind.QUEUE_DROPS: 6,
    SymptomKind.DISCARDS: 6,
    SymptomKind.DAMAGED: 4,
    SymptomKind.BIT_ERRORS: 4,
    SymptomKind.STORM: 8,
    SymptomKind.HOST_PAUSES: 5,
    SymptomKind.PAUSES: 1,
    SymptomKind.UNMARKED_PAUSES: 3,
    SymptomKind.WRONG_CLASS: 6,
    SymptomKind.LINK_DOWN: 6,
    SymptomKind.FLAP: 5,
    SymptomKind.SESSION_DOWN: 5,
    SymptomKind.BFD_DOWN: 2,
    SymptomKind.CABLING: 5,
    SymptomKind.SILENT: 5,
    SymptomKind.UNREAD: 3,
}
"""Weight of a kind of symptom, however many places show it."""
OF_LOAD = frozenset((SymptomKind.PAUSES, SymptomKind.UNMARKED_PAUSES, SymptomKind.JOB_SLOW, SymptomKind.JOB_STALLED))
"""Symptoms that load alone, or a job, may have."""
JOBS = frozenset((SymptomKind.JOB_SLOW, SymptomKind.JOB_STALLED))
DIRECT, EXPLAINS, RECENT = 0.6, 0.5, 0.3
"""Belief in a cause by what shows it, by symptoms that it accounts for, and by a deploy to its switch just before."""
RECENT_DEPLOY = timedelta(hours=1)
SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: CandidateCause
    known: KnownCause
    explains: tuple[Symptom, ...]
    score: float


def ranked(
    seen: Observations, candidates: Sequence[CandidateCause], symptoms: Sequence[Symptom], words: Mapping[str, str]
) -> tuple[RankedCause, ...]:
    """The causes, the most likely first. words: `intent` and `on`, see `diagnose`."""
    explained = [tuple(_explained(seen, candidate, symptoms)) for candidate in candidates]
    rivals: dict[SymptomKind, int] = {}
    for of_candidate in explained:
        for kind in {symptom.kind for symptom in of_candidate}:
            rivals[kind] = rivals.get(kind, 0) + 1
    scored = []
    for candidate, of_candidate in zip(candidates, explained, strict=True):
        known = causes()[candidate.code]
        shared = sum(WEIGHTS.get(kind, 0.0) / rivals[kind] for kind in {symptom.kind for symptom in of_candidate})
        scored.append(_Scored(candidate, known, of_candidate, known.weight + candidate.weight + shared))
    scored.sort(key=lambda each: (-each.score, each.candidate.code, each.candidate.places))
    return tuple(_ranked(seen, rank, each, words) for rank, each in enumerate(scored, start=1))


def unexplained(symptoms: Iterable[Symptom], found: Iterable[RankedCause]) -> tuple[Symptom, ...]:
    """The symptoms that no cause accounts for, without those that load alone has."""
    known = {symptom for cause in found for symptom in cause.explains}
    return tuple(symptom for symptom in symptoms if symptom not in known and symptom.kind not in OF_LOAD)


def _explained(seen: Observations, candidate: CandidateCause, symptoms: Iterable[Symptom]) -> Iterator[Symptom]:
    known = causes()[candidate.code]
    near = None if known.reach is Reach.FABRIC else _near(seen, candidate.places, known.reach)
    for symptom in symptoms:
        place = symptom.place
        if _is_effect(symptom, known) and (
            near is None or place.is_job or _is_near(place, near, candidate.switches, known.reach)
        ):
            yield symptom


def _is_effect(symptom: Symptom, known: KnownCause) -> bool:
    """Whether a cause has symptoms of this kind; it has alerts of its places, and of jobs if it slows them down."""
    if symptom.kind is not SymptomKind.ALERT:
        return symptom.kind in known.effects
    return not JOBS.isdisjoint(known.effects) if symptom.place.is_job else symptom.place != FaultPlace()


def _near(seen: Observations, places: Collection[FaultPlace], reach: Reach) -> frozenset[FaultPlace]:
    """The places that a cause reaches: ports, and switches as a whole."""
    near = set(places)
    hosts = {place.host for place in places if place.host}
    switches = {place.switch for place in places if place.switch}
    for end in seen.ends.values():
        port, peer = FaultPlace(*end.name), FaultPlace(end.peer.node, end.peer.name)
        if reach is Reach.SWITCH:
            touched = end.port.node in switches
        else:
            touched = reach is Reach.LINK and (port in near or end.peer.node in hosts)
        if touched:
            near |= {port, peer, FaultPlace(end.port.node), FaultPlace(end.peer.node)}
    return frozenset(near)


def _is_near(place: FaultPlace, near: frozenset[FaultPlace], switches: frozenset[str], reach: Reach) -> bool:
    if reach is Reach.PLACE:
        return place in near or place.switch in switches
    return place in near or (reach is Reach.SWITCH and FaultPlace(place.switch) in near)


def _ranked(seen: Observations, rank: int, scored: _Scored, words: Mapping[str, str]) -> RankedCause:
    candidate, known = scored.candidate, scored.known
    history = tuple(_history(seen, candidate))
    alerts = (
        Evidence(kind=EvidenceKind.ALERT, place=symptom.place, text=symptom.text, source="ALERTS")
        for symptom in scored.explains
        if symptom.kind is SymptomKind.ALERT
    )
    doubt = (1 - DIRECT) * (1 - EXPLAINS if scored.explains else 1) * (1 - RECENT if history else 1)
    where = listed(tuple(str(place) for place in _shown(candidate.places)), SHOWN_PLACES)
    switch = min(candidate.switches, default="")
    return RankedCause(
        rank=rank,
        code=candidate.code,
        title=known.title.format(where=where, words=candidate.words),
        places=candidate.places,
        confidence=round(1 - doubt, 2),
        evidence=(*candidate.evidence, *history, *alerts),
        explains=scored.explains,
        next=known.next.format(switch=switch, **words),
        runbook=known.runbook,
    )


def _shown(places: Sequence[FaultPlace]) -> Iterator[FaultPlace]:
    """Hosts without the ports of switches to them, or all places."""
    hosts = [place for place in places if place.host]
    yield from hosts or places


def _is_recent(began: str) -> bool:
    """Whether a time of a record, which may be damaged, is near now by the clock of this machine, before or after."""
    try:
        return abs(datetime.now(UTC) - datetime.fromisoformat(began)) < RECENT_DEPLOY
    except (TypeError, ValueError):
        return False


def _history(seen: Observations, candidate: CandidateCause) -> Iterator[Evidence]:
    """The newest deploy to the switches of a cause in a configuration, where it was just before."""
    if not candidate.configured:
        return
    for record in reversed(seen.deploys):
        switches = candidate.switches.intersection(record.results)
        if switches and _is_recent(record.began):
            text = f"{record.verb} {record.deploy} of {record.user} at {record.began}"
            place = FaultPlace(min(switches))
            yield Evidence(kind=EvidenceKind.HISTORY, place=place, text=text, source="railfab history")
            return

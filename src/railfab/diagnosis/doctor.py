"""Diagnosis of a fabric: from what it shows to ranked causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from railfab.diagnosis import symptoms as shown
from railfab.diagnosis.catalogue import causes
from railfab.diagnosis.configurations import configured_causes
from railfab.diagnosis.links import (
    RECEIVE_POWER,
    RECEIVED,
    SENT,
    link_causes,
)
from railfab.diagnosis.model import CandidateCause, FabricDiagnosis, FaultPlace, Symptom, SymptomKind
from railfab.diagnosis.nics import nic_causes
from railfab.diagnosis.nodes import host_causes, switch_causes
from railfab.diagnosis.observations import ADMIN, OPER, OVERLOADED, SESSION_UP, STATE, UP, Observations
from railfab.diagnosis.ranking import ranked, unexplained

METRICS = frozenset(
    (
        *(shown.PFC_DROPS, shown.QUEUE_DROPS, shown.QUEUE_SENT, shown.QUEUE_BYTES, shown.MARKS),
        *(metric for metric, _ in shown.DISCARDS),
        *(shown.TRANSMIT_ERRORS, *shown.ERRORS, shown.UNCORRECTED, shown.BIT_ERRORS),
        *(shown.PAUSES_SENT, shown.PAUSES_RECEIVED, shown.STORMS, shown.TRANSITIONS),
        *(shown.BFD_UP, shown.ROCE_QUEUES, shown.ALERTS),
        *(shown.STEP_SUM, shown.STEP_COUNT, shown.IDEAL, shown.RUNNING),
        *(RECEIVED, SENT, RECEIVE_POWER, OPER, ADMIN, UP, STATE, OVERLOADED, SESSION_UP),
    )
)
"""Names of the series that a diagnosis reads."""


def diagnose(seen: Observations, words: Mapping[str, str], at_s: float) -> FabricDiagnosis:
    """Rank the causes of what a fabric shows.

    words: `intent`, `on` and `hosts` of next commands, such as ` --on twin`. at_s: Unix time.
    """
    symptoms = shown.symptoms_of(seen)
    candidates = tuple(_unexplained_by_others(seen, tuple(_candidates(seen, symptoms))))
    named = ranked(seen, candidates, symptoms, words)
    return FabricDiagnosis(
        fabric=seen.fabric.intent.fabric,
        at_s=at_s,
        window_s=round(max(seen.window.seconds.values(), default=0.0), 3),
        healthy=not (named or symptoms or seen.unknown),
        causes=named,
        symptoms=symptoms,
        unexplained=unexplained(symptoms, named),
        unread=seen.unknown,
        switches=len(seen.fabric.models),
        read=len(seen.inspected),
        sampled=len(seen.sampled),
    )


def _candidates(seen: Observations, symptoms: Sequence[Symptom]) -> Iterator[CandidateCause]:
    of_switches = tuple(switch_causes(seen))
    dead = {place.switch for cause in of_switches if cause.code in DEAD for place in cause.places}
    yield from chain(of_switches, configured_causes(seen), link_causes(seen, symptoms, dead))
    yield from chain(host_causes(seen, symptoms), nic_causes(seen))


DEAD = ("switch-down", "control-plane")
"""Causes that take the links or the sessions of a switch with them."""
LINK_SETTINGS = frozenset(
    ("port-off", "speed", "breakout", "fec", "interface-removed", "lag-members", "hostname", "lldp", "mtu")
)
"""Kinds of differences of a configuration that take a link down, lose packets on it, or hide what is at its end."""


def _unexplained_by_others(seen: Observations, candidates: Sequence[CandidateCause]) -> Iterator[CandidateCause]:
    """The candidates without links that fail because of the configuration of an end."""
    links = {place for cause in candidates if cause.code in LINK_SETTINGS for place in cause.places}
    sessions = {place for cause in candidates if _ends_sessions(cause) for place in cause.places}
    for cause in candidates:
        if cause.code not in ("link-cut", "dark-fibre", "one-way-loss", "miscabled", "cables-swapped"):
            yield cause
            continue
        configured = links | sessions if cause.code == "one-way-loss" else links
        left = tuple(place for place in cause.places if not _is_configured(seen, place, configured))
        if left:
            yield replace(cause, places=left)


def _ends_sessions(cause: CandidateCause) -> bool:
    return cause.configured and SymptomKind.SESSION_DOWN in causes()[cause.code].effects


def _is_configured(seen: Observations, place: FaultPlace, configured: set[FaultPlace]) -> bool:
    """Whether a difference of a configuration is at either end of the link of a port."""
    end = seen.ends.get((place.switch, place.interface))
    ends = {place} if end is None else {place, FaultPlace(end.peer.node, end.peer.name)}
    return bool(ends & configured) or bool({FaultPlace(each.switch) for each in ends} & configured)

"""Causes in switches and hosts: no power, hung control planes, servers that ended, hosts that are slow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from railfab.diagnosis.model import CandidateCause, Evidence, EvidenceKind, FaultPlace, Symptom, SymptomKind
from railfab.diagnosis.observations import Observations


def switch_causes(seen: Observations) -> Iterator[CandidateCause]:
    """The causes of switches that send no telemetry or cannot be read."""
    for name in sorted(seen.silent | seen.unread.keys()):
        if name not in seen.fabric.models:
            continue
        has_state, has_telemetry = name in seen.inspected, name in seen.streaming
        evidence = tuple(_evidence(seen, name))
        if has_state:
            code = "telemetry-server"
        elif has_telemetry:
            code = "management-access"
        else:
            code = _silent_code(seen, name)
        if code == "management-access" and name not in seen.unread:
            continue  # its configuration was not asked for
        yield CandidateCause(code=code, places=(FaultPlace(name),), evidence=evidence)


def _silent_code(seen: Observations, name: str) -> str:
    """The cause of a switch that says nothing at all, by the ports and the sessions of its neighbors."""
    ports = [(end.peer.node, end.peer.name) for end in seen.ends.values() if end.port.node == name]
    states = [state for port in ports if (state := seen.is_up(port)) is not None]
    sessions = [seen.sessions_up[port] for port in ports if port in seen.sessions_up]
    if not states:
        return "management-access"
    if not any(states):
        return "switch-down"
    return "telemetry-server" if sessions and all(sessions) else "control-plane"


def _evidence(seen: Observations, name: str) -> Iterator[Evidence]:
    place = FaultPlace(name)
    if name in seen.silent:
        text = "no telemetry session is up"
        yield Evidence(kind=EvidenceKind.METRIC, place=place, text=text, source="fabric_collector_session_up")
    if (error := seen.unread.get(name)) is not None:
        yield Evidence(kind=EvidenceKind.STATE, place=place, text=f"{error.problem}", source="SSH")
    for end in seen.ends.values():
        if end.peer.node == name:
            up = seen.is_up(end.name)
            state = {True: "is up", False: "is down", None: "is not known"}[up]
            text = f"its link to {name} {end.peer.name} {state}"
            yield Evidence(kind=EvidenceKind.STATE, place=FaultPlace(*end.name), text=text, source="state of the port")


def host_causes(seen: Observations, symptoms: Collection[Symptom]) -> Iterator[CandidateCause]:
    """The hosts that pause their switches: stuck ones, and slow ones."""
    paused: dict[str, list[Symptom]] = defaultdict(list)
    for symptom in symptoms:
        port = symptom.place.switch, symptom.place.interface
        if (
            symptom.kind in (SymptomKind.HOST_PAUSES, SymptomKind.STORM)
            and port in seen.ends
            and seen.ends[port].is_host
        ):
            paused[seen.ends[port].peer.node].append(symptom)
    for host, of_host in paused.items():
        stuck = any(symptom.kind is SymptomKind.STORM for symptom in of_host)
        places = (FaultPlace(host=host), *dict.fromkeys(symptom.place for symptom in of_host))
        evidence = tuple(
            Evidence(
                kind=EvidenceKind.METRIC,
                place=symptom.place,
                text=f"{symptom.text}: {symptom.value}",
                source="telemetry",
            )
            for symptom in of_host
        )
        yield CandidateCause(code="stuck-nic" if stuck else "slow-host", places=places, evidence=evidence)

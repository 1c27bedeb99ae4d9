"""The list of mistakes and faults, `mistakes.yml`: what is done, its symptom, and the alert that fires.

`omitted.yml` has the incidents of the published record that are not in it, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from railfab.intent import Job

FOLDER = Path(__file__).parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

SWITCHES = {"L": "pod1-seg1-leaf1", "M": "pod1-seg2-leaf1", "S": "pod1-spine1", "T": "pod1-spine2"}
"""The switches of rack.yml by the letters that the list names them with."""
RIGHTLY_RAISED = {"allreduce": ("FabricEcmpImbalance",)}
"""Alerts that a job raises rightly on every healthy platform: seven of eight flows from a spine to a leaf take one of
two links, which is 87 % full, as the alert says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake or fault.

    source: its row in the research that the list follows (a number: a mistake; I and a number: an incident).
    edits: gNMI Sets by switch, of `update`, `replace` (path to value) and `delete` (paths). texts: whole configurations
    by switch, of another platform than that of the list. links: (switch, port) that are cut. flaps: how often each of
    them goes down and up again instead. slow_hosts: Gb/s that a host takes from its NIC. optics: (switch, port, dB) of
    receivers that miss light. dark: (switch, port) of receivers without light.
    losing: (switch, port) that receive nothing and stay up. silent: switches whose gNMI server stops. hung: whose
    control plane hangs. unpowered: those without power.
    exchanged: two (switch, port) whose cables are exchanged.
    job: what the hosts run, from jobs.yml. symptom: PromQL expression that holds some time after it. alert: what fires
    within 2 minutes. also: consequences that may fire too. unmet: why the alert does not fire, where it does not.
    silence: why no counter shows the mistake, where it has no symptom.
    """

    id: str
    title: str
    source: str = ""
    edits: Mapping[str, Mapping[str, Any]]
    texts: Mapping[str, str] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    flaps: int = 0
    slow_hosts: Mapping[str, float]
    optics: tuple[tuple[str, str, float], ...] = ()
    dark: tuple[tuple[str, str], ...] = ()
    losing: tuple[tuple[str, str], ...] = ()
    silent: tuple[str, ...] = ()
    hung: tuple[str, ...] = ()
    unpowered: tuple[str, ...] = ()
    job: str = "light"
    symptom: str = ""
    alert: str
    also: tuple[str, ...] = ()
    unmet: str = ""
    silence: str = ""
    exchanged: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """An incident that is no source of a mistake.

    same: the mistake that has its symptom and alert. reason: why it is not in the list; {ID} is the title of a mistake.
    """

    id: str
    title: str
    same: str = ""
    reason: str = ""


@cache
def omitted() -> tuple[Omitted, ...]:
    """Every one, in the order of the file."""
    return tuple(Omitted(**document) for document in yaml.load((FOLDER / "omitted.yml").read_text(), LOADER))


@cache
def mistakes() -> tuple[Mistake, ...]:
    """Every one, in the order of the file."""
    return tuple(map(_mistake, yaml.load((FOLDER / "mistakes.yml").read_text(), LOADER)))


@cache
def jobs() -> Mapping[str, Job]:
    """The jobs that mistakes are tried under, by name."""
    documents = yaml.load_all((FOLDER / "jobs.yml").read_text(), LOADER)
    return {job.job: job for job in map(Job.model_validate, documents)}


def nothing(job: str) -> Mistake:
    """No mistake, under a job."""
    return Mistake(
        id=f"healthy-{job}",
        title=f"nothing, under the job {job}",
        edits={},
        slow_hosts={},
        alert="",
        also=RIGHTLY_RAISED.get(job, ()),
        job=job,
    )


def _mistake(document: dict[str, Any]) -> Mistake:
    fields = {"slow_hosts": {}, **document}
    fields["edits"] = {SWITCHES[letter]: edits for letter, edits in document.get("edits", {}).items()}
    for name in ("silent", "hung", "unpowered"):
        fields[name] = tuple(SWITCHES[letter] for letter in document.get(name, ()))
    for name in ("links", "optics", "dark", "losing", "exchanged"):
        fields[name] = tuple((SWITCHES[letter], *rest) for letter, *rest in document.get(name, ()))
    return Mistake(**{**fields, "also": tuple(document.get("also", ()))})

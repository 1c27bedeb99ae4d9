"""Catalogue of causes, `causes.yml`: titles, effects, next steps and runbooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

from railfab.diagnosis.model import SymptomKind
from railfab.platforms.interruptions import change_kinds
from railfab.yaml_reader.packaged import packaged

PACKAGE = "railfab.diagnosis"
CONFIGURATION = "configuration"
"""The entry of causes in configurations; others of them change its effects, reach and weight."""


class Reach(StrEnum):
    """Where the effects of a cause may show: at its places, on their links, on their switches and these's neighbors."""

    PLACE = "place"
    LINK = "link"
    SWITCH = "switch"
    FABRIC = "fabric"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCause:
    """A cause of the catalogue. weight: how much speaks for it by itself, in the weights of symptoms.

    covers: codes of causes on the same switch that follow from it. hazards: codes of the audit that are of its kind.
    """

    code: str
    title: str
    effects: frozenset[SymptomKind]
    reach: Reach
    weight: float
    next: str
    runbook: str
    covers: frozenset[str] = frozenset()
    hazards: frozenset[str] = frozenset()


@cache
def causes() -> Mapping[str, KnownCause]:
    """The causes by code: those of the file, and one for each kind of change of a configuration."""
    known: dict[str, KnownCause] = {}
    groups: dict[str, KnownCause] = {}
    entries = packaged(PACKAGE, "causes.yml")
    lists = {
        name: {code: frozenset(codes) for code, codes in entries.pop(name).items()} for name in ("covers", "hazards")
    }
    for code, entry in entries.items():
        members = entry.pop("is", None)
        changed: dict[str, Any] = {
            "code": code,
            "effects": frozenset(map(SymptomKind, entry.pop("effects"))),
            "reach": Reach(entry.pop("reach")),
            **entry,
        }
        if members is None:
            known[code] = KnownCause(**changed)
        else:
            groups |= {member: replace(known[CONFIGURATION], **changed) for member in members}
    plain = known.pop(CONFIGURATION)
    configured = {
        code: replace(
            groups.get(code, plain),
            code=code,
            covers=lists["covers"].get(code, frozenset()),
            hazards=lists["hazards"].get(code, frozenset()),
        )
        for code in change_kinds()
    }
    return MappingProxyType({**known, **configured})


@cache
def kind_of_hazard() -> Mapping[str, str]:
    """The kind of change of each hazard that has one, by their codes."""
    return MappingProxyType({hazard: cause.code for cause in causes().values() for hazard in cause.hazards})

"""Reads the YAML files of a platform: capabilities, hazards, sections, interruptions, telemetry, dialect and lab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from railfab.platforms.contract import BgpSettings, Capabilities, Dialect, LabFacts, Support
from railfab.platforms.interface_templates import InterfaceTemplates
from railfab.yaml_reader.packaged import packaged

if TYPE_CHECKING:
    from railfab.findings import HazardCode
    from railfab.platforms.hazards import Hazard, HazardGap
    from railfab.platforms.interruptions import Interruptions
    from railfab.platforms.sections import Sections
    from railfab.platforms.telemetry_map import TelemetryMap, TelemetryRule


def _document(package: str, name: str) -> dict[str, Any]:
    document: dict[str, Any] = packaged(package, name)
    return document


def capabilities(package: str) -> Capabilities:
    """`capabilities.yml`: `features` {name: support}, and the other fields of Capabilities."""
    document = _document(package, "capabilities.yml")
    return Capabilities(
        features=_features(document["features"]),
        chips={chip: _features(supported) for chip, supported in document.get("chips", {}).items()},
        limits=document.get("limits", {}),
        quirks=tuple(document.get("quirks", ())),
        virtual=tuple(document.get("virtual", ())),
        external=document.get("external", {}),
        least=document.get("least", {}),
        bgp=BgpSettings(**document.get("bgp", {})),
        hash_fields=tuple(document.get("hash_fields", ())),
        segment_type=document.get("segment_type", 0),
        steps=document.get("steps", {}),
        cell_bytes=document.get("cell_bytes", 1),
        names=tuple(document.get("names", ())),
    )


def _features(supported: dict[str, str]) -> dict[str, Support]:
    return {name: Support(support) for name, support in supported.items()}


@cache
def hazards(package: str) -> tuple[Hazard, ...]:
    """`hazards.yml`: a list of `kind`, `path` or `line`, `when` {value: test}, `source`, and what the kind has not.

    `unless` at its top is that of every entry. Raises ValueError, naming the entry, for one that is not valid.
    """
    from railfab.platforms.hazards import hazard_of
    from railfab.platforms.setting_patterns import conditions

    document = _document(package, "hazards.yml")
    unless = conditions(document.get("unless", {}))
    patterns = map(hazard_of, document["hazards"])
    return tuple(replace(pattern, unless=(*unless, *pattern.unless)) for pattern in patterns)


@cache
def hazard_gaps(package: str) -> Mapping[HazardCode, HazardGap]:
    """`gaps` of `hazards.yml`; see `railfab.platforms.hazards.gaps_of`. None where the platform does not state them."""
    from railfab.platforms.hazards import gaps_of

    return gaps_of(_document(package, "hazards.yml").get("gaps", ()), hazards(package))


@cache
def sections(package: str) -> Sections:
    """`sections.yml`; see `railfab.platforms.sections`."""
    from railfab.platforms.sections import sections_of

    return sections_of(_document(package, "sections.yml"))


@cache
def interruptions(package: str) -> Interruptions:
    """`interruptions.yml`; see `railfab.platforms.interruptions`."""
    from railfab.platforms.interruptions import interruptions_of

    return interruptions_of(_document(package, "interruptions.yml"))


@cache
def telemetry(package: str) -> TelemetryMap:
    """`telemetry.yml`: lists of the fields of TelemetrySubscription and TelemetryRule, and `queues`, a QueueNames.

    A list as the `path` of a rule is a rule for each of them.
    """
    from railfab.platforms.telemetry_map import QueueNames, SubscriptionMode, TelemetryMap, TelemetrySubscription

    document = _document(package, "telemetry.yml")
    return TelemetryMap(
        rules=tuple(rule for entry in document["rules"] for rule in _rules(entry)),
        subscriptions=tuple(
            TelemetrySubscription(mode=SubscriptionMode(entry.pop("mode")), **entry)
            for entry in document["subscriptions"]
        ),
        queues=QueueNames(**document["queues"]) if "queues" in document else None,
    )


def _rules(entry: dict[str, Any]) -> Iterator[TelemetryRule]:
    from railfab.platforms.telemetry_map import Confidence, TelemetryRule

    confidence = Confidence(entry.pop("confidence"))
    labels = {name: str(value) for name, value in entry.pop("labels", {}).items()}
    texts = {
        name: {str(value): str(text) for value, text in each.items()} for name, each in entry.pop("texts", {}).items()
    }
    path = entry.pop("path")
    for each in path if isinstance(path, list) else [path]:
        yield TelemetryRule(path=each, confidence=confidence, labels=labels, texts=texts, **entry)


@cache
def dialect(package: str) -> Dialect:
    """`dialect.yml`: `netmiko`, `prompts`, `verbs`, `errors`."""
    document = _document(package, "dialect.yml")
    return Dialect(
        netmiko=document["netmiko"],
        prompts=document["prompts"],
        verbs=document["verbs"],
        errors=tuple(document["errors"]),
    )


def lab(package: str) -> LabFacts:
    """`lab.yml`: LabFacts' fields; `interfaces` and `kernel` are {canonical template: lab template}."""
    document = _document(package, "lab.yml")
    return LabFacts(
        interfaces=InterfaceTemplates(document.pop("interfaces")),
        kernel=InterfaceTemplates(document.pop("kernel", {})),
        aliases=tuple(document.pop("aliases", ())),
        exec=tuple(document.pop("exec", ())),
        cap_add=tuple(document.pop("cap_add", ())),
        **document,
    )

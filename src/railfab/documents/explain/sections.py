"""The sections of an explanation, in the order in which a fabric is thought through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from railfab.documents.explain import attachment, buffers, capacity, consequences, growth, numbers, routing, shape
from railfab.documents.explain.subject import Subject
from railfab.documents.plan import Plan

Statements = Callable[[Subject], Iterator[str]]
"""Sentences about a fabric; none where there is nothing to say."""

SECTIONS: Mapping[str, Statements] = {
    "What it is": shape.fabric,
    "Rails": shape.rails,
    "Ports of a rail switch": shape.ports,
    "Uplinks": capacity.uplinks,
    "Spines": capacity.spines,
    "Super-spines": capacity.super_spines,
    "Planes": shape.planes,
    "Which size fits how many tiers": capacity.sizes,
    "How far it may grow": growth.rooms,
    "Attachment of hosts": attachment.attachment,
    "Addresses": numbers.addresses,
    "AS numbers": numbers.as_numbers,
    "Routing": routing.control,
    "Load balancing": routing.balancing,
    "Thresholds of the lossless class": buffers.thresholds,
    "Buffers": buffers.division,
    "When one thing fails": consequences.failures,
    "Across rails": consequences.across_rails,
    "Networks": consequences.networks,
    "Models": consequences.models,
    "Findings": consequences.findings,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, and one or two sentences a statement."""

    section: str
    statements: tuple[str, ...]


def explained(plan: Plan) -> tuple[Section, ...]:
    """All that is to be said of a fabric. Every number follows from it."""
    subject = Subject(plan)
    said = ((title, tuple(statements(subject))) for title, statements in SECTIONS.items())
    return tuple(Section(section=title, statements=statements) for title, statements in said if statements)

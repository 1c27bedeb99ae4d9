"""The sections of an explanation, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from railfab.documents.explain import (
    attachment,
    buffers,
    capacity,
    consequences,
    failover,
    growth,
    numbers,
    routing,
    shape,
)
from railfab.documents.explain.subject import Subject
from railfab.documents.plan import Plan

Statements = Callable[[Subject], Iterator[str]]
"""A function that yields sentences about a fabric; none if the section does not apply."""

SECTIONS: Mapping[str, Statements] = {
    "Overview": shape.fabric,
    "Rails": shape.rails,
    "Ports of a rail switch": shape.ports,
    "Uplinks": capacity.uplinks,
    "Spines": capacity.spines,
    "Super-spines": capacity.super_spines,
    "Planes": shape.planes,
    "Scale": capacity.sizes,
    "Growth": growth.rooms,
    "Attachment of hosts": attachment.attachment,
    "Addresses": numbers.addresses,
    "AS numbers": numbers.as_numbers,
    "Routing": routing.control,
    "Forwarding tables": routing.tables,
    "Load balancing": routing.balancing,
    "Failover": failover.failover,
    "Thresholds of the lossless class": buffers.thresholds,
    "Buffers": buffers.division,
    "Failures": consequences.failures,
    "Traffic between rails": consequences.across_rails,
    "Networks": consequences.networks,
    "Models": consequences.models,
    "Findings": consequences.findings,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title, and statements of one or two sentences."""

    section: str
    statements: tuple[str, ...]


def explained(plan: Plan) -> tuple[Section, ...]:
    """The explanation of a fabric, computed from its plan."""
    subject = Subject(plan)
    sections = ((title, tuple(statements(subject))) for title, statements in SECTIONS.items())
    return tuple(Section(section=title, statements=statements) for title, statements in sections if statements)

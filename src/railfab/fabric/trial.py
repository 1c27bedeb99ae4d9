"""Trial of remedies: what a message proposes is planned before it is offered.

A choice is offered if the intent with its values has no error that the intent does not have already, and the finding
that proposes it is gone. If none is left, the message says what the first one leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from railfab.device import switch_buffers
from railfab.errors import RailfabError, each
from railfab.fabric.checks import design_findings
from railfab.fabric.refusals import refusals
from railfab.findings import Finding, Severity
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, Remedy, remedy
from railfab.topology import wire
from railfab.topology.buildable import check_buildable
from railfab.topology.dimensions import Dimensions

MOST_CHOICES = 8
"""Choices of a remedy that are tried; the others are left out."""
LARGE_HOSTS = 1024
"""Fabrics with more hosts are tried with two pods of two segments: all pods and all segments are alike."""

Fault = tuple[str, str]
"""An error: its place or code, and its problem."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The errors of an intent with their lines, and the number of findings by code."""

    errors: Mapping[Fault, str]
    codes: Counter[str]


@dataclass(frozen=True)
class Trial:
    """The remedies for an intent, tried."""

    intent: FabricIntent

    @cached_property
    def before(self) -> Diagnosis:
        return diagnosis(self.intent)

    def error(self, original: RailfabError) -> RailfabError:
        """The error with the choices of its remedy that can be offered."""
        if not isinstance(original.remedy, Remedy):
            return original
        offered = self._offered(original.remedy, (original.where, original.problem), "")
        return original.changed(remedy=offered)

    def finding(self, original: Finding) -> Finding:
        """The finding with the choices of its remedy that can be offered."""
        if not isinstance(original.remedy, Remedy):
            return original
        return replace(
            original, remedy=self._offered(original.remedy, (original.code, original.problem), original.code)
        )

    def _offered(self, proposed: Remedy, fault: Fault, code: str) -> str:
        left: list[Choice] = []
        reason, tried = "", 0
        for choice in proposed.choices:
            if not choice.changes:
                left.append(choice)
            elif tried < MOST_CHOICES:
                tried += 1
                why = self._against(choice, fault, code)
                if why is None:
                    left.append(choice)
                reason = reason or f"{choice.verb.capitalize()} {choice.text}, and correct what follows from it: {why}"
        return remedy(*left) if left else reason.rstrip(".")

    def _against(self, choice: Choice, fault: Fault, code: str) -> str | None:
        """The reason why a choice is not offered; None if it is."""
        try:
            after = diagnosis(changed(self.intent, choice.changes))
        except ValidationError as error:
            return str(error.errors()[0]["msg"])
        for place, line in after.errors.items():
            if place == fault or place not in self.before.errors:
                return line
        if code and after.codes[code] >= self.before.codes[code]:
            return f"the finding {code} remains"
        return None


def changed(intent: FabricIntent, changes: Mapping[str, object]) -> FabricIntent:
    """The intent with other values by dotted key; None removes a key. Raises pydantic's ValidationError."""
    document = intent.model_dump(exclude_unset=True)
    for key, value in changes.items():
        *path, last = key.split(".")
        place: dict[str, Any] = document
        for part in path:
            place = place.setdefault(part, {})
        place.pop(last, None)
        if value is not None:
            place[last] = value
    return FabricIntent.model_validate(document)


def diagnosis(intent: FabricIntent) -> Diagnosis:
    """The errors and findings of an intent: of its size as stated, and of two pods of two segments of a large one."""
    try:
        check_buildable(Dimensions(intent))
        small = _representative(intent)
        topology = wire(small)
        findings = tuple(design_findings(topology, small, switch_buffers(topology, small)))
    except RailfabError as error:
        return Diagnosis({(failure.where, failure.problem): str(failure) for failure in each(error)}, Counter())
    errors = {
        (str(finding.code), finding.problem): str(finding) for finding in findings if finding.severity is Severity.ERROR
    }
    errors |= {(refusal.where, refusal.problem): str(refusal) for refusal in refusals(topology, small)}
    return Diagnosis(errors, Counter(str(finding.code) for finding in findings))


def _representative(intent: FabricIntent) -> FabricIntent:
    backend = intent.backend
    if backend.pods * backend.segments.count * backend.segments.hosts <= LARGE_HOSTS:
        return intent
    segments = backend.segments.model_copy(update={"count": min(2, backend.segments.count)})
    small = backend.model_copy(update={"pods": min(2, backend.pods), "segments": segments})
    return intent.model_copy(update={"backend": small, "drain": (), "inventory": None})

"""What a Prometheus rule is, and its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

HEADER = "# Written by `railfab dashboards build`; change it there, not here.\n"


class Severity(StrEnum):
    """critical: traffic suffers or telemetry is blind, wake somebody; warning: look at it in working hours."""

    CRITICAL = "critical"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingRule:
    """A series computed beforehand. labels: those that its series carry, besides the scrape's own."""

    record: str
    expr: str
    labels: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {"record": self.record, "expr": self.expr}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A condition worth a person's time.

    lasting: how long it must hold before it fires, in Prometheus' notation; None fires at once.
    summary: one line with the labels filled in by Prometheus. description: what it means, and the first step.
    """

    alert: str
    expr: str
    lasting: str | None = None
    severity: Severity
    summary: str
    description: str

    def document(self) -> dict[str, Any]:
        return {
            "alert": self.alert,
            "expr": self.expr,
            **({"for": self.lasting} if self.lasting else {}),
            "labels": {"severity": self.severity.value},
            "annotations": {"summary": self.summary, "description": self.description},
        }


class _Dumper(yaml.SafeDumper):
    """Long expressions stay readable: several lines become a block, one line is never folded."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def yaml_text(document: Any) -> str:
    """A document as YAML in the order given, under the note that it is generated."""
    return HEADER + yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=10_000)


def rules_text(group: str, rules: Iterable[RecordingRule | Alert]) -> str:
    """A rule file of one group; it is evaluated as often as Prometheus' configuration says."""
    return yaml_text({"groups": [{"name": group, "rules": [rule.document() for rule in rules]}]})

"""The cases of `tests/audit/*.yml`: edits of rendered configurations, and what an audit says of them.

A file has three lists, of which each entry has `source`, the document of the vendor (and its section), and `edits`,
or one edit by itself (see `tests/audit/edits.py`):

    mistakes:  `mistake`, in words · `kind`, the code that the audit gives · `severity`, unless it is error ·
               `also`, codes that follow from it; no other code may be given · `alone`, true where the value itself may
               not be said to differ from the intent either
    harmless:  `edit`, in words: the audit gives neither an error nor a warning
    spellings: `spelling`, in words: another legal form of what is rendered, which is read as the same model

`fabric` and `switch` name where the edit is made: see `tests/audit/fabrics.py`; by default the leaf of `routed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tests.audit.edits import Edit, base_text, edited
from tests.audit.fabrics import fabric_of, switch_of

from railfab.fabric import Design
from railfab.fabric.audit import switch_audit
from railfab.findings import Finding, Severity

FOLDER = Path(__file__).parent
PLATFORMS = tuple(sorted(file.stem for file in FOLDER.glob("*.yml")))
LISTS = {"mistakes": "mistake", "harmless": "edit", "spellings": "spelling"}
"""The lists of a file, and the key of an entry with its words."""
OPERATIONS = ("in", "add", "remove", "replace", "with", "set", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One edit of the configuration of a switch. said: the entry as its file has it."""

    platform: str
    words: str
    fabric: str
    switch: str
    edits: tuple[Edit, ...]
    source: str
    said: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.platform}: {self.words}"

    @property
    def design(self) -> Design:
        return fabric_of(self.platform, self.fabric)

    @property
    def name(self) -> str:
        """Name of the switch."""
        return switch_of(self.design, self.switch)

    @property
    def text(self) -> str:
        """The edited configuration."""
        return edited(self.platform, base_text(self.platform, self.design.texts[self.name]), self.edits)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the audit says of it, without notes."""
        audited = switch_audit(self.design, self.name, self.text)
        return tuple(finding for finding in audited.findings if finding.severity is not Severity.NOTE)


def cases(name: str, platforms: Sequence[str] = PLATFORMS) -> Iterator[Case]:
    """The cases of a list, of each platform."""
    for platform in platforms:
        yield from (_case(platform, LISTS[name], entry) for entry in _document(platform)[name])


@cache
def _document(platform: str) -> Mapping[str, Any]:
    return yaml.load((FOLDER / f"{platform}.yml").read_text(), yaml.CSafeLoader)


def _case(platform: str, words: str, entry: Mapping[str, Any]) -> Case:
    single = {key: entry[key] for key in OPERATIONS if key in entry}
    return Case(
        platform=platform,
        words=entry[words],
        fabric=entry.get("fabric", "routed"),
        switch=entry.get("switch", "leaf"),
        edits=tuple(entry.get("edits", [single])),
        source=entry["source"],
        said=entry,
    )

"""Statements of a configuration that are the operator's, where the intent does not state them.

`load override` removes what a file lacks, so a deploy adds them to its candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.load_override import MANAGEMENT_PORT, missing_for_override
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement, brace_statements

TOPICS: Sequence[Sequence[str]] = (
    ("system", "root-authentication"),
    ("system", "login"),
    ("system", "services"),
    ("system", "authentication-order"),
    ("system", "(?:tacplus|radius)-server"),
    ("system", "(?:tacplus|radius|accounting)(?:-options)?"),
    ("system", "ntp"),
    ("system", "syslog"),
    ("system", "(?:license|time-zone|name-server|domain-name|domain-search|static-host-mapping)"),
    ("system", "(?:management-instance|ports|extensions|scripts|archival|max-configurations-on-flash)"),
    ("snmp",),
    ("interfaces", MANAGEMENT_PORT.pattern),
    ("routing-instances", MANAGEMENT_INSTANCE),
    ("groups",),
    ("apply-groups",),
)
"""Parts of the operator, by topic. A topic of which a rendered configuration has a statement is the intent's. Each word
is a regular expression."""


def operators(configuration: str, rendered: str) -> tuple[Statement, ...]:
    """The statements of a configuration that are the operator's. Raises ConfigError for a text that is none."""
    wanted = read(rendered)
    topics = [topic for topic in TOPICS if not any(_is_of(topic, statement) for statement in wanted)]
    return tuple(statement for statement in read(configuration) if any(_is_of(topic, statement) for topic in topics))


def with_operators(rendered: str, configuration: str, *, user: str = "") -> str:
    """A rendered configuration with what is the operator's, and with what the switch is reached by.

    user: with whose login it is reached.
    """
    candidate = Hierarchy.read(rendered)
    for statement in operators(configuration, rendered):
        candidate.set(statement)
    for needed in missing_for_override(candidate.text(), configuration, user=user):
        for statement in _stated(needed.statement, configuration):
            candidate.set(statement)
    return candidate.text()


def without_operators(configuration: str, rendered: str) -> str:
    """A configuration without what is the operator's."""
    left = Hierarchy.read(configuration)
    for statement in operators(configuration, rendered):
        left.delete(statement)
    return left.text()


def _stated(path: str, configuration: str) -> Iterator[Statement]:
    """The statements of a configuration at a path, or below it."""
    (wanted,) = brace_statements(f"{path};")
    return (statement for statement in read(configuration) if statement[: len(wanted)] == wanted)


def _is_of(topic: Iterable[str], statement: Statement) -> bool:
    patterns = tuple(topic)
    return len(statement) >= len(patterns) and all(map(re.fullmatch, patterns, statement))

"""Statements of a configuration that are the operator's, where the intent does not state them.

`load override` removes what a file lacks, so a deploy adds them to its candidate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from railfab.platforms.junos.flat_lines import flat_lines, has_same_order
from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.load_override import MANAGEMENT_PORT, missing_for_override
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement, brace_statements, shown

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


REPLACES = "# replaces "
"""Beginning of a comment with the place of statements that the text around it removes; see `former_text`."""
NETCONF: Statement = ("system", "services", "netconf")

_COMMENT = re.compile(rf"^{REPLACES}(.*)\n", re.MULTILINE)
_PATTERNS = tuple(tuple(map(re.compile, topic)) for topic in TOPICS)


def operators(configuration: str, rendered: str) -> tuple[Statement, ...]:
    """The statements of a configuration that are the operator's. Raises ConfigError for a text that is none."""
    topics = _foreign({statement[:2] for statement in read(rendered)} | _replaced(rendered))
    prefixes = {statement[:2] for statement in read(configuration)}
    foreign = {prefix for prefix in prefixes if any(_is_of(topic, prefix) for topic in topics)}
    return tuple(statement for statement in read(configuration) if statement[:2] in foreign)


def has_all_of(configuration: str, rendered: str) -> bool:
    """Whether a configuration is the rendered one and what is the operator's, as far as their lines show it."""
    stated, wanted = flat_lines(configuration), flat_lines(rendered)
    if stated is None or wanted is None or not wanted <= stated or not has_same_order(rendered, configuration):
        return False
    topics = _foreign({_prefix(line) for line in wanted} | _replaced(rendered))
    return all(any(_is_of(topic, prefix) for topic in topics) for prefix in map(_prefix, stated - wanted))


def with_operators(rendered: str, configuration: str, *, user: str = "") -> str:
    """A rendered configuration, and behind it what is the operator's, and what the switch is reached by.

    user: with whose login it is reached, over SSH.
    """
    kept, plain = Hierarchy(), _COMMENT.sub("", rendered)
    for statement in operators(configuration, rendered):
        kept.set(statement)
    for needed in missing_for_override(plain + kept.text(), configuration, user=user):
        for statement in _stated(needed.statement, configuration):
            if statement[:3] != NETCONF or NETCONF[:2] not in _replaced(rendered):
                kept.set(statement)
    return plain + kept.text()


def former_text(configuration: str, rendered: str) -> str:
    """The part of a configuration that a rendered one replaces, so that a deploy of it restores that.

    It says, as comments, of which of the operator's topics the rendered one has statements: what it has there is
    removed, where a text without these statements would leave it.
    """
    left = Hierarchy.read(configuration)
    for statement in operators(configuration, rendered):
        left.delete(statement)
    stated = {statement[:2] for statement in read(rendered)} | _replaced(rendered)
    topics = sorted(prefix for prefix in stated if any(_is_of(topic, prefix) for topic in _PATTERNS))
    return "".join(f"{REPLACES}{shown(prefix)}\n" for prefix in topics) + left.text()


def _foreign(prefixes: Collection[Statement]) -> list[Sequence[re.Pattern[str]]]:
    """The topics of which none of these statements is."""
    return [topic for topic in _PATTERNS if not any(_is_of(topic, prefix) for prefix in prefixes)]


def _replaced(rendered: str) -> set[Statement]:
    """The statements that comments of a text name, by their first two words."""
    return {_prefix(match[1]) for match in _COMMENT.finditer(rendered)}


def _prefix(line: str) -> Statement:
    return tuple(line.split(" ", 2)[:2])


def _stated(path: str, configuration: str) -> Iterator[Statement]:
    """The statements of a configuration at a path, or below it."""
    (wanted,) = brace_statements(f"{path};")
    return (statement for statement in read(configuration) if statement[: len(wanted)] == wanted)


def _is_of(topic: Sequence[re.Pattern[str]], prefix: Statement) -> bool:
    return len(prefix) >= len(topic) and all(
        pattern.fullmatch(word) for pattern, word in zip(topic, prefix, strict=False)
    )

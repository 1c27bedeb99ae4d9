"""Statements of Junos that say what is so without them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from railfab.platforms.shared.brace_text import Statement, shown

GROUP, EXTERNAL = "group", ("type", "external")
LEAVES = frozenset(
    (
        *(("multiplier", "3"), ("interface-mode", "access"), ("poll-interval", "100"), ("detection", "2")),
        *(("recovery", "200"), ("watchdog-action", "drop"), ("up", "0"), ("down", "0"), ("priority", "low")),
        *(("out-delay", "0"), ("loops", "1"), ("cable-length", "100"), ("port-id-subtype", "locally-assigned")),
        EXTERNAL,
    )
)
"""Values that leaves have without a statement (junos-qfx-conf 24.4R1; Juniper, bfd-liveness-detection, PFC Watchdog,
interface-mode, hold-time)."""
_BGP = r"(?:routing-instances \S+ )?protocols bgp (?:group \S+ (?:neighbor \S+ )?)?"
_PLACED = re.compile(
    rf"{_BGP}(?:preference 170|bfd-liveness-detection (?:version automatic|session-mode automatic|pdu-size 24))"
    r"|protocols lldp (?:advertisement-interval 30|hold-multiplier 4|transmit-delay 2|vlan-name-tlv-option vlan-id"
    r"|port-description-type interface-alias|ptopo-configuration-maximum-hold-time 300)"
)
"""Defaults of one place of a configuration (Juniper, preference (Protocols BGP), Configuring LLDP; junos-qfx-conf
24.4R1)."""
_OF_EXTERNAL = re.compile(rf"{_BGP}(?:local-preference 100|ttl 1)")
"""Defaults of external sessions alone: a route comes without LOCAL_PREF and is taken as 100, and packets live for one
hop. A route of an internal session keeps its LOCAL_PREF unless the statement is there (Juniper, local-preference and
multihop (Protocols BGP))."""


def omitted(wanted: Iterable[Statement], stated: Sequence[Statement]) -> Iterator[Statement]:
    """The rendered defaults that a configuration leaves out of a container."""
    present = {statement[:length] for statement in stated for length in range(1, len(statement))}
    for statement in wanted:
        if statement[-2:] in LEAVES and statement[:-1] not in present and statement[:-2] in present:
            yield statement


def superfluous(stated: Collection[Statement], wanted: Iterable[Statement]) -> Iterator[Statement]:
    """The defaults that a configuration states besides the rendered ones."""
    leaves = {statement[:-1] for statement in wanted}
    yield from (statement for statement in stated if statement[:-1] not in leaves and _is_default(statement, stated))


def _is_default(statement: Statement, stated: Collection[Statement]) -> bool:
    if statement[-2:] in LEAVES:
        return True
    text = shown(statement)
    return bool(_PLACED.fullmatch(text) or (_OF_EXTERNAL.fullmatch(text) and _is_external(statement, stated)))


def _is_external(statement: Statement, stated: Collection[Statement]) -> bool:
    """Whether each group to which a statement of BGP applies has external sessions."""
    speaker = statement[: statement.index("bgp") + 1]
    place = len(speaker)
    of_one = statement[: place + 2] if statement[place] == GROUP else None
    below = (line for line in stated if line[:place] == speaker)
    groups = {line[: place + 2] for line in below if line[place : place + 1] == (GROUP,)}
    return all((*group, *EXTERNAL) in stated for group in groups if of_one in (None, group))

"""Statements of a configuration as they are in effect, in the form in which railfab renders them.

Groups (Juniper, Use Configuration Groups to Quickly Configure Devices) and ranges of interfaces (Interface Ranges for
Switches) are expanded, code points have their bits, and of several values of a leaf the one in effect stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from railfab.platforms.hazard_facts import DSCP_NAMES
from railfab.platforms.junos import statements
from railfab.platforms.junos.inheritance import GROUPS, inherited
from railfab.platforms.junos.names import FLAGS_OF_AS, LAG, LOAD_BALANCE, PORT, SUB_PORTS, WILDCARD
from railfab.platforms.shared.brace_text import Statement

COS = "class-of-service"
RANGE = ("interfaces", "interface-range")
MEMBER, MEMBERS = "member", "member-range"
ALIASES = (COS, "code-point-aliases")
COS_PORTS = (COS, "interfaces")
NAMED_POINTS: Mapping[str, str] = {
    **{name.lower(): f"{point:06b}" for point, name in DSCP_NAMES.items()},
    **{"be": "000000", "nc1": "110000", "nc2": "111000"},
}
"""Default aliases of DSCP code points (Juniper, Default DSCP Code-Point Aliases)."""
BFD, SENT, RECEIVED, INTERVAL = (
    "bfd-liveness-detection",
    "transmit-interval",
    "minimum-receive-interval",
    "minimum-interval",
)
DROPS = "drop-profile-map"
SINGLE_VALUES = frozenset(
    (
        *("mtu", "speed", "description", "fec", "802.3ad", "number-of-sub-ports", "up", "down", "interface-mode"),
        *("native-vlan-id", "mac", "system-id", "vlan-id", "vni", "hold-time", "peer-as", "peer-as-list", "out-delay"),
        *("local-address", "minimum-interval", "minimum-receive-interval", "multiplier", "type", "router-id"),
        *("autonomous-system", "maximum-ecmp", "host-name", "percent", "dynamic-threshold", "scheduler"),
        *("scheduler-map", "congestion-notification-profile", "cable-length", "queue-num", "pfc-priority"),
        *("poll-interval", "detection", "recovery", "watchdog-action", "maximum", "local-preference", "preference"),
        *("priority", "drop-profile", "port-id-subtype", "device-count", "local-as", "ttl"),
    )
)
"""Leaves with one value, which a group or range does not add to (junos-qfx-conf 24.4R1)."""
PAUSE_PROFILES = (COS, "congestion-notification-profile")
"""Place of the objects that are called as a leaf of ports is."""
_INTERFACE = re.compile(r"(?P<stem>[a-z]+-(?:\d+/){2}|ae)(?P<number>\d+)")
AS_LISTS = ("policy-options", "as-list")
_OF_ONE = re.compile(r"(\d+)-\1")
"""A range of one AS number."""
_ASDOT = re.compile(r"(\d{1,5})\.(\d{1,5})")
"""An AS number in two halves (RFC 5396)."""
_NUMBERED = ("autonomous-system", "peer-as", "local-as")
"""Statements whose first value is an AS number."""
POLICY, TERM, LAST_TERM = ("policy-options", "policy-statement"), "term", "default"
QUEUES = (COS, "forwarding-classes", "queue")
_SET = re.compile(r"\[([\d,-]+)\]")


@lru_cache(maxsize=statements.READ_TEXTS)
def read(text: str) -> tuple[Statement, ...]:
    """The statements in effect of a text. Raises ConfigError for one that is no configuration."""
    stated = _with_groups(_with_ranges(statements.read(text)))
    named = _with_named_points(_with_last_values(_with_matched_ports(stated)))
    return _with_one_form(_with_last_terms(named))


# Groups and ranges


def _with_groups(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Expand groups; what is not of a group comes after it, and counts."""
    if not any(statement[0] == GROUPS for statement in stated):
        return stated
    expansion = inherited(stated)
    kept = [statement for statement in stated if statement not in expansion.replaced]
    return _with_ranges((*_without_overridden(expansion.statements, kept), *kept))


def _with_ranges(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Expand ranges of interfaces; what an interface has of its own counts."""
    below: dict[str, list[Statement]] = {}
    for statement in stated:
        if statement[:2] == RANGE and len(statement) > 3:
            below.setdefault(statement[2], []).append(statement[3:])
    if not below:
        return stated
    present = dict.fromkeys(
        statement[1]
        for statement in stated
        if statement[:1] == ("interfaces",) and statement[1:2] not in ((), RANGE[1:])
    )
    names = {name: tuple(_range_members(rest, present)) for name, rest in below.items()}
    expanded = [
        ("interfaces", member, *rest)
        for name, members in names.items()
        for member in members
        for rest in below[name]
        if rest[0] not in (MEMBER, MEMBERS)
    ]
    kept = [
        used
        for statement in stated
        if statement[:2] != RANGE or not names.get(statement[2])
        for used in _with_members(statement, names)
    ]
    return (*_without_overridden(expanded, kept), *kept)


def _with_matched_ports(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Classes of service of the ports and LAGs that a wildcard stands for: those that have none of their own.

    A cage that is split is no port.
    """
    named = dict.fromkeys(statement[2] for statement in stated if statement[:2] == COS_PORTS and len(statement) > 3)
    patterns = [name for name in named if WILDCARD.search(name)]
    if not patterns:
        return stated
    split = {statement[1] for statement in stated if statement[0] == "interfaces" and SUB_PORTS in statement}
    ports = dict.fromkeys(statement[1] for statement in stated if statement[0] == "interfaces" and len(statement) > 2)
    others = [name for name in ports if name not in named and name not in split]
    others = [name for name in others if PORT.fullmatch(name) or LAG.fullmatch(name)]
    members = {pattern: [name for name in others if fnmatchcase(name, pattern)] for pattern in patterns}
    return tuple(
        matched
        for statement in stated
        for matched in (
            [_of_port(statement, port) for port in members[statement[2]]] or [statement]
            if statement[:2] == COS_PORTS and statement[2:3] and members.get(statement[2])
            else [statement]
        )
    )


def _of_port(statement: Statement, port: str) -> Statement:
    """A statement of a wildcard at a port that it stands for, whose only unit is the first."""
    place, rest = statement[:2], statement[3:]
    return (*place, port, "unit", "0", *rest[2:]) if rest[:2] == ("unit", "*") else (*place, port, *rest)


def _range_members(rest: Iterable[Statement], present: Iterable[str]) -> Iterator[str]:
    for kind, *words in rest:
        if kind == MEMBER and words:
            pattern = _pattern(words[0])
            matched = [name for name in present if pattern.fullmatch(name)]
            yield from matched or ([words[0]] if _INTERFACE.fullmatch(words[0]) else [])
        elif kind == MEMBERS and len(words) == 3:
            first, last = (_INTERFACE.fullmatch(words[at]) for at in (0, 2))
            if first and last and first["stem"] == last["stem"]:
                numbers = range(int(first["number"]), min(int(last["number"]), int(first["number"]) + 1023) + 1)
                yield from (f"{first['stem']}{number}" for number in numbers)


def _pattern(text: str) -> re.Pattern[str]:
    """A name with `*`, and with sets of numbers: `et-0/0/[1-3,6]`."""
    parts = _SET.split(text)
    return re.compile("".join(_numbers(part) if at % 2 else _literal(part) for at, part in enumerate(parts)))


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\*", ".*").replace(r"\?", ".")


def _numbers(text: str) -> str:
    """Alternatives for the numbers of a set."""
    if text.isdecimal():
        return f"[{text}]"
    numbers: list[str] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and last.isdecimal():
            numbers += map(str, range(int(first), min(int(last), int(first) + 1023) + 1))
        else:
            numbers.append(re.escape(part))
    return f"(?:{'|'.join(numbers)})"


def _with_members(statement: Statement, names: Mapping[str, Sequence[str]]) -> Iterator[Statement]:
    """A statement about the interfaces of a range, for each of them."""
    for at, (before, word) in enumerate(pairwise(statement), start=1):
        if before == "interface" and names.get(word):
            yield from ((*statement[:at], member, *statement[at + 1 :]) for member in names[word])
            return
    yield statement


def _is_single(statement: Statement) -> bool:
    """Whether a statement is a leaf with one value; an object without statements is none, whatever its kind."""
    has_value = statement[-2:-1] != () and statement[-2] in SINGLE_VALUES and statement[-3:-1] != PAUSE_PROFILES
    return has_value and not (statement[-2] == "autonomous-system" and statement[-1] in FLAGS_OF_AS)


def _without_overridden(inherited: Iterable[Statement], stated: Iterable[Statement]) -> Iterator[Statement]:
    """The inherited statements without values of leaves that have another one, and without repeated ones."""
    stated = tuple(stated)
    present = {
        *stated,
        *(statement[:-1] for statement in stated if _is_single(statement)),
    }
    for statement in dict.fromkeys(inherited):
        is_single = _is_single(statement)
        if statement not in present and not (is_single and statement[:-1] in present):
            yield statement
            if is_single:
                present.add(statement[:-1])


def _with_last_values(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Leave out the values of leaves that another one follows, as when they are loaded, and repeated ones."""
    last = {statement[:-1]: statement[-1] for statement in stated if _is_single(statement)}
    repeated: set[Statement] = set()
    kept = []
    for statement in stated:
        value = last.get(statement[:-1]) if _is_single(statement) else None
        if value is None or (value == statement[-1] and statement not in repeated):
            kept.append(statement)
        repeated.add(statement)
    return tuple(kept)


# Forms


def _with_named_points(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Code points of DSCP with their bits."""
    aliases = {
        statement[3]: statement[4]
        for statement in stated
        if statement[:2] == ALIASES and statement[2:3] == ("dscp",) and len(statement) == 5
    }
    points = {**NAMED_POINTS, **aliases}
    return tuple(
        _with_bits(statement, points)
        for statement in stated
        if statement[:2] != ALIASES or (statement[3:4] and statement[3] not in aliases)
    )


def _with_bits(statement: Statement, points: Mapping[str, str]) -> Statement:
    if statement[0] != COS or "dscp" not in statement:
        return statement
    for at, word in enumerate(statement[:-1]):
        if word in ("code-points", "code-point") and statement[at + 1] in points:
            return (*statement[: at + 1], points[statement[at + 1]], *statement[at + 2 :])
    return statement


def _with_last_terms(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Give each policy with terms its action for other routes as the last term; that which balances has no terms."""
    with_terms = {statement[2] for statement in stated if statement[:2] == POLICY and statement[3:4] == (TERM,)}
    with_terms.discard(LOAD_BALANCE)
    last = [
        statement
        for statement in stated
        if statement[:2] == POLICY and statement[3:4] == ("then",) and statement[2] in with_terms
    ]
    if not last:
        return stated
    terms = ((*statement[:3], TERM, LAST_TERM, *statement[3:]) for statement in last)
    return (*(statement for statement in stated if statement not in last), *terms)


def _with_one_form(stated: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """One of several ways to state the same: balancing, ranges of one AS number, drop profiles of packets, all of which
    have the low priority, and equal intervals of BFD in both directions."""
    priorities = {statement[7] for statement in stated if statement[:2] == (COS, "classifiers") and len(statement) > 7}
    present = set(stated)
    forms = (_one_form(statement, present, priorities <= {"low"}) for statement in stated)
    return tuple(form for form in forms if form is not None)


def _one_form(statement: Statement, present: set[Statement], all_low: bool) -> Statement | None:
    if "." in statement[-1] and (number := _ASDOT.fullmatch(statement[-1])) and _is_numbered(statement):
        return (*statement[:-1], str(int(number[1]) << 16 | int(number[2])))
    if statement[:2] == AS_LISTS and (single := _OF_ONE.fullmatch(statement[-1])):
        return (*statement[:-1], single[1])
    if statement[:3] == QUEUES and len(statement) == 5:
        return (COS, "forwarding-classes", "class", statement[4], "queue-num", statement[3])
    if statement[-2:] == ("load-balance", "per-flow"):
        return (*statement[:-1], "per-packet")
    if statement[:2] == (COS, "schedulers") and statement[3:6] == (DROPS, "loss-priority", "low") and all_low:
        return (*statement[:5], "any", *statement[6:])
    if statement[-2:-1] == (INTERVAL,) and BFD in statement[-4:-2]:
        above, interval = statement[: statement.index(BFD) + 1], statement[-1]
        both = {(*above, RECEIVED, interval), (*above, SENT, INTERVAL, interval)}
        return (*above, INTERVAL, interval) if both <= present else statement
    if statement[-3:-1] == (BFD, RECEIVED):
        return None if (*statement[:-2], SENT, INTERVAL, statement[-1]) in present else statement
    return statement


def _is_numbered(statement: Statement) -> bool:
    """Whether the last word of a statement is an AS number."""
    return statement[-2] in _NUMBERED or statement[:2] == AS_LISTS

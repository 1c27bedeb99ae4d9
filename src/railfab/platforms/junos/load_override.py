"""Statements that a file needs for `load override`, which removes from the switch what the file does not have.

Without a password or key of root the commit is refused (`Missing mandatory statement: 'root-authentication'`, answer
of Junos OS Evolved); without what the switch is reached by, the session is cut (Juniper, Management Interface in a
Non-Default Instance; Configure Root Password).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface

from railfab.platforms.junos import effective
from railfab.platforms.junos.names import MANAGEMENT_INSTANCE
from railfab.platforms.junos.system import MANAGEMENT_STATEMENT
from railfab.platforms.shared.brace_text import INACTIVE, Statement, shown

ROOT = ("system", "root-authentication")
SECRETS = frozenset(
    (
        *("encrypted-password", "plain-text-password-value"),
        *("ssh-rsa", "ssh-dsa", "ssh-ecdsa", "ssh-ed25519", "load-key-file"),
    )
)
"""Statements by which a user is known (junos-qfx-conf-system 24.4R1, authentication-object)."""
SERVICES: Sequence[Statement] = (("system", "services", "ssh"), ("system", "services", "netconf", "ssh"))
MOVED = ("system", MANAGEMENT_STATEMENT)
INSTANCE = ("routing-instances", MANAGEMENT_INSTANCE)
MANAGEMENT_PORT = re.compile(r"re\d+:mgmt-\d+|em\d+|fxp\d+|me\d+|vme")
REFUSED = "the switch refuses the commit without it"
CUT = "the switch is reached by it, so that the session is cut without it"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementForOverride:
    """A statement that a file lacks. statement: as `display set` has it, without `set` and without a secret.
    consequence: of loading the file without it."""

    statement: str
    consequence: str


def missing_for_override(candidate: str, running: str, *, user: str = "") -> tuple[StatementForOverride, ...]:
    """Name what a file lacks of what `load override` needs on a switch.

    candidate: the file. running: the configuration of the switch, which states how it is reached. user: with whose
    login it is reached. Raises ConfigError for a text that is no configuration.
    """
    present = {statement[:length] for statement in _active(candidate) for length in range(1, len(statement) + 1)}
    stated = _active(running)
    missing = [] if any((*ROOT, word) in present for word in SECRETS) else [_missing(ROOT, REFUSED)]
    needed = (*_services(stated), *_login(stated, user), *_addresses(stated), *_routes(stated, present))
    return (*missing, *(_missing(statement, CUT) for statement in dict.fromkeys(needed) if statement not in present))


def _missing(statement: Statement, consequence: str) -> StatementForOverride:
    return StatementForOverride(statement=shown(statement), consequence=consequence)


def _active(text: str) -> tuple[Statement, ...]:
    return tuple(statement for statement in effective.read(text) if statement[0] != INACTIVE)


def _services(stated: Iterable[Statement]) -> Iterator[Statement]:
    """SSH and NETCONF, with the port of each."""
    for statement in stated:
        for service in SERVICES:
            if statement[: len(service)] == service:
                yield service
                if statement[len(service) : -1] == ("port",):
                    yield statement


def _login(stated: Iterable[Statement], user: str) -> Iterator[Statement]:
    """The login of a user, whose password or key is another's to state; that of root over SSH."""
    login = ("system", "login", "user", user)
    for statement in stated:
        if user == "root" and statement[:4] == (*SERVICES[0], "root-login"):
            yield statement
        elif statement[:4] == login:
            yield (*login, "authentication") if "authentication" in statement[4:5] else statement


def _addresses(stated: Iterable[Statement]) -> Iterator[Statement]:
    """The addresses of management ports, or that they ask for one."""
    for statement in stated:
        if _is_management(statement):
            place, address = statement[:6], statement[6:7]
            yield (*place, *(statement[6:8] if address == ("address",) else address))


def _is_management(statement: Statement) -> bool:
    """Whether a statement is in a family of a management port."""
    return (
        len(statement) > 6
        and statement[0] == "interfaces"
        and MANAGEMENT_PORT.fullmatch(statement[1]) is not None
        and statement[4] == "family"
        and statement[6] in ("address", "dhcp")
    )


def _routes(stated: Sequence[Statement], present: set[Statement]) -> Iterator[Statement]:
    """The instance of the management port, and its static routes in the instance in which the file has the port."""
    is_moved = MOVED in present or MOVED in stated
    if MOVED in stated:
        yield MOVED
    networks = tuple(_networks(stated))
    for statement in stated:
        route = statement[2:] if statement[:2] == INSTANCE else statement
        if route[:1] == ("routing-options",) and "static" in route and _is_through(route, networks):
            yield _placed(route, is_moved=is_moved)


def _networks(stated: Iterable[Statement]) -> Iterator[IPv4Network | IPv6Network]:
    for statement in stated:
        if _is_management(statement) and statement[6] == "address" and len(statement) > 7:
            try:
                yield ip_interface(statement[7]).network
            except ValueError:
                continue


def _is_through(route: Statement, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether the next hop of a route is in the network of a management port."""
    if route[-2:-1] != ("next-hop",):
        return False
    try:
        next_hop = ip_address(route[-1])
    except ValueError:
        return False
    return any(next_hop in network for network in networks)


def _placed(route: Statement, *, is_moved: bool) -> Statement:
    """A route in the instance of the management port, or in the default one; IPv6 has a table by name."""
    words = tuple(word.removeprefix(f"{MANAGEMENT_INSTANCE}.") for word in route)
    if not is_moved:
        return words
    return (*INSTANCE, *(f"{MANAGEMENT_INSTANCE}.{word}" if word == "inet6.0" else word for word in words))

"""Statements of a Junos configuration about BGP sessions: groups, AS numbers, router IDs, addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface

from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement

OPTIONS = "routing-options"


@dataclass(frozen=True, slots=True)
class StatedSession:
    """Statements about a session. Empty where there are none."""

    group: str = ""
    local_as: str = ""
    local_id: str = ""
    local_address: str = ""


class BgpStatements:
    """The statements of one configuration."""

    def __init__(self, configuration: str) -> None:
        self._statements = read(configuration)
        self._groups = dict(self._peers())
        self._addresses = [ip_interface(each[-1]) for each in self._statements if each[-2:-1] == ("address",)]

    def of(self, peer: str, interface: str | None) -> StatedSession:
        """Statements about a session with an address, or over the interface of an unnumbered one."""
        return StatedSession(
            group=self._groups.get(peer) or self._groups.get(f"{interface}.0", ""),
            local_as=self.local_as,
            local_id=self.router_id,
            local_address=self._beside(peer),
        )

    @property
    def local_as(self) -> str:
        return self._option("autonomous-system")

    @property
    def router_id(self) -> str:
        return self._option("router-id")

    def _option(self, name: str) -> str:
        return next((each[2] for each in self._statements if each[:2] == (OPTIONS, name)), "")

    def _peers(self) -> Iterator[tuple[str, str]]:
        """Neighbours, and interfaces of unnumbered ones, with their groups."""
        for statement in self._statements:
            if "group" in statement[:-2] and "bgp" in statement:
                yield from _members(statement, statement[statement.index("group") + 1])

    def _beside(self, peer: str) -> str:
        """The address of this switch in the subnet of a peer."""
        try:
            far = ip_address(peer)
        except ValueError:
            return ""
        return next((str(near.ip) for near in self._addresses if far in near.network), "")


def _members(statement: Statement, group: str) -> Iterator[tuple[str, str]]:
    for kind in ("neighbor", "interface"):
        if kind in statement[:-1]:
            yield statement[statement.index(kind) + 1], group
    if statement[-2:-1] == ("neighbor",):
        yield statement[-1], group

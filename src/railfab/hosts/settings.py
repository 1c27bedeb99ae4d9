"""A setting of a NIC as data: how to read it, the wanted value, how to write it, and what happens at a reboot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import MappingProxyType
from typing import Any, Literal

from railfab.intent import Lossless

Command = Sequence[str]
"""A program and its arguments; `a|b` as program: the first that the host has. See `nic.py` for the placeholders."""
Compare = Literal["text", "number", "dscp", "set", "includes"]
"""text: equal words; number: equal, in any base; dscp: a ToS byte with the same DSCP; set: the same numbers, given as a
list with ranges; includes: the wanted numbers are among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Where a value is: the output of a command, or the first of several files that exists.

    find: regular expression, whose groups are the value; None for the whole text. every: all matches, as a list. card:
    only the part of the output about the card of the port.
    """

    run: Command | None = None
    files: tuple[str, ...] = ()
    find: str | None = None
    every: bool = False
    card: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingCondition:
    """A setting applies only where a value of the host is this one. default: the value where it cannot be read."""

    read: Read
    value: str
    default: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of a port, or of the whole host.

    name: stable, for scripts. wanted: as it is read back. run: the commands that set it. otherwise: instead, if the
    first of them fails. undo: before them, once for each number that is found and not wanted. text: to write into the
    file that is read. apply: file to write `0x1` into afterwards, if it exists. group: folder of configfs to make
    before, and to remove afterwards. absent: why it is no fault if the host does not have it. permanent: what keeps it
    across a reboot; None where the NIC keeps it. note: effect of writing it.
    """

    name: str
    wanted: str
    read: Read
    source: str
    compare: Compare = "text"
    run: tuple[Command, ...] = ()
    otherwise: tuple[Command, ...] = ()
    undo: Command | None = None
    text: str | None = None
    apply: str | None = None
    group: str | None = None
    when: SettingCondition | None = None
    absent: str | None = None
    whole_host: bool = False
    permanent: str | None = "railfab-nic.service"
    note: str | None = None


def tos(lossless: Lossless) -> int:
    """The traffic class of RoCE data: DSCP in the upper six bits; the NIC sets the ECN bits."""
    return lossless.dscp << 2


def by_priority(
    lossless: Lossless,
    *,
    roce: int | str,
    cnp: int | str,
    other: int | str,
    storage: Mapping[int, int | str] = MappingProxyType({}),
) -> tuple[str, ...]:
    """A value for each of the eight priorities. The priority of CNPs is the number of their queue on the switches.

    storage: the value of the priority of storage, with RoCE of its own.
    """
    special = {lossless.priority: roce, lossless.cnp_queue: cnp, **storage}
    return tuple(str(special.get(priority, other)) for priority in range(8))


def as_document(value: Any) -> Any:
    """A setting as JSON values, without the keys that are at their default."""
    if is_dataclass(value):
        return {
            field.name: as_document(getattr(value, field.name))
            for field in fields(value)
            if getattr(value, field.name) != field.default
        }
    return [as_document(one) for one in value] if isinstance(value, tuple | list) else value

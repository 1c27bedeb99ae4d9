"""Differences between two snapshots of a fabric: settings, sessions, links and software of each switch."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.deploy.snapshot import FabricSnapshot, PortSnapshot, SessionSnapshot, SwitchSnapshot
from railfab.device import change_lines
from railfab.errors import ConfigError, Problems
from railfab.platforms import platform

NO_SNAPSHOT = "has no such switch"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchDifference:
    """What is different on one switch, a line each. diff: of the configurations, unified, without their secrets."""

    name: str
    settings: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    software: tuple[str, ...] = ()
    diff: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return (*self.software, *self.settings, *self.links, *self.sessions)


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """Two snapshots compared. switches: of both, also equal ones. unknown: those that one of them lacks, and why."""

    switches: tuple[SwitchDifference, ...]
    unknown: tuple[tuple[str, str], ...]

    @property
    def different(self) -> tuple[SwitchDifference, ...]:
        return tuple(switch for switch in self.switches if switch.lines)


def compare_snapshots(before: FabricSnapshot, after: FabricSnapshot) -> SnapshotDifference:
    """Compare what both have, by switch. Formatting and comments of a configuration are no difference."""
    common = [name for name in before.switches if name in after.switches]
    switches = tuple(_difference(name, before.switches[name], after.switches[name]) for name in common)
    names = dict.fromkeys((*before.switches, *before.unread, *after.switches, *after.unread))
    unknown = tuple((name, _lacking(name, before, after)) for name in names if name not in common)
    return SnapshotDifference(switches, unknown)


def _lacking(name: str, before: FabricSnapshot, after: FabricSnapshot) -> str:
    """The snapshot that does not have a switch, and why."""
    sides = (("before", before), ("after", after))
    return "; ".join(
        f"{side}: {snapshot.unread.get(name, NO_SNAPSHOT)}" for side, snapshot in sides if name not in snapshot.switches
    )


def _difference(name: str, before: SwitchSnapshot, after: SwitchSnapshot) -> SwitchDifference:
    settings = tuple(_settings(before, after))
    lines = before.configuration.splitlines(), after.configuration.splitlines()
    diff = difflib.unified_diff(*lines, "before", "after", lineterm="") if settings else ()
    return SwitchDifference(
        name=name,
        settings=settings,
        sessions=tuple(_sessions(before, after)),
        links=tuple(_links(before, after)),
        software=tuple(_software(before, after)),
        diff="\n".join(diff),
    )


def _settings(before: SwitchSnapshot, after: SwitchSnapshot) -> tuple[str, ...]:
    """The settings that differ in words; where a configuration cannot be parsed, that it is another text."""
    if before.configuration == after.configuration:
        return ()
    if before.platform != after.platform:
        return (f"platform: {before.platform} -> {after.platform}",)
    parse = platform(before.platform).parse
    try:
        return change_lines(parse(before.configuration), parse(after.configuration))
    except (ConfigError, Problems):
        return ("configuration: another text, which cannot be read as settings",)


def _software(before: SwitchSnapshot, after: SwitchSnapshot) -> Iterator[str]:
    for what, was, now in (("version", before.version, after.version), ("model", before.model, after.model)):
        if was != now:
            yield f"{what}: {was or 'not reported'} -> {now or 'not reported'}"
    if before.drained != after.drained:
        yield "is drained by railfab drain" if after.drained else "is drained no more"
    if before.pending != after.pending:
        yield f"unconfirmed change: {before.pending or 'none'} -> {after.pending or 'none'}"


def _links(before: SwitchSnapshot, after: SwitchSnapshot) -> Iterator[str]:
    """Ports that are up or down, their neighbours and their MTU; of a port that is down, nothing else."""
    was, now = ({port.name: port for port in switch.ports} for switch in (before, after))
    for name in sorted(was.keys() | now.keys()):
        yield from _port(name, was.get(name), now.get(name))


def _port(name: str, was: PortSnapshot | None, now: PortSnapshot | None) -> Iterator[str]:
    if was is None or now is None:
        if any(port is not None and port.up for port in (was, now)):
            yield f"port {name}: {'is new' if was is None else 'is gone'}"
        return
    if was.up != now.up:
        far = f" ({was.neighbor or now.neighbor})" if was.neighbor or now.neighbor else ""
        yield f"link {name}: {_up(was.up)} -> {_up(now.up)}{far}"
    elif now.up and was.neighbor != now.neighbor:
        yield f"link {name}: neighbor {was.neighbor or 'not heard'} -> {now.neighbor or 'not heard'}"
    if was.mtu_bytes != now.mtu_bytes:
        yield f"port {name}: MTU in effect {was.mtu_bytes} -> {now.mtu_bytes}"


def _up(is_up: bool) -> str:
    return "up" if is_up else "down"


def _sessions(before: SwitchSnapshot, after: SwitchSnapshot) -> Iterator[str]:
    """Sessions that were established and are not, and the other way round, and their BFD."""
    was, now = (
        {(session.instance, session.peer): session for session in switch.sessions} for switch in (before, after)
    )
    for key in sorted(was.keys() | now.keys()):
        yield from _session(f"session with {key[1]}", was.get(key), now.get(key))


def _session(what: str, was: SessionSnapshot | None, now: SessionSnapshot | None) -> Iterator[str]:
    stood, stands = was is not None and was.established, now is not None and now.established
    if stood != stands:
        yield f"{what}: {'lost' if stood else 'established'}"
    elif was is None or now is None:
        yield f"{what}: {'configured' if was is None else 'removed'}, not established"
    elif stands and was.bfd_up != now.bfd_up:
        yield f"{what}: BFD {'up' if now.bfd_up else 'not up'}"

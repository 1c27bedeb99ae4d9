"""Statements of class of service with an operator's names of schedulers and profiles, or for several ports at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from railfab.platforms.junos.parse_qos import FILL_LEVEL, cos_interfaces
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.shared.words import Words

COS = "class-of-service"
DROP_PROFILES = (COS, "drop-profiles")
PAUSE = "congestion-notification-profile"
Names = Mapping[str, Iterable[str]]


@dataclass(frozen=True, slots=True)
class CosNames:
    """railfab's names by those of the configuration; one scheduler may be that of several classes and maps.

    defined: the drop and pause profiles of the configuration.
    maps: railfab's scheduler by map and class. ports: by the name or wildcard under which their statements are.
    """

    maps: Mapping[tuple[str, str], str]
    schedulers: Names
    drop_profiles: Names
    pauses: Names
    ports: Names
    defined: frozenset[str]
    pause_of: Mapping[str, str] = field(default_factory=dict)

    def translated(self, statement: Statement) -> tuple[Statement, ...] | None:
        """The statements that this one is; None where there are none."""
        if len(statement) < 3:
            return None
        section, name, tail = statement[1], statement[2:3], statement[3:]
        if section == "scheduler-maps" and len(statement) == 7 and (statement[2], statement[4]) in self.maps:
            return ((*statement[:6], self.maps[statement[2], statement[4]]),)
        named = {"schedulers": self.schedulers, "drop-profiles": self.drop_profiles, PAUSE: self.pauses}
        if section in named and name:
            names = named[section].get(name[0], ())
            return (
                tuple((COS, section, railfab_name, *self._renamed(tail, railfab_name)) for railfab_name in names)
                or None
            )
        if section == "interfaces" and name and tail:
            return tuple(self._of_port(port, tail) for port in self.ports.get(name[0], ())) or None
        return None

    def _of_port(self, port: str, tail: Statement) -> Statement:
        if tail[0] == PAUSE:
            railfab_name = self.pause_of.get(port, tail[-1])
            tail = (PAUSE, railfab_name if self._stands_for(tail[-1], railfab_name) else tail[-1])
        elif tail[0] == "unit":
            tail = ("unit", "0", *tail[2:])
        return (COS, "interfaces", port, *tail)

    def _renamed(self, tail: Statement, name: str) -> Statement:
        """The drop profile of a scheduler has its name."""
        is_name = tail[-2:-1] == ("drop-profile",) and self._stands_for(tail[-1], name)
        return (*tail[:-1], name) if is_name else tail

    def _stands_for(self, name: str, railfab_name: str) -> bool:
        """Whether a profile is defined in the place of railfab's."""
        return name in self.defined and railfab_name not in self.defined


def cos_names(root: Words, wanted: Iterable[Statement]) -> CosNames:
    """The names of a configuration, and those of the rendered one."""
    cos = root.at(COS)
    rendered = [statement for statement in wanted if statement[0] == COS]
    maps = {
        (statement[2], statement[4]): statement[6]
        for statement in rendered
        if statement[1] == "scheduler-maps" and len(statement) == 7
    }
    profiles = {statement[2] for statement in rendered if statement[1] == "drop-profiles"}
    pause_of = {
        statement[2]: statement[4]
        for statement in rendered
        if statement[1] == "interfaces" and statement[3:4] == (PAUSE,)
    }
    schedulers: dict[str, dict[str, None]] = {}
    for (name, cls), scheduler in maps.items():
        used = cos.text("scheduler-maps", name, "forwarding-class", cls, "scheduler")
        schedulers.setdefault(used or "", {}).setdefault(scheduler)
    drop_profiles: dict[str, dict[str, None]] = {}
    for name, others in schedulers.items():
        for used in _drop_profiles(cos.at("schedulers", name)):
            drop_profiles.setdefault(used, {}).update(
                dict.fromkeys(scheduler for scheduler in others if scheduler in profiles)
            )
    pauses: dict[str, dict[str, None]] = {}
    ports: dict[str, list[str]] = {}
    for port, words in cos_interfaces(root).items():
        ports.setdefault(words.path[-1], []).append(port)
        if port in pause_of:
            pauses.setdefault(words.text(PAUSE) or "", {}).setdefault(pause_of[port])
    other_names = {place: scheduler for place, scheduler in maps.items() if _has_another_name(cos, place, scheduler)}
    defined = frozenset((*cos.texts("drop-profiles"), *cos.texts(PAUSE)))
    return CosNames(other_names, schedulers, drop_profiles, pauses, ports, defined, pause_of)


def ramps_in_steps(stated: Iterable[Statement], wanted: Iterable[Statement], names: CosNames) -> Iterator[Statement]:
    """The rendered statements of the drop profiles that a configuration states in steps, which stand for them."""
    steps = {statement[2] for statement in stated if is_step(statement)}
    profiles = {profile for name in steps for profile in (name, *names.drop_profiles.get(name, ()))}
    yield from (statement for statement in wanted if statement[:2] == DROP_PROFILES and statement[2] in profiles)


def is_step(statement: Statement) -> bool:
    """Whether a statement is a step of a drop profile without `interpolate`."""
    return statement[:2] == DROP_PROFILES and statement[3:4] == (FILL_LEVEL,)


def _has_another_name(cos: Words, place: tuple[str, str], railfab_name: str) -> bool:
    """Whether the scheduler of a class in a map is defined, under another name, and no scheduler has railfab's name."""
    (name, cls), defined = place, cos.at("schedulers")
    used = cos.text("scheduler-maps", name, "forwarding-class", cls, "scheduler")
    return (used or "") in defined and railfab_name not in defined


def _drop_profiles(scheduler: Words) -> Iterator[str]:
    yield from scheduler.texts("drop-profile-map", "loss-priority", "any", "protocol", "any", "drop-profile")

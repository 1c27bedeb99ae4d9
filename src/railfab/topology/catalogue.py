"""The catalogue: what a switch model can do, as data with its sources; the built-in ones and the user's."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from string import Formatter
from typing import Any

from railfab.errors import RailfabError, TopologyError, each, raise_all
from railfab.intent import FabricIntent
from railfab.intent.catalogue import SwitchEntry
from railfab.text.counted import listed
from railfab.text.remedies import Choice, remedy, values
from railfab.yaml_reader.packaged import packaged

CAGE_FIELDS = {"cage", "port", "electrical"}
"""Fields of a name pattern for a cage: number from 1, from 0; its first electrical lane on the switch, from 0."""
LANE_FIELDS = {*CAGE_FIELDS, "lane", "sub", "first"}
"""More fields for a breakout port: number from 1, from 0, and its first electrical lane in the cage, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchModel:
    """One switch model.

    breakouts: ports per cage to the speeds of a port. at_most: speeds [Gb/s] that only some cages support, and the
    number of those cages. names: platform to the name patterns of cage and breakout port.
    lane_gbps: largest speed of an electrical lane. default_headroom_bytes: PFC headroom that the platform gives each
    port by default. cage: form factor of a cage (osfp, qsfp-dd). power_w: largest power, with optics. units: height in
    a rack. routes, next_hop_groups: sizes of the tables; None where no source was read.
    """

    name: str
    vendor: str
    silicon: str
    cages: int
    speeds_gbps: tuple[int, ...]
    breakouts: Mapping[int, tuple[int, ...]]
    buffer_bytes: int
    names: Mapping[str, Mapping[str, str]]
    at_most: Mapping[int, int] = field(default_factory=dict)
    lane_gbps: int = 100
    default_headroom_bytes: int = 0
    cage: str = ""
    power_w: int = 0
    units: int = 1
    routes: int | None = None
    next_hop_groups: int | None = None
    source: str = ""

    @property
    def platform(self) -> str:
        """The default platform."""
        return next(iter(self.names))

    @property
    def electrical_lanes(self) -> int:
        """Electrical lanes of a cage: enough for its fastest speed and for its breakout with the most ports."""
        return max(1, max(self.speeds_gbps) // self.lane_gbps, *self.breakouts)

    def lanes_for(self, rate_gbps: int) -> int | None:
        """Number of ports of this speed per cage: 1 without breakout, more with it, None if it is not supported."""
        if rate_gbps in self.speeds_gbps and rate_gbps == max(self.speeds_gbps):
            return 1
        broken = [lanes for lanes, speeds in self.breakouts.items() if rate_gbps in speeds]
        if broken:
            return max(broken)
        return 1 if rate_gbps in self.speeds_gbps else None

    def interface(self, platform: str, cage: int, lane: int | None, lanes: int | None = None) -> str:
        """The canonical name of a port on this platform. Raises TopologyError if the model does not run it.

        lanes: ports per cage, for platforms that number them by electrical lane; by default one per electrical lane.
        """
        pattern = self._pattern(platform, broken=lane is not None)
        return self._named(pattern, cage, lane or 1, lanes or self.electrical_lanes)

    def interface_names(self, platform: str, lanes: int) -> tuple[str, ...]:
        """Names of all ports in front-panel order, with every cage split into `lanes` ports (1: no breakout).

        Raises TopologyError if the model does not run the platform, has no breakout there, or if its patterns give two
        ports the same name.
        """
        pattern = self._pattern(platform, broken=lanes > 1)
        cages, ports = range(1, self.cages + 1), range(1, lanes + 1)
        names = tuple(self._named(pattern, cage, lane, lanes) for cage in cages for lane in ports)
        if len(set(names)) < len(names):
            problem = f"{pattern!r} gives two of {lanes} x {self.cages} ports the same name on {platform}"
            raise TopologyError(f"switch {self.name}", problem, "Use {cage}, and {lane} for breakout ports")
        return names

    def _pattern(self, platform: str, *, broken: bool) -> str:
        if platform not in self.names:
            known = ", ".join(sorted(self.names))
            raise TopologyError(f"switch {self.name}", f"does not run platform {platform!r}", f"Use {known}")
        pattern = self.names[platform].get("lane" if broken else "cage")
        if pattern is None:
            problem = f"breakout is not supported on {platform}"
            raise TopologyError(f"switch {self.name}", problem, "Use speeds without breakout")
        return pattern

    def _named(self, pattern: str, cage: int, lane: int, lanes: int) -> str:
        before = (lane - 1) * self.electrical_lanes // lanes
        return pattern.format(
            cage=cage,
            port=cage - 1,
            lane=lane,
            sub=lane - 1,
            first=before + 1,
            electrical=(cage - 1) * self.electrical_lanes + before,
        )


@cache
def catalogue() -> Mapping[str, SwitchModel]:
    """Every built-in switch model, by name."""
    return {name: switch_entry(name, entry) for name, entry in load_data("catalogue.yml").items()}


def load_data(name: str) -> dict[str, Any]:
    """A data file of this package."""
    document: dict[str, Any] = packaged(__package__, name)
    return document


def switch_model(name: str) -> SwitchModel:
    """The built-in model of this name. Raises TopologyError."""
    return _lookup(catalogue(), name)


def models_of(intent: FabricIntent) -> Mapping[str, SwitchModel]:
    """The switch models for an intent: the built-in ones and those of the intent. Raises TopologyError, or Problems."""
    added, faults = {}, list[RailfabError]()
    for name, entry in intent.switches.items():
        try:
            added[name] = _added_model(name, entry.model_dump_json())
        except RailfabError as error:
            faults += each(error)
    raise_all(faults)
    return {**catalogue(), **added} if added else catalogue()


def model_named(intent: FabricIntent, name: str) -> SwitchModel:
    """The model of this name, built-in or of the intent. Raises TopologyError."""
    return _lookup(models_of(intent), name)


@lru_cache(maxsize=256)
def _added_model(name: str, entry_json: str) -> SwitchModel:
    """A switch entry of an intent as a model; cached, since it is used often."""
    entry = SwitchEntry.model_validate_json(entry_json).model_dump()
    raise_all(list(_faults(name, entry)))
    return switch_entry(name, entry)


def switch_entry(name: str, entry: Mapping[str, Any]) -> SwitchModel:
    """One entry of a catalogue file as a model."""
    fields = dict(entry)
    breakouts = {lanes: tuple(speeds) for lanes, speeds in fields.pop("breakouts", {}).items()}
    speeds_gbps = tuple(fields.pop("speeds_gbps"))
    names = {
        platform: {key: pattern for key, pattern in patterns.items() if pattern is not None}
        for platform, patterns in fields.pop("names").items()
    }
    return SwitchModel(name=name, breakouts=breakouts, speeds_gbps=speeds_gbps, names=names, **fields)


def _lookup(models: Mapping[str, SwitchModel], name: str) -> SwitchModel:
    if name in models:
        return models[name]
    raise TopologyError(f"switch {name!r}", "is not in the catalogue", nearest(name, models))


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the most similar known name, and all of them."""
    names = sorted(known)
    similar = difflib.get_close_matches(name.lower(), names, n=1)
    return f"Did you mean {similar[0]!r}? The choices are {', '.join(names)}" if similar else f"Use {', '.join(names)}"


def no_platform(
    keys: Sequence[str], model: SwitchModel, platform: str, models: Mapping[str, SwitchModel]
) -> TopologyError:
    """The error that a model does not run a platform, stated by these keys; it names models that do."""
    choices = [Choice(name, dict.fromkeys(keys, name)) for name in sorted(model.names)]
    others = sorted(name for name, found in models.items() if platform in found.names)
    if others:
        choices.append(Choice(f"a model that runs {platform} ({listed(others, most=4)})"))
    return TopologyError(keys[0], f"{model.name} does not run platform {platform!r}", remedy(*choices))


def no_speed(where: str, model: SwitchModel, rate_gbps: int, *, whole: bool = False) -> TopologyError:
    """The error that a model does not support a speed. whole: without breakout."""
    broken = () if whole else (speed for speeds in model.breakouts.values() for speed in speeds)
    choice = remedy(*values(where, sorted({*model.speeds_gbps, *broken}, reverse=True)))
    port = "unsplit port" if whole else "port"
    return TopologyError(where, f"{model.name} has no {port} of {rate_gbps} Gb/s", choice)


def _faults(name: str, entry: Mapping[str, Any]) -> Iterator[RailfabError]:
    """Faults of a switch entry that its types do not express."""
    where = f"switches.{name}"
    if name in catalogue():
        yield TopologyError(where, "the built-in catalogue has a model of this name", "Use another name")
    if not entry["speeds_gbps"]:
        yield TopologyError(f"{where}.speeds_gbps", "the list is empty", "Add the speeds of a cage without breakout")
    if not entry["names"]:
        yield TopologyError(f"{where}.names", "the mapping is empty", "Add the port names of at least one platform")
    for platform, patterns in entry["names"].items():
        yield from _pattern_faults(f"{where}.names.{platform}", patterns)
    for lanes, speeds in entry["breakouts"].items():
        yield from _breakout_faults(f"{where}.breakouts.{lanes}", lanes, speeds, entry["speeds_gbps"])


def _breakout_faults(where: str, lanes: int, speeds: Iterable[int], cage: tuple[int, ...]) -> Iterator[RailfabError]:
    for speed in speeds:
        if cage and lanes * speed > max(cage):
            problem = f"{lanes} x {speed} Gb/s exceeds the {max(cage)} Gb/s of a cage"
            yield TopologyError(where, problem, "Use fewer lanes or a lower speed")


def _pattern_faults(where: str, patterns: Mapping[str, str | None]) -> Iterator[RailfabError]:
    for key, known in (("cage", CAGE_FIELDS), ("lane", LANE_FIELDS)):
        pattern = patterns[key]
        if pattern is not None and not _is_pattern(pattern, known):
            choice = ", ".join(f"{{{field}}}" for field in sorted(known))
            yield TopologyError(f"{where}.{key}", f"{pattern!r} is not a name pattern", f"Use only the fields {choice}")


def _is_pattern(pattern: str, known: Collection[str]) -> bool:
    """Whether all fields of a pattern are known, without format or conversion."""
    try:
        parsed = list(Formatter().parse(pattern))
    except ValueError:
        return False
    return all(
        (field is None or field in known) and not spec and not conversion for _, field, spec, conversion in parsed
    )

"""From a gnmic configuration to targets, credentials to export, subscribed paths and names of metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from railfab.endpoints.model import ASKED_MODES, LONGEST_S, SHORTEST_S
from railfab.errors import raise_all
from railfab.gnmi.paths import PathError, elements
from railfab.imports.existing import SourceError
from railfab.imports.gnmic.config import PROMETHEUS, GnmicConfig, GnmicSubscription, GnmicTarget, Reference
from railfab.imports.gnmic.names import label_names, metric_name
from railfab.imports.gnmic.notes import Note, Verdict, notes
from railfab.metrics import CATALOGUE
from railfab.platforms import TelemetryMap, TelemetryRule, platform, platform_names
from railfab.platforms.telemetry_checks import covers
from railfab.text.counted import listed

PREFIX = "RAILFAB"
ASKED = frozenset(ASKED_MODES)
STATED_ENCODINGS = ("ascii", "bytes")
"""Encodings that are kept; the others are negotiated."""
UNKNOWN = ""
"""Platform of a target that neither its paths nor the user tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsTarget:
    """A target for hosts.yml. credentials: a reference. platforms: those that have its paths; one where it is known.

    mode, encoding, interval_s: of its endpoint, `gnmi_mode`, `gnmi_encoding` and `gnmi_interval_s`.
    """

    source: GnmicTarget
    platforms: tuple[str, ...]
    credentials: str
    gnmi_target: str = ""
    mode: str = ""
    encoding: str = ""
    interval_s: float | None = None

    @property
    def platform(self) -> str:
        return self.platforms[0] if len(self.platforms) == 1 else UNKNOWN


@dataclass(frozen=True, slots=True)
class Export:
    """A variable that the collector reads. source: the variable of gnmic, the text, or the line of a secret."""

    name: str
    variable: str | None
    text: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A path of a gnmic subscription on a platform. rules: of railfab at or below it."""

    subscription: GnmicSubscription
    path: str
    platform: str
    rules: tuple[TelemetryRule, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A metric of gnmic and that of railfab. fixed: labels that only railfab has. labels: gnmic's name to railfab's."""

    gnmic: str
    railfab: str
    kind: str
    fixed: Mapping[str, str]
    labels: Mapping[str, str]
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a gnmic configuration becomes."""

    config: GnmicConfig
    targets: tuple[HostsTarget, ...]
    exports: tuple[Export, ...]
    subscribed: tuple[Subscribed, ...]
    renamed: tuple[Renamed, ...]
    notes: tuple[Note, ...]
    interval_s: float | None

    @property
    def unplaced(self) -> tuple[HostsTarget, ...]:
        """Targets whose platform is not known."""
        return tuple(target for target in self.targets if target.platform == UNKNOWN)


def convert(
    config: GnmicConfig, platforms: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Conversion:
    """What a configuration becomes.

    platforms: `NAME` of all targets whose paths do not tell it, or `PATTERN=NAME` of those whose names match.
    environment: variables such as GNMIC_USERNAME, which gnmic reads where the file has no user. Raises SourceError.
    """
    stated = tuple(_stated(platforms, [target.name for target in config.targets]))
    _check_paths(config)
    references = _Credentials(environment or {})
    by_name = {name: _of(config, name) for name in {one.name for one in config.subscriptions}}
    targets = tuple(_target(config, one, by_name, stated, references) for one in config.targets)
    subscribed = tuple(_subscribed(config, targets))
    return Conversion(
        config=config,
        targets=targets,
        exports=tuple(references.exports),
        subscribed=subscribed,
        renamed=tuple(_renamed(config, subscribed)),
        notes=(*notes(config), *_more_notes(config)),
        interval_s=_shortest_s(config.subscriptions),
    )


def _shortest_s(subscriptions: Sequence[GnmicSubscription]) -> float | None:
    """The shortest sample interval; None where none is stated."""
    shortest_s = min((one.interval_s for one in subscriptions if one.interval_s), default=None)
    return None if shortest_s is None else bounded_s(shortest_s)


def bounded_s(interval_s: float) -> float:
    """The nearest interval that railfab takes [s]."""
    return min(max(interval_s, SHORTEST_S), LONGEST_S)


def _stated(platforms: Sequence[str], targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(pattern, platform) of the options. Raises SourceError for one that is of no platform or no target."""
    for text in platforms:
        pattern, _, name = text.rpartition("=")
        if name not in platform_names():
            remedy = f"Use one of {', '.join(platform_names())}"
            raise SourceError(f"--platform {text}", f"railfab has no platform {name!r}", remedy)
        if pattern and targets and not any(fnmatchcase(target, pattern) for target in targets):
            remedy = f"Write a name or pattern of {listed(targets)}"
            raise SourceError(f"--platform {text}", f"no target has the name {pattern!r}", remedy)
        yield pattern or "*", name


def _check_paths(config: GnmicConfig) -> None:
    faults = []
    for one in config.subscriptions:
        for path in one.paths:
            try:
                elements(path)
            except PathError as error:
                where = f"{config.path}:{one.line}: subscriptions.{one.name}"
                faults.append(SourceError(where, f"{path}: {error.problem}", error.remedy))
    raise_all(faults)


def _of(config: GnmicConfig, name: str) -> list[GnmicSubscription]:
    return [one for one in config.subscriptions if one.name == name]


def _target(
    config: GnmicConfig,
    target: GnmicTarget,
    by_name: Mapping[str, list[GnmicSubscription]],
    stated: Sequence[tuple[str, str]],
    references: _Credentials,
) -> HostsTarget:
    wanted = [one for name in target.subscriptions for one in by_name.get(name, ())] or list(config.subscriptions)
    told = next((name for pattern, name in stated if fnmatchcase(target.name, pattern) and pattern != "*"), None)
    found = (told,) if told else _platforms(wanted)
    if len(found) != 1:
        found = next(((name,) for pattern, name in stated if pattern == "*"), found)
    return HostsTarget(
        source=target,
        platforms=found,
        credentials=references.of(target),
        gnmi_target=target.name if any(one.set_target for one in wanted) else "",
        mode=_asked_mode(wanted),
        encoding=target.encoding if target.encoding in STATED_ENCODINGS else "",
        interval_s=own_s if (own_s := _shortest_s(wanted)) != _shortest_s(config.subscriptions) else None,
    )


def _asked_mode(subscriptions: Sequence[GnmicSubscription]) -> str:
    """`once` or `poll` where that is the mode of all; such a target may stream nothing."""
    modes = {one.mode for one in subscriptions}
    return modes.pop() if len(modes) == 1 and modes <= ASKED else ""


def _platforms(subscriptions: Sequence[GnmicSubscription]) -> tuple[str, ...]:
    """The platforms with rules for the most of these paths; several have the paths of OpenConfig."""
    paths = {path for one in subscriptions for path in one.paths}
    counts = Counter(
        {name: sum(bool(_rules(platform(name).telemetry, path)) for path in paths) for name in platform_names()}
    )
    most = max(counts.values(), default=0)
    return tuple(name for name, count in counts.items() if count == most) if most else ()


def _rules(telemetry: TelemetryMap, path: str) -> tuple[TelemetryRule, ...]:
    """The rules whose leaves are at or below a path."""
    return tuple(rule for rule in telemetry.rules if covers(path, rule.path))


def _subscribed(config: GnmicConfig, targets: Sequence[HostsTarget]) -> Iterator[Subscribed]:
    """Each path on each platform of the targets that subscribe to it; without targets, on those that its paths tell."""
    for one in config.subscriptions:
        using = [target for target in targets if one.name in (target.source.subscriptions or (one.name,))]
        names = {name: None for target in using for name in target.platforms}
        if not targets:
            names = dict.fromkeys(_platforms(config.subscriptions))
        for path in one.paths:
            for name in names or {UNKNOWN: None}:
                yield Subscribed(one, path, name, _rules(platform(name).telemetry, path) if name else ())


def _renamed(config: GnmicConfig, subscribed: Sequence[Subscribed]) -> Iterator[Renamed]:
    """One row for each metric of gnmic that railfab has, by gnmic's name."""
    outputs = [one for one in config.outputs if one.type in PROMETHEUS]
    namings = dict.fromkeys((one.prefix, one.subscription_name) for one in outputs) or {("", False): None}
    strings = any(one.strings for one in outputs)
    rows: dict[tuple[str, str, str], Renamed] = {}
    for prefix, with_name in namings:
        for found in subscribed:
            subscription = found.subscription.name if with_name else ""
            for rule in found.rules:
                name = metric_name(rule.path, prefix=prefix, subscription=subscription)
                rows.setdefault((name, rule.metric, str(rule.labels)), _row(name, rule, strings=strings))
    yield from sorted(rows.values(), key=lambda row: (row.gnmic, row.railfab))


def _row(name: str, rule: TelemetryRule, *, strings: bool) -> Renamed:
    kind = CATALOGUE[rule.metric].kind
    change = f"x {rule.scale:g}" if rule.scale != 1 else ""
    if rule.encoding in ("string", "timestamp"):
        leaf = metric_name(rule.path.rpartition("/")[2])
        change = f"gnmic has 1 with the label {leaf}" if strings else "gnmic does not expose texts"
    if rule.states is not None:
        first = ", ".join(f"{state} is {number:g}" for state, number in list(rule.states.items())[:3])
        change += f"; {first}{', ...' if len(rule.states) > 3 else ''}"
    if rule.encoding == "timestamp":
        change += "; date to Unix time"
    names = label_names(rule.path).items()
    parts = [f"{ours.name} is a part of {theirs}" for theirs, ours in names if ours.part]
    labels = {theirs: ours.name for theirs, ours in names if theirs != ours.name and not ours.part}
    change = "; ".join(filter(None, (change, *parts)))
    return Renamed(name, rule.metric, kind.value, rule.labels, {"source": "device", **labels}, change)


DEFAULT_INTERVAL_S = 2.0
"""Of `railfab collect` [s]."""


def _more_notes(config: GnmicConfig) -> Iterator[Note]:
    """Values that differ, where the key alone does not."""
    for one in config.subscriptions:
        place = f"subscriptions.{one.name}.mode"
        if one.mode in ASKED:
            text = f"{one.mode}: asked every {one.interval_s or DEFAULT_INTERVAL_S:g} s, on one connection"
            yield Note(place, one.line, Verdict.DIFFERS, text)
        elif one.mode == "target_defined" and one.by_default:
            text = "target-defined: the platform's map says which leaves are sampled or sent on change"
            yield Note(f"subscriptions.{one.name}.stream-mode", one.line, Verdict.DIFFERS, text)
    for target in config.targets:
        place = f"targets.{target.name}"
        if len(target.hosts) > 1:
            yield Note(f"{place}.address", target.line, Verdict.DIFFERS, "only the first of several addresses is used")
        if unknown := [name for name in target.subscriptions if not _of(config, name)]:
            text = f"{unknown[0]} is no subscription of the file"
            yield Note(f"{place}.subscriptions", target.line, Verdict.UNKNOWN, text)
    intervals = sorted({one.interval_s for one in config.subscriptions if one.interval_s})
    if len(intervals) > 1:
        text = (
            f"several: --interval is the shortest, {intervals[0]:g} s, gnmi_interval_s the shortest of a target that"
            " has only longer ones; a mapping can state others by path"
        )
        yield Note("subscriptions.*.sample-interval", 0, Verdict.DIFFERS, text)


class _Credentials:
    """References for users, passwords and tokens: one for all targets that share them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.exports: list[Export] = []
        self._environment = environment
        self._known: dict[tuple[int | None, ...], str] = {}

    def of(self, target: GnmicTarget) -> str:
        """`env:PREFIX`, or `none` for a target without any."""
        parts = {
            "USERNAME": target.username or self._from_environment("USERNAME"),
            "PASSWORD": target.password or self._from_environment("PASSWORD"),
            "TOKEN": target.token or self._from_environment("TOKEN"),
        }
        if not any(parts.values()):
            return "none"
        key = tuple(part.number if part else None for part in parts.values())
        if key not in self._known:
            self._known[key] = f"{PREFIX}_{_variable(target.name)}" if self._known else PREFIX
            for word, part in parts.items():
                if part is not None:
                    self.exports.append(Export(f"{self._known[key]}_{word}", part.variable, part.text, part.line))
        return f"env:{self._known[key]}"

    def _from_environment(self, word: str) -> Reference | None:
        """A variable that gnmic reads where the file says nothing."""
        name = f"GNMIC_{word}"
        return Reference(0, -len(word), name) if name in self._environment else None


def _variable(name: str) -> str:
    return re.sub(r"\W+", "_", name.upper()).strip("_")

"""The contract of a platform. A platform is a subpackage of railfab.platforms or an entry point of another package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from railfab.device import DeviceModel, Observed
from railfab.endpoints import Credentials, Endpoint


class Support(StrEnum):
    """Whether a platform supports a feature of the device model.

    YES: rendered and enforced. EXTERNAL: not in its configuration; the operating system or the lab sets it, so the
    model leaves it out. NO: refused before rendering.
    """

    YES = "yes"
    EXTERNAL = "external"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """features: by name (`bfd`, `breakout`, `mtu`, `port_speed`, `unnumbered`, `numbered`, `pfc`, `ecn`, ...).

    limits: numeric bounds by name. quirks: known peculiarities, one sentence each. virtual: settings that a
    virtual image accepts without enforcing them.
    """

    features: Mapping[str, Support]
    limits: Mapping[str, int]
    quirks: tuple[str, ...]
    virtual: tuple[str, ...]


class Confidence(StrEnum):
    VERIFIED = "verified"
    DOCUMENTED = "documented"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryRule:
    """One native gNMI path and the canonical metric it carries.

    path: keys name labels, `/interface[name={interface}]/statistics/in-octets`.
    labels: labels that the path does not carry, with their fixed values.
    from_leaf: sibling leaves whose value carries labels: leaf name to a pattern, written like a key.
    encoding: type of the leaf: `uint64` (a string in JSON_IETF), `uint32`, `decimal` (a string), `string`, `timestamp`
        (RFC 3339 string).
    scale: canonical value = leaf x scale. states: leaf string to number, for enumerations.
    on_change: whether the leaf is subscribed ON_CHANGE; otherwise it is sampled.
    """

    path: str
    metric: str
    encoding: str
    confidence: Confidence
    labels: Mapping[str, str]
    scale: float = 1.0
    states: Mapping[str, float] | None = None
    on_change: bool = False
    from_leaf: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryMap:
    """rules: in file order. subscriptions: the containers to subscribe to, by mode."""

    rules: tuple[TelemetryRule, ...]
    sample_paths: tuple[str, ...]
    on_change_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFacts:
    """Settings with which containerlab boots the platform.

    interface: topology name of front-panel port, from the canonical name (regex and replacement).
    startup: file name of the startup configuration. mount: container path of a bind mount instead.
    empty: startup file of an unconfigured switch, `{name}` for its name; None when the kind needs no file.
    files: further files bound into the container, path in it to content.
    password: default password documented by the image's publisher; None where the lab sets it.
    """

    kind: str
    image: str
    type: str | None
    interface: tuple[str, str]
    startup: str
    mount: str | None = None
    empty: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    exec: tuple[str, ...] = ()
    cap_add: tuple[str, ...] = ()
    privileged: bool | None = None
    username: str = "admin"
    password: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The CLI as data: netmiko's device type, prompts, commands (verbs) and regular expressions of error texts."""

    netmiko: str
    prompts: Mapping[str, str]
    verbs: Mapping[str, str]
    errors: tuple[str, ...]


class Session(Protocol):
    """One transaction with one device; a context manager. Every text is configuration in the platform's own format."""

    def __enter__(self) -> Self:
        """Connect. Raises Unreachable or LoginRefused."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def load(self) -> str:
        """The running configuration, as `parse` reads it."""
        ...

    def diff(self, text: str) -> str:
        """Changes that committing this text would make, as a unified diff; empty when there are none."""
        ...

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Make this the running configuration, with a timed rollback where the platform has one.

        Raises CommitRefused; the device then runs its former configuration.
        """
        ...

    def confirm(self) -> None:
        """Keep the committed configuration: cancel the rollback and save for the next boot."""
        ...

    def rollback(self) -> None:
        """Restore the configuration that was running before `commit`."""
        ...

    def observe(self) -> Observed:
        """The live state."""
        ...


Tree = Any
"""Structured configuration of a platform: JSON for SR Linux, lines with children for FRR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The parts of one platform; tests/laws holds the laws that every platform passes.

    render: model to tree (deterministic). text: tree to configuration text. parse: configuration text to model.
    loopback: name of the loopback interface. session: imports its transport on use.
    startup: tree to containerlab's startup file; None where that is `text`.
    """

    name: str
    render: Callable[[DeviceModel], Tree]
    text: Callable[[Tree], str]
    parse: Callable[[str], DeviceModel]
    session: Callable[[Endpoint, Credentials], Session]
    telemetry: TelemetryMap
    capabilities: Capabilities
    dialect: Dialect
    lab: LabFacts
    suffix: str
    startup: Callable[[Tree], str] | None = None

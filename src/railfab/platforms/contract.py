"""What every platform has, no more. A platform is one folder of this room, or an entry point elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from railfab.device import DeviceModel, Observed
from railfab.endpoints import Credentials, Endpoint


class Support(StrEnum):
    """How a platform stands to a feature of the device model.

    YES: rendered and enforced. EXTERNAL: not in its configuration; the operating system or the lab sets it, so the
    model leaves it out. NO: asking for it is refused before rendering.
    """

    YES = "yes"
    EXTERNAL = "external"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """features: by name (`bfd`, `breakout`, `mtu`, `port_speed`, `unnumbered`, `numbered`, `pfc`, `ecn`, ...).

    limits: numeric bounds by name. quirks: what a reader should know, in words. virtual: what a virtual image accepts
    without enforcing it.
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
    from_leaf: leaves of the same list entry whose text holds labels, and that text, written like a key.
    encoding: how the leaf travels: `uint64` (a string in JSON_IETF), `uint32`, `decimal` (a string), `string`,
        `timestamp` (RFC 3339 string).
    scale: canonical value = leaf x scale. states: leaf string to number, for enumerations.
    on_change: whether the leaf is worth an ON_CHANGE subscription; else it is sampled.
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
    """How containerlab boots the platform.

    interface: topology name of front-panel port, from the canonical name (regex and replacement).
    startup: file name of the startup configuration. mount: container path it is bound to when the kind takes none.
    empty: what a switch without configuration boots with, `{name}` for its name; None when the kind needs no file.
    files: further files bound into the container, path in it to content.
    password: the one that the image's publisher documents; None where the lab sets it.
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
    """The CLI as data: netmiko's device type, prompts and verbs; error texts as regular expressions."""

    netmiko: str
    prompts: Mapping[str, str]
    verbs: Mapping[str, str]
    errors: tuple[str, ...]


class Session(Protocol):
    """One transaction with one device; a context manager. All text is the platform's own configuration text."""

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
        """What committing this text would change, as unified lines; empty when nothing would."""
        ...

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Make this the running configuration, with a way back where the platform has one.

        Raises CommitRefused, in which case the device is as it was.
        """
        ...

    def confirm(self) -> None:
        """Keep what was committed: call off the way back, save for the next boot."""
        ...

    def rollback(self) -> None:
        """Return to what was running before `commit`."""
        ...

    def observe(self) -> Observed:
        """The live state."""
        ...


Tree = Any
"""A configuration as its platform's structure: JSON for SR Linux, lines with children for FRR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The faces of one platform; laws about them are in tests/laws.

    render: model to tree (deterministic). text: tree to the text that is pushed. parse: text to model.
    loopback: name of the loopback interface. session: imports its transport on use.
    startup: tree to the file that containerlab boots it with; None where that is `text`.
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

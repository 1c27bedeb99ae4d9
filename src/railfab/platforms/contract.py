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


class Verb(StrEnum):
    """What `Session.operate` does. DRAIN and UNDRAIN act on the running configuration; SAVE makes it that of the next
    boot; RELOAD restarts the switch."""

    DRAIN = "drain"
    UNDRAIN = "undrain"
    SAVE = "save"
    RELOAD = "reload"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeName:
    """Name of a change on switches, chosen by who makes it; the same for all switches of a deploy.

    deploy: the ID of the deploy, for example `20261122T093012.345Z-4f2a`. user, host: who runs it and where.
    The text form, `DEPLOY/USER@HOST`, is stored on the switch, so that any later process reads it there.
    """

    deploy: str
    user: str
    host: str

    def __str__(self) -> str:
        return f"{self.deploy}/{self.user}@{self.host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A change on a switch that is neither confirmed nor reverted.

    change: its name; None for a change that railfab did not make. description: one line for the operator.
    reverts_in_s: when the switch reverts it by itself [s]; None when it does not, or does not say when.
    """

    change: ChangeName | None
    description: str
    reverts_in_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A switch as it names itself; empty where it does not say. version: release of its software."""

    hostname: str
    version: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A switch's running configuration, as `parse` reads it. revision: another one after every change of the text."""

    text: str
    revision: str
    identity: Identity
    pending: Pending | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A candidate that the device accepts. diff: unified, empty when nothing would change. revision: of the running
    configuration that it was compared with."""

    text: str
    diff: str
    revision: str


class Session(Protocol):
    """Access to one device; a context manager. Every text is configuration in the platform's own format.

    A session keeps nothing that a later process needs: the pending change and the former configuration are on the
    switch, under the name that the caller gave the change. Every call ends within a time limit; all raise Unreachable
    when the device does not answer, and DeviceError with one line otherwise.
    """

    def __enter__(self) -> Self:
        """Connect. Raises Unreachable or LoginRefused."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def running(self) -> Running:
        """The running configuration, and what is pending. Raises DeviceError, naming a daemon that does not run."""
        ...

    def stage(self, text: str) -> Staged:
        """Hand a candidate to the device, which validates it, and compare. Raises CommitRefused; changes nothing."""
        ...

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Make the candidate the running configuration; the device reverts it unless `confirm` comes within the time.

        The configuration of the next boot stays as it was until `confirm`.
        Raises CommitRefused when the running configuration is no longer `staged.revision`, when another change is
        pending, or when the device does not accept all of it; the device then runs its former configuration.
        """
        ...

    def confirm(self, change: ChangeName) -> None:
        """Keep a change, for the next boot too; from any process. Confirming twice does nothing.

        Raises CommitRefused when the device has reverted it.
        """
        ...

    def revert(self, change: ChangeName) -> None:
        """Restore what ran before a change that is pending, from any process; do nothing when it is not pending."""
        ...

    def observe(self) -> Observed:
        """The live state."""
        ...

    def operate(self, verb: Verb) -> None:
        """Do this now. Raises UnsupportedFeature when the platform cannot."""
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

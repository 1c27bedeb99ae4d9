"""The contract of a platform. A platform is a subpackage of railfab.platforms or an entry point of another package."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Protocol, Self

from railfab.device import DeviceModel, Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi.confirmed import CommitRecord
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Edit, Found, Model
from railfab.platforms.interface_templates import InterfaceTemplates
from railfab.ssh import NewCli


class Support(StrEnum):
    """Whether a platform supports a feature of the device model.

    YES: rendered and enforced. EXTERNAL: not in its configuration; the operating system or the lab sets it, so the
    model leaves it out. LATER: the platform has it, but railfab does not render it yet; refused before rendering, but
    not before planning. NO: refused.
    """

    YES = "yes"
    EXTERNAL = "external"
    LATER = "later"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """features: support by name of `railfab.platforms.features`; the platform lacks those that it does not name.

    external: by feature that is EXTERNAL, and `enabled`, how to set it on the system, for a message; `{interface}` and
        `{value}` stand for the port and what the intent says.
    limits: numeric bounds by name. quirks: known peculiarities, one sentence each. virtual: settings that a
    virtual image accepts without enforcing them.
    """

    features: Mapping[str, Support]
    limits: Mapping[str, int]
    quirks: tuple[str, ...]
    virtual: tuple[str, ...]
    external: Mapping[str, str] = field(default_factory=dict)

    def support(self, feature: str) -> Support:
        return self.features.get(feature, Support.NO)


class Confidence(StrEnum):
    VERIFIED = "verified"
    DOCUMENTED = "documented"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryRule:
    """One native gNMI path and the canonical metric it carries.

    path: keys and elements name labels, `/interface[name={interface}]/statistics/in-octets`,
        `/COUNTERS/{interface}/SAI_PORT_STAT_PFC_{priority}_RX_PKTS`; `*` stands for any text.
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


class SubscriptionMode(StrEnum):
    """How a target sends a path."""

    SAMPLE = "sample"
    ON_CHANGE = "on_change"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySubscription:
    """One path to subscribe to.

    interval_s: of samples [s]; None is the collector's. origin: of the path, such as `eos_native`. encoding: in lower
    case, such as `json_ietf`; None is the first one that the target supports. target: in the prefix of the request,
    such as SONiC's `COUNTERS_DB`.
    """

    path: str
    mode: SubscriptionMode
    interval_s: float | None = None
    origin: str = ""
    encoding: str | None = None
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryMap:
    """rules: in file order. subscriptions: what to subscribe to."""

    rules: tuple[TelemetryRule, ...]
    subscriptions: tuple[TelemetrySubscription, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFacts:
    """Settings with which containerlab boots the platform.

    interfaces: names of front-panel ports in a topology file, from their canonical names.
    startup: file name of the startup configuration. mount: path in the container to which it is bound read-only, where
        the kind has no startup configuration; `files` or the image copy it from there.
    empty: startup file of an unconfigured switch, `{name}` for its name; None when the kind needs no file.
    files: further files bound into the container read-only, path in it to content.
    password: default password documented by the image's publisher; None where the lab sets it.
    """

    kind: str
    image: str
    type: str | None
    interfaces: InterfaceTemplates
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

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The name of a text form; None for a text that is none."""
        deploy, slash, rest = text.partition("/")
        user, at, host = rest.rpartition("@")
        return cls(deploy=deploy, user=user, host=host) if slash and at else None


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
    """A candidate that the device accepts.

    diff: unified, empty when nothing would change. former: the running configuration that it was compared with, as a
    text that restores all that the candidate changes. revision: of that configuration.
    """

    text: str
    diff: str
    former: str
    revision: str


class Session(Protocol):
    """Access to one device; a context manager. Every text is configuration in the platform's own format.

    A session keeps nothing that a later process needs: the pending change and the former configuration are on the
    switch, under the name that the caller gave the change. Every call ends within a time limit, and at once when
    another thread calls `__exit__`; all raise Unreachable when the device does not answer, and DeviceError with one
    line otherwise.
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


class Datastore(Protocol):
    """The configuration of one virtual switch.

    A configuration is a value of the datastore's own type, never changed in place: a candidate becomes the running
    one with `commit`, after the fabric has accepted its model.
    """

    running: Any

    def merged(self, tree: Tree, /) -> Any:
        """A candidate: the running configuration with a rendered tree laid over it."""
        ...

    def edited(self, edits: Sequence[Edit], /) -> Any:
        """A candidate: the running configuration after a gNMI Set. Raises RequestRefused."""
        ...

    def replaced(self, text: str, /) -> Any:
        """A candidate from a whole configuration as text. Raises ConfigError."""
        ...

    def text(self) -> str:
        """The running configuration as text."""
        ...

    def model(self, configuration: Any, /) -> DeviceModel | None:
        """The device model of a configuration; None for the factory's. Raises RailfabError when it is not valid."""
        ...

    def commit(self, configuration: Any, /) -> None:
        """Make a candidate the running configuration."""
        ...

    def get(self, configuration: Any, path: tuple[Element, ...], state: list[Found], /) -> list[Found]:
        """The nodes of a configuration at a path, as gNMI answers, with those of the state laid over them."""
        ...

    def selected(
        self, configuration: Any, pattern: tuple[Element, ...], /
    ) -> Iterator[tuple[tuple[Element, ...], Any]]:
        """The leaves of a configuration at or below a path, which may hold wildcards."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualSession:
    """A BGP session of a virtual switch. peer: the interface of an unnumbered session, the address of a numbered one.

    interface: over which it runs; None when its address is in no subnet. bfd_up: None without BFD.
    """

    interface: str | None
    peer: str
    remote_as: int
    established: bool
    bfd_up: bool | None


class VirtualDevice(Protocol):
    """A switch of the twin, as its CLI uses it; from any thread."""

    name: str

    def running(self) -> str:
        """The running configuration."""
        ...

    def check(self, text: str) -> None:
        """Parse a configuration. Raises RailfabError when the switch would not accept it."""
        ...

    def replace(self, text: str) -> None:
        """Make this the running configuration. Raises RailfabError; then nothing has changed."""
        ...

    def observe(self) -> Observed:
        """The live state."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFace:
    """A virtual switch of the platform, as the twin serves it.

    datastore: of a new switch, from its name and its rendered configuration; usually a JsonDatastore or LineDatastore
        of `railfab.platforms.shared`.
    models: YANG modules that its gNMI server names.
    wildcard: the value for a `*` in a telemetry rule, from the device, the key's name (the element's, for an element
        of a path), its pattern and the labels of a sample; None when the rule does not apply to them.
    session_leaves: leaves of a BGP session that no metric carries, by path, from the device and the session.
    cli: makes the CLIs of SSH sessions with a device; None for a platform without one.
    commits: leaves of the last confirmed commits, by path; None without gNMI's commit-confirmed extension.
    facts: leaves of its state that never change, by path.
    """

    datastore: Callable[[str, Tree], Datastore]
    models: tuple[Model, ...]
    wildcard: Callable[[str, str, str, Mapping[str, str]], str | None]
    session_leaves: Callable[[str, VirtualSession], Mapping[str, Any]] = lambda _device, _session: {}
    cli: Callable[[VirtualDevice], NewCli] | None = None
    commits: Callable[[Sequence[CommitRecord]], Mapping[str, Any]] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The parts of one platform; `railfab.testing.platforms` holds the laws that every platform passes.

    render: model to tree (deterministic). text: tree to configuration text. parse: configuration text to model.
    loopback: name of the loopback interface. session: imports its transport on use.
    startup: tree to containerlab's startup file; None where that is `text`.
    external: what EXTERNAL features of a planned model mean for the system below, as comments that begin its
        configuration text; a session applies them where `Endpoint.owns_system` is true, and ignores them elsewhere.
    twin: None for a platform that the twin does not serve.
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
    external: Callable[[DeviceModel], str] | None = None
    twin: TwinFace | None = None

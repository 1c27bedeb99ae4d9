"""The face `twin` of a platform: its virtual switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from railfab.device import DeviceModel, Fec, IpAddress, IpNetwork, Observed
from railfab.errors import RailfabError

if TYPE_CHECKING:
    from railfab.gnmi.confirmed import CommitRecord
    from railfab.gnmi.paths import Element
    from railfab.gnmi.target import Commit, DataType, Edit, Found, GnmiOffer, YangModel
    from railfab.platforms.shared.virtual_images import VirtualImages
    from railfab.ssh import Cli, NewCli

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

    def text(self, configuration: Any, /) -> str:
        """A configuration as text."""
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

    def named(self, state: list[Found], /) -> list[Found]:
        """State with the names that a Get has in a container: with module prefixes where they belong."""
        ...

    def plain_path(self, path: tuple[Element, ...], /) -> tuple[Element, ...]:
        """A path of a request as the paths of answers are written: identities in keys without their modules."""
        ...

    def selected(
        self, configuration: Any, pattern: tuple[Element, ...], /
    ) -> Iterator[tuple[tuple[Element, ...], Any]]:
        """The leaves of a configuration at or below a path, which may hold wildcards."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualSession:
    """A BGP session of a virtual switch. peer: the interface of an unnumbered session, the address of a numbered one.

    interface: over which it runs; None when its address is in no subnet. peer_router_id: its BGP identifier; None while
    the session is down. bfd_up: None without BFD.
    bfd_transmit_ms: interval of the BFD packets that it sends. bfd_receive_ms, bfd_remote_receive_ms,
    bfd_remote_multiplier: of those that it expects, of those that the far end can take, and how many it may miss; None
    while BFD is down. None without BFD, all of them.
    enabled: whether it, its group and the speaker are.
    """

    interface: str | None
    peer: str
    remote_as: int
    established: bool
    peer_router_id: str | None = None
    bfd_up: bool | None
    bfd_transmit_ms: int | None = None
    bfd_receive_ms: int | None = None
    bfd_remote_receive_ms: int | None = None
    bfd_remote_multiplier: int | None = None
    enabled: bool = True


class VirtualOptics(NamedTuple):
    """Measurements of the transceiver of a port: each lane has the same light. Powers in dBm."""

    receive_dbm: float
    transmit_dbm: float
    bias_ma: float
    temperature_celsius: float
    volts: float


class VirtualNeighbor(NamedTuple):
    """A neighbour that LLDP has heard on a port. name, port: as it names itself. since_s: Unix time of its first
    frame."""

    name: str
    port: str
    description: str
    since_s: float


class VirtualArpEntry(NamedTuple):
    """An address that a port has resolved, by ARP or neighbour discovery. device, port: that answer for it."""

    address: IpAddress
    device: str
    port: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualPort:
    """A front-panel port of a virtual switch.

    fault: the kind of reason for which it is down: `disabled`, `breakout`, `fec`, `no-signal`; empty when it is up.
    routed: whether its IP interface is enabled and in a network instance. mtu_bytes: of that. lag: that it is a member
    of. fec: with which the port runs; None without. lldp: whether LLDP runs on it. lanes: of its transceiver.
    resolved: hosts.
    """

    name: str
    rate_gbps: float
    fault: str
    routed: bool
    mtu_bytes: int | None
    fec: Fec | None
    optics: VirtualOptics
    lanes: int = 1
    lldp: bool = True
    neighbors: tuple[VirtualNeighbor, ...] = ()
    resolved: tuple[VirtualArpEntry, ...] = ()
    lag: str | None = None


class VirtualMember(NamedTuple):
    """A cabled member of a LAG. fault: of the port, see VirtualPort. used: whether the LAG sends and receives over it.
    partner: the device with which it exchanges LACP; None without one."""

    port: str
    fault: str
    used: bool
    partner: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualLag:
    """A LAG of a virtual switch with a cabled member. routed: as of a port. rate_gbps: of all members in use."""

    name: str
    enabled: bool
    routed: bool
    rate_gbps: float
    members: tuple[VirtualMember, ...]

    @property
    def oper_up(self) -> bool:
        return any(member.used for member in self.members)


class RouteCounts(NamedTuple):
    """Active routes of a family (`ipv4-unicast`): all, those with several next hops, and those learned by BGP."""

    family: str
    active: int
    ecmp: int
    bgp: int


class VirtualRoute(NamedTuple):
    """An active route of the default network instance. interfaces: over which packets leave, each once; none of an
    address of the switch itself, and of an aggregate. as_path: nearest first; None of a route that no peer has taught.
    """

    prefix: IpNetwork
    interfaces: tuple[str, ...]
    as_path: tuple[int, ...] | None
    preference: int = 100
    med: int = 0


class VirtualChassis(NamedTuple):
    """A virtual switch as a device. model: of the catalogue. started_s: Unix time at which it booted [s].

    system_name: as it announces itself. lldp: whether that runs. groups: next hops of each next-hop group of BGP.
    """

    name: str
    model: str
    system_name: str
    lldp: bool
    started_s: float
    routes: tuple[RouteCounts, ...]
    groups: tuple[int, ...]


class VirtualReading(NamedTuple):
    """The value of a metric of the catalogue. labels: without `device`."""

    metric: str
    labels: Mapping[str, str]
    value: float


class VirtualTimers(Protocol):
    """Jobs of a switch that run at a later time. They wait while it hangs, and end with its power."""

    def schedule(self, name: str, within_s: float, action: Callable[[], None]) -> None:
        """Run an action after this time; in place of the job of that name."""
        ...

    def cancel(self, name: str) -> bool:
        """Remove a job; whether there was one that had not begun."""
        ...

    def left_s(self, name: str) -> float | None:
        """Time until a job runs [s]; None when there is none."""
        ...


class VirtualDevice(Protocol):
    """A switch of the twin, as its CLI uses it; from any thread.

    boots: how often it has had power; what a CLI keeps in memory is of one boot. images: its software. unit: number of
    the device in this place, from 1; another one has another serial number.
    """

    name: str
    boots: int
    unit: int
    images: VirtualImages

    @property
    def timers(self) -> VirtualTimers: ...

    def running(self) -> str:
        """The running configuration."""
        ...

    def startup(self) -> str:
        """The configuration of the next boot."""
        ...

    def save(self) -> None:
        """Make the running configuration that of the next boot."""
        ...

    def restart(self) -> None:
        """Boot the startup configuration; returns before the switch loses its power."""
        ...

    def readings(self) -> Sequence[VirtualReading]:
        """The present values of the metrics."""
        ...

    def ports(self) -> tuple[VirtualPort, ...]:
        """The front-panel ports."""
        ...

    def sessions(self) -> tuple[VirtualSession, ...]:
        """The BGP sessions."""
        ...

    def chassis(self) -> VirtualChassis:
        """The switch as a device."""
        ...

    def routes(self) -> Sequence[VirtualRoute]:
        """The active routes."""
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

    @property
    def configuration(self) -> Any:
        """The running configuration in the datastore's own type: never changed in place, another object after each
        change."""
        ...

    @property
    def saved(self) -> bool:
        """Whether the next boot has the running configuration."""
        ...

    def get(self, path: tuple[Element, ...], data_type: DataType) -> Sequence[Found]:
        """The present answer to a gNMI Get of a path. Raises PathNotFound."""
        ...

    def change(self, candidate_of: Callable[[Any], Any], commit: Commit | None = None) -> None:
        """Run what a function makes of the running configuration, as a gNMI Set does with its edits.

        commit: the extension of a Set that is reverted unless it is confirmed. Raises RailfabError; then nothing has
        changed.
        """
        ...

    def decide(self, commit: Commit) -> None:
        """Confirm or cancel the change that waits. Raises RailfabError."""
        ...

    def commits(self) -> Sequence[CommitRecord]:
        """The last commits under a timer, of all clients, oldest first."""
        ...


class GnmiCommands(Protocol):
    """Commands of the origin `cli`, as a gNMI server runs them. cli: a new session. Both raise RequestRefused."""

    def answer(self, device: str, cli: Cli, command: str, *, as_json: bool) -> str:
        """The output of a command that shows something."""
        ...

    def configure(self, device: str, cli: Cli, text: str) -> None:
        """Run lines of configuration, all or none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFace:
    """A virtual switch of the platform, as the twin serves it.

    datastore: of a new switch, from its name and its rendered configuration; usually a JsonDatastore or LineDatastore
        of `railfab.platforms.shared`.
    models: YANG modules that its gNMI server names; none for a platform that the twin serves over SSH alone.
    origins: of gNMI paths that name these models, the usual one first; a path without origin is one of theirs.
    wildcard: the value for a `*` in a telemetry rule, from the device, the key's name (the element's, for an element
        of a path), its pattern and the labels of a sample; None when the rule does not apply to them.
    session_leaves: leaves of a BGP session that no metric carries, by path, from the device and the session.
    cli: makes the CLIs of SSH sessions with a device; None for a platform without one.
    commits: leaves of the last confirmed commits, by path; None without gNMI's commit-confirmed extension.
    port_leaves: leaves of a port that no metric carries, by path, from the device and the port.
    lag_leaves: leaves of a LAG, likewise; None for a platform whose LAGs the twin does not show.
    device_leaves: leaves of the switch itself, likewise.
    device_paths: paths, as names, below which there are no other leaves of the state than those of the switch itself
        and of commits; what is asked for there is answered without reading ports and counters.
    check_asked: raises RequestRefused for a path of a Get or Subscribe, of a device, with an element that the models do
        not have.
    offer: what of gNMI its server offers; None is all of it.
    commands: of its CLI, over gNMI; None where it takes none.
    serves_gnmi: whether its gNMI server answers with a configuration of the datastore.
    saves: whether a configuration has each commit saved as the startup configuration; always, where a platform has no
        other way.
    in_effect: the model of a configuration with the defaults by which the switch acts where it states nothing.
    foreign_ports: what the switch refuses of a configuration because its hardware, with these cages, lacks the port.
    uncounted: metrics of which a switch with this configuration has no counter, since it does not read the chip's.
    release: of the software that a new switch runs, as it reports it.
    booted: a startup configuration as this release boots it, which may state the release.
    """

    datastore: Callable[[str, Tree], Datastore]
    models: tuple[YangModel, ...]
    wildcard: Callable[[str, str, str, Mapping[str, str]], str | None]
    session_leaves: Callable[[str, VirtualSession], Mapping[str, Any]] = lambda _device, _session: {}
    cli: Callable[[VirtualDevice], NewCli] | None = None
    commits: Callable[[Sequence[CommitRecord]], Mapping[str, Any]] | None = None
    origins: tuple[str, ...] = ()
    port_leaves: Callable[[str, VirtualPort], Mapping[str, Any]] = lambda _device, _port: {}
    lag_leaves: Callable[[str, VirtualLag], Mapping[str, Any]] | None = None
    device_leaves: Callable[[VirtualChassis], Mapping[str, Any]] = lambda _chassis: {}
    device_paths: tuple[tuple[str, ...], ...] = ()
    check_asked: Callable[[str, tuple[Element, ...]], None] = lambda _device, _path: None
    offer: GnmiOffer | None = None
    commands: GnmiCommands | None = None
    serves_gnmi: Callable[[Any], bool] = lambda _configuration: True
    saves: Callable[[Any], bool] = lambda _configuration: True
    in_effect: Callable[[DeviceModel, Any], DeviceModel] = lambda model, _configuration: model
    foreign_ports: Callable[[Any, Sequence[str]], Sequence[RailfabError]] = lambda _configuration, _cages: ()
    uncounted: Callable[[Any], frozenset[str]] = lambda _configuration: frozenset()
    release: str = ""
    booted: Callable[[Any, str], Any] = lambda startup, _release: startup

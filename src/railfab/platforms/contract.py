"""The contract of a platform. A platform is a subpackage of railfab.platforms or an entry point of another package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from railfab.errors import UnsupportedFeature
from railfab.platforms.interface_templates import InterfaceTemplates

if TYPE_CHECKING:
    from railfab.device import DeviceModel
    from railfab.endpoints import Credentials, Endpoint
    from railfab.findings import HazardCode
    from railfab.platforms.differences import Difference
    from railfab.platforms.hazards import Hazard, HazardGap
    from railfab.platforms.interruptions import Interruptions
    from railfab.platforms.sections import Sections
    from railfab.platforms.session import Session
    from railfab.platforms.telemetry_map import TelemetryMap
    from railfab.platforms.twin_face import Tree, TwinFace


class Support(StrEnum):
    """Whether a platform supports a feature of the device model.

    YES: rendered and enforced. EXTERNAL: not in its configuration; the operating system or the lab sets it, so the
    model leaves it out. OMITTED: the platform has no such setting and works without it, so the model leaves it out.
    LATER: the platform has it, but railfab does not render it yet; refused before rendering, but not before planning.
    NO: refused. A platform does not name a feature that its text cannot carry, unless that is to be OMITTED. It
    states NO of what the text can state and the switch does not support, OMITTED also of what it can state and railfab
    does not render.
    """

    YES = "yes"
    EXTERNAL = "external"
    OMITTED = "omitted"
    LATER = "later"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpSettings:
    """BGP settings that a platform needs to converge as fast as it can, where its own defaults are slower.

    Times in seconds, as in `railfab.device.BgpTimers`; None leaves a setting to the platform.
    """

    connect_retry_s: int | None = None
    advertisement_interval_s: int | None = None
    rapid_withdrawal: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """features: support by name of `railfab.platforms.features`. Of those that it does not name the platform omits the
        optional ones and lacks the others; `railfab.platforms.admission.support_of` decides.

    chips: support by the first words of a chip, as `silicon` of the catalogue has it: of features that differ there.
    external: by feature that is EXTERNAL, and `enabled`, how to set it on the system, for a message; `{interface}` and
        `{value}` stand for the port and the value of the intent.
    limits, least: largest and smallest values by name. bgp: settings of sessions where the intent states none.
    hash_fields: those of the ECMP hash by default, on a platform that states them with the seed; empty on others.
    segment_type: of the identifiers of Ethernet segments that the platform takes (RFC 7432, section 5): 0 is any, 3 is
        made of the MAC address and the number of the LAG, as which admission states every segment.
    steps: units in which the platform states a value, by the name of the value (see `railfab.platforms.rounding`); a
        model is rounded to them. cell_bytes: the largest unit in which its chips allocate buffer; a threshold that the
        switch shows less than this away from the configured one has been rounded by it, and is no drift.
    names: of the platform in other tools; those of its lab and its dialect beside them.
    quirks: known peculiarities, one sentence each. virtual: settings that a virtual image accepts without enforcing
    them.
    """

    features: Mapping[str, Support]
    limits: Mapping[str, int]
    quirks: tuple[str, ...]
    virtual: tuple[str, ...]
    chips: Mapping[str, Mapping[str, Support]] = field(default_factory=dict)
    external: Mapping[str, str] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)
    bgp: BgpSettings = field(default_factory=BgpSettings)
    hash_fields: tuple[str, ...] = ()
    segment_type: int = 0
    steps: Mapping[str, int] = field(default_factory=dict)
    cell_bytes: int = 1
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFacts:
    """Settings with which containerlab boots the platform.

    aliases: other names of the kind. interfaces: names of front-panel ports in a topology file, from their canonical
    names. kernel: their names in Linux, where a topology file may have these too. ports: how many the image has; None
    where that does not matter.
    startup: file name of the startup configuration. mount: path in the container to which it is bound read-only, where
        the kind has no startup configuration; `files` or the image copy it from there.
    preface: text before the rendered configuration in the startup file, such as the user with whom a lab logs in.
    empty: startup file of an unconfigured switch, `{name}` for its name; None when the kind needs no file.
    files: further files bound into the container read-only, path in it to content.
    env: environment of the container. password: default password documented by the image's publisher; None where the
    lab sets it.
    """

    kind: str
    image: str
    type: str | None
    interfaces: InterfaceTemplates
    startup: str
    mount: str | None = None
    preface: str = ""
    empty: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    exec: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cap_add: tuple[str, ...] = ()
    privileged: bool | None = None
    aliases: tuple[str, ...] = ()
    kernel: InterfaceTemplates = field(default_factory=lambda: InterfaceTemplates({}))
    ports: int | None = None
    username: str = "admin"
    password: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The CLI as data: netmiko's device type, prompts, commands (verbs) and regular expressions of error texts.

    prompts: the first is that of a login.
    """

    netmiko: str
    prompts: Mapping[str, str]
    verbs: Mapping[str, str]
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A leaf or line that the schema of a switch does not take.

    is_unknown: one that the release we know lacks. is_foreign: one in a part of the configuration that railfab leaves
    to others, where a newer release, or the rest of its configuration, may have what it lacks. said: the text of the
    switch itself, where one is published.
    """

    where: str
    problem: str
    is_unknown: bool = False
    is_foreign: bool = False
    said: str = field(default="", compare=False)


def no_interruptions() -> Interruptions:
    """The interruptions of a platform that states none."""
    from railfab.platforms.interruptions import Interruptions

    return Interruptions()


class SessionFactory(Protocol):
    """Makes a session. read_within_s: limit of each call that only reads; None is that of the platform [s]."""

    def __call__(
        self, endpoint: Endpoint, credentials: Credentials, /, *, read_within_s: float | None = None
    ) -> Session: ...


class RunningText(Protocol):
    """Reads the running configuration of a switch over gNMI. read_within_s: as of a session. Raises DeviceError."""

    def __call__(
        self, endpoint: Endpoint, credentials: Credentials, /, *, read_within_s: float | None = None
    ) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The parts of one platform; `railfab.testing.platforms` holds the laws that every platform passes.

    render: model to tree (deterministic). text: tree to configuration text. parse: configuration text to model.
    differences: every leaf or line in which a configuration text differs from a rendered one, also in the parts of a
        switch that railfab does not configure; a value that is the switch's default equals an absent one.
    telemetry_map: reads its `telemetry.yml`, once. hazards: reads its `hazards.yml`, once. hazard_gaps: the kinds
        without a pattern there, and why; others may leave them out. sections: its `sections.yml`; None where every
        setting without a model belongs to the operator. interruptions: its `interruptions.yml`; without it, every
        change counts as one that interrupts forwarding.
    refusals: what the switch's own schema refuses in a text, or does not know; none where railfab has no schema.
    aligned: a text with the names of objects that the switch may choose freely (a peer group, a profile) as the other
        text has them, and a line for each object that has another name; the text as it is where None.
    session: imports its transport on use; None, as `dialect`, for a platform to which railfab cannot deploy yet.
    running_text: for a platform without sessions whose switches give their whole configuration over gNMI; else None.
    suffix: of the name of a configuration file.
    startup: tree to containerlab's startup file; None where that is `text`.
    external: what EXTERNAL features of a planned model mean for the system below, as comments that begin its
        configuration text; a session applies them where `Endpoint.owns_system` is true, and ignores them elsewhere.
    scoped: a configuration text without what is the operator's because the other text, the intent's, does not state it;
        None where the intent states a whole configuration.
    twin: makes its virtual switches; None for a platform that the twin does not serve.
    Functions may import their module on use (`railfab.platforms.shared.on_use`), because `plan` calls none of them.
    """

    name: str
    render: Callable[[DeviceModel], Tree]
    text: Callable[[Tree], str]
    parse: Callable[[str], DeviceModel]
    telemetry_map: Callable[[], TelemetryMap]
    capabilities: Capabilities
    lab: LabFacts
    suffix: str
    differences: Callable[[str, str], tuple[Difference, ...]]
    hazards: Callable[[], tuple[Hazard, ...]]
    hazard_gaps: Callable[[], Mapping[HazardCode, HazardGap]] = dict
    sections: Callable[[], Sections] | None = None
    interruptions: Callable[[], Interruptions] = no_interruptions
    session: SessionFactory | None = None
    dialect: Dialect | None = None
    running_text: RunningText | None = None
    refusals: Callable[[str], tuple[Refusal, ...]] | None = None
    aligned: Callable[[str, str], tuple[str, tuple[str, ...]]] | None = None
    startup: Callable[[Tree], str] | None = None
    external: Callable[[DeviceModel], str] | None = None
    scoped: Callable[[str, str], str] | None = None
    twin: Callable[[], TwinFace] | None = None

    @property
    def telemetry(self) -> TelemetryMap:
        """The paths of its telemetry, and the metrics that they carry."""
        return self.telemetry_map()

    @property
    def names(self) -> frozenset[str]:
        """Its own name, and those that containerlab, netmiko, NAPALM and ntc-templates have for it."""
        netmiko = (self.dialect.netmiko,) if self.dialect else ()
        return frozenset((self.name, self.lab.kind, *self.lab.aliases, *netmiko, *self.capabilities.names))

    def session_factory(self, where: str) -> SessionFactory:
        """The function that makes sessions. where: the switches, for a message. Raises UnsupportedFeature."""
        if self.session is None:
            remedy = "Write their files with `railfab render INTENT -o DIR`, and load them with the tools of the vendor"
            raise UnsupportedFeature(where, f"railfab cannot connect to switches of platform {self.name} yet", remedy)
        return self.session

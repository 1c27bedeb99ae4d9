"""QoS of a switch: classes, classifiers, thresholds per class, and what each port uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Scheduling(StrEnum):
    """Scheduling of an egress queue: strict priority, or a weighted share of what strict queues leave."""

    STRICT = "strict"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficClass:
    """A traffic class and its egress queue.

    weight: share among the weighted queues [percent]; None when strict.
    rate_percent: most of the port's rate that the queue is sent at [percent]; None is all of it.
    pfc_priority: the priority of the pause frames that its packets make a port send; None is a lossy class.
    obeyed_priority: the priority of received pause frames that stop its queue. Another value than pfc_priority, or one
    of both missing, is a mistake that a model can express.
    """

    name: str
    queue: int
    scheduling: Scheduling
    weight: int | None = None
    pfc_priority: int | None = None
    obeyed_priority: int | None = None
    rate_percent: int | None = None

    @property
    def lossless(self) -> bool:
        return self.pfc_priority is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Classifier:
    """A map of DSCP code points to classes. dscp: (code point, name of the class), ascending, each point once."""

    name: str
    dscp: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnRamp:
    """ECN marking ramp of a queue (Zhu et al., SIGCOMM 2015): none below kmin, pmax at kmax, all above."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassThresholds:
    """Thresholds of one class; None is the platform's default.

    ecn: None without a ramp. xoff_bytes: ingress occupancy at which a pause frame is sent.
    xon_offset_bytes: how far below that it must fall before sending may resume. headroom_bytes: ingress buffer of one
    port for packets that arrive after a pause frame was sent; headroom_percent: the most that one queue may take of the
    chip's headroom pool, on platforms that state shares. alpha: dynamic threshold, a share of the free shared buffer.
    limit_bytes: fixed limit of the egress queue; 0: the chip's own, a share of the free buffer. wred: a ramp by which
    packets are dropped instead of marked; a mistake of a lossless class. native_ecn: instead of `ecn`, a ramp as its
    platform states it whose thresholds no document gives in bytes, such as one in segments; its packets are marked.
    """

    traffic_class: str
    ecn: EcnRamp | None = None
    xoff_bytes: int | None = None
    xon_offset_bytes: int | None = None
    headroom_bytes: int | None = None
    headroom_percent: int | None = None
    alpha: float | None = None
    limit_bytes: int | None = None
    wred: EcnRamp | None = None
    native_ecn: str | None = None

    @property
    def marks(self) -> bool:
        """Whether packets are marked, whatever the unit of the thresholds."""
        return self.ecn is not None or self.native_ecn is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortProfile:
    """Thresholds shared by ports of one speed and cable length. thresholds: in the order of the classes.

    cable_m: length of the cables, rounded up, from which a platform may compute headroom and pause thresholds itself.
    """

    name: str
    thresholds: tuple[ClassThresholds, ...]
    cable_m: int | None = None

    def of(self, traffic_class: str) -> ClassThresholds | None:
        """The thresholds of a class; None when the profile has none."""
        return next((thresholds for thresholds in self.thresholds if thresholds.traffic_class == traffic_class), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPriority:
    """The priorities of a class on one port, as `TrafficClass` has them for the switch."""

    traffic_class: str
    pfc_priority: int | None
    obeyed_priority: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortQos:
    """QoS of one port, or of a LAG for all its members.

    profile: name of its PortProfile; None is the platform's default. classifier: name of its Classifier; without one,
    all packets belong to the default class. pfc: priorities with PFC, ascending. ecn: names of the classes that are
    marked here, in the order of the classes; wred: of those whose packets are dropped by a ramp, likewise.
    priorities: of the classes whose pause frames have another priority here than on the switch, in the order of the
    classes; a mistake.
    """

    interface: str
    profile: str | None = None
    classifier: str | None = None
    pfc: tuple[int, ...] = ()
    ecn: tuple[str, ...] = ()
    wred: tuple[str, ...] = ()
    priorities: tuple[ClassPriority, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcWatchdog:
    """Ignores pause frames once a queue has been paused for detect_ms; honours them after recover_ms without pause."""

    detect_ms: int
    recover_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketTrimming:
    """A packet that does not fit into its queue is cut to `size_bytes` and sent on, so that its receiver learns of the
    loss at once (Ultra Ethernet 1.0, section 4.1; NDP, SIGCOMM 2017).

    dscp: of trimmed packets. traffic_class: in which they are sent.
    """

    size_bytes: int
    dscp: int
    traffic_class: str


KINDS = 64
"""Kinds of switches, by their QoS, for which is kept what follows from it; a design has as many as roles and models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos:
    """QoS of one switch.

    default_class: the class of code points that a classifier does not name, and of packets on a port without one.
    headroom_pool_percent, headroom_pool_bytes: buffer reserved for packets that arrive after a pause frame was sent, as
    a share of the chip's buffer and as a size; platforms state one of them. shared_pool_bytes: buffer that the lossless
    queues share beyond their headroom. None of these is the platform's default. trimming: None without.
    """

    classes: tuple[TrafficClass, ...]
    default_class: str
    classifiers: tuple[Classifier, ...]
    profiles: tuple[PortProfile, ...]
    ports: tuple[PortQos, ...]
    watchdog: PfcWatchdog | None
    headroom_pool_percent: int | None = None
    headroom_pool_bytes: int | None = None
    shared_pool_bytes: int | None = None
    trimming: PacketTrimming | None = None

    def __hash__(self) -> int:
        """Hash of a few fields: the switches of one kind share their QoS, a key by which results are looked up."""
        return hash((self.default_class, len(self.classes), len(self.profiles), len(self.ports), self.ports[-1:]))

    def traffic_class(self, name: str) -> TrafficClass:
        """The class of that name. Raises StopIteration."""
        return next(traffic_class for traffic_class in self.classes if traffic_class.name == name)

    def classes_on(self, port: PortQos) -> tuple[TrafficClass, ...]:
        """The classes with the priorities that their pause frames have on a port."""
        by_class = {priority.traffic_class: priority for priority in port.priorities}
        return tuple(
            replace(traffic_class, pfc_priority=stated.pfc_priority, obeyed_priority=stated.obeyed_priority)
            if (stated := by_class.get(traffic_class.name))
            else traffic_class
            for traffic_class in self.classes
        )

    def profile(self, name: str) -> PortProfile | None:
        return next((profile for profile in self.profiles if profile.name == name), None)

    def classifier(self, name: str) -> Classifier | None:
        return next((classifier for classifier in self.classifiers if classifier.name == name), None)

    def lossless(self) -> tuple[TrafficClass, ...]:
        """The lossless classes; empty when every class is lossy."""
        return tuple(traffic_class for traffic_class in self.classes if traffic_class.lossless)

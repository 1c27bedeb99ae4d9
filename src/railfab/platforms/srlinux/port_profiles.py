"""Parses the buffer allocation and queue management profiles of `/qos` to the thresholds that ports use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from railfab.device import ClassThresholds, EcnRamp, PortProfile, Qos
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.qos import DROPS, PFC_PREFIX, marking_name

DEFAULT_PMAX_PERCENT = 100
"""SR Linux's default (srl_nokia-qos 25.3.1)."""


class ProfileUse(NamedTuple):
    """The profiles that a port uses.

    buffers, pfc_buffers: buffer allocation of its queues, and of its PFC queues. markings: queue management of each
    class that has one.
    """

    buffers: str | None
    pfc_buffers: str | None
    markings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def usual(cls, buffers: str) -> ProfileUse:
        """As railfab renders a port profile: one buffer allocation profile for both."""
        return cls(buffers, buffers)

    def marking(self, traffic_class: str, qos: Qos) -> str:
        """The queue management profile of a class; without one, that which belongs to the buffers."""
        return dict(self.markings).get(traffic_class) or marking_name(self.buffers or "", traffic_class, qos)

    def name(self, qos: Qos) -> str | None:
        """The name of the port profile: that of the buffers, with every profile that does not belong to these."""
        others = [] if self.pfc_buffers == self.buffers else [f"pfc:{self.pfc_buffers or 'none'}"]
        for traffic_class, name in self.markings:
            if name != marking_name(self.buffers or "", traffic_class, qos):
                others.append(f"{traffic_class}:{name}")
        return " ".join((self.buffers or "none", *others)) if others else self.buffers


class Slopes(NamedTuple):
    """The slopes of a queue management profile by which packets are marked, and dropped."""

    marks: ConfigNode | None = None
    drops: ConfigNode | None = None

    @property
    def mark(self) -> bool:
        """Whether packets are marked, or would be with a slope."""
        return _is_enabled(self.marks) or (self.marks is None and self.drops is None)


NO_SLOPES = Slopes()


class PortProfiles:
    """The profiles by name. queue_of, pfc_queue_of: the queue of each class, and that in which it waits on ingress."""

    def __init__(
        self, management: ConfigNode, queue_of: Mapping[str, str | None], pfc_queue_of: Mapping[str, str]
    ) -> None:
        self._nothing = ConfigNode({}, management.path, management.problems)
        self.buffers = by_key(management, "buffer-allocation-profile", "name")
        self._slopes = {
            name: _slopes(profile) for name, profile in by_key(management, "queue-management-profile", "name").items()
        }
        self._queue_of, self._pfc_queue_of = queue_of, pfc_queue_of

    def use(self, binding: ConfigNode, qos: Qos) -> ProfileUse:
        """The profiles that a port with this binding uses."""
        output = binding.child("output")
        buffers = known_name(output, "buffer-allocation-profile", self.buffers)
        pfc_buffers = known_name(binding.child("input"), "pfc-buffer-allocation-profile", self.buffers)
        has_pfc = binding.child("pfc").flag("pfc-enable", default=False)
        nodes = by_key(output.child("queues"), "queue", "queue-name")
        bound = {
            queue: name
            for queue, node in nodes.items()
            if (name := known_name(node, "queue-management-profile", self._slopes)) is not None
        }
        queues = ((traffic_class.name, self._queue_of[traffic_class.name] or "") for traffic_class in qos.classes)
        return ProfileUse(
            buffers=buffers,
            pfc_buffers=pfc_buffers if has_pfc else buffers,
            markings=tuple((traffic_class, bound[queue]) for traffic_class, queue in queues if queue in bound),
        )

    def marked(self, use: ProfileUse) -> tuple[str, ...]:
        """Classes with a queue management profile whose marking slope is not disabled, or that has no slope."""
        return tuple(traffic_class for traffic_class, name in use.markings if self._slopes[name].mark)

    def dropped(self, use: ProfileUse) -> tuple[str, ...]:
        """Classes with a queue management profile that has a dropping slope."""
        return tuple(traffic_class for traffic_class, name in use.markings if _is_enabled(self._slopes[name].drops))

    def profile(self, name: str, use: ProfileUse, qos: Qos) -> PortProfile:
        """The thresholds of the classes on ports that use these profiles."""
        thresholds = (self._thresholds(use, traffic_class.name, qos) for traffic_class in qos.classes)
        return PortProfile(name=name, thresholds=tuple(entry for entry in thresholds if entry is not None))

    def _thresholds(self, use: ProfileUse, traffic_class: str, qos: Qos) -> ClassThresholds | None:
        """Thresholds of one class; None where it has none."""
        queue = self._listed(use.buffers, "queue", "queue-name", self._queue_of[traffic_class] or "")
        pfc_queue = self._pfc_queue_of.get(traffic_class, PFC_PREFIX + traffic_class)
        pfc = self._listed(use.pfc_buffers, "pfc-queue", "pfc-queue-name", pfc_queue)
        limit_bytes = queue.number("maximum-burst-size")
        slopes = self._slopes.get(use.marking(traffic_class, qos), NO_SLOPES)
        thresholds = ClassThresholds(
            traffic_class=traffic_class,
            ecn=_ramp(slopes.marks, limit_bytes),
            wred=_ramp(slopes.drops, limit_bytes),
            xoff_bytes=pfc.number("maximum-burst-size"),
            headroom_percent=pfc.number("maximum-pfc-reserved-share-percentage"),
            limit_bytes=limit_bytes,
        )
        return None if thresholds == ClassThresholds(traffic_class=traffic_class) else thresholds

    def _listed(self, profile: str | None, name: str, key: str, wanted: str) -> ConfigNode:
        """An entry of the queues of a buffer allocation profile; empty without it."""
        if profile is None:
            return self._nothing
        return self.buffers[profile].child("queues").entry(name, key, wanted)


def by_key(node: ConfigNode, name: str, key: str) -> dict[str, ConfigNode]:
    """The entries of a list by their key."""
    return {str(entry.value[key]): entry for entry in node.entries(name, key)}


def known_name(node: ConfigNode, leaf: str, known: Mapping[str, object]) -> str | None:
    """The name in a leaf; None without one, or after noting that it is not defined."""
    name = node.text(leaf)
    if name is not None and name not in known:
        names = ", ".join(sorted(known)) or "the profiles; none is defined yet"
        node.problem(f"{name} is not defined", f"Use one of {names}", leaf)
        return None
    return name


def _slopes(marking: ConfigNode) -> Slopes:
    """The slopes of a queue management profile that apply to all packets."""
    slopes = list(marking.child("wred").entries("wred-slope", "traffic-type", "drop-probability", "enable-ecn"))
    marks = next((slope for slope in slopes if slope.flag("enable-ecn", default=False)), None)
    return Slopes(marks, next((slope for slope in slopes if _key(slope) == DROPS), None))


def _key(slope: ConfigNode) -> Json:
    return {leaf: slope.value[leaf] for leaf in DROPS} | {"enable-ecn": slope.flag("enable-ecn", default=False)}


def _is_enabled(slope: ConfigNode | None) -> bool:
    return slope is not None and slope.flag("slope-enabled", default=False)


def _ramp(slope: ConfigNode | None, limit_bytes: int | None) -> EcnRamp | None:
    """The ramp of a slope whose thresholds are in bytes, or in percent of the limit of the queue."""
    if slope is None:
        return None
    kmin, kmax = (_threshold(slope, leaf, limit_bytes) for leaf in ("min-threshold", "max-threshold"))
    if kmin is None or kmax is None:
        return None
    pmax = slope.number("max-drop-probability-percent")
    return EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=DEFAULT_PMAX_PERCENT if pmax is None else pmax)


def _threshold(slope: ConfigNode, leaf: str, limit_bytes: int | None) -> int | None:
    percent, stated = slope.number(f"{leaf}-percent"), slope.number(leaf)
    return stated if percent is None or limit_bytes is None else percent * limit_bytes // 100

"""Effective QoS of a switch: the queue of a packet, where it is marked, and which port pauses which queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from railfab.device import (
    ClassThresholds,
    DeviceModel,
    Lag,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.sim import QUEUES

LOSSY_SHARE = 1 / 100
"""Share of the buffer that a lossy queue may take: the order of what a dynamic threshold leaves it under load."""

CHIP_SHARE = 0.25
"""Share of the free buffer that a queue with a stated limit of 0 may take: alpha 5 of unicast queues, on 7220 IXR-D2,
D3, D5, H2 and H3 (srl_nokia-qos 25.3.1, maximum-burst-size)."""

DEFAULT_CLASS = TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=100)
"""The class of every packet on a switch without QoS."""

DEFAULT_XOFF_BYTES, DEFAULT_HEADROOM_PERCENT = 51_200, 10
"""XOFF threshold of a lossless class that has none, and its share of the headroom pool: those of SR Linux's PFC queues
on Broadcom XGS (srl_nokia-qos 25.3.1, pfc-queue: maximum-burst-size, maximum-pfc-reserved-share-percentage)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEffect:
    """Marking and drops of one queue of a port. kmin_bytes infinite: no marks. limit_bytes infinite: no tail drop.

    limit_share: with a dynamic limit, its share of the free shared buffer, else 0. wred: what the ramp would mark is
    dropped before the queue instead.
    """

    queue: int
    kmin_bytes: float = np.inf
    kmax_bytes: float = np.inf
    pmax: float = 0.0
    limit_bytes: float = np.inf
    limit_share: float = 0.0
    wred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseEffect:
    """The ingress buffer of one lossless class of a port. headroom_bytes is of the chip's pool.

    xoff_share: with a dynamic threshold, what xoff is of the free shared buffer, else 0.
    """

    priority: int
    xoff_bytes: float
    headroom_bytes: float
    xoff_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PortEffect:
    """QoS of one port.

    classes: the class of each code point, the others are of the default class. own: all of them, with the priorities
    that they have here. queues: those of its classes.
    pfc: priorities with PFC, of which pause frames are sent and obeyed. pauses: buffers of the lossless classes.
    """

    classes: Mapping[int, TrafficClass] = field(default_factory=dict)
    default: TrafficClass = DEFAULT_CLASS
    own: tuple[TrafficClass, ...] = (DEFAULT_CLASS,)
    queues: tuple[QueueEffect, ...] = ()
    pfc: tuple[int, ...] = ()
    pauses: tuple[PauseEffect, ...] = ()

    def paused_queue(self, priority: int) -> int | None:
        """The queue that a received pause frame of this priority pauses; None when the port ignores it."""
        if priority not in self.pfc:
            return None
        return next((found.queue for found in self.own if found.obeyed_priority == priority), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEffect:
    """QoS of one switch.

    ports: those of the model's QoS, and the members of its LAGs. plain: QoS of any other port. shared_bytes: the buffer
    without the headroom pool. lossy_bytes: limit of a queue of no class.
    """

    classes: tuple[TrafficClass, ...]
    watchdog: PfcWatchdog | None
    ports: Mapping[str, PortEffect]
    plain: PortEffect
    shared_bytes: float
    lossy_bytes: float

    @property
    def lossless(self) -> tuple[TrafficClass, ...]:
        return tuple(found for found in self.classes if found.lossless)

    def class_of(self, interface: str, dscp: int) -> TrafficClass:
        """The class of a packet that comes in on this port."""
        port = self.port(interface)
        return port.classes.get(dscp, port.default)

    def port(self, interface: str) -> PortEffect:
        return self.ports.get(interface, self.plain)


def switch_effect(model: DeviceModel | None, buffer_bytes: float) -> SwitchEffect:
    """The effect of a model's QoS on a chip with this buffer."""
    if model is None or model.qos is None:
        plain = PortEffect(queues=(QueueEffect(queue=DEFAULT_CLASS.queue, limit_bytes=LOSSY_SHARE * buffer_bytes),))
        return SwitchEffect(
            classes=(DEFAULT_CLASS,),
            watchdog=None,
            ports={},
            plain=plain,
            shared_bytes=buffer_bytes,
            lossy_bytes=LOSSY_SHARE * buffer_bytes,
        )
    qos = replace(model.qos, classes=tuple(map(_of_chip, model.qos.classes)))
    chip = _Chip(qos, buffer_bytes)
    distinct = {_settings(port): port for port in qos.ports}
    lags = {lag.name: lag.members for lag in model.interfaces if isinstance(lag, Lag)}
    effects = {settings: chip.port(port) for settings, port in distinct.items()}
    return SwitchEffect(
        classes=qos.classes,
        watchdog=qos.watchdog,
        ports={
            name: effects[_settings(port)]
            for port in qos.ports
            for name in (port.interface, *lags.get(port.interface, ()))
        },
        plain=chip.port(PortQos(interface="")),
        shared_bytes=buffer_bytes - chip.pool_bytes,
        lossy_bytes=LOSSY_SHARE * buffer_bytes,
    )


def _settings(port: PortQos) -> tuple[object, ...]:
    """The settings that the effect of a port depends on; most ports of a switch have the same."""
    return port.profile, port.classifier, port.pfc, port.ecn, port.wred, port.priorities


def _of_chip(found: TrafficClass) -> TrafficClass:
    """The class with queues and priorities that the simulator has: of others, the first queue, and no PFC."""
    sent, obeyed = (value if value in range(QUEUES) else None for value in (found.pfc_priority, found.obeyed_priority))
    queue = found.queue if found.queue in range(QUEUES) else 0
    same = (queue, sent, obeyed) == (found.queue, found.pfc_priority, found.obeyed_priority)
    return found if same else replace(found, queue=queue, pfc_priority=sent, obeyed_priority=obeyed)


@dataclass(frozen=True, slots=True)
class _Chip:
    """The QoS of a switch with its buffer; makes the effects of ports."""

    qos: Qos
    buffer_bytes: float

    @property
    def default(self) -> TrafficClass:
        return self._class(self.qos.default_class) or DEFAULT_CLASS

    @property
    def pool_bytes(self) -> float:
        """The headroom pool: its size, or its share of the buffer; 0 where the switch states neither."""
        if self.qos.headroom_pool_bytes is not None:
            return self.qos.headroom_pool_bytes
        return self.buffer_bytes * (self.qos.headroom_pool_percent or 0) / 100

    def _class(self, name: str) -> TrafficClass | None:
        return next((found for found in self.qos.classes if found.name == name), None)

    def port(self, port: PortQos) -> PortEffect:
        if port.priorities:
            own = tuple(map(_of_chip, self.qos.classes_on(port)))
            return replace(self, qos=replace(self.qos, classes=own)).port(replace(port, priorities=()))
        qos, profile = self.qos, self.qos.profile(port.profile) if port.profile else None
        classifier = qos.classifier(port.classifier) if port.classifier else None
        classes = {point: self._class(name) or self.default for point, name in (classifier.dscp if classifier else ())}
        return PortEffect(
            classes=classes,
            default=self.default,
            own=qos.classes,
            queues=tuple(self._queue(found, port, profile) for found in qos.classes),
            pfc=port.pfc,
            pauses=tuple(self._pause(found, profile) for found in qos.lossless()),
        )

    def _pause(self, found: TrafficClass, profile: PortProfile | None) -> PauseEffect:
        assert found.pfc_priority is not None
        held = (profile.of(found.name) if profile else None) or ClassThresholds(traffic_class=found.name)
        dynamic = held.alpha if held.xoff_bytes is None else None
        percent = DEFAULT_HEADROOM_PERCENT if held.headroom_percent is None else held.headroom_percent
        share_bytes = self.pool_bytes * percent / 100
        return PauseEffect(
            priority=found.pfc_priority,
            xoff_bytes=DEFAULT_XOFF_BYTES if held.xoff_bytes is None else held.xoff_bytes,
            headroom_bytes=share_bytes if held.headroom_bytes is None else held.headroom_bytes,
            xoff_share=dynamic or 0.0,
        )

    def _queue(self, found: TrafficClass, port: PortQos, profile: PortProfile | None) -> QueueEffect:
        thresholds = profile.of(found.name) if profile else None
        limit_bytes, limit_share = self._limit(found, thresholds)
        ecn = thresholds.ecn if thresholds and found.name in port.ecn else None
        wred = thresholds.wred if thresholds and found.name in port.wred else None
        ramp = min((each for each in (wred, ecn) if each is not None), key=lambda each: each.kmin_bytes, default=None)
        if ramp is None:
            return QueueEffect(queue=found.queue, limit_bytes=limit_bytes, limit_share=limit_share)
        return QueueEffect(
            queue=found.queue,
            kmin_bytes=ramp.kmin_bytes,
            kmax_bytes=ramp.kmax_bytes,
            pmax=ramp.pmax_percent / 100,
            limit_bytes=limit_bytes,
            limit_share=limit_share,
            wred=ramp is wred,
        )

    def _limit(self, found: TrafficClass, thresholds: ClassThresholds | None) -> tuple[float, float]:
        """The tail drop limit of a queue [bytes], and the share of the free shared buffer that is another."""
        if thresholds and thresholds.limit_bytes == 0:
            return np.inf, CHIP_SHARE
        if thresholds and thresholds.limit_bytes is not None:
            return thresholds.limit_bytes, 0.0
        if found.lossless:
            return np.inf, 0.0
        if thresholds and thresholds.alpha is not None:
            return np.inf, thresholds.alpha
        return LOSSY_SHARE * self.buffer_bytes, 0.0

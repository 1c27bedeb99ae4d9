"""Effective QoS: the queue of a packet, where it is marked, and which port pauses which queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from railfab.device import ClassThresholds, DeviceModel, PortProfile, PortQos, Qos, Scheduling, TrafficClass
from railfab.errors import ConfigError, RailfabError, UnsupportedFeature
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import PortStates
from railfab.sim import QUEUES, Network, plain_network
from railfab.topology import PortKey

HOST_QUEUE = 3
"""A sender's queue towards its switch, paused with the lossless class. Its number means nothing elsewhere."""

PAUSE_RESPONSE_NS = 300.0
"""From a pause frame's arrival to silence; typical, where IEEE 802.3 annex 31B allows microseconds."""

LOSSY_SHARE = 1 / 100
"""Share of the buffer that a lossy queue may take: the order of what a dynamic threshold leaves it under load."""

XON_GAP_BYTES = 18_432
"""XON is two jumbo frames below XOFF, so that a port does not send XOFF again at once."""

STRICT_WEIGHT = 1e6
"""Against weights in percent this is strict priority."""

DEFAULT_CLASS = TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=100)
"""The class of every packet on a switch without QoS."""

DEFAULT_XOFF_SHARE = 1 / 100
"""XOFF threshold of a lossless class that has none, as a share of the buffer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEffect:
    """Marking and tail drop of one queue of a port. kmin_bytes infinite: no marks. limit_bytes infinite: no drops."""

    queue: int
    kmin_bytes: float = np.inf
    kmax_bytes: float = np.inf
    pmax: float = 0.0
    limit_bytes: float = np.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class PortEffect:
    """QoS of one port.

    classes: the class of each code point, the others are of the default class. queues: those of its classes.
    pfc: priorities with PFC. xoff_bytes, headroom_bytes: of the lossless class; headroom is of the chip's pool.
    xoff_share: with a dynamic threshold, what xoff is of the free shared buffer, else 0.
    """

    classes: Mapping[int, TrafficClass] = field(default_factory=dict)
    queues: tuple[QueueEffect, ...] = ()
    pfc: tuple[int, ...] = ()
    xoff_bytes: float = np.inf
    headroom_bytes: float = 0.0
    xoff_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEffect:
    """QoS of one switch. default: the class of packets that no classifier names. lossless: the lossless class, if any.

    plain: QoS of a port that the model's QoS does not name. shared_bytes: the buffer without the headroom pool.
    """

    classes: tuple[TrafficClass, ...]
    default: TrafficClass
    lossless: TrafficClass | None
    ports: Mapping[str, PortEffect]
    plain: PortEffect
    shared_bytes: float

    def class_of(self, interface: str, dscp: int) -> TrafficClass:
        """The class of a packet that comes in on this port."""
        return self.port(interface).classes.get(dscp, self.default)

    def port(self, interface: str) -> PortEffect:
        return self.ports.get(interface, self.plain)

    def sent_priority(self, interface: str) -> int | None:
        """The priority of the pause frames that this port sends; None when it sends none."""
        priority = self.lossless.pfc_priority if self.lossless else None
        return priority if priority in self.port(interface).pfc else None

    def paused_queue(self, interface: str, priority: int) -> int | None:
        """The queue that a received pause frame of this priority pauses; None when the port ignores it."""
        if priority not in self.port(interface).pfc:
            return None
        return next((found.queue for found in self.classes if found.obeyed_priority == priority), None)


def switch_effect(model: DeviceModel | None, buffer_bytes: float) -> SwitchEffect:
    """The effect of a model's QoS, which `qos_errors` has found nothing in, on a chip with this buffer."""
    if model is None or model.qos is None:
        plain = PortEffect(queues=(QueueEffect(queue=DEFAULT_CLASS.queue, limit_bytes=LOSSY_SHARE * buffer_bytes),))
        return SwitchEffect(
            classes=(DEFAULT_CLASS,),
            default=DEFAULT_CLASS,
            lossless=None,
            ports={},
            plain=plain,
            shared_bytes=buffer_bytes,
        )
    qos = model.qos
    chip = _Chip(qos, buffer_bytes)
    distinct = {_settings(port): port for port in qos.ports}
    effects = {settings: chip.port(port) for settings, port in distinct.items()}
    return SwitchEffect(
        classes=qos.classes,
        default=chip.default,
        lossless=next(iter(qos.lossless()), None),
        ports={port.interface: effects[_settings(port)] for port in qos.ports},
        plain=chip.port(PortQos(interface="")),
        shared_bytes=buffer_bytes - chip.pool_bytes,
    )


def _settings(port: PortQos) -> tuple[object, ...]:
    """The settings that the effect of a port depends on; most ports of a switch have the same."""
    return port.profile, port.classifier, port.pfc, port.ecn


def qos_errors(name: str, qos: Qos) -> Iterator[RailfabError]:
    """Queues that a port does not have, and several lossless classes."""
    for found in qos.classes:
        if not 0 <= found.queue < QUEUES:
            problem = f"there is no queue {found.queue}"
            yield ConfigError(f"{name}: class {found.name}", problem, f"Use queues 0 to {QUEUES - 1}")
    names = [found.name for found in qos.lossless()]
    if len(names) > 1:
        problem = f"the twin simulates one lossless class per switch, not {' and '.join(names)}"
        yield UnsupportedFeature(f"{name}: QoS", problem, "Leave pfc_priority to one of them")


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
        """The headroom pool."""
        return self.buffer_bytes * self.qos.headroom_pool_percent / 100

    def _class(self, name: str) -> TrafficClass | None:
        return next((found for found in self.qos.classes if found.name == name), None)

    def port(self, port: PortQos) -> PortEffect:
        qos, profile = self.qos, self.qos.profile(port.profile) if port.profile else None
        classifier = qos.classifier(port.classifier) if port.classifier else None
        classes = {point: self._class(name) or self.default for point, name in (classifier.dscp if classifier else ())}
        lossless = next(iter(qos.lossless()), None)
        thresholds = profile.of(lossless.name) if profile and lossless else None
        return PortEffect(
            classes=classes,
            queues=tuple(self._queue(found, port, profile) for found in qos.classes),
            pfc=port.pfc,
            xoff_bytes=self._xoff_bytes(thresholds) if lossless else np.inf,
            headroom_bytes=self._headroom_bytes(thresholds) if lossless else 0.0,
            xoff_share=(thresholds.alpha or 0.0) if thresholds and thresholds.xoff_bytes is None else 0.0,
        )

    def _queue(self, found: TrafficClass, port: PortQos, profile: PortProfile | None) -> QueueEffect:
        thresholds = profile.of(found.name) if profile else None
        limit_bytes = np.inf if found.lossless else LOSSY_SHARE * self.buffer_bytes
        if thresholds and thresholds.limit_bytes is not None:
            limit_bytes = thresholds.limit_bytes
        ramp = thresholds.ecn if thresholds and found.name in port.ecn else None
        if ramp is None:
            return QueueEffect(queue=found.queue, limit_bytes=limit_bytes)
        return QueueEffect(
            queue=found.queue,
            kmin_bytes=ramp.kmin_bytes,
            kmax_bytes=ramp.kmax_bytes,
            pmax=ramp.pmax_percent / 100,
            limit_bytes=limit_bytes,
        )

    def _xoff_bytes(self, thresholds: ClassThresholds | None) -> float:
        if thresholds is None or thresholds.xoff_bytes is None:
            return DEFAULT_XOFF_SHARE * self.buffer_bytes
        return thresholds.xoff_bytes

    def _headroom_bytes(self, thresholds: ClassThresholds | None) -> float:
        """Of the pool, what the thresholds say, or an equal share for each port."""
        if thresholds is None or thresholds.headroom_percent is None:
            return self.pool_bytes / max(1, len(self.qos.ports))
        return self.pool_bytes * thresholds.headroom_percent / 100


def plain_links(links: LinkTable) -> Network:
    """The simulator's arrays of a fabric in which no switch is configured: all links are down."""
    count, chips = len(links.near), {name: chip for chip, name in enumerate(links.buffer_bytes)}
    net = plain_network(np.zeros(count))
    return replace(
        net,
        delay_ns=links.delay_ns,
        pause_delay_ns=links.cable_ns + PAUSE_RESPONSE_NS,
        xon_gap_bytes=np.full(count, float(XON_GAP_BYTES)),
        chip=np.array([chips.get(links.far_key(link)[0], -1) for link in range(count)], np.int64),
    )


def network(
    links: LinkTable,
    ports: PortStates,
    effects: Mapping[str, SwitchEffect],
    touched: Iterable[PortKey],
    before: Network,
) -> Network:
    """The simulator's arrays with those of touched ports computed again: rates, and what the ports at both ends do."""
    net = _copied(before)
    for key in touched:
        link, state = links.egress[key], ports[key[0]][key[1]]
        net.rate_gbps[link] = state.rate_gbps if state.oper_up else 0.0
        if key[0] in effects:
            _egress(net, link, effects[key[0]], key[1], links.buffer_bytes[key[0]])
            _ingress(net, link ^ 1, effects[key[0]], key[1])
        _pause(net, link, links, effects)
    return net


def _copied(net: Network) -> Network:
    """A network whose arrays may be written to, but for those that no configuration changes."""
    return replace(
        net,
        rate_gbps=net.rate_gbps.copy(),
        xoff_bytes=net.xoff_bytes.copy(),
        xoff_share=net.xoff_share.copy(),
        shared_bytes=net.shared_bytes.copy(),
        headroom_bytes=net.headroom_bytes.copy(),
        pfc_sent=net.pfc_sent.copy(),
        pfc_honoured=net.pfc_honoured.copy(),
        pause_queue=net.pause_queue.copy(),
        kmin_bytes=net.kmin_bytes.copy(),
        kmax_bytes=net.kmax_bytes.copy(),
        pmax=net.pmax.copy(),
        limit_bytes=net.limit_bytes.copy(),
        weight=net.weight.copy(),
    )


def _egress(net: Network, link: int, switch: SwitchEffect, interface: str, buffer_bytes: float) -> None:
    """Set the queues of the port that a link leaves."""
    net.limit_bytes[link], net.weight[link] = LOSSY_SHARE * buffer_bytes, 1.0
    net.kmin_bytes[link], net.kmax_bytes[link], net.pmax[link] = np.inf, np.inf, 0.0
    for found in switch.classes:
        strict = found.scheduling is Scheduling.STRICT
        net.weight[link, found.queue] = STRICT_WEIGHT if strict else (found.weight or 1)
    for effect in switch.port(interface).queues:
        queue = (link, effect.queue)
        net.limit_bytes[queue] = effect.limit_bytes
        net.kmin_bytes[queue], net.kmax_bytes[queue], net.pmax[queue] = (
            effect.kmin_bytes,
            effect.kmax_bytes,
            effect.pmax,
        )


def _ingress(net: Network, link: int, switch: SwitchEffect, interface: str) -> None:
    """Set the buffer of the port that a link leads to; without PFC it drops where it would send a pause frame."""
    port = switch.port(interface)
    net.xoff_bytes[link] = port.xoff_bytes
    net.headroom_bytes[link] = port.headroom_bytes
    net.xoff_share[link], net.shared_bytes[link] = port.xoff_share, switch.shared_bytes
    net.pfc_sent[link] = switch.sent_priority(interface) is not None


def _pause(net: Network, link: int, links: LinkTable, effects: Mapping[str, SwitchEffect]) -> None:
    """Set which queue of the near end a pause frame from the far end pauses.

    It is set for a far end without PFC too, which sends none.
    """
    near, far = links.near[link], links.far(link)
    lossless = effects[far.node].lossless if far.node in effects else None
    net.pfc_honoured[link], net.pause_queue[link] = False, 0
    if lossless is None or lossless.pfc_priority is None:
        return
    queue = HOST_QUEUE if links.is_host(near.node) else None
    if near.node in effects:
        queue = effects[near.node].paused_queue(near.name, lossless.pfc_priority)
    if queue is not None:
        net.pfc_honoured[link], net.pause_queue[link] = True, queue

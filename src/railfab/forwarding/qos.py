"""Effective QoS: which queue a packet is put into, where it is marked, and who stops whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from railfab.device import DeviceModel, PortQos, Qos, Scheduling, TrafficClass
from railfab.errors import ConfigError, RailfabError, raise_all
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import PortStates
from railfab.sim import QUEUES, Network, plain_network
from railfab.topology import PortKey

HOST_QUEUE = 3
"""A sender's queue towards its switch; a pause for the lossless class stops it. Its number means nothing elsewhere."""

PAUSE_RESPONSE_NS = 300.0
"""From a pause frame's arrival to silence; typical, where IEEE 802.3 annex 31B allows microseconds."""

LOSSY_SHARE = 1 / 100
"""Of the buffer, what one lossy queue may take: the order of what a dynamic threshold leaves it under load."""

XON_GAP_BYTES = 18_432
"""A port lets go two jumbo frames below XOFF, so that it does not ask again at once."""

STRICT_WEIGHT = 1e6
"""Against weights in percent this is strict priority."""

DEFAULT_CLASS = TrafficClass(name="default", queue=0, dscp=(), scheduling=Scheduling.WEIGHTED, weight=100)
"""Where a switch without QoS puts everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortEffect:
    """What a port does to lossless traffic. kmin_bytes infinite: no marks. headroom_bytes: of the chip's pool."""

    trust_dscp: bool = False
    pfc: bool = False
    kmin_bytes: float = np.inf
    kmax_bytes: float = np.inf
    pmax: float = 0.0
    xoff_bytes: float = np.inf
    headroom_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEffect:
    """QoS of one switch. lossless: the class PFC protects, if any."""

    classes: tuple[TrafficClass, ...]
    lossless: TrafficClass | None
    ports: Mapping[str, PortEffect]

    def class_of(self, interface: str, dscp: int) -> TrafficClass:
        """The class of a packet that comes in on this port."""
        default = next((cls for cls in self.classes if not cls.dscp), DEFAULT_CLASS)
        if not self.port(interface).trust_dscp:
            return default
        return next((cls for cls in self.classes if dscp in cls.dscp), default)

    def port(self, interface: str) -> PortEffect:
        return self.ports.get(interface, _PLAIN)


_PLAIN = PortEffect()


def switch_effect(model: DeviceModel | None, buffer_bytes: float) -> SwitchEffect:
    """What a model's QoS amounts to on a chip with this buffer. Raises ConfigError for what no chip could follow."""
    if model is None or model.qos is None:
        return SwitchEffect(classes=(DEFAULT_CLASS,), lossless=None, ports={})
    qos = model.qos
    raise_all(_contradictions(model.name, qos))
    distinct = {_settings(port): port for port in qos.ports}
    effects = {settings: _port_effect(qos, port, buffer_bytes) for settings, port in distinct.items()}
    ports = {port.interface: effects[_settings(port)] for port in qos.ports}
    return SwitchEffect(classes=qos.classes, lossless=qos.lossless(), ports=ports)


def _settings(port: PortQos) -> tuple[str, bool, bool, bool]:
    """What the effect of a port depends on; most ports of a switch have the same."""
    return port.profile, port.pfc, port.ecn, port.trust_dscp


def _contradictions(name: str, qos: Qos) -> list[RailfabError]:
    """Queues that a port does not have, and ports bound to a profile that is not there."""
    known = {profile.name for profile in qos.profiles}
    queues: list[RailfabError] = [
        ConfigError(f"{name}: class {cls.name}", f"there is no queue {cls.queue}", f"Use queues 0 to {QUEUES - 1}")
        for cls in qos.classes
        if not 0 <= cls.queue < QUEUES
    ]
    profiles = [
        ConfigError(
            f"{name} {port.interface}", f"there is no QoS profile {port.profile!r}", "Define it, or use another"
        )
        for port in qos.ports
        if port.profile not in known
    ]
    return [*queues, *profiles]


def _port_effect(qos: Qos, port: PortQos, buffer_bytes: float) -> PortEffect:
    profile = qos.profile(port.profile)
    return PortEffect(
        trust_dscp=port.trust_dscp,
        pfc=port.pfc and qos.lossless() is not None,
        kmin_bytes=profile.kmin_bytes if port.ecn else np.inf,
        kmax_bytes=profile.kmax_bytes if port.ecn else np.inf,
        pmax=profile.pmax_percent / 100,
        xoff_bytes=profile.xoff_bytes,
        headroom_bytes=buffer_bytes * qos.headroom_pool_percent / 100 * profile.headroom_percent / 100,
    )


def plain_links(links: LinkTable) -> Network:
    """The simulator's arrays of a fabric in which no switch is configured: all links are down."""
    count = len(links.near)
    net = plain_network(np.zeros(count))
    return replace(
        net,
        delay_ns=links.delay_ns,
        pause_delay_ns=links.cable_ns + PAUSE_RESPONSE_NS,
        xon_gap_bytes=np.full(count, float(XON_GAP_BYTES)),
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
            _ingress(net, link ^ 1, effects[key[0]].port(key[1]))
        _pause(net, link, links, effects)
    return net


def _copied(net: Network) -> Network:
    """A network whose arrays may be written to, but for those that no configuration changes."""
    return replace(
        net,
        rate_gbps=net.rate_gbps.copy(),
        xoff_bytes=net.xoff_bytes.copy(),
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
    """Set the queues of the port that a link leaves. Only the lossless class marks and is free of tail drop."""
    port = switch.port(interface)
    net.limit_bytes[link], net.weight[link] = LOSSY_SHARE * buffer_bytes, 1.0
    net.kmin_bytes[link], net.kmax_bytes[link], net.pmax[link] = np.inf, np.inf, 0.0
    for cls in switch.classes:
        net.weight[link, cls.queue] = STRICT_WEIGHT if cls.scheduling is Scheduling.STRICT else (cls.weight or 1)
    if switch.lossless is None:
        return
    queue = switch.lossless.queue
    net.limit_bytes[link, queue] = np.inf
    net.kmin_bytes[link, queue] = port.kmin_bytes
    net.kmax_bytes[link, queue] = port.kmax_bytes
    net.pmax[link, queue] = port.pmax


def _ingress(net: Network, link: int, port: PortEffect) -> None:
    """Set the buffer of the port that a link leads to; without PFC it drops where it would have asked for a pause."""
    net.xoff_bytes[link] = port.xoff_bytes
    net.headroom_bytes[link] = port.headroom_bytes
    net.pfc_sent[link] = port.pfc


def _pause(net: Network, link: int, links: LinkTable, effects: Mapping[str, SwitchEffect]) -> None:
    """Set which queue of the near end a pause from the far end stops; none when they protect different priorities."""
    near, far = links.near[link], links.far(link)
    asking = effects[far.node].lossless if far.node in effects else None
    obeying = effects[near.node].lossless if near.node in effects else None
    net.pfc_honoured[link], net.pause_queue[link] = False, 0
    if asking is None:
        return
    if links.is_host(near.node):
        net.pfc_honoured[link], net.pause_queue[link] = True, HOST_QUEUE
    elif obeying is not None and obeying.lossless_priority == asking.lossless_priority:
        net.pfc_honoured[link] = effects[near.node].port(near.name).pfc
        net.pause_queue[link] = obeying.queue

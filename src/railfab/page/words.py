"""The configuration of a switch or a port in sentences, from its device model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from railfab.device import DeviceModel
from railfab.device.interfaces import Interface, Lag, Port
from railfab.device.qos import ClassThresholds, PortQos, Qos
from railfab.device.routing import BgpNeighbor
from railfab.page.plan import PlannedPort
from railfab.text.counted import counted, listed
from railfab.topology import LinkKind, Node, SwitchModel

LINKS: Mapping[LinkKind, str] = {
    LinkKind.HOST: "a host",
    LinkKind.UPLINK: "an uplink",
    LinkKind.DOWNLINK: "a downlink",
    LinkKind.PEER: "the other switch of its pair",
}


def switch_sentences(node: Node, model: DeviceModel, kind: SwitchModel) -> Iterator[str]:
    """What a switch is and how it is configured."""
    ports = sum(isinstance(interface, Port) for interface in model.interfaces)
    place = "" if node.segment is None else f" of segment {node.segment}"
    used = counted(ports, "port")
    yield f"{node.name} is a {node.role}{place} on {node.platform} ({node.model}), with {used} in use."
    yield f"It forwards with a chip {kind.silicon}, whose buffer has {kind.buffer_bytes / 1e6:,.0f} MB."
    yield from _routing_sentences(model)
    if model.qos is not None:
        yield from _qos_sentences(model.qos)
    if model.drain:
        yield "It is drained: its neighbours prefer other paths (graceful shutdown, RFC 8326)."
    if model.vtep is not None:
        yield f"It is a VXLAN tunnel endpoint with the address {model.vtep.address}."
    if model.mlag is not None:
        yield f"It is one switch of the MLAG pair {model.mlag.domain}."


def port_sentences(port: PlannedPort, model: DeviceModel) -> Iterator[str]:
    """What a port is connected to and how it is configured."""
    rail = "" if port.rail is None else f" It serves rail {port.rail}."
    yield (
        f"{port.interface} leads to {port.peer} {port.peer_interface} ({LINKS[port.kind]}) at {port.rate_gbps} Gb/s"
        f" over {port.cable_m:g} m.{rail}"
    )
    interface = next((held for held in model.interfaces if held.name == port.interface), None)
    if interface is not None:
        yield from _interface_sentences(interface)
    yield from _bundle_sentences(port.interface, model)
    yield from _session_sentences(port, model)
    if model.qos is not None:
        yield from _port_qos_sentences(port.interface, model.qos)


def _routing_sentences(model: DeviceModel) -> Iterator[str]:
    speaker = model.bgp
    if speaker is None:
        yield "It runs no BGP."
        return
    paths = max(speaker.max_paths, speaker.max_paths_internal)
    yield (
        f"It is BGP speaker AS {speaker.asn} with {counted(len(speaker.neighbors), 'session')} and uses up to"
        f" {counted(paths, 'equal path')}."
    )
    timers = sorted({(each.timers.keepalive_s, each.timers.hold_s) for each in speaker.neighbors})
    for keepalive_s, hold_s in timers:
        yield f"A session sends keepalives every {keepalive_s} s and ends {hold_s} s after the last one."
    for bfd in sorted({(each.bfd.interval_ms, each.bfd.multiplier) for each in speaker.neighbors if each.bfd}):
        yield f"BFD ends a session after {bfd[0] * bfd[1]} ms of silence ({bfd[1]} packets, {bfd[0]} ms apart)."


def _qos_sentences(qos: Qos) -> Iterator[str]:
    names = [f"{each.name} (queue {each.queue}{_loss(each.pfc_priority)})" for each in qos.classes]
    yield f"It has {counted(len(names), 'class')} of traffic: {', '.join(names)}."
    if qos.watchdog is not None:
        yield (
            f"The PFC watchdog acts after {qos.watchdog.detect_ms} ms of pause and ends {qos.watchdog.recover_ms} ms"
            " after the last."
        )
    if qos.headroom_pool_bytes is not None:
        yield f"{qos.headroom_pool_bytes / 1000:,.0f} kB are reserved as headroom of all ports."
    elif qos.headroom_pool_percent is not None:
        yield f"{qos.headroom_pool_percent} % of the buffer are reserved as headroom of all ports."


def _loss(priority: int | None) -> str:
    return "" if priority is None else f", lossless with PFC priority {priority}"


def _interface_sentences(interface: Interface) -> Iterator[str]:
    if not interface.enabled:
        yield "It is shut down."
    if interface.mtu_bytes is not None:
        yield f"It sends IP packets of up to {interface.mtu_bytes:,} bytes."
    if interface.unnumbered:
        yield "It has no address of its own: it routes over IPv6 link-local addresses (unnumbered)."
    elif interface.addresses:
        yield f"Its address is {listed([str(address) for address in interface.addresses])}."
    if isinstance(interface, Port):
        if interface.fec is not None:
            yield f"Forward error correction is {interface.fec}."
        if interface.vlans is not None and interface.vlans.untagged is not None:
            yield f"It is an access port of VLAN {interface.vlans.untagged}."


def _bundle_sentences(name: str, model: DeviceModel) -> Iterator[str]:
    for lag in model.interfaces:
        if isinstance(lag, Lag) and name in lag.members:
            yield f"It is one of {counted(len(lag.members), 'member')} of {lag.name}."


def _session_sentences(port: PlannedPort, model: DeviceModel) -> Iterator[str]:
    for neighbor in model.bgp.neighbors if model.bgp else ():
        if _is_over(neighbor, port, model):
            yield f"A BGP session with AS {neighbor.remote_as} runs over it."


def _is_over(neighbor: BgpNeighbor, port: PlannedPort, model: DeviceModel) -> bool:
    if neighbor.unnumbered:
        return neighbor.peer == port.interface
    interface = next((held for held in model.interfaces if held.name == port.interface), None)
    return interface is not None and any(neighbor.peer in subnet for subnet in interface.subnets)


def _port_qos_sentences(name: str, qos: Qos) -> Iterator[str]:
    held = next((each for each in qos.ports if each.interface == name), None)
    if held is None:
        yield "It has no QoS: all its packets are of the default class."
        return
    yield _pfc_sentence(held)
    profile = qos.profile(held.profile) if held.profile else None
    for thresholds in profile.thresholds if profile else ():
        yield from _threshold_sentences(thresholds, marks=thresholds.traffic_class in held.ecn)


def _pfc_sentence(port: PortQos) -> str:
    if not port.pfc:
        return "PFC is off: nothing is paused."
    return (
        f"PFC pauses {'priority' if len(port.pfc) == 1 else 'priorities'} {listed([str(each) for each in port.pfc])}."
    )


def _threshold_sentences(held: ClassThresholds, *, marks: bool) -> Iterator[str]:
    name = held.traffic_class
    if held.ecn is not None and marks:
        yield (
            f"ECN marks packets of {name} from {_kb(held.ecn.kmin_bytes)} (Kmin) on, {held.ecn.pmax_percent} % of them"
            f" at {_kb(held.ecn.kmax_bytes)} (Kmax), and all above."
        )
    elif not held.marks or not marks:
        yield f"ECN marks no packet of {name}."
    if held.xoff_bytes is not None:
        yield f"A pause frame is sent where {name} has {_kb(held.xoff_bytes)} in the buffer (xoff)."
    if held.headroom_bytes is not None:
        yield f"{_kb(held.headroom_bytes)} are reserved for what arrives after that (headroom)."
    elif held.headroom_percent is not None:
        yield f"What arrives after that may take {held.headroom_percent} % of the headroom."
    if held.alpha is not None:
        yield f"A queue of {name} may take {held.alpha:g} times the free buffer (dynamic threshold)."


def _kb(size_bytes: int) -> str:
    return f"{size_bytes / 1000:,.0f} kB"

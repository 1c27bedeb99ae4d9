"""Parses NX-OS configuration, from a file or `show running-config`, to a device model.

Parsing is total: a line is an error only when its value is impossible. What the model cannot express is unmodelled,
and so is a line that differs from the one by which this platform renders the model (the name of a prefix list, say).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from railfab.device import (
    DEFAULT_INSTANCE,
    AaaServer,
    DeviceModel,
    GnmiService,
    Interface,
    Lag,
    Lldp,
    LoadBalancing,
    Loopback,
    ManagementAccess,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    Vtep,
    in_order,
    number_of,
)
from railfab.errors import raise_all
from railfab.platforms.differences import Difference, Side
from railfab.platforms.nxos.draft import DEFAULT_VLAN, NxosDraft, NxosInterface
from railfab.platforms.nxos.grammar import CONFIGURATION
from railfab.platforms.nxos.lines import FORMAT, effective
from railfab.platforms.nxos.names import instance_name, interface_name, kind_of, segment_identifier
from railfab.platforms.nxos.parse_bgp import bfd_of_sessions, speaker
from railfab.platforms.nxos.parse_policy import is_policy
from railfab.platforms.nxos.parse_qos import qos_of
from railfab.platforms.nxos.render import render
from railfab.platforms.nxos.render_bgp import DRAIN
from railfab.platforms.nxos.render_overlay import GATEWAY_MAC, default_vlan_name
from railfab.platforms.nxos.settings import setting
from railfab.platforms.shared.line_grammar import line_differences, read, unmodelled
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.route_maps import policies_of

NAME = "nxos"


def parse(text: str) -> DeviceModel:
    """The model of a configuration text, with or without a header.

    Raises ConfigError, or Problems with every bad value, each with its line and section.
    """
    lines = _lines(text)
    draft = NxosDraft()
    read(draft, lines, CONFIGURATION)
    raise_all(draft.errors)
    model = in_order(_with_bfd(_model(draft), draft))
    return replace(model, unmodelled=unmodelled(lines, effective(render(model))))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one; defaults and the version of NX-OS are none.

    A line in whose place the configuration has another value, lines below a missing one, and those of a session that
    only the configuration has, are not given by themselves. The value `section` of an added line is `added` where its
    section is.
    """
    lines, wanted = _lines(text), _lines(rendered)
    speaker, planned = map(_router, (lines, wanted))
    if speaker and planned and speaker.text != planned.text:  # sessions are compared under another AS number too
        under = Line(planned.text, (*speaker.children, Line(f"local AS number {speaker.text.split()[-1]}")))
        lines = tuple(under if line is speaker else line for line in lines)
    return tuple(_causes(line_differences(lines, wanted)))


def _router(lines: Iterable[Line]) -> Line | None:
    return next((line for line in lines if line.text.startswith("router bgp ")), None)


_SESSION = re.compile(r"router bgp \S+: (?:vrf \S+: )?neighbor \S+")
_INSTANCE = re.compile(r"router bgp \S+: vrf \S+")
"""Section of another routing table than those of the intent."""


def _causes(differences: tuple[Difference, ...]) -> Iterator[Difference]:
    """The differences that do not follow from others."""
    added = {difference.path for difference in differences if difference.side is Side.ADDED}
    missing = {difference.path for difference in differences if difference.side is Side.MISSING}
    replacing = {_settings(path.split(": ")) for path in added}
    for difference in differences:
        steps = difference.path.split(": ")
        if difference.side is Side.ADDED:
            headers = added.intersection(": ".join(steps[:depth]) for depth in range(1, len(steps)))
            if any(map(_INSTANCE.fullmatch, (*headers, difference.path))):
                yield replace(difference, path=f"unused {difference.path}")
            elif not any(map(_SESSION.fullmatch, headers)):
                yield (
                    replace(difference, values={**difference.values, "section": "added"})
                    if steps[0] in headers
                    else difference
                )
            continue
        lost = [*steps[:-1], steps[-1].removeprefix("no ")]
        gone = {": ".join((*lost[:depth], f"no {lost[depth]}")) for depth in range(len(lost) - 1)}
        if not (missing & gone or replacing & {_settings(steps), _settings(lost)}):
            yield difference


def _settings(path: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(setting, path))


def _lines(text: str) -> tuple[Line, ...]:
    return effective(FORMAT.tree(text))


def _model(draft: NxosDraft) -> DeviceModel:
    router = draft.routers.get(DEFAULT_INSTANCE)
    return DeviceModel(
        name=draft.hostname,
        platform=NAME,
        breakouts=tuple(draft.breakouts),
        interfaces=tuple(_interface(draft, name, interface) for name, interface in draft.interfaces.items()),
        bgp=speaker(draft),
        qos=qos_of(draft),
        policies=policies_of(draft, frozenset(filter(None, (draft.asn,))), is_policy),
        network_instances=tuple(_network_instances(draft)),
        vlans=tuple(_vlans(draft)),
        vtep=_vtep(draft),
        mlag=_mlag(draft),
        load_balancing=None if draft.balancing == LoadBalancing() else draft.balancing,
        management=_management(draft),
        lldp=_lldp(draft),
        drain=router is not None and DRAIN in router.flags,
    )


def _with_bfd(model: DeviceModel, draft: NxosDraft) -> DeviceModel:
    """The model with the BFD timers of the interface on each session."""
    if model.bgp is None:
        return model
    timers = {
        interface_name(name): interface.bfd for name, interface in draft.interfaces.items() if interface.bfd is not None
    }
    sessions = {neighbor.key: replace(neighbor, bfd=bfd) for neighbor, bfd in bfd_of_sessions(model, timers)}
    neighbors = tuple(sessions.get(neighbor.key, neighbor) for neighbor in model.neighbors)
    return replace(model, bgp=replace(model.bgp, neighbors=neighbors))


def _interface(draft: NxosDraft, device: str, interface: NxosInterface) -> Interface:
    kind, name = kind_of(device), interface_name(device)
    bridged = kind in ("", "lag") and interface.bridged
    return replace(
        _shell(draft, kind, name, interface),
        description=interface.description,
        enabled=interface.enabled if interface.enabled is not None else _is_up(kind, bridged=bridged),
        mtu_bytes=None if interface.lag is not None else interface.mtu_bytes,
        network_instance=None if bridged or interface.lag is not None else instance_name(interface.vrf),
        addresses=() if interface.anycast else tuple(interface.addresses),
        unnumbered=interface.unnumbered,
    )


def _shell(draft: NxosDraft, kind: str, name: str, interface: NxosInterface) -> Interface:
    """An interface with the settings that only its kind has."""
    if kind == "loopback":
        return Loopback(name=name)
    if kind == "vlan":
        mac = draft.gateway_mac if interface.anycast and draft.gateway_mac != GATEWAY_MAC else None
        gateways = tuple(interface.addresses) if interface.anycast else ()
        return Svi(name=name, vlan=number_of(name), gateways=gateways, gateway_mac=mac)
    vlans = _membership(draft, interface) if interface.bridged and interface.lag is None else None
    if kind:
        return _lag(draft, name, interface, vlans)
    return Port(
        name=name, rate_gbps=interface.rate_gbps, fec=interface.fec, hold_up_ms=interface.hold_up_ms, vlans=vlans
    )


def _is_up(kind: str, *, bridged: bool) -> bool:
    """Whether an interface is up that says nothing of it: all but SVIs and routed ports."""
    return kind in ("loopback", "lag") or bridged


def _membership(draft: NxosDraft, interface: NxosInterface) -> VlanMembership:
    if not interface.trunk:
        return VlanMembership(untagged=interface.access)
    allowed = (DEFAULT_VLAN, *draft.vlans) if interface.allowed is None else interface.allowed
    untagged = interface.native if interface.native in allowed else None
    return VlanMembership(untagged=untagged, tagged=tuple(sorted({*allowed} - {untagged})))


def _lag(draft: NxosDraft, name: str, settings: NxosInterface, vlans: VlanMembership | None) -> Lag:
    members = [(port, interface) for port, interface in draft.interfaces.items() if interface.lag == number_of(name)]
    return Lag(
        name=name,
        members=tuple(port for port, _ in members),
        lacp=not members or any(member.lacp for _, member in members),
        mlag_id=settings.vpc,
        esi=segment_identifier(settings.segment_mac, settings.segment)
        if settings.segment and settings.segment_mac
        else None,
        system_mac=settings.segment_mac,
        vlans=vlans,
    )


def _network_instances(draft: NxosDraft) -> Iterator[NetworkInstance]:
    for name, vrf in draft.vrfs.items():
        router = draft.routers.get(name)
        yield NetworkInstance(
            name=name,
            rd=vrf.rd,
            import_targets=tuple(vrf.targets["import"]),
            export_targets=tuple(vrf.targets["export"]),
            vni=vrf.vni,
            router_id=router.router_id if router else None,
        )


def _vlans(draft: NxosDraft) -> Iterator[Vlan]:
    """The VLANs; the VNI of one that only carries the VNI of a VRF is the VRF's."""
    routed = {vrf.vni for vrf in draft.vrfs.values()}
    for number, vlan in draft.vlans.items():
        vni = None if vlan.vni in routed else vlan.vni
        yield Vlan(vlan_id=number, name=vlan.name or default_vlan_name(number), vni=vni)


def _vtep(draft: NxosDraft) -> Vtep | None:
    """The tunnel endpoint, with the address of its loopback; none while the loopback has no IPv4 address."""
    loopback = draft.interfaces.get(draft.tunnel or "")
    address = (
        next((interface.ip for interface in loopback.addresses if interface.version == 4), None) if loopback else None
    )
    if address is None or draft.tunnel is None:
        return None
    return Vtep(source=interface_name(draft.tunnel), address=address)


def _mlag(draft: NxosDraft) -> Mlag | None:
    links = [interface_name(name) for name, interface in draft.interfaces.items() if interface.peer_link]
    pair = draft.vpc
    if pair is None or not links:
        return None
    keepalive = None
    if pair.peer is not None:
        vrf = None if pair.vrf == DEFAULT_INSTANCE else pair.vrf
        keepalive = MlagKeepalive(peer=pair.peer, source=pair.source, network_instance=instance_name(vrf))
    return Mlag(domain=pair.domain, peer_link=links[0], keepalive=keepalive, system_mac=pair.system_mac)


def _management(draft: NxosDraft) -> ManagementAccess | None:
    management = draft.management
    gnmi = None
    vrfs = list(management.vrfs)
    if "grpc" in draft.features and management.grpc_port is not None:
        gnmi = GnmiService(port=management.grpc_port, tls_profile=management.grpc_certificate)
        vrfs.append(None if management.grpc_vrf == DEFAULT_INSTANCE else management.grpc_vrf or "management")
    return ManagementAccess(
        network_instance=instance_name(vrfs[0]) if vrfs else DEFAULT_INSTANCE,
        ntp=tuple(management.ntp),
        syslog=tuple(management.syslog),
        aaa=tuple(AaaServer(address=address, protocol=protocol) for protocol, address in management.aaa),
        gnmi=gnmi,
        banner=management.banner,
    ).stated()


def _lldp(draft: NxosDraft) -> Lldp:
    """LLDP; a hold time that is no multiple of the interval is unmodelled."""
    enabled = "lldp" in draft.features
    silent = tuple(name for name, interface in draft.interfaces.items() if interface.quiet) if enabled else ()
    return Lldp(
        enabled=enabled,
        silent=silent,
        hello_s=draft.lldp_hello_s,
        hold_multiplier=max(1, draft.lldp_hold_s // draft.lldp_hello_s),
    )

"""Grammar of the NX-OS configuration lines that a device model can express."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_address

from railfab.device import BalancingMode, BfdTimers, BreakoutPort, HashField, SyslogServer
from railfab.platforms.nxos.draft import DraftVlan, DraftVpc, DraftVrf, NxosDraft, NxosInterface
from railfab.platforms.nxos.grammar_bgp import BGP
from railfab.platforms.nxos.grammar_policy import POLICY
from railfab.platforms.nxos.grammar_qos import PORT_QOS, QOS
from railfab.platforms.nxos.render_interfaces import ANYCAST, FECS, NO_LLDP, PEER_LINK, UNNUMBERED
from railfab.platforms.nxos.render_system import DLB_MODES, GRPC_PORT, HASHES, SEVERITIES, SYSLOG_PORT
from railfab.platforms.shared.line_grammar import ignored, rule
from railfab.platforms.shared.native_names import interface_address, numbers_in, plain_mac
from railfab.platforms.shared.statements import within

_FECS = {word: fec for fec, word in FECS.items()}
_HASHES = {text: tuple(sorted(fields, key=list(HashField).index)) for fields, text in HASHES.items()}
_MODES = {word: mode for mode, word in DLB_MODES.items()}


def _hostname(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.hostname = match[1]


def _feature(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.features.add(match[1])
    if match[1] == "grpc" and draft.management.grpc_port is None:
        draft.management.grpc_port = GRPC_PORT


def _breakout(draft: NxosDraft, match: re.Match[str]) -> None:
    cage = f"Ethernet{match[1]}/{match[2]}"
    draft.breakouts.append(BreakoutPort(cage=cage, lanes=int(match[4]), rate_gbps=int(match[3])))


def _interface(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface = draft.interfaces.setdefault(match[1], NxosInterface())


def _description(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.description = match[1]


def _routed(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.bridged = False


def _trunk(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.trunk = True


def _access(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.access = within(match[1], 1, 4094)


def _native(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.native = within(match[1], 1, 4094)


def _allowed(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.allowed = () if match[1] == "none" else numbers_in(match[1], 1, 4094)


def _mtu(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.mtu_bytes = within(match[1], 576, 9216)


def _speed(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.rate_gbps = within(match[1], 1, 1600)


def _fec(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.fec = _FECS[match[1]]


def _hold_up(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.hold_up_ms = int(match[1])


def _channel(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.lag, draft.interface.lacp = within(match[1], 1, 4096), match[2] in ("active", "passive")


def _vpc_number(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.vpc = within(match[1], 1, 16384)


def _segment(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.segment_mac, draft.interface.segment = plain_mac(match[1]), within(match[2], 1, 2**24 - 1)


def _peer_link(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.peer_link = True


def _vrf_member(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.vrf = match[1]


def _address(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.addresses.append(interface_address(match[1], match[2]))


def _anycast(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.anycast = True


def _unnumbered(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.unnumbered = True


def _bfd(draft: NxosDraft, match: re.Match[str]) -> None:
    interval_ms, received_ms = within(match[1], 50, 999), within(match[2], 50, 999)
    receive_ms = None if received_ms == interval_ms else received_ms
    draft.interface.bfd = BfdTimers(interval_ms=interval_ms, multiplier=within(match[3], 1, 50), receive_ms=receive_ms)


def _state(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.enabled = bool(match[1])


def _quiet(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.interface.quiet = True


def _vlan(draft: NxosDraft, match: re.Match[str]) -> None:
    (number,) = numbers_in(match[1], 1, 4094)
    draft.vlan = draft.vlans.setdefault(number, DraftVlan())


def _vlan_name(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vlan.name = match[1]


def _vlan_vni(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vlan.vni = within(match[1], 1, 2**24 - 1)


def _vrf(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vrf = draft.vrfs.setdefault(match[1], DraftVrf())


def _vrf_vni(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vrf.vni = within(match[1], 1, 2**24 - 1)


def _rd(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vrf.rd = match[1]


def _target(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vrf.targets[match[1]].append(match[2])


def _gateway_mac(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.gateway_mac = plain_mac(match[1])


def _vpc(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.vpc = DraftVpc(domain=match[1])


def _vpc_mac(draft: NxosDraft, match: re.Match[str]) -> None:
    assert draft.vpc is not None
    draft.vpc.system_mac = plain_mac(match[1])


def _keepalive(draft: NxosDraft, match: re.Match[str]) -> None:
    assert draft.vpc is not None
    draft.vpc.peer = ip_address(match[1])
    draft.vpc.source = ip_address(match[2]) if match[2] else None
    draft.vpc.vrf = match[3] or "management"


def _tunnel(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.tunnel = match[1]


def _ntp(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.ntp.append(match[1])
    draft.management.vrfs.append(match[2])


def _syslog(draft: NxosDraft, match: re.Match[str]) -> None:
    level = SEVERITIES[within(match[2] or "5", 0, 7)]
    port = within(match[3], 1, 65535) if match[3] else SYSLOG_PORT
    draft.management.syslog.append(SyslogServer(address=match[1], port=port, level=level))
    draft.management.vrfs.append(match[4])


def _aaa(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.aaa.append((match[1], match[2]))


def _aaa_group(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.management.vrfs.append(None)


def _aaa_group_vrf(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.vrfs[-1] = match[1]


def _grpc_port(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.grpc_port = within(match[1], 1024, 65535)


def _grpc_certificate(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.grpc_certificate = match[1]


def _grpc_vrf(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.grpc_vrf = match[1]


def _banner(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.management.banner = match[2]


def _lldp_hello(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.lldp_hello_s = within(match[1], 5, 254)


def _lldp_hold(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.lldp_hold_s = within(match[1], 10, 255)


def _hash(draft: NxosDraft, match: re.Match[str]) -> None:
    seed = within(match[2], 1, 2**32 - 1) if match[2] else None
    draft.balancing = replace(draft.balancing, fields=_HASHES[match[1]], seed=seed)


def _dlb(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.balancing = replace(draft.balancing, mode=_MODES[match[1]])


def _flowlet_gap(draft: NxosDraft, match: re.Match[str]) -> None:
    if draft.balancing.mode is BalancingMode.FLOWLET:
        draft.balancing = replace(draft.balancing, flowlet_gap_us=int(match[1]))


_INTERFACE = (
    rule(r"description (.+)", _description),
    rule(r"no switchport", _routed),
    rule(r"switchport mode trunk", _trunk),
    rule(r"switchport access vlan (\d+)", _access),
    rule(r"switchport trunk native vlan (\d+)", _native),
    rule(r"switchport trunk allowed vlan ([\d,-]+|none)", _allowed),
    rule(r"mtu (\d+)", _mtu),
    rule(r"speed (\d+)000", _speed),
    rule(rf"fec ({'|'.join(_FECS)})", _fec),
    rule(r"link debounce link-up time (\d+)", _hold_up),
    rule(r"channel-group (\d+)(?: force)?(?: mode (active|passive|on))?", _channel),
    rule(r"vpc (\d+)", _vpc_number),
    rule(PEER_LINK[-1], _peer_link),
    rule(r"ethernet-segment", ignored, rule(r"esi system-mac (\S+) (\d+)", _segment)),
    rule(r"vrf member (\S+)", _vrf_member),
    rule(r"(ip|ipv6) address ([\d.]+/\d+|[0-9a-fA-F:.]+/\d+)(?: secondary)?", _address),
    rule(ANYCAST, _anycast),
    rule(UNNUMBERED[1], _unnumbered),
    rule(r"bfd interval (\d+) min_rx (\d+) multiplier (\d+)", _bfd),
    rule(r"(no )?shutdown", _state),
    rule(NO_LLDP[0], _quiet),
    *PORT_QOS,
)
_VRF = (
    rule(r"vni (\d+)(?: l3)?", _vrf_vni),
    rule(r"rd (?!auto)(\S+)", _rd),
    rule(
        r"address-family ipv4 unicast",
        ignored,
        rule(r"route-target (import|export) (?!auto)(\S+) evpn", _target),
    ),
)
CONFIGURATION = (
    rule(r"hostname (\S+)", _hostname),
    rule(r"feature (.+)", _feature),
    rule(r"interface breakout module (\d+) port (\d+) map (\d+)g-(\d+)x", _breakout),
    rule(r"interface nve1", ignored, rule(r"source-interface (\S+)", _tunnel)),
    rule(r"interface (Ethernet\d+(?:/\d+){1,2}|port-channel\d+|loopback\d+|Vlan\d+)", _interface, *_INTERFACE),
    rule(r"vlan ([\d,-]+)", _vlan, rule(r"name (.+)", _vlan_name), rule(r"vn-segment (\d+)", _vlan_vni)),
    rule(r"vrf context (?!management$)(\S+)", _vrf, *_VRF),
    rule(r"fabric forwarding anycast-gateway-mac (\S+)", _gateway_mac),
    rule(
        r"vpc domain (\d+)",
        _vpc,
        rule(r"system-mac (\S+)", _vpc_mac),
        rule(r"peer-keepalive destination (\S+)(?: source (\S+))?(?: vrf (\S+))?", _keepalive),
    ),
    rule(r"ntp server (\S+)(?: prefer)?(?: use-vrf (\S+))?", _ntp),
    rule(r"logging server (\S+)(?: (\d))?(?: port (\d+))?(?: use-vrf (\S+))?", _syslog),
    rule(r"(tacacs|radius)-server host (\S+)(?: authentication accounting)?", _aaa),
    rule(r"aaa group server (?:tacacs\+|radius) (\S+)", _aaa_group, rule(r"use-vrf (\S+)", _aaa_group_vrf)),
    rule(r"grpc port (\d+)", _grpc_port),
    rule(r"grpc certificate (\S+)", _grpc_certificate),
    rule(r"grpc use-vrf (\S+)", _grpc_vrf),
    rule(r"banner motd (\S)((?s:.*))\1", _banner),
    rule(r"lldp timer (\d+)", _lldp_hello),
    rule(r"lldp holdtime (\d+)", _lldp_hold),
    rule(rf"ip load-sharing ({'|'.join(_HASHES)})(?: universal-id (\d+))?", _hash),
    rule(
        r"hardware profile dlb",
        ignored,
        rule(r"mode (flowlet|per-packet)", _dlb),
        rule(r"flowlet-aging (\d+)", _flowlet_gap),
    ),
    *QOS,
    *POLICY,
    *BGP,
)

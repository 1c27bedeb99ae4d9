"""Grammar of the EOS configuration lines that a device model can express."""

from __future__ import annotations

import re
from ipaddress import ip_address

from railfab.device import DEFAULT_INSTANCE, AaaServer, SyslogServer
from railfab.platforms.eos.draft import Draft, DraftInterface, DraftMlag
from railfab.platforms.eos.grammar_bgp import ROUTER
from railfab.platforms.eos.grammar_policy import POLICY
from railfab.platforms.eos.grammar_qos import QOS
from railfab.platforms.eos.names import FECS, SEVERITIES, esi_of, interface_name
from railfab.platforms.eos.render_interfaces import UNNUMBERED
from railfab.platforms.shared.line_grammar import Rule, ignored, rule, within
from railfab.platforms.shared.native_names import interface_address, numbers_in, plain_mac

_FECS = {line: fec for fec, line in FECS.items()}
_LEVELS = {native: level for level, native in SEVERITIES.items()}
MAX_VNI = 2**24 - 1


# Interfaces


def _interface(draft: Draft, match: re.Match[str]) -> None:
    draft.interfaces.setdefault(match[1], DraftInterface())


def _speed(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.speed = int(match[1])


def _description(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.description = match[1]


def _shutdown(draft: Draft, _match: re.Match[str]) -> None:
    draft.interface.enabled = False


def _mtu(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.mtu_bytes = within(match[1], 68, 65535)


def _debounce(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.hold_up_ms = within(match[1], 0, 30000)


def _fec(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.fec = _FECS[match[0]]


def _routed(draft: Draft, _match: re.Match[str]) -> None:
    draft.interface.routed = True


def _access(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.access = within(match[1], 1, 4094)


def _native(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.native = within(match[1], 1, 4094)


def _allowed(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.allowed = () if match[1] == "none" else numbers_in(match[1], 1, 4094)


def _trunk(draft: Draft, _match: re.Match[str]) -> None:
    draft.interface.trunk = True


def _interface_vrf(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.instance = match[1]


def _address(draft: Draft, match: re.Match[str]) -> None:
    addresses = draft.interface.gateways if match[2] else draft.interface.addresses
    addresses.append(interface_address(match[1], match[3]))


def _unnumbered(draft: Draft, _match: re.Match[str]) -> None:
    draft.interface.unnumbered = True


def _group(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.group = within(match[1], 1, 999999), match[2]


def _silent(draft: Draft, _match: re.Match[str]) -> None:
    draft.interface.silent = True


def _service_profile(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.profile = match[1]


def _identifier(draft: Draft, match: re.Match[str]) -> None:
    draft.segment_owner.esi = esi_of(match[1])


def _segment(draft: Draft, _match: re.Match[str]) -> None:
    draft.segment = draft.owner


def _system_id(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.system_mac = plain_mac(match[1])


def _mlag_id(draft: Draft, match: re.Match[str]) -> None:
    draft.interface.mlag_id = within(match[1], 1, 2000)


# VLANs, VRFs and VXLAN


def _vlan(draft: Draft, match: re.Match[str]) -> None:
    draft.vlan(within(match[1], 1, 4094))


def _vlan_name(draft: Draft, match: re.Match[str]) -> None:
    draft.vlan(int(draft.owner)).name = match[1]


def _instance(draft: Draft, match: re.Match[str]) -> None:
    draft.vrf(match[1])


def _routing(draft: Draft, match: re.Match[str]) -> None:
    draft.vrf(match[1]).routed = True


def _vtep(draft: Draft, match: re.Match[str]) -> None:
    draft.vtep_source = interface_name(match[1])


def _vlan_vni(draft: Draft, match: re.Match[str]) -> None:
    draft.vlan(within(match[1], 1, 4094)).vni = within(match[2], 1, MAX_VNI)


def _vrf_vni(draft: Draft, match: re.Match[str]) -> None:
    draft.vrf(match[1]).vni = within(match[2], 1, MAX_VNI)


def _gateway_mac(draft: Draft, match: re.Match[str]) -> None:
    draft.gateway_mac = plain_mac(match[1])


# MLAG


def _mlag(draft: Draft, _match: re.Match[str]) -> None:
    draft.mlag = DraftMlag()


def _pair(draft: Draft) -> DraftMlag:
    assert draft.mlag is not None
    return draft.mlag


def _domain(draft: Draft, match: re.Match[str]) -> None:
    _pair(draft).domain = match[1]


def _peer(draft: Draft, match: re.Match[str]) -> None:
    _pair(draft).peer = ip_address(match[1])


def _heartbeat(draft: Draft, match: re.Match[str]) -> None:
    _pair(draft).heartbeat, _pair(draft).vrf = ip_address(match[1]), match[2] or DEFAULT_INSTANCE


def _peer_link(draft: Draft, match: re.Match[str]) -> None:
    _pair(draft).peer_link = interface_name(match[1])


# Management


def _hostname(draft: Draft, match: re.Match[str]) -> None:
    draft.hostname = match[1]


def _banner(draft: Draft, match: re.Match[str]) -> None:
    draft.management.banner = match[1]


def _ntp(draft: Draft, match: re.Match[str]) -> None:
    draft.in_vrf(match[1])
    draft.management.ntp.append(match[2])


def _level(draft: Draft, match: re.Match[str]) -> None:
    draft.management.level = _LEVELS[match[1]]


def _syslog(draft: Draft, match: re.Match[str]) -> None:
    draft.in_vrf(match[1])
    port = within(match[3], 1, 65535) if match[3] else 514
    draft.management.syslog.append(SyslogServer(address=match[2], port=port, protocol=match[4] or "udp"))


def _aaa(draft: Draft, match: re.Match[str]) -> None:
    draft.in_vrf(match[3])
    draft.management.aaa.append(AaaServer(address=match[2], protocol=match[1]))


def _transport(draft: Draft, _match: re.Match[str]) -> None:
    draft.management.gnmi_port = 6030
    draft.gnmi_vrf = len(draft.management.instances)
    draft.in_vrf(None)


def _gnmi_port(draft: Draft, match: re.Match[str]) -> None:
    draft.management.gnmi_port = within(match[1], 1, 65535)


def _gnmi_vrf(draft: Draft, match: re.Match[str]) -> None:
    draft.management.instances[draft.gnmi_vrf] = match[1]


def _tls(draft: Draft, match: re.Match[str]) -> None:
    draft.management.tls_profile = match[1]


def _lldp_timer(draft: Draft, match: re.Match[str]) -> None:
    draft.lldp_hello_s = within(match[1], 1, 32768)


def _lldp_hold(draft: Draft, match: re.Match[str]) -> None:
    draft.lldp_hold_s = within(match[1], 1, 65535)


def _no_lldp(draft: Draft, _match: re.Match[str]) -> None:
    draft.lldp_enabled = False


def _drain(draft: Draft, _match: re.Match[str]) -> None:
    draft.drain = draft.owner == "System"


_INTERFACE = (
    rule(r"description (.+)", _description),
    rule(r"no switchport", _routed),
    rule(r"mtu (\d+)", _mtu),
    rule(r"(ip|ipv6) address (virtual )?(\S+/\d+)(?: secondary)?", _address),
    rule(r"service-profile (\S+)", _service_profile),
    rule(r"speed (?:forced )?(\d+)g(?:-\d|full)?", _speed),
    rule(UNNUMBERED, _unnumbered),
    rule(r"shutdown", _shutdown),
    rule(r"channel-group (\d+) mode (active|passive|on)", _group),
    rule(r"link-debounce time (\d+) 0", _debounce),
    rule("|".join(map(re.escape, _FECS)), _fec),
    rule(r"switchport access vlan (\d+)", _access),
    rule(r"switchport trunk native vlan (\d+)", _native),
    rule(r"switchport trunk allowed vlan (\S+)", _allowed),
    rule(r"switchport mode trunk", _trunk),
    rule(r"vrf (\S+)", _interface_vrf),
    rule(r"no lldp transmit", _silent),
    rule(r"evpn ethernet-segment", _segment, rule(r"identifier (\S+)", _identifier)),
    rule(r"lacp system-id (\S+)", _system_id),
    rule(r"mlag (\d+)", _mlag_id),
)
_VXLAN = (
    rule(r"vxlan source-interface (\S+)", _vtep),
    rule(r"vxlan vlan (\d+) vni (\d+)", _vlan_vni),
    rule(r"vxlan vrf (\S+) vni (\d+)", _vrf_vni),
)
_MLAG = (
    rule(r"domain-id (.+)", _domain),
    rule(r"peer-address ([\d.:a-fA-F]+)", _peer),
    rule(r"peer-address heartbeat (\S+)(?: vrf (\S+))?", _heartbeat),
    rule(r"peer-link (\S+)", _peer_link),
)
_TRANSPORT = (
    rule(r"port (\d+)", _gnmi_port),
    rule(r"vrf (\S+)", _gnmi_vrf),
    rule(r"ssl profile (\S+)", _tls),
)
_SYSLOG = r"logging(?: vrf (\S+))? host (\S+)(?: (\d+))?(?: protocol (tcp|udp))?"
CONFIGURATION: tuple[Rule[Draft], ...] = (
    rule(r"hostname (\S+)", _hostname),
    rule(r"vlan (\d+)", _vlan, rule(r"name (.+)", _vlan_name)),
    rule(r"vrf instance (\S+)", _instance),
    rule(r"ip routing(?: ipv6 interfaces)? vrf (\S+)", _routing),
    rule(r"interface Vxlan1", ignored, *_VXLAN),
    rule(r"interface ((?:Ethernet|Port-Channel|Loopback|Vlan)\d\S*)", _interface, *_INTERFACE),
    rule(r"ip virtual-router mac-address (\S+)", _gateway_mac),
    rule(r"mlag configuration", _mlag, *_MLAG),
    *POLICY,
    *QOS,
    ROUTER,
    rule(r"banner login\n((?s:.*))\nEOF", _banner),
    rule(r"ntp server(?: vrf (\S+))? (\S+)", _ntp),
    rule(rf"logging trap ({'|'.join(_LEVELS)})", _level),
    rule(_SYSLOG, _syslog),
    rule(r"(tacacs|radius)-server host (\S+)(?: vrf (\S+))?", _aaa),
    rule(r"management ssh", ignored, rule(r"vrf (\S+)", ignored, rule(r"no shutdown", ignored))),
    rule(r"management api gnmi", ignored, rule(r"transport grpc default", _transport, *_TRANSPORT)),
    rule(r"lldp timer (\d+)", _lldp_timer),
    rule(r"lldp hold-time (\d+)", _lldp_hold),
    rule(r"no lldp run", _no_lldp),
    rule(r"maintenance", ignored, rule(r"unit (\S+)", ignored, rule(r"quiesce", _drain))),
)

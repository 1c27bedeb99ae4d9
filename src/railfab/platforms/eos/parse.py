"""Parses EOS configuration, from a file or `show running-config`, to a device model.

Parsing is total: a line is an error only when its value is impossible. What the model cannot express is unmodelled,
and so is a line that differs from the one by which this platform renders the model (the name of a peer group, say).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from railfab.device import (
    DEFAULT_INSTANCE,
    DeviceModel,
    GnmiService,
    IpAddress,
    Lldp,
    LoadBalancing,
    Management,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    Vlan,
    Vtep,
    in_order,
)
from railfab.errors import raise_all
from railfab.platforms.differences import Difference
from railfab.platforms.eos.draft import Draft, DraftMlag
from railfab.platforms.eos.grammar import CONFIGURATION
from railfab.platforms.eos.lines import FORMAT, canonical
from railfab.platforms.eos.names import JERICHO, PEER_VLAN
from railfab.platforms.eos.parse_bgp import bgp_of
from railfab.platforms.eos.parse_interfaces import breakouts_of, interfaces_of
from railfab.platforms.eos.parse_qos import qos_of
from railfab.platforms.eos.peer_link import PEER_SVI, derived_addresses
from railfab.platforms.eos.render import render
from railfab.platforms.shared.line_grammar import line_differences, read, unmodelled
from railfab.platforms.shared.route_maps import policies_of

NAME = "eos"


def parse(text: str) -> DeviceModel:
    """The model of a configuration text, with or without a header.

    Raises ConfigError, or Problems with every bad value, each with its line and section.
    """
    lines = canonical(FORMAT.tree(text))
    draft = Draft()
    read(draft, lines, CONFIGURATION)
    raise_all(draft.errors)
    model = in_order(_model(draft))
    return replace(model, unmodelled=unmodelled(lines, canonical(render(model))))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The lines in which a configuration differs from a rendered one."""
    return line_differences(canonical(FORMAT.tree(text)), canonical(FORMAT.tree(rendered)))


def _model(draft: Draft) -> DeviceModel:
    breakouts, rates = breakouts_of(draft)
    model = DeviceModel(
        name=draft.hostname,
        platform=NAME,
        breakouts=breakouts,
        interfaces=tuple(interfaces_of(draft, rates)),
        bgp=bgp_of(draft),
        qos=qos_of(draft),
        policies=policies_of(draft, frozenset()),
        network_instances=tuple(_instances(draft)),
        vlans=tuple(_vlans(draft)),
        load_balancing=None if draft.balancing == LoadBalancing() else draft.balancing,
        management=_management(draft),
        lldp=_lldp(draft),
        drain=draft.drain,
        silicon=JERICHO if draft.has_tx_queues else "",
    )
    model = replace(model, vtep=_vtep(draft, model))
    return replace(model, mlag=_mlag(draft, draft.mlag, model)) if draft.mlag is not None else model


def _vlans(draft: Draft) -> Iterator[Vlan]:
    for vlan_id, found in draft.vlans.items():
        if draft.mlag is None or vlan_id != PEER_VLAN:
            yield Vlan(vlan_id=vlan_id, name=found.name, vni=found.vni)


def _instances(draft: Draft) -> Iterator[NetworkInstance]:
    """The VRFs in which packets are routed; another one is that of the management port."""
    for name, found in draft.instances.items():
        if found.routed:
            yield NetworkInstance(
                name=name,
                rd=found.rd,
                import_targets=tuple(found.imports),
                export_targets=tuple(found.exports),
                vni=found.vni,
                router_id=found.router_id,
            )


def _vtep(draft: Draft, model: DeviceModel) -> Vtep | None:
    """The VTEP with the first address of its loopback; without one it is unmodelled."""
    loopback = model.interface(draft.vtep_source) if draft.vtep_source else None
    if loopback is None or not loopback.addresses:
        return None
    return Vtep(source=loopback.name, address=loopback.addresses[0].ip)


def _mlag(draft: Draft, found: DraftMlag, model: DeviceModel) -> Mlag:
    """The pair; addresses of the peer link that follow from the keepalive are not stated."""
    svi = draft.interfaces.get(PEER_SVI)
    address = svi.addresses[0] if svi is not None and svi.addresses else None
    own, peer = derived_addresses(found.heartbeat, model.loopback)
    return Mlag(
        domain=found.domain,
        peer_link=found.peer_link,
        address=None if address == own else address,
        peer=None if found.peer == peer else found.peer,
        keepalive=_keepalive(found.heartbeat, found.vrf),
    )


def _keepalive(heartbeat: IpAddress | None, vrf: str) -> MlagKeepalive | None:
    return None if heartbeat is None else MlagKeepalive(peer=heartbeat, network_instance=vrf)


def _management(draft: Draft) -> Management | None:
    """Management access, in the VRF that most of its lines name."""
    found = draft.management
    instances = found.instances or [DEFAULT_INSTANCE]
    return Management(
        network_instance=max(instances, key=instances.count),
        ntp=tuple(found.ntp),
        syslog=tuple(replace(server, level=found.level) for server in found.syslog),
        aaa=tuple(found.aaa),
        gnmi=GnmiService(port=found.gnmi_port, tls_profile=found.tls_profile) if found.gnmi_port else None,
        banner=found.banner,
    ).stated()


def _lldp(draft: Draft) -> Lldp:
    return Lldp(
        enabled=draft.lldp_enabled,
        silent=tuple(name for name, found in draft.interfaces.items() if found.silent),
        hello_s=draft.lldp_hello_s,
        hold_multiplier=max(1, round(draft.lldp_hold_s / draft.lldp_hello_s)),
    )

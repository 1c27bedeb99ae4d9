"""Makes the interfaces of a device model of a parsed configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from railfab.device import BreakoutPort, Interface, Lag, Loopback, Port, Svi, VlanMembership, lag_name, number_of
from railfab.platforms.eos.draft import Draft, DraftInterface
from railfab.platforms.eos.names import (
    CAGE_LANES,
    GATEWAY_MAC,
    PEER_VLAN,
    cage_ports,
    interface_name,
)
from railfab.platforms.eos.peer_link import PEER_SVI

_CAGE = re.compile(r"(Ethernet\d+)/\d+")


def breakouts_of(draft: Draft) -> tuple[tuple[BreakoutPort, ...], dict[str, int]]:
    """The split cages, and the speeds of other ports by name.

    A cage is split where every port of the split has a speed, the same one: EOS has no other setting for it.
    """
    rates = {name: found.speed for name, found in draft.interfaces.items() if found.speed is not None}
    cages: dict[str, set[str]] = {}
    for name in rates:
        if cage := _CAGE.fullmatch(name):
            cages.setdefault(f"{cage[1]}/1", set()).add(name)
    breakouts = []
    for cage_name, names in cages.items():
        if found := _breakout(cage_name, names, rates):
            breakouts.append(found)
            for name in names:
                del rates[name]
    return tuple(breakouts), rates


def _breakout(cage: str, names: set[str], rates: Mapping[str, int]) -> BreakoutPort | None:
    lanes = len(names)
    if lanes < 2 or CAGE_LANES % lanes or names != set(cage_ports(cage, lanes)):
        return None
    rate, *others = {rates[name] for name in names}
    return None if others else BreakoutPort(cage=cage, lanes=lanes, rate_gbps=rate)


def interfaces_of(draft: Draft, rates: Mapping[str, int]) -> Iterator[Interface]:
    """The interfaces; a port with nothing but a speed is one of a split cage that is not used."""
    lags = _members(draft)
    for native, found in draft.interfaces.items():
        name = interface_name(native)
        is_peer_svi = native == PEER_SVI and draft.mlag is not None
        if is_peer_svi or (native.startswith("Ethernet") and found == DraftInterface(speed=found.speed)):
            continue
        shell = _shell(name, found, draft, members=lags.get(name, []), rate_gbps=rates.get(name))
        yield replace(
            shell,
            description=found.description,
            enabled=found.enabled,
            mtu_bytes=found.mtu_bytes,
            network_instance=found.instance if _is_routed(shell, found) else None,
            addresses=tuple(found.addresses),
            unnumbered=found.unnumbered,
        )


def _is_routed(shell: Interface, found: DraftInterface) -> bool:
    if isinstance(shell, Port) and found.group is not None:
        return False
    return not isinstance(shell, Port | Lag) or shell.vlans is None


def _members(draft: Draft) -> dict[str, list[tuple[str, str]]]:
    """Members of each LAG, with their modes."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, interface in draft.interfaces.items():
        if interface.group is not None:
            number, mode = interface.group
            found.setdefault(lag_name(number), []).append((name, mode))
    return found


def _membership(found: DraftInterface, *, peer_link: bool = False) -> VlanMembership | None:
    """The VLANs of a port or LAG; an access port without a VLAN has VLAN 1. All VLANs of a trunk without a list are
    unmodelled."""
    if found.routed:
        return None
    if not found.trunk:
        return VlanMembership(untagged=found.access or 1)
    allowed = set(found.allowed or ()) - ({PEER_VLAN} if peer_link else set())
    native = found.native if found.native is not None else (1 if 1 in allowed else None)
    return VlanMembership(untagged=native, tagged=tuple(sorted(allowed - {native})))


def _shell(
    name: str, found: DraftInterface, draft: Draft, *, members: list[tuple[str, str]], rate_gbps: int | None
) -> Interface:
    """An interface with the settings that only its kind has."""
    if name.startswith("loopback"):
        return Loopback(name=name)
    if name.startswith("vlan"):
        mac = draft.gateway_mac if found.gateways and draft.gateway_mac != GATEWAY_MAC else None
        return Svi(name=name, vlan=number_of(name), gateways=tuple(found.gateways), gateway_mac=mac)
    if name.startswith("lag"):
        return Lag(
            name=name,
            members=tuple(member for member, _ in members),
            lacp=not members or any(mode != "on" for _, mode in members),
            mlag_id=found.mlag_id,
            esi=found.esi,
            system_mac=found.system_mac,
            vlans=_membership(found, peer_link=draft.mlag is not None and draft.mlag.peer_link == name),
        )
    vlans = None if found.group is not None else _membership(found)
    return Port(name=name, rate_gbps=rate_gbps, hold_up_ms=found.hold_up_ms, fec=found.fec, vlans=vlans)

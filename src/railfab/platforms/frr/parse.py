"""Parses FRR configuration, from a file or `show running-config`, to a device model; reports all errors together."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from railfab.device import BfdTimers, Bgp, BgpNeighbor, DeviceModel, Interface, PrefixRange
from railfab.errors import ConfigError, RailfabError, raise_all
from railfab.platforms.frr.grammar import CONFIGURATION, BfdProfile, Draft, Neighbor
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.frr.render import DEFAULT_TIMERS_S, EXPORT, IMPORT, MULTIPATH_RELAX, REDISTRIBUTE
from railfab.platforms.shared.line_grammar import read

NAME = "frr"


def parse(text: str) -> DeviceModel:
    """The model of a configuration text, with or without a header.

    Raises ConfigError, or Problems with every error, each with its line or section.
    """
    draft = Draft()
    read(draft, FORMAT.tree(text), CONFIGURATION)
    raise_all([*draft.errors, *_missing(draft)])
    assert draft.hostname is not None
    assert draft.loopback is not None
    return DeviceModel(
        name=draft.hostname,
        platform=NAME,
        loopback=draft.loopback,
        breakouts=(),
        interfaces=tuple(draft.interfaces.values()),
        bgp=_bgp(draft),
        bfd=next((_timers(profile) for profile in draft.profiles.values()), None),
        qos=None,
    )


def _missing(draft: Draft) -> Iterator[RailfabError]:
    """Lines that a model needs and the text does not have."""
    if draft.hostname is None:
        yield _missing_line("configuration", "hostname NAME")
    if draft.loopback is None:
        yield _missing_line("interface lo", "ip address A.B.C.D/32")
    if draft.asn is None:
        yield _missing_line("configuration", "router bgp AS")
        return
    if draft.router_id is None:
        yield _missing_line(f"router bgp {draft.asn}", "bgp router-id A.B.C.D")
    for line in (MULTIPATH_RELAX, REDISTRIBUTE):
        if line not in draft.seen:
            yield _missing_line(f"router bgp {draft.asn}", line)
    for name in (IMPORT, EXPORT):
        yield from _missing_of_policy(draft, name)
    for peer, neighbor in draft.neighbors.items():
        yield from _missing_of_neighbor(draft, peer, neighbor)
    yield from _bfd_problems(draft)


def _bfd_problems(draft: Draft) -> Iterator[RailfabError]:
    """More than one set of BFD timers: a model has one for all sessions."""
    if len(draft.profiles) > 1:
        yield ConfigError("bfd", f"has {len(draft.profiles)} profiles", "Use one profile for all neighbours")
    for name, profile in draft.profiles.items():
        if profile.transmit_ms != profile.receive_ms:
            problem = f"transmits every {profile.transmit_ms} ms and receives every {profile.receive_ms} ms"
            yield ConfigError(f"bfd profile {name}", problem, "Use the same interval for both")


def _missing_of_policy(draft: Draft, name: str) -> Iterator[RailfabError]:
    if name not in draft.seen:
        yield _missing_line(f"route-map {name} permit 10", f"match ip address prefix-list {name}")
    entries = draft.lists.get(name)
    if not entries:
        yield _missing_line("configuration", f"ip prefix-list {name} seq 5 ...")
    elif None in entries.values() and len(entries) > 1:
        yield ConfigError(
            f"ip prefix-list {name}", "has `deny any` and other entries", "Remove `deny any`, or the others"
        )


def _missing_of_neighbor(draft: Draft, peer: str, neighbor: Neighbor) -> Iterator[RailfabError]:
    where = f"line {neighbor.number}, neighbor {peer}"
    if neighbor.remote_as is None:
        yield _missing_line(where, f"neighbor {peer} remote-as AS")
        return
    for line in (f"route-map {IMPORT} in", f"route-map {EXPORT} out"):
        if line not in neighbor.lines:
            yield _missing_line(where, f"neighbor {peer} {line}")
    if neighbor.profile is not None and neighbor.profile not in draft.profiles:
        yield ConfigError(where, f"uses BFD profile {neighbor.profile}, which is not defined", "Define it under `bfd`")
    if "bfd" in neighbor.lines and neighbor.profile is None and draft.profiles:
        yield _missing_line(where, f"neighbor {peer} bfd profile {next(iter(draft.profiles))}")
    yield from _interface_problems(draft, peer, neighbor, where)


def _missing_line(where: str, line: str) -> ConfigError:
    return ConfigError(where, f"`{line}` is missing", "Add it")


def _interface_problems(draft: Draft, peer: str, neighbor: Neighbor, where: str) -> Iterator[RailfabError]:
    """Problems of the interface over which a session runs."""
    interface = _interface(draft, peer, neighbor)
    if interface is None:
        problem = "is not a configured interface" if neighbor.interface else "is in no interface's subnet"
        yield ConfigError(where, problem, "Configure the interface towards it")
    elif neighbor.interface and not neighbor.v6only and interface.address is not None:
        problem = f"peers over {interface.address} instead of a link-local address"
        yield ConfigError(where, problem, f"Write `neighbor {peer} interface v6only remote-as {neighbor.remote_as}`")


def _interface(draft: Draft, peer: str, neighbor: Neighbor) -> Interface | None:
    """The interface of a session; for a numbered session the only one in whose subnet the peer is."""
    if neighbor.interface:
        return draft.interfaces.get(peer)
    address = IPv4Address(peer)
    near = [found for found in draft.interfaces.values() if found.address and address in found.address.network]
    return near[0] if len(near) == 1 else None


def _timers(profile: BfdProfile) -> BfdTimers:
    return BfdTimers(interval_ms=profile.transmit_ms, multiplier=profile.multiplier)


def _bgp(draft: Draft) -> Bgp:
    assert draft.asn is not None
    assert draft.router_id is not None
    keepalive_s, hold_s = draft.timers_s or DEFAULT_TIMERS_S[draft.defaults]
    return Bgp(
        asn=draft.asn,
        router_id=draft.router_id,
        max_paths=draft.max_paths,
        keepalive_s=keepalive_s,
        hold_s=hold_s,
        import_prefixes=_prefixes(draft, IMPORT),
        export_prefixes=_prefixes(draft, EXPORT),
        neighbors=_neighbors(draft),
    )


def _prefixes(draft: Draft, name: str) -> tuple[PrefixRange, ...]:
    return tuple(found for _, found in sorted(draft.lists[name].items()) if found is not None)


def _neighbors(draft: Draft) -> tuple[BgpNeighbor, ...]:
    """In the order of the interfaces."""
    positions = {name: position for position, name in enumerate(draft.interfaces)}
    found = [_neighbor(draft, peer, neighbor) for peer, neighbor in draft.neighbors.items()]
    return tuple(sorted(found, key=lambda neighbor: positions[neighbor.interface]))


def _neighbor(draft: Draft, peer: str, neighbor: Neighbor) -> BgpNeighbor:
    interface = _interface(draft, peer, neighbor)
    assert interface is not None
    assert neighbor.remote_as is not None
    return BgpNeighbor(
        interface=interface.name,
        remote_as=neighbor.remote_as,
        address=None if neighbor.interface else IPv4Address(peer),
        bfd="bfd" in neighbor.lines,
    )

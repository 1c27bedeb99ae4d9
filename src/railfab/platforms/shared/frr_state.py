"""Live state of a Linux switch with FRR, from JSON of vtysh and iproute2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_interface
from typing import Any

from railfab.bounded_json import load_json
from railfab.device import Family, IpAddress, Observed, ObservedBgpSession, ObservedFamily, ObservedInterface
from railfab.errors import DeviceError

FAMILIES = {"ipv4Unicast": Family.IPV4, "ipv6Unicast": Family.IPV6, "l2VpnEvpn": Family.EVPN}
"""Keys of a neighbour's `addressFamilyInfo`, in the order of the model."""

UP = frozenset({"UP", "UNKNOWN"})
"""Values of operstate that count as up: drivers without link detection report UNKNOWN."""

ANSWERED = frozenset({"REACHABLE", "STALE", "DELAY", "PROBE"})
"""States of an entry of the neighbour table that was learned from the neighbour (Linux, net/neighbour.h); an entry that
is configured is PERMANENT or NOARP."""

SHOWN = 80
"""Characters that an error shows of an answer that is not JSON."""
LAYER_4, CUSTOM, SOURCE_PORT = 1, 3, 0x0010
"""Hash policies, and the bit of the source port in the fields of a custom one (Linux, Documentation/networking/
ip-sysctl.rst, fib_multipath_hash_policy and fib_multipath_hash_fields)."""


def observed_state(
    name: str,
    *,
    interface_name: Callable[[str], str],
    neighbors: str,
    addresses: str,
    resolved: str = "",
    bridged: str = "",
    hashing: str = "",
    vnis: str = "",
) -> Observed:
    """Interfaces with what ARP and neighbour discovery resolved, BGP sessions, VNIs, and the hash of the kernel.

    FRR has no LLDP. interface_name: the name in a model of an interface that Linux names so. neighbors, addresses,
    resolved, bridged, vnis: JSON of the commands of dialect.yml. hashing: output of `hash` there. Raises DeviceError.
    """
    links = [
        link | {"name": interface_name(link["ifname"])}
        for link in _json(name, addresses, "ip -j addr show")
        if "LOOPBACK" not in link["flags"]
    ]
    shown = _json(name, neighbors, "show bgp neighbors json") if neighbors.lstrip().startswith("{") else {}
    macs = _learned_macs(_json(name, bridged, "bridge -j fdb show")) if bridged.strip() else {}
    answers = _answers(_json(name, resolved, "ip -j neigh show"), macs) if resolved.strip() else None
    return Observed(
        interfaces=tuple(
            _interface(link, None if answers is None else answers.get(link["ifname"], frozenset())) for link in links
        ),
        sessions=tuple(_session(links, interface_name, *peer) for peer in _peers(shown)),
        lldp=False,
        hashes_source_port=_hashes_source_port(hashing),
        vnis=_vnis(name, vnis),
    )


ROUTES = ("routes", "routes6")
"""Verbs of the routes of BGP, by family."""


def with_next_hop_widths(observe: Callable[..., Observed], name: str, read: dict[str, str]) -> Observed:
    """The state of outputs of commands by their verbs, with the widths of next-hop groups where they have ROUTES."""
    tables = [read.pop(verb) for verb in ROUTES if verb in read]
    state = observe(name, **read)
    return replace(state, next_hop_widths=Counter(_widths(name, *tables))) if tables else state


def _widths(name: str, *tables: str) -> Iterator[int]:
    """Number of active next hops of each selected route."""
    for table in tables:
        for entries in _json(name, table, "show ip route bgp json").values():
            for entry in entries:
                if entry.get("selected"):
                    yield sum(bool(hop.get("active")) for hop in entry.get("nexthops", ()))


def _vnis(name: str, text: str) -> frozenset[int] | None:
    """The L2 VNIs that have a device; None where nothing is shown."""
    if not text.lstrip().startswith("{"):
        return None
    vnis = _json(name, text, "show evpn vni json").values()
    return frozenset(int(vni["vni"]) for vni in vnis if vni.get("type") == "L2")


def _hashes_source_port(hashing: str) -> bool | None:
    """Whether the kernel's hash has the source port, from its policy and fields; kernels before 5.14 have no fields."""
    policy, *fields = (int(word, 0) for word in hashing.split()) if hashing.strip() else (None,)
    if policy is None:
        return None
    return policy == LAYER_4 or (policy == CUSTOM and any(field & SOURCE_PORT for field in fields))


def _json(name: str, text: str, source: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        first_line = (text.strip().splitlines() or ["nothing"])[0][:SHOWN]
        raise DeviceError(
            name, f"`{source}` returns {first_line!r} instead of JSON", "Check that FRR is running"
        ) from None


def _answers(entries: list[dict[str, Any]], ports: dict[tuple[str, str], str]) -> dict[str, frozenset[IpAddress]]:
    """The addresses from which an answer has come, by device. Linux forgets them when the link goes down.

    ports: by bridge and MAC address: an entry of a bridge, which is an SVI, is one of such a port too.
    """
    heard: dict[str, set[IpAddress]] = {}
    for entry in entries:
        if ANSWERED.intersection(entry.get("state", ())):
            place = entry["dev"]
            for device in {place, ports.get((place, entry.get("lladdr", "")), place)}:
                heard.setdefault(device, set()).add(ip_address(entry["dst"]))
    return {device: frozenset(addresses) for device, addresses in heard.items()}


def _learned_macs(entries: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    """The port of each MAC address that a bridge has learned, by bridge and address.

    Those of the ports themselves are permanent, configured ones static, and those of EVPN extern_learn.
    """
    return {
        (entry["master"], entry["mac"]): entry["ifname"]
        for entry in entries
        if "master" in entry and entry.get("state") == "" and "extern_learn" not in entry.get("flags", ())
    }


def _interface(link: dict[str, Any], answers: frozenset[IpAddress] | None) -> ObservedInterface:
    enabled = "UP" in link["flags"]
    up = link["operstate"] in UP and enabled
    return ObservedInterface(
        name=link["name"],
        oper_up=up,
        enabled=enabled,
        mtu_bytes=link["mtu"],
        resolved_addresses=answers,
    )


def _peers(shown: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Network instance, name and state of each neighbour."""
    for instance, peers in shown.items():
        for peer, state in peers.items():
            if isinstance(state, dict) and "bgpState" in state:
                yield instance, peer, state


def _session(
    links: list[dict[str, Any]], interface_name: Callable[[str], str], instance: str, peer: str, state: dict[str, Any]
) -> ObservedBgpSession:
    """neighbor_device is known once the peer has sent FRR's hostname capability."""
    bfd, address = state.get("peerBfdInfo"), _address(peer)
    return ObservedBgpSession(
        peer=address or interface_name(peer),
        state=state["bgpState"].lower(),
        network_instance=instance,
        interface=_interface_of(links, address) if address else interface_name(peer),
        remote_as=state.get("remoteAs"),
        neighbor_device=state.get("hostname"),
        bfd_up=bfd["status"] == "Up" if bfd else None,
        families=tuple(_families(state.get("addressFamilyInfo", {}))),
    )


def _families(families: dict[str, Any]) -> Iterator[ObservedFamily]:
    for word, family in FAMILIES.items():
        if counters := families.get(word):
            received, sent = counters.get("acceptedPrefixCounter"), counters.get("sentPrefixCounter")
            yield ObservedFamily(family=family, received=received, sent=sent)


def _address(peer: str) -> IpAddress | None:
    """The address of a peer; None for the interface of an unnumbered one."""
    try:
        return ip_address(peer)
    except ValueError:
        return None


def _interface_of(links: list[dict[str, Any]], address: IpAddress) -> str | None:
    """The interface in whose subnet an address is; None for a peer that is not directly connected."""
    near = (link["name"] for link in links if any(address in network for network in _networks(link)))
    return next(near, None)


def _networks(link: dict[str, Any]) -> list[Any]:
    """The subnets of the configured addresses of an interface."""
    addresses = [entry for entry in link.get("addr_info", ()) if entry.get("scope") != "link"]
    return [ip_interface(f"{entry['local']}/{entry['prefixlen']}").network for entry in addresses]

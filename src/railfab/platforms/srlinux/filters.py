"""Filters of SR Linux, and their effect on the packets that a fabric needs.

The entries of a filter are tried in the order of their numbers, the first one that matches decides, and a packet that
none matches is accepted (ACL and Policy-Based Routing Guide 25.3, Access Control Lists). Filters are read as 25.3 has
them (`/acl/acl-filter`) and as releases before 24.3 had them (`/acl/cpm-filter`, `/acl/ipv4-filter`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import Any

from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.filter_entries import ROCE, Address, at, fabric_packets, is_match, listed, number_of

PORTS, CONTROL_PLANE, MANAGEMENT, NOWHERE = WHERE = ("ports", "control-plane", "management", "nowhere")
"""Places where a filter acts; of several, the first of these."""
SYSTEM = "system"
"""Name of the filter that all ports have before their own ones."""
FILTERS = "/acl/acl-filter"
USED_BY_PORTS = "/acl/interface/"
OLD_KINDS: Mapping[str, str] = {"ipv4-filter": "ipv4", "ipv6-filter": "ipv6", "mac-filter": "mac"}
"""Lists of filters of ports before release 24.3."""
OLD_CONTAINERS: Mapping[str, str] = {"cpm-filter": CONTROL_PLANE, "system-filter": PORTS}
"""Containers of the filters of the control plane and of all ports before release 24.3."""
OLD_FILTERS = (
    *(f"/acl/{container}/{kind}" for container in OLD_CONTAINERS for kind in OLD_KINDS),
    *(f"/acl/{kind}" for kind in OLD_KINDS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketFilter:
    """A filter. path: of its list of entries. keys: of the filter. where: it acts."""

    path: str
    keys: tuple[str, ...]
    family: str
    where: str
    entries: Sequence[Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtering:
    """The filters of a configuration. where: a filter acts, by its path and keys. decisions: names of the packets about
    which an entry decides, by the path of its list and its keys."""

    where: Mapping[tuple[str, tuple[str, ...]], str]
    decisions: Mapping[tuple[str, tuple[str, ...]], tuple[str, ...]]

    def values(self, path: str, keys: Mapping[str, str]) -> Mapping[str, Any]:
        """Values of a setting: `filter.bound` in a filter, `entry.decides` in an entry of it, and `filter.stated` where
        a port uses one.

        path: of the list of the innermost entry around the setting. keys: of the entries around it.
        """
        if path.startswith(USED_BY_PORTS):
            used = (FILTERS, (keys["acl-filter.name"], keys["acl-filter.type"])) if "acl-filter.type" in keys else None
            return {"filter.stated": used in self.where}
        if not path.startswith((FILTERS, *OLD_FILTERS)):
            return {}
        entry = tuple(keys.values())
        filter_keys = entry[:-1] if path.endswith("/entry") else entry
        where = self.where.get((path.removesuffix("/entry"), filter_keys), NOWHERE)
        return {"filter.bound": where, "entry.decides": self.decisions.get((path, entry), ())}


def present_path(path: str) -> str:
    """The path of a setting of a filter in release 25.3, which a path of an older release stands for."""
    old = next((old for old in OLD_FILTERS if path.startswith(f"{old}/")), None)
    return path if old is None else FILTERS + path.removeprefix(old)


def filtering(tree: Json, rendered: Json) -> Filtering:
    """The filters of a configuration, and what they decide about the packets of the rendered one of the same switch."""
    filters = tuple(_filters(tree, {str(port.get("name")) for port in listed(rendered, "interface")}))
    decisions: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    for each in filters:
        for number, names in _decisions(each, rendered).items():
            decisions[each.path, (*each.keys, number)] = names
    where = {(each.path.removesuffix("/entry"), each.keys): each.where for each in filters}
    return Filtering(where=where, decisions=decisions)


def _decisions(packet_filter: PacketFilter, rendered: Json) -> Mapping[str, tuple[str, ...]]:
    """Names of the packets about which an entry decides, by its number."""
    addresses = tuple(_addresses(rendered))
    entries = sorted(packet_filter.entries, key=lambda entry: number_of(entry.get("sequence-id"), {}) or 0)
    decisions: dict[str, dict[str, None]] = {}
    for packet in fabric_packets(tuple(_peers(rendered))):
        if packet.family != packet_filter.family or (packet.name == ROCE and packet_filter.where == CONTROL_PLANE):
            continue
        entry = next((entry for entry in entries if is_match(entry, packet, addresses)), {})
        decisions.setdefault(str(entry.get("sequence-id")), {})[packet.name] = None
    return {number: tuple(names) for number, names in decisions.items()}


def _filters(tree: Json, ports: set[str]) -> Iterator[PacketFilter]:
    """Every filter of a configuration. ports: interfaces of the intent."""
    places = _places(tree, ports)
    for entry in listed(tree, "acl", "acl-filter"):
        name, family = str(entry.get("name")), str(entry.get("type"))
        where = PORTS if name == SYSTEM else places.get(name, NOWHERE)
        yield _filter(FILTERS, (name, family), family, where, entry)
    for kind, family in OLD_KINDS.items():
        for entry in listed(tree, "acl", kind):
            name = str(entry.get("name"))
            yield _filter(f"/acl/{kind}", (name,), family, places.get(name, NOWHERE), entry)
        for container, where in OLD_CONTAINERS.items():
            yield _filter(f"/acl/{container}/{kind}", (), family, where, at(tree, "acl", container, kind))


def _filter(path: str, keys: tuple[str, ...], family: str, where: str, node: Json) -> PacketFilter:
    return PacketFilter(path=f"{path}/entry", keys=keys, family=family, where=where, entries=listed(node, "entry"))


def _places(tree: Json, ports: set[str]) -> Mapping[str, str]:
    """The place where the filter of each name acts."""
    places: dict[str, set[str]] = {}
    for used in listed(tree, "system", "control-plane-traffic", "input", "acl", "acl-filter"):
        places.setdefault(str(used.get("name")), set()).add(CONTROL_PLANE)
    for name, port in (*_of_ports(tree), *_of_ports_before(tree)):
        where = MANAGEMENT if port.startswith("mgmt0") else PORTS if port in ports else NOWHERE
        places.setdefault(name, set()).add(where)
    return {name: min(several, key=WHERE.index) for name, several in places.items()}


def _of_ports(tree: Json) -> Iterator[tuple[str, str]]:
    """Every name of a filter of a port, with the name of the port."""
    for port in listed(tree, "acl", "interface"):
        name = at(port, "interface-ref", "interface") or str(port.get("interface-id")).partition(".")[0]
        for side in ("input", "output"):
            yield from ((str(used.get("name")), str(name)) for used in listed(port, side, "acl-filter"))


def _of_ports_before(tree: Json) -> Iterator[tuple[str, str]]:
    """The same, as releases before 24.3 have it."""
    for port in listed(tree, "interface"):
        for subinterface in listed(port, "subinterface"):
            for used in (at(subinterface, "acl", side, kind) for side in ("input", "output") for kind in OLD_KINDS):
                names = used if isinstance(used, list) else [used]
                yield from ((name, str(port.get("name"))) for name in names if isinstance(name, str))


def _peers(rendered: Json) -> Iterator[Address]:
    for instance in listed(rendered, "network-instance"):
        for neighbor in listed(instance, "protocols", "bgp", "neighbor"):
            yield ip_address(str(neighbor["peer-address"]))


def _addresses(rendered: Json) -> Iterator[Address]:
    for port in listed(rendered, "interface"):
        for subinterface in listed(port, "subinterface"):
            for family in ("ipv4", "ipv6"):
                yield from (
                    ip_interface(str(entry["ip-prefix"])).ip for entry in listed(subinterface, family, "address")
                )

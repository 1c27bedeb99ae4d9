"""Convert records of the REST API of NetBox. Pure.

Shapes are those of NetBox 3.3 to 4.6 (its repository, dcim/api/serializers_ and ipam/api/serializers_, August 2026):
since 3.3 a cable has lists of terminations. NetBox assigns AS numbers to sites; devices have a custom field `asn`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface
from itertools import product
from typing import Any, TypeVar

from railfab.imports.existing import ExistingLink, ExistingNode, ExistingPort, SourceError
from railfab.imports.naming import platform_named, role_named
from railfab.netbox import Record
from railfab.topology.model import Address, Interface

INTERFACE = "dcim.interface"
GONE = frozenset(("inventory", "decommissioning"))
"""Statuses of devices and cables that are not in the fabric, or soon will not be."""
AS_FIELD = "asn"
LOOPBACK = re.compile(r"(lo|loopback|system)[\d.]*", re.IGNORECASE)
TYPE_RATE = re.compile(r"(?P<rate>\d+)gbase-")
KBPS_PER_GBPS = 1_000_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundInterface:
    """An interface with its id. peers: ports at the other end of its cable, traced by NetBox through patch panels."""

    key: int
    port: ExistingPort
    peers: Mapping[int, ExistingPort]


def devices(found: Iterable[Record]) -> Iterator[tuple[int, Record]]:
    """Devices with a name, by id."""
    for record in found:
        if _is_there(record) and record.get("name"):
            yield _shaped("device", record, _key_of_named), record


def addresses(found: Iterable[Record]) -> Mapping[int, tuple[Interface, ...]]:
    """Addresses by the interface they are assigned to."""
    by_interface: dict[int, tuple[Interface, ...]] = {}
    for record in found:
        if record.get("assigned_object_type") == INTERFACE:
            key, address = _shaped("IP address", record, _address)
            by_interface[key] = (*by_interface.get(key, ()), address)
    return by_interface


def interfaces(
    found: Iterable[Record], by_interface: Mapping[int, tuple[Interface, ...]]
) -> Mapping[int, FoundInterface]:
    """Interfaces by id."""
    all_ = (_shaped("interface", record, lambda one: _interface(one, by_interface)) for record in found)
    return {interface.key: interface for interface in all_}


def links(found: Iterable[Record], by_key: Mapping[int, FoundInterface]) -> tuple[ExistingLink, ...]:
    """Cables between interfaces; for a cable to a patch panel, the path traced by NetBox."""
    made: dict[tuple[tuple[str, str], tuple[str, str]], ExistingLink] = {}
    for record in found:
        if _is_there(record):
            for a, z in _shaped("cable", record, lambda cable: list(_pairs(cable, by_key))):
                ends = sorted(((a.node, a.name), (z.node, z.name)))
                made.setdefault((ends[0], ends[1]), ExistingLink(a, z))
    return tuple(made.values())


def nodes(found: Iterable[Record], all_interfaces: Iterable[FoundInterface]) -> tuple[ExistingNode, ...]:
    """Devices with the addresses of their loopback interfaces."""
    loopbacks: dict[str, tuple[Address, ...]] = {}
    for interface in all_interfaces:
        port = interface.port
        if LOOPBACK.fullmatch(port.name):
            own = tuple(address.ip for address in port.addresses if not address.ip.is_loopback)
            loopbacks[port.node] = (*loopbacks.get(port.node, ()), *own)
    return tuple(_shaped("device", record, lambda device: _node(device, loopbacks)) for record in found)


def asns(found: Iterable[Record]) -> frozenset[int]:
    """Every registered AS number."""
    return frozenset(_shaped("AS number", record, lambda asn: int(asn["asn"])) for record in found)


def _shaped(what: str, record: Record, make: Callable[[Record], T]) -> T:
    """Convert a record. Raises SourceError for an unexpected format."""
    try:
        return make(record)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        where = " ".join(str(record.get("url") or record.get("id")).split())
        raise SourceError(
            f"{what} {where}", "is not in the format of NetBox 3.3 to 4.6", "Check that the address is a NetBox"
        ) from None


def _is_there(record: Record) -> bool:
    status = record.get("status")
    return not isinstance(status, Mapping) or str(status.get("value")) not in GONE


def _key_of_named(device: Record) -> int:
    _name(device)
    return int(device["id"])


def _name(record: Record) -> str:
    """A record's name: one line of text."""
    name = record["name"]
    if not isinstance(name, str) or not name.isprintable():
        raise TypeError(f"{name!r} is no name")
    return name


def _address(record: Record) -> tuple[int, Interface]:
    return int(record["assigned_object_id"]), ip_interface(record["address"])


def _interface(record: Record, by_interface: Mapping[int, tuple[Interface, ...]]) -> FoundInterface:
    key, type_ = int(record["id"]), record.get("type") or {}
    speed = int(record.get("speed") or 0) // KBPS_PER_GBPS
    most = TYPE_RATE.match(str(type_.get("value")))
    port = ExistingPort(
        node=_name(record["device"]),
        name=_name(record),
        rate_gbps=speed or None,
        most_gbps=int(most["rate"]) if most else None,
        addresses=by_interface.get(key, ()),
    )
    traced = record.get("connected_endpoints") if record.get("connected_endpoints_type") == INTERFACE else None
    return FoundInterface(key, port, dict(_far(peer) for peer in traced or ()))


def _far(record: Record) -> tuple[int, ExistingPort]:
    """An interface as another record names it."""
    return int(record["id"]), ExistingPort(node=_name(record["device"]), name=_name(record))


def _pairs(cable: Record, by_key: Mapping[int, FoundInterface]) -> Iterator[tuple[ExistingPort, ExistingPort]]:
    """The interfaces that meet over a cable: as traced, else in their order, else each with each."""
    a, z = (dict(_terminations(cable[side])) for side in ("a_terminations", "b_terminations"))
    if not (a and z):
        for key in a.keys() | z.keys():
            if key in by_key:
                yield from ((by_key[key].port, _own(far, port, by_key)) for far, port in by_key[key].peers.items())
        return
    met = [(key, by_key[key].peers.keys() & z.keys()) for key in a if key in by_key]
    if len(z) > 1 and met and all(len(peers) == 1 for _, peers in met):
        pairs: Iterable[tuple[int, int]] = [(key, next(iter(peers))) for key, peers in met]
    else:
        pairs = zip(a, z, strict=True) if len(a) == len(z) else product(a, z)
    for one, other in pairs:
        yield _own(one, a[one], by_key), _own(other, z[other], by_key)


def _terminations(ends: Iterable[Record]) -> Iterator[tuple[int, ExistingPort]]:
    """The interfaces among what a side of a cable ends in."""
    for end in ends:
        if end["object_type"] == INTERFACE:
            yield _far(end["object"])


def _own(key: int, named: ExistingPort, by_key: Mapping[int, FoundInterface]) -> ExistingPort:
    """The port with all that is known of it; of a device that was not chosen, its name."""
    return by_key[key].port if key in by_key else named


def _node(device: Record, loopbacks: Mapping[str, tuple[Address, ...]]) -> ExistingNode:
    role = device.get("role") or device.get("device_role") or {}  # device_role: before NetBox 3.6
    platform = device.get("platform") or {}
    return ExistingNode(
        name=_name(device),
        role=role_named(str(role.get("slug", ""))),
        model=str(device["device_type"]["model"]),
        platform=platform_named(str(platform.get("slug", ""))),
        asn=_as_number((device.get("custom_fields") or {}).get(AS_FIELD)),
        loopbacks=loopbacks.get(device["name"], ()),
    )


def _as_number(value: Any) -> int | None:
    """AS number of a custom field, which contains a number or refers to an AS number of NetBox."""
    if isinstance(value, Mapping):
        value = value["asn"]
    return None if value in (None, "") else int(value)

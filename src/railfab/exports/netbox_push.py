"""Create the objects of a fabric in a NetBox: those that are missing. What exists is left as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from railfab.exports.netbox_objects import NetBoxObjects, Payload, netbox_objects
from railfab.fabric import Design
from railfab.fabric.host_names import HostNames
from railfab.netbox import NetBox, Record

if TYPE_CHECKING:
    from railfab.netbox.client import Client

READ_AT_ONCE, CREATED_AT_ONCE = 100, 20
"""Devices whose objects a request reads, and objects that one creates: cables take a NetBox some tenths of a second."""
SITED = ("dcim.racks", "dcim.devices")
OF_DEVICES = ("dcim.interfaces", "ipam.ip_addresses", "dcim.cables")
Key = Any
"""What an object is known by among those of its endpoint: a slug, a number, or names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedKind:
    """The objects of one kind: how many a NetBox had, and how many it had not, which were created."""

    objects: str
    present: int
    created: int


def push(design: Design, names: HostNames, netbox: NetBox, *, dry_run: bool = False) -> Iterator[PushedKind]:
    """Create what is missing, kind after kind; a second time nothing is. dry_run: only read.

    Raises NetBoxError where NetBox refuses; what it has by then stays, and pushing again continues there.
    """
    from railfab.netbox.client import Client

    site = netbox.site or design.topology.fabric
    with Client(netbox, creates=not dry_run) as client:
        state = _NetBoxState(client, site)
        for group in netbox_objects(design, names, site):
            yield state.pushed(group, dry_run=dry_run)


class _NetBoxState:
    """What is known of a NetBox: the numbers of its objects by endpoint and key."""

    def __init__(self, client: Client, site: str) -> None:
        self._client, self._site = client, site
        self._known: dict[str, dict[Key, int]] = {}

    def pushed(self, group: NetBoxObjects, *, dry_run: bool) -> PushedKind:
        known = self._present(group.endpoint)
        missing = list(_missing(group, known))
        for payloads in () if dry_run else _batches(missing, CREATED_AT_ONCE):
            made = self._client.create(group.endpoint, [self._numbered(payload) for payload in payloads])
            known |= {_key(group.endpoint, record): int(record["id"]) for record in made}
        return PushedKind(objects=group.name, present=len(group.payloads) - len(missing), created=len(missing))

    def _present(self, endpoint: str) -> dict[Key, int]:
        """The objects of an endpoint that NetBox has, read once."""
        if endpoint not in self._known:
            self._known[endpoint] = {_key(endpoint, record): int(record["id"]) for record in self._records(endpoint)}
        return self._known[endpoint]

    def _records(self, endpoint: str) -> Iterator[Record]:
        if endpoint in OF_DEVICES:
            for devices in _batches(list(self._known["dcim.devices"].values()), READ_AT_ONCE):
                yield from self._client.records(endpoint, {"device_id": devices})
        elif endpoint not in SITED:
            yield from self._client.records(endpoint, {})
        elif self._site in self._known["dcim.sites"]:
            yield from self._client.records(endpoint, {"site": self._site})

    def _numbered(self, payload: Payload) -> Payload:
        """A payload with the numbers of interfaces in place of their names."""
        interfaces, numbered = self._known.get("dcim.interfaces", {}), dict(payload)
        if "assigned_object" in numbered:
            numbered["assigned_object_id"] = interfaces[_port(numbered.pop("assigned_object"))]
        for side in ("a_terminations", "b_terminations"):
            if side in numbered:
                numbered[side] = [
                    {"object_type": end["object_type"], "object_id": interfaces[_port(end["object"])]}
                    for end in numbered[side]
                ]
        return numbered


def _missing(group: NetBoxObjects, known: Mapping[Key, int]) -> Iterator[Payload]:
    """The objects that NetBox does not have; a cable is there where any is in one of its interfaces."""
    if group.endpoint != "dcim.cables":
        yield from (payload for payload in group.payloads if _key(group.endpoint, payload) not in known)
        return
    taken = {end for cable in known for end in cable}
    yield from (payload for payload in group.payloads if taken.isdisjoint(_key(group.endpoint, payload)))


def _key(endpoint: str, record: Mapping[str, Any]) -> Key:
    """What a payload, and a record of NetBox, is known by."""
    match endpoint:
        case "dcim.racks" | "dcim.devices":
            return record["name"]
        case "dcim.interfaces":
            return _port(record)
        case "ipam.asns":
            return record["asn"]
        case "ipam.ip_addresses":
            return record["address"], _port(record.get("assigned_object") or {})
        case "dcim.cables":
            ends = [*record["a_terminations"], *record["b_terminations"]]
            return frozenset(_port(end["object"]) for end in ends)
    return record["slug"]


def _port(interface: Mapping[str, Any]) -> tuple[Any, Any]:
    """The device and the name of an interface."""
    device = interface.get("device")
    return device["name"] if device is not None else None, interface.get("name")


def _batches(values: Iterable[Any], most: int) -> Iterator[list[Any]]:
    rest = iter(values)
    while some := list(islice(rest, most)):
        yield some

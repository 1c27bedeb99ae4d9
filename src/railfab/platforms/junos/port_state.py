"""Interfaces of a virtual Junos switch: their state, counters, and what its configuration states of them."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_interface

from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

PRIORITIES = range(8)
FIRST_INDEX, FIRST_SNMP_INDEX = 1000, 500
"""From which interfaces are numbered."""
DEFAULT_MTU_BYTES = 1514
"""MTU of a port with its Ethernet header (Juniper, Interfaces User Guide, Media MTU)."""
LOOPBACK = "lo0"
COUNTED = ("fabric_interface_", "fabric_queue_", "fabric_pfc_")
"""Beginnings of the metrics of ports."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue of a port. counters: by metric."""

    number: int
    forwarding_class: str
    counters: Mapping[str, int]


@dataclass(slots=True)
class PortCounters:
    """Counters of a port: by metric, by metric and cast, by metric and priority, by queue and metric."""

    plain: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    casts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    priorities: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    queues: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def add(self, metric: str, labels: Mapping[str, str], value: int) -> None:
        if "queue" in labels:
            self.queues[labels["queue"]][metric] += value
        elif "priority" in labels:
            self.priorities[metric, int(labels["priority"])] += value
        else:
            self.plain[metric] += value
            if "cast" in labels:
                self.casts[metric, labels["cast"]] += value


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPort:
    """A front-panel port. index: its place among the ports. addresses: of its units, by unit and family.

    bundle: of which it is a member.
    """

    port: VirtualPort
    index: int
    description: str | None
    mtu_bytes: int
    addresses: Mapping[str, Mapping[str, tuple[str, ...]]]
    counters: PortCounters
    queues: tuple[QueueState, ...]
    flapped_s: float
    now_s: float
    bundle: str | None = None

    @property
    def admin(self) -> str:
        return "down" if self.port.fault == "disabled" else "up"

    @property
    def link(self) -> str:
        return "down" if self.port.fault else "up"

    @property
    def mac(self) -> str:
        return mac_address(self.port.name)


def mac_address(*names: str) -> str:
    """A MAC address that is always that of these names."""
    return ":".join(f"{byte:02x}" for byte in b"\x02" + sha256(" ".join(names).encode()).digest()[:5])


def port_states(device: VirtualDevice, wanted: str | None = None) -> list[ShownPort]:
    """The ports of a switch, or the one of a name."""
    stated = _by_interface(read(device.running()))
    classes = dict(forwarding_classes(device))
    counters = _counters(device)
    now_s = time.time()
    return [
        ShownPort(
            port=port,
            index=index,
            description=_value(stated[port.name], "description"),
            mtu_bytes=int(_value(stated[port.name], "mtu") or DEFAULT_MTU_BYTES),
            addresses=unit_addresses(stated[port.name]),
            counters=counters[port.name],
            queues=_queues(classes, counters[port.name]),
            flapped_s=counters[port.name].plain["fabric_interface_last_change_timestamp_seconds"],
            now_s=now_s,
            bundle=_bundle(stated[port.name]),
        )
        for index, port in enumerate(sorted(device.ports(), key=_place))
        if wanted in (None, port.name)
    ]


def _place(port: VirtualPort) -> tuple[int, ...]:
    """The slots and numbers in the name of a port, in whose order Junos lists them."""
    return tuple(map(int, re.findall(r"\d+", port.name)))


def forwarding_classes(device: VirtualDevice) -> Iterator[tuple[str, int]]:
    """The forwarding classes that the configuration states, with their queues, by queue."""
    prefix = ("class-of-service", "forwarding-classes", "class")
    stated = [each[3:] for each in read(device.running()) if each[:3] == prefix]
    numbers = {name: int(rest[1]) for name, *rest in stated if rest[:1] == ["queue-num"]}
    yield from sorted(numbers.items(), key=lambda item: item[1])


def loopback_addresses(device: VirtualDevice) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The addresses of the loopback, by unit and family."""
    return unit_addresses(_by_interface(read(device.running()))[LOOPBACK])


def unit_addresses(stated: Iterable[Statement]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The addresses that statements of an interface give its units, by unit and family; none for a family alone."""
    units: dict[str, dict[str, dict[str, None]]] = {}
    for statement in stated:
        if statement[:1] == ("unit",) and len(statement) > 1:
            families = units.setdefault(statement[1], {})
            if statement[2:3] == ("family",):
                addresses = families.setdefault(statement[3], {})
                if statement[4:5] == ("address",):
                    addresses.setdefault(str(ip_interface(statement[5])))
    return {unit: {name: tuple(held) for name, held in families.items()} for unit, families in units.items()}


def _by_interface(statements: Iterable[Statement]) -> Mapping[str, list[Statement]]:
    stated: dict[str, list[Statement]] = defaultdict(list)
    for section, *rest in statements:
        if section == "interfaces" and rest:
            stated[rest[0]].append(tuple(rest[1:]))
    return stated


def _value(stated: Iterable[Statement], name: str) -> str | None:
    return next((statement[1] for statement in stated if statement[0] == name and len(statement) > 1), None)


def _bundle(stated: Iterable[Statement]) -> str | None:
    """The bundle of which statements make a port a member."""
    return next((each[2] for each in stated if each[:2] == ("ether-options", "802.3ad") and len(each) > 2), None)


def _counters(device: VirtualDevice) -> Mapping[str, PortCounters]:
    counters: dict[str, PortCounters] = defaultdict(PortCounters)
    for metric, labels, value in device.readings():
        if (name := labels.get("interface")) is None or not metric.startswith(
            ("fabric_interface_", "fabric_queue_", "fabric_pfc_")
        ):
            continue
        counters[name].add(metric, labels, int(value))
    return counters


def _queues(classes: Mapping[str, int], counters: PortCounters) -> tuple[QueueState, ...]:
    return tuple(QueueState(number, name, counters.queues[str(number)]) for name, number in classes.items())

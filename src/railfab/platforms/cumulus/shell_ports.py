"""Show commands for the ports of a virtual Cumulus Linux switch (NVUE reference, Interface Commands and LLDP)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from railfab.device import Fec
from railfab.platforms.cumulus.names import LO, device_name
from railfab.platforms.cumulus.nodes import at
from railfab.platforms.cumulus.nvue_tables import NOT_COUNTED, in_form, sized, table, titled, tree
from railfab.platforms.cumulus.shell_login import CumulusLogin
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import VirtualPort

DEFAULT_MTU = 9216
"""MTU of a port that states none (cumulus-linux-517, Switch Port Attributes) [bytes]."""
LOOPBACK_MTU = 65536
INTERFACES = (
    "Interface",
    "Admin Status",
    "Oper Status",
    "Speed",
    "MTU",
    "Type",
    "Remote Host",
    "Remote Port",
    "Summary",
)
LLDP = ("Interface", "Speed", "Type", "Remote Host", "Remote Port")
FAMILIES = {"ipv4": "IP Address", "ipv6": "IPv6 Address"}
STATS = {"bytes": "bytes", "pkts": "packets", "drops": "discards", "errors": "errors"}
COUNTERS = ("Counter", "Receive", "Transmit")
WAYS = ("receive", "transmit")
FECS = {Fec.BASE_R: "baser", Fec.RS_528: "rs", Fec.RS_544: "rs"}
"""Names of the modes; a port without has `off` (cumulus-linux-517, Switch Port Attributes)."""
PRIORITIES = 8
BYTES = ("in-bytes", "out-bytes")


class CumulusPortShows(CumulusLogin):
    """The commands for ports and their neighbours."""

    def show_interfaces(self, form: str = "text") -> str:
        link = {"admin-status": "up", "oper-status": "up", "mtu": LOOPBACK_MTU}
        addresses = _addresses(at(self.running_tree(), "interface", LO))
        loopback = {"type": "loopback", "link": link, **addresses, "lldp": {"neighbor": {}}}
        held = {LO: loopback, **self._ports()}
        rows = [row for name, each in held.items() for row in _interface_rows(name, each)]
        return in_form(form, held, table(INTERFACES, rows))

    def show_lldp(self, form: str = "text") -> str:
        heard = {name: each for name, each in self._ports().items() if each["lldp"]["neighbor"]}
        rows = [
            (name, each["link"]["speed"], each["type"], neighbor["chassis"]["system-name"], neighbor["port"]["name"])
            for name, each in heard.items()
            for neighbor in each["lldp"]["neighbor"].values()
        ]
        return in_form(form, heard, table(LLDP, rows))

    def show_link(self, interface: str, form: str = "text") -> str:
        port = self.port(interface)
        held = {
            **_link(port, self._mtus()),
            "fec": FECS.get(port.fec or Fec.OFF, "off"),
            "stats": self._stats(interface),
        }
        applied = at(self.running_tree(), "interface", interface, "link")
        return in_form(form, held, tree(sized(held, BYTES), applied))

    def show_link_stats(self, interface: str, form: str = "text") -> str:
        held = self._stats(self.port(interface).name)
        return in_form(form, held, tree(sized(held, BYTES)))

    def show_counters(self, interface: str) -> str:
        readings, name = self.readings(), self.port(interface).name
        return "\n".join(
            (
                tree({"carrier-transitions": _transitions(readings, name)}),
                titled("Detailed Counters", table(COUNTERS, [*_details(readings, name)])),
                titled("Drop Counters", table(COUNTERS, [*_drops(readings, name)])),
                titled("Error Counters", table(COUNTERS, [*_errors(readings, name)])),
            )
        )

    def show_errors(self, interface: str) -> str:
        return table(COUNTERS, [*_errors(self.readings(), self.port(interface).name)])

    def hardware_counters(self, interface: str) -> str:
        """The output of `ethtool -S` (cumulus-linux, Monitoring Interfaces and Transceivers Using ethtool)."""
        readings, name = self.readings(), self.port(interface).name
        return "".join(
            ["NIC statistics:\n", *(f"     {each}: {value:.0f}\n" for each, value in _hardware(readings, name))]
        )

    def _ports(self) -> dict[str, Json]:
        """The ports, with link, addresses and neighbours."""
        configured, mtus = at(self.running_tree(), "interface"), self._mtus()
        return {
            port.name: {
                "type": "swp",
                "link": _link(port, mtus),
                **_addresses(at(configured, port.name)),
                "lldp": {"neighbor": _neighbors(port)},
            }
            for port in self.device.ports()
        }

    def _mtus(self) -> dict[str, int | None]:
        """MTUs by the name of an interface on the switch [bytes]."""
        return {device_name(each.name): each.mtu_bytes for each in self.device.observe().interfaces}

    def _stats(self, interface: str) -> Json:
        readings = self.readings()
        shown = {
            f"{prefix}-{name}": int(readings.of_port(f"fabric_interface_{way}_{metric}_total", interface))
            for prefix, way in zip(("in", "out"), WAYS, strict=True)
            for name, metric in STATS.items()
        }
        return {**shown, "carrier-transitions": _transitions(readings, interface)}


def _link(port: VirtualPort, mtus: dict[str, int | None]) -> Json:
    return {
        "admin-status": "down" if port.fault == "disabled" else "up",
        "oper-status": "down" if port.fault else "up",
        "speed": f"{port.rate_gbps:.0f}G",
        "mtu": mtus.get(port.name) or DEFAULT_MTU,
    }


def _addresses(settings: Json) -> Json:
    held = {family: at(settings, family, "address") for family in FAMILIES}
    return {family: {"address": {prefix: {} for prefix in each}} for family, each in held.items() if each}


def _neighbors(port: VirtualPort) -> Json:
    return {
        each.name: {
            "chassis": {"system-name": each.name, "capability": {"is-router": "on"}},
            "port": {"name": each.port, "description": each.description},
        }
        for each in port.neighbors
    }


def _interface_rows(name: str, held: Json) -> Iterator[tuple[str, ...]]:
    """The rows of an interface: the first, and one for each further address."""
    link = held["link"]
    neighbor: dict[str, Any] = next(iter(held["lldp"]["neighbor"].values()), {})
    heard = (neighbor["chassis"]["system-name"], neighbor["port"]["name"]) if neighbor else ("", "")
    addresses = [f"{title}: {address}" for family, title in FAMILIES.items() for address in at(held, family, "address")]
    first, *others = addresses or [""]
    states = (link["admin-status"], link["oper-status"], link.get("speed", ""), str(link["mtu"]))
    yield (name, *states, held["type"], *heard, first)
    for address in others:
        yield (*[""] * (len(INTERFACES) - 1), address)


def _transitions(readings: SwitchReadings, port: str) -> int:
    return int(readings.of_port("fabric_interface_carrier_transitions_total", port))


def _details(readings: SwitchReadings, port: str) -> Iterator[tuple[str, str, str]]:
    casts = {way: readings.by(f"fabric_interface_{way}_packets_total", "cast", interface=port) for way in WAYS}
    for cast in ("broadcast", "multicast"):
        yield _counter(f"{cast.capitalize()} Packets", *(casts[way].get((cast,), 0) for way in WAYS))
    for title, metric in (("Total Octets", "bytes"), ("Total Packets", "packets")):
        yield _counter(title, *_both(readings, port, metric))
    yield _counter("Unicast Packets", *(casts[way].get(("unicast",), 0) for way in WAYS))


def _drops(readings: SwitchReadings, port: str) -> Iterator[tuple[str, str, str]]:
    """Packets that are dropped: at ingress without buffer or route, at egress by the queues."""
    received, sent = _both(readings, port, "discards")
    queues = sum(readings.by("fabric_queue_dropped_packets_total", "queue", interface=port).values())
    yield _counter("Buffer Drops", received, None)
    yield _counter("Non-Queue Drops", None, sent - queues)
    yield _counter("Queue Drops", None, queues)
    yield _counter("Total Drops", received, sent)


def _errors(readings: SwitchReadings, port: str) -> Iterator[tuple[str, str, str]]:
    received, sent = _both(readings, port, "errors")
    corrupted = readings.of_port("fabric_interface_receive_fcs_errors_total", port)
    yield _counter("FCS Errors", corrupted, None)
    yield _counter("Oversize Errors", received - corrupted, None)
    yield _counter("Total Errors", received, sent)


def _both(readings: SwitchReadings, port: str, metric: str) -> tuple[float, float]:
    received, sent = (readings.of_port(f"fabric_interface_{way}_{metric}_total", port) for way in WAYS)
    return received, sent


def _counter(title: str, received: float | None, sent: float | None) -> tuple[str, str, str]:
    texts = (NOT_COUNTED if value is None else f"{value:.0f}" for value in (received, sent))
    return (title, *texts)  # type: ignore[return-value]


def _hardware(readings: SwitchReadings, port: str) -> Iterator[tuple[str, float]]:
    """Counters of the hardware by the names that the driver gives them."""
    for prefix, way in zip(("In", "Out"), WAYS, strict=True):
        yield f"HwIf{prefix}Octets", readings.of_port(f"fabric_interface_{way}_bytes_total", port)
        casts = readings.by(f"fabric_interface_{way}_packets_total", "cast", interface=port)
        for short, cast in (("U", "unicast"), ("B", "broadcast"), ("M", "multicast")):
            yield f"HwIf{prefix}{short}castPkts", casts.get((cast,), 0)
        for title, metric in (("Discards", "discards"), ("Errors", "errors")):
            yield f"HwIf{prefix}{title}", readings.of_port(f"fabric_interface_{way}_{metric}_total", port)
        frames = readings.by(f"fabric_pfc_{way}_frames_total", "priority", interface=port)
        for priority in range(PRIORITIES):
            yield f"HwIf{prefix}Pfc{priority}Pkt", frames.get((str(priority),), 0)
    queues = sum(readings.by("fabric_queue_dropped_packets_total", "queue", interface=port).values())
    yield "HwIfOutQDrops", queues
    yield "HwIfOutNonQDrops", readings.of_port("fabric_interface_transmit_discards_total", port) - queues

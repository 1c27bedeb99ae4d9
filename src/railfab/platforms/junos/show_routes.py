"""Routes of a virtual Junos switch: `show route`, and `show route summary`.

Forms: genieparser's and ntc-templates' recorded outputs. Only active routes are there, each as old as its session or
port; addresses of the switch itself are no routes of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from railfab.device import IpNetwork
from railfab.platforms.junos.answers import Tree, age, lasting
from railfab.platforms.junos.bgp_groups import BgpStatements
from railfab.platforms.junos.names import TABLES
from railfab.platforms.junos.port_state import LOOPBACK, loopback_addresses
from railfab.platforms.junos.show_sessions import UNIT, peer_states
from railfab.platforms.shared.virtual_readings import SwitchReadings
from railfab.platforms.twin_face import RouteCounts, VirtualDevice, VirtualRoute

PREFERENCES = {"Direct": 0, "Aggregate": 130, "BGP": 170}
"""Preferences by protocol (Juniper, Protocol-Independent Routing, Route Preferences Overview)."""
LEGEND = "+ = Active Route, - = Last Active, * = Both"
_PREFIX_WIDTH = 19


@dataclass(frozen=True, slots=True)
class ShownRoute:
    """A route. hops: address of the next hop, empty on a subnet, and interface. age_s: of the route [s]."""

    route: VirtualRoute
    protocol: str
    hops: tuple[tuple[str, str], ...]
    age_s: float

    @property
    def table(self) -> str:
        return TABLES[f"ipv{self.route.prefix.version}-unicast"]


class RouteList:
    """The routes of a switch."""

    def __init__(self, device: VirtualDevice) -> None:
        self._now_s, self._started_s = time.time(), device.chassis().started_s
        self._peers = {peer.session.interface: peer for peer in peer_states(device)}
        self._changes = SwitchReadings(device).by("fabric_interface_last_change_timestamp_seconds", "interface")
        self._loopbacks = {
            address.partition("/")[0]
            for families in loopback_addresses(device).values()
            for addresses in families.values()
            for address in addresses
        }
        self.routes = sorted(map(self._shown, device.routes()), key=lambda shown: _order(shown.route.prefix))

    def _shown(self, route: VirtualRoute) -> ShownRoute:
        if route.as_path is not None:
            peers = [self._peers[interface] for interface in route.interfaces if interface in self._peers]
            hops = tuple((peer.address, f"{peer.session.interface}{UNIT}") for peer in peers)
            return ShownRoute(route, "BGP", hops, min((peer.changed_s for peer in peers), default=0.0))
        if route.interfaces:
            (interface,) = route.interfaces
            changed_s = self._changes.get((interface,), self._started_s)
            return ShownRoute(route, "Direct", (("", f"{interface}{UNIT}"),), self._now_s - changed_s)
        is_loopback = str(route.prefix.network_address) in self._loopbacks
        hops = (("", f"{LOOPBACK}{UNIT}"),) if is_loopback else ()
        return ShownRoute(route, "Direct" if is_loopback else "Aggregate", hops, self._now_s - self._started_s)


def _order(prefix: IpNetwork) -> tuple[int, int, int]:
    return prefix.version, int(prefix.network_address), prefix.prefixlen


def of_protocol(routes: Sequence[ShownRoute], protocol: str) -> list[ShownRoute]:
    """The routes of a protocol, whose name is written in small letters."""
    return [shown for shown in routes if shown.protocol.lower() == protocol]


def toward(routes: Sequence[ShownRoute], destination: str) -> list[ShownRoute]:
    """The most specific route to an address. Raises ValueError for a text that is none."""
    address = ip_address(destination)
    matching = [shown for shown in routes if address in shown.route.prefix]
    return matching[-1:]


def routes_text(every: Sequence[ShownRoute], shown: Sequence[ShownRoute]) -> Iterator[str]:
    """`show route`. every: those of the switch, which are counted."""
    for table in TABLES.values():
        held, listed = (sum(each.table == table for each in routes) for routes in (every, shown))
        if listed:
            yield ""
            yield f"{table}: {held} destinations, {held} routes ({held} active, 0 holddown, 0 hidden)"
            yield LEGEND
            yield ""
            for each in shown:
                if each.table == table:
                    yield from _route_text(each)


def _route_text(shown: ShownRoute) -> Iterator[str]:
    prefix, protocol = str(shown.route.prefix), f"*[{shown.protocol}/{PREFERENCES[shown.protocol]}]"
    fitting = f"{prefix:<{_PREFIX_WIDTH}}"
    if len(fitting) > _PREFIX_WIDTH:
        yield prefix
        fitting = " " * _PREFIX_WIDTH
    if shown.route.as_path is None:
        yield f"{fitting}{protocol} {age(shown.age_s)}"
    else:
        med = f", MED {shown.route.med}" if shown.route.med else ""
        yield f"{fitting}{protocol} {age(shown.age_s)}{med}, localpref {shown.route.preference}"
        yield f"{'':<22}AS path: {_path(shown)}, validation-state: unverified"
    for place, (address, interface) in enumerate(shown.hops):
        to = f"to {address} " if address else ""
        yield f"{'':<20}{'>' if not place else ' '}  {to}via {interface}"
    if not shown.hops:
        yield f"{'':<23}Reject"


def _path(shown: ShownRoute) -> str:
    return " ".join([*map(str, shown.route.as_path or ()), "I"])


def routes_tree(every: Sequence[ShownRoute], shown: Sequence[ShownRoute]) -> Tree:
    """The tables that have any of these routes."""
    return {
        "route-table": [
            {
                "table-name": table,
                **_counts(sum(each.table == table for each in every)),
                "rt": [_entry(each) for each in shown if each.table == table],
            }
            for table in TABLES.values()
            if any(each.table == table for each in shown)
        ]
    }


def _counts(number: int) -> Tree:
    return {
        "destination-count": number,
        "total-route-count": number,
        "active-route-count": number,
        "holddown-route-count": 0,
        "hidden-route-count": 0,
    }


def _entry(shown: ShownRoute) -> Tree:
    learned = {"local-preference": shown.route.preference, "as-path": f"AS path: {_path(shown)}"}
    return {
        "rt-destination": shown.route.prefix,
        "rt-entry": {
            "active-tag": "*",
            "protocol-name": shown.protocol,
            "preference": PREFERENCES[shown.protocol],
            "age": lasting(age(shown.age_s), shown.age_s),
            **(learned if shown.route.as_path is not None else {}),
            "nh": [{**({"to": address} if address else {}), "via": interface} for address, interface in shown.hops],
        },
    }


def summary_tree(device: VirtualDevice) -> Tree:
    """`show route summary`. Routes that BGP has not taught are those of the interfaces."""
    stated = BgpStatements(device.running())
    tables = [_summary(counts) for counts in device.chassis().routes if counts.active]
    return {"as-number": stated.local_as, "router-id": stated.router_id, "route-table": tables}


def _summary(counts: RouteCounts) -> Tree:
    rows = (("Direct", counts.active - counts.bgp), ("BGP", counts.bgp))
    return {
        "table-name": TABLES[counts.family],
        **_counts(counts.active),
        "protocols": [
            {"protocol-name": name, "protocol-route-count": count, "active-route-count": count}
            for name, count in rows
            if count
        ],
    }


def summary_text(device: VirtualDevice) -> Iterator[str]:
    tree = summary_tree(device)
    yield f"Autonomous system number: {tree['as-number']}"
    yield f"Router ID: {tree['router-id']}"
    for table in tree["route-table"]:
        yield ""
        count = table["active-route-count"]
        yield (
            f"{table['table-name']}: {table['destination-count']} destinations, {count} routes "
            f"({count} active, 0 holddown, 0 hidden)"
        )
        for row in table["protocols"]:
            count = row["active-route-count"]
            yield f"{row['protocol-name']:>20}: {count:>6} routes, {count:>6} active"

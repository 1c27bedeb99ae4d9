"""Show commands of SR Linux, as learn-srlinux prints them, from what a gNMI Get of the same switch answers.

Sources: docs/get-started/cli.md, docs/blog/posts/2024/navigating-srl.md, docs/cli/show-commands/interface.md and
docs/tutorials/l3evpn/rt5-only/underlay.md. What the twin has no leaf for stays empty, or has no line.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

from railfab.gnmi.paths import Element, elements
from railfab.gnmi.target import DataType, PathNotFound
from railfab.platforms.shared.json_tree import Json, leaf_text
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.srlinux.refusal_texts import nothing_at
from railfab.platforms.srlinux.tree import stripped
from railfab.platforms.twin_face import VirtualDevice, VirtualPort

BRIEF_WIDTHS = {"Port": 21, "Admin State": 23, "Oper State": 23, "Speed": 23, "Type": 23}
LLDP_COLUMNS = (
    "Name",
    "Neighbor",
    "Neighbor System Name",
    "Neighbor Chassis ID",
    "Neighbor First Message",
    "Neighbor Last Update",
    "Neighbor Port",
)
BGP_COLUMNS = ("Net-Inst", "Peer", "Group", "Flags", "Peer-AS", "State", "Uptime", "AFI/SAFI", "[Rx/Active/Tx]")
BGP_CELL = 7
"""Width at which the cells of this table are wrapped [columns]."""
FLAGS = "Flags: S static, D dynamic, L discovered by LLDP, B BFD enabled, - disabled, * slow"
KILOBYTE = 1000


def version(device: VirtualDevice) -> str:
    """`show version`: what the twin has a leaf for."""
    chassis, memory = _state(device, "/platform/chassis"), _state(device, "/platform/control[slot=A]/memory")
    rows = {
        "Hostname": _state(device, "/system/name").get("host-name", device.name),
        "Chassis Type": chassis["type"],
        "Serial Number": chassis["serial-number"],
        "System HW MAC Address": chassis["hw-mac-address"],
        "OS": "SR Linux",
        "Software Version": _state(device, "/system/information")["version"],
        "Last Booted": chassis["last-booted"],
        "Total Memory": f"{int(memory['physical']) // KILOBYTE} kB",
        "Free Memory": f"{int(memory['free']) // KILOBYTE} kB",
    }
    rule = "-" * 50
    return "\n".join([rule, *(f"{name:<21}: {value}" for name, value in rows.items()), rule])


def interface_brief(device: VirtualDevice) -> str:
    """`show interface brief`: the front-panel ports."""
    rows = [_brief(port) for port in device.ports()]
    return _table(tuple(BRIEF_WIDTHS), rows, tuple(width - 2 for width in BRIEF_WIDTHS.values()))


def _brief(port: VirtualPort) -> Sequence[str]:
    admin_state = "disable" if port.fault == "disabled" else "enable"
    return (port.name, admin_state, "down" if port.fault else "up", f"{port.rate_gbps:g}G", "")


def lldp_neighbor(device: VirtualDevice) -> str:
    """`show system lldp neighbor`."""
    rows = [
        (
            entry["name"],
            neighbor["id"],
            neighbor.get("system-name", ""),
            neighbor["chassis-id"],
            _ago(neighbor["first-message"]),
            "",
            neighbor.get("port-id", ""),
        )
        for entry in _state(device, "/system/lldp").get("interface", [])
        for neighbor in entry.get("neighbor", [])
    ]
    widths = [max(map(len, cells)) for cells in zip(LLDP_COLUMNS, *rows, strict=True)]
    return textwrap.indent(_table(LLDP_COLUMNS, rows, widths), "  ")


def bgp_neighbor(device: VirtualDevice, instance: str, address: str = "") -> str:
    """`show network-instance NAME protocols bgp neighbor [ADDRESS]`."""
    place = (Element("network-instance", (("name", instance),)), Element("protocols"), Element("bgp"))
    bgp = _answer(device, place)
    peers = [peer for peer in bgp.get("neighbor", []) if address in ("", "*", peer["peer-address"])]
    if address and not peers:
        raise CliRefusal(nothing_at((*place, Element("neighbor", (("peer-address", address),)))))
    bfd = {session.peer for session in device.sessions() if session.bfd_up is not None}
    rows = [_peer(instance, peer, bgp, bfd) for peer in peers]
    table = _table(BGP_COLUMNS, rows, [BGP_CELL] * len(BGP_COLUMNS))
    rule = "-" * 97
    title = f'BGP neighbor summary for network-instance "{instance}"'
    return "\n".join([rule, title, FLAGS, rule, rule, table, rule, *_summary(peers)])


def _summary(peers: Sequence[Json]) -> Sequence[str]:
    configured = [peer for peer in peers if not _interface(peer)]
    up = sum(peer.get("session-state") == "established" for peer in configured)
    disabled = sum(peer.get("admin-state") == "disable" for peer in configured)
    return [
        "Summary:",
        f"{len(configured)} configured neighbors, {up} configured sessions are established,{disabled} disabled peers",
        f"{len(peers) - len(configured)} dynamic peers",
    ]


def _interface(peer: Json) -> str:
    """The interface of a dynamic peer, whose address is link-local; empty for another."""
    return str(peer["peer-address"]).partition("%")[2].removesuffix(".0")


def _peer(instance: str, peer: Json, bgp: Json, bfd: Iterable[str]) -> Sequence[str]:
    interface, up = _interface(peer), peer.get("session-state") == "established"
    dynamic = bgp.get("dynamic-neighbors", {}).get("interface", []) if interface else []
    groups = [entry.get("peer-group") for entry in dynamic if entry["interface-name"] == f"{interface}.0"]
    has_bfd = (interface or peer["peer-address"]) in bfd
    flags = {"D": interface, "S": not interface, "B": has_bfd, "-": peer.get("admin-state") == "disable"}
    families = peer.get("afi-safi", []) if up else []
    return (
        instance,
        peer["peer-address"],
        str(peer.get("peer-group") or next(iter(groups), "")),
        "".join(flag for flag, is_set in flags.items() if is_set),
        str(peer.get("peer-as", "")),
        str(peer.get("session-state", "")),
        _uptime(peer["last-established"]) if up and "last-established" in peer else "",
        "\n".join(family["afi-safi-name"] for family in families),
        "\n".join(_routes(family) for family in families),
    )


def _routes(family: Json) -> str:
    counts = (family.get(f"{kind}-routes", 0) for kind in ("received", "active", "sent"))
    return f"[{'/'.join(map(str, counts))}]"


def _state(device: VirtualDevice, path: str) -> Json:
    return _answer(device, elements(path))


def _answer(device: VirtualDevice, path: tuple[Element, ...]) -> Json:
    """Configuration and state of a place, without modules; empty where there is nothing."""
    try:
        (answer,) = device.get(path, DataType.ALL)
    except PathNotFound:
        return {}
    return dict(stripped(answer.value))


def _seconds_since(text: str) -> int:
    return max(0, int(time.time() - datetime.fromisoformat(text).timestamp()))


def _uptime(since: str) -> str:
    minutes, seconds = divmod(_seconds_since(since), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}d:{hours}h:{minutes}m:{seconds}s"


def _ago(since: str) -> str:
    seconds = _seconds_since(since)
    for unit, length in (("hour", 3600), ("minute", 60)):
        if (count := seconds // length) > 0:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return f"{seconds} seconds ago"


def _table(headers: Sequence[str], rows: Sequence[Sequence[Any]], widths: Sequence[int]) -> str:
    """A table in rules; a cell wider than its column is wrapped. widths: of the texts."""
    rule, double = (f"+{'+'.join(sign * (width + 2) for width in widths)}+" for sign in "-=")
    head = _row(headers, widths, "^")
    body = [line for row in rows for line in _row(list(map(leaf_text, row)), widths, "<")]
    return "\n".join([rule, *head, double, *body, rule])


def _row(cells: Sequence[str], widths: Sequence[int], align: str) -> Sequence[str]:
    wrapped = [
        [part for line in cell.split("\n") for part in textwrap.wrap(line, width)] or [""]
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines = [
        [f" {text:{align}{width}} " for text, width in zip(line, widths, strict=True)]
        for line in zip_longest(*wrapped, fillvalue="")
    ]
    return [f"|{'|'.join(line)}|" for line in lines]

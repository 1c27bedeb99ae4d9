"""Writes the commands of FRR that `railfab.platforms.frr.commands` reads: `python -m tests.platforms.frr.command_list`.

Needs root and FRR 8.4. The daemons run in a network namespace of their own, with sockets in a directory of their own.
vtysh shows the graph of the commands of each section, as in `show cli graph`, and this turns it into FRR's notation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import unescape
from importlib.resources import files
from pathlib import Path

FRR = Path("/usr/lib/frr")
DAEMONS = ("zebra", "staticd", "bgpd", "bfdd", "pbrd")
MODULES = {"bgpd": "-M bmp"}
"""Options of daemons by which they have all of their commands."""
STARTS_WITHIN_S = 30
SECTIONS = {
    "top": (),
    "interface": ("interface swp1",),
    "vrf": ("vrf blue",),
    "router bgp": ("router bgp 65001",),
    "address-family unicast": ("router bgp 65001", "address-family {} unicast"),
    "address-family l2vpn evpn": ("router bgp 65001", "address-family l2vpn evpn"),
    "bmp targets": ("router bgp 65001", "bmp targets any"),
    "route-map": ("route-map any permit 10",),
    "bfd": ("bfd",),
    "peer": ("bfd", "peer 192.0.2.1"),
    "profile": ("bfd", "profile any"),
    "pbr-map": ("pbr-map any seq 10",),
    "nexthop-group": ("nexthop-group any",),
    "line vty": ("line vty",),
}
"""The commands that lead to each section; both families have the section of one that names `{}`."""

VERBS = "XFRR_end_configuration XFRR_start_configuration end exit find list output quit show terminal clear exit-vrf"
PROTOCOLS = (
    "agentx babel debug dump eigrp fpm isis l2vpn mpls nhrp openfabric ospf pseudowire vnc vrf-policy vrrp",
    "ip: authentication hello-interval hold-time igmp irdp mroute msdp multicast nhrp ospf pim rip router ssmpingd",
    "ip: split-horizon summary-address",
    "ipv6: mld mroute multicast ospf6 pim ripng router ssmpingd nhrp",
    "router: babel eigrp isis openfabric ospf ospf6 rip ripng",
)
"""First words, or second words behind a first one, of what railfab neither configures nor reads: one line for all."""

_NODE = re.compile(r"  (n0x\w+) \[ shape=box, label=<<b>(\w+)_TKN</b>(?: \(\w\))?(?:<br/>(.*?))?>, style")
_EDGE = re.compile(r"  (n0x\w+) -> (\w+);")
_KEYWORD = re.compile(r"<b>(.*)</b>")


class CommandGraph:
    """The commands of one section. FORK and JOIN nodes are the ends of a group; `end...` is the end of a command."""

    def __init__(self, dot: str) -> None:
        self._kinds: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._edges: dict[str, list[str]] = defaultdict(list)
        for line in dot.splitlines():
            if found := _NODE.match(line):
                name, kind, text = found[1], found[2], found[3] or ""
                keyword = _KEYWORD.search(text)
                self._kinds[name], self._texts[name] = kind, unescape(keyword[1] if keyword else text)
            elif found := _EDGE.match(line):
                self._edges[found[1]].append(found[2])

    def commands(self) -> Iterator[str]:
        start = next(name for name, kind in self._kinds.items() if kind == "START")
        return (text for text, _ in self._sequences(start, (), start))

    def _sequences(self, node: str, words: tuple[str, ...], last: str) -> Iterator[tuple[str, str]]:
        """Every way from a node to the end of a command or of the group around it, with that end."""
        for following in self._edges[node]:
            if following in (node, last):
                continue
            kind = self._kinds.get(following, "END")
            if kind in ("END", "JOIN"):
                yield " ".join(words), following
            elif kind == "FORK":
                text, join = self._group(following)
                yield from self._sequences(join, (*words, text), following)
            else:
                dots = "..." if following in self._edges[following] else ""
                yield from self._sequences(following, (*words, f"{self._texts[following]}{dots}"), following)

    def _group(self, fork: str) -> tuple[str, str]:
        found = [(text, join) for text, join in self._sequences(fork, (), fork) if text]
        join = found[0][1]
        alternatives = "|".join(text for text, _ in found)
        optional = join in self._edges[fork]
        if fork in self._edges[join]:
            alternatives = f"{{{alternatives}}}"
        elif len(found) > 1:
            alternatives = f"<{alternatives}>"
        return (f"[{alternatives}]" if optional else alternatives), join


def written(graphs: dict[str, Sequence[CommandGraph]]) -> str:
    """The file: each section, and its commands sorted, with a command and its negation as one."""
    lines = ["# Configuration commands of FRR 8.4, written by python -m tests.platforms.frr.command_list"]
    for section, found in graphs.items():
        commands = {shortened for graph in found for command in graph.commands() if (shortened := _short(command))}
        both = {command for command in commands if f"no {command}" in commands}
        commands = commands - both - {f"no {command}" for command in both} | {f"[no] {command}" for command in both}
        lines += [section, *(f" {command}" for command in sorted(commands, key=_order))]
    return "\n".join(lines) + "\n"


def _order(command: str) -> tuple[str, str]:
    return command.removeprefix("[no] ").removeprefix("no "), command


def _short(command: str) -> str:
    """The command; one line for a protocol; empty for what is no configuration."""
    bare = command.removeprefix("[no] ").removeprefix("no ")
    first, second, *_ = f"{bare} ".split(" ")
    if first in VERBS.split():
        return ""
    for entry in PROTOCOLS:
        above, colon, names = entry.rpartition(":")
        if colon and first in (above, "<ip|ipv6>") and second in names.split():
            return f"[no] {first} {second} [LINE...]"
        if not colon and first in names.split():
            return f"[no] {first} [LINE...]"
    return command


def read(sockets: Path) -> dict[str, Sequence[CommandGraph]]:
    """The graphs of all sections, from daemons with sockets here."""
    found: dict[str, Sequence[CommandGraph]] = {}
    for section, ways in SECTIONS.items():
        variants = {tuple(way.format(family) for way in ways) for family in ("ipv4", "ipv6")}
        found[section] = [
            CommandGraph(vtysh(sockets, "configure terminal", *way, "show cli graph")) for way in variants
        ]
    return found


def vtysh(sockets: Path, *commands: str) -> str:
    arguments = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(["vtysh", "--vty_socket", str(sockets), *arguments], capture_output=True, text=True)
    return done.stdout


def main() -> None:
    sockets = Path(tempfile.mkdtemp())
    shutil.chown(sockets, "frr", "frr")
    options = f"--vty_socket {sockets} -z {sockets}/zserv.api -A 127.0.0.1 -P 0"
    try:
        daemons = [f"{FRR}/{name} -d {options} -i {sockets}/{name}.pid {MODULES.get(name, '')}" for name in DAEMONS]
        subprocess.run(["unshare", "--net", "sh", "-ec", "\n".join(daemons)], check=True)
        deadline = time.monotonic() + STARTS_WITHIN_S
        while len([*sockets.glob("*.vty")]) < len(DAEMONS) and time.monotonic() < deadline:
            time.sleep(0.1)
        Path(str(files("railfab.platforms.frr") / "commands.txt")).write_text(written(read(sockets)))
    finally:
        for found in sockets.glob("*.pid"):
            subprocess.run(["kill", found.read_text().strip()], check=False)
        shutil.rmtree(sockets)


if __name__ == "__main__":
    sys.exit(main())

"""LLDP of hosts: what a plan would have them see, as lldpd writes it, and a real lldpd in network namespaces."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from railfab.topology import Topology

Cables = dict[tuple[str, str], tuple[str, str]]
"""Port of a switch, by host and NIC."""


def nic_of(topology: Topology) -> dict[tuple[str, str], str]:
    """A name of Linux for each port of a host, the same on every host; later ones need not sort later."""
    names: dict[tuple[str, str], str] = {}
    for host in (node.name for node in topology.nodes if not node.is_switch):
        for number, (port, _, _) in enumerate(topology.ports_of(host)):
            names[host, port.name] = f"ens{(7 * number + 3) % 101}f{number}np0"
    return names


def planned_cables(topology: Topology) -> Cables:
    """The cables of hosts, by the names that Linux gives their NICs."""
    nics = nic_of(topology)
    return {
        (port.node, nics[port.node, port.name]): (peer.node, peer.name)
        for port, peer, _ in topology.ports()
        if (port.node, port.name) in nics and topology.node(peer.node).is_switch
    }


def entry(nic: str, device: str, port: str) -> dict[str, Any]:
    """A neighbour as json0 has it."""
    return {
        "name": nic,
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:00:04",
        "chassis": [{"id": [{"type": "mac", "value": "e6:9a:54:ef:aa:40"}], "name": [{"value": device}]}],
        "port": [{"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}], "ttl": [{"value": "120"}]}],
    }


def documents(cables: Cables) -> dict[str, dict[str, Any]]:
    """The document of each host."""
    hosts: dict[str, list[dict[str, Any]]] = {}
    for (host, nic), (device, port) in cables.items():
        hosts.setdefault(host, []).append(entry(nic, device, port))
    return {host: {"lldp": [{"interface": entries}]} for host, entries in hosts.items()}


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    for host, document in files.items():
        (folder / f"{host}.json").write_text(json.dumps(document))
    return folder


NEIGHBORS = """
set -eu
mount -t tmpfs tmpfs /run
mkdir -p /run/lldpd
ip link set lo up
namespace() {
    unshare --net --uts sleep 60 &
    printf %s $! >"/run/$1.pid"
    until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
    nsenter -t $! --uts hostname "$1"
}
{cables}
for pid in /run/*.pid; do
    node=$(basename "$pid" .pid)
    nsenter -t "$(cat "$pid")" --net --uts sh -c \
        'for link in /sys/class/net/*; do ip link set "$(basename "$link")" up; done' 2>/dev/null || true
    for link in $(nsenter -t "$(cat "$pid")" --net ip -o link show type veth | sed 's/^[0-9]*: \\([^@]*\\)@.*/\\1/'); do
        nsenter -t "$(cat "$pid")" --net ip link set "$link" up
    done
    nsenter -t "$(cat "$pid")" --net --uts lldpd -d -u "/run/$node.sock" >"$1/$node.log" 2>&1 &
done
for pid in /run/*.pid; do
    node=$(basename "$pid" .pid)
    until lldpcli -u "/run/$node.sock" configure lldp portidsubtype ifname >/dev/null 2>&1; do sleep 0.05; done
    lldpcli -u "/run/$node.sock" configure system hostname "$node" >/dev/null
    lldpcli -u "/run/$node.sock" configure lldp tx-interval 1 >/dev/null
done
{waits}
{after}
"""


def neighbors_of_real_lldpd(folder: Path, cables: Cables, after: str = "") -> None:
    """Write what lldpd on each host shows of these cables, which are veth pairs between namespaces.

    after: lines of a shell that runs then; $1 is the folder, and /run has NODE.pid and the socket NODE.sock.
    """
    script = NEIGHBORS.replace("{cables}", "\n".join(_links(cables))).replace("{waits}", "\n".join(_waits(cables)))
    script = script.replace("{after}", after)
    command = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    subprocess.run([*command, "sh", "-c", script, "sh", str(folder)], check=True, timeout=120, capture_output=True)
    for log in folder.glob("*.log"):
        log.unlink()


def _links(cables: Cables) -> list[str]:
    nodes = dict.fromkeys(node for (host, _), (switch, _) in cables.items() for node in (host, switch))
    lines = [f"namespace {node}" for node in nodes]
    for (host, nic), (switch, port) in cables.items():
        ends = [f'{name} netns "$(cat /run/{node}.pid)"' for name, node in ((nic, host), (port, switch))]
        lines.append(f"ip link add {ends[0]} type veth peer name {ends[1]}")
    return lines


def _waits(cables: Cables) -> list[str]:
    """Wait until each host sees as many neighbours as it has cables, and write them."""
    counts: dict[str, int] = {}
    for host, _ in cables:
        counts[host] = counts.get(host, 0) + 1
    return [
        f'for _ in $(seq 200); do lldpcli -u /run/{host}.sock -f json0 show neighbors details >"$1/{host}.json"; '
        f'[ "$(grep -c \'"via"\' "$1/{host}.json")" -ge {count} ] && break; sleep 0.1; done'
        for host, count in counts.items()
    ]


Edit = Callable[[Cables], None]


def swapped(cables: Cables, one: tuple[str, str], other: tuple[str, str]) -> None:
    cables[one], cables[other] = cables[other], cables[one]

"""Stand-in for the `containerlab` binary: prints the recorded output of containerlab 0.79 with its exit codes.

Run as a program. STANDIN_HOME keeps what was deployed. STANDIN_FAIL: file of the words with which a deploy fails,
STANDIN_WARN: of those with which it succeeds. STANDIN_DAEMON=no: no Docker daemon. STANDIN_NODES=namespaces: nodes are
real, each a process in namespaces of its own, wired and configured as the topology says (root); else a node is
the process in STANDIN_PID.
"""

# ruff: noqa: T201
from __future__ import annotations

import copy
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

HOME = Path(os.environ["STANDIN_HOME"])
RECORDED = Path(__file__).parent / "recorded"
DEPLOYED = HOME / "deployed.json"
REAL = os.environ.get("STANDIN_NODES") == "namespaces"
MANAGEMENT = (
    "ip link set lo up; ip link add eth0 type dummy; ip addr add 192.0.2.2/24 dev eth0; ip link set eth0 up; "
    "ip route add default via 192.0.2.1"
)
"""Default route of a container by Docker, which a host must replace."""

NODE = """set -e
mount -t proc proc /proc
mount -t sysfs sysfs /sys
hostname "$1"
mount -t tmpfs tmpfs /var/run/frr && chown frr:frr /var/run/frr
mount -t tmpfs tmpfs /var/tmp && chmod 1777 /var/tmp
mount --bind "$ETC" /etc/frr
for bind in $BINDS; do
    from=${bind%%:*} rest=${bind#*:}
    to=${rest%%:*}
    touch "$to"
    mount --bind "$from" "$to"
    case "$rest" in *:ro) mount -o remount,bind,ro "$to" ;; esac
done
touch /var/run/frr/started
if [ -z "$CMD" ]; then
    . /etc/frr/daemons
    for daemon in zebra staticd bgpd bfdd; do
        eval "options=\\$${daemon}_options"
        /usr/lib/frr/$daemon -d -u frr -g frr -P 0 $options
    done
    vtysh -b
fi
touch /var/run/frr/ready
exec sleep infinity
"""


def main() -> int:
    words = sys.argv[1:]
    flags = {word: value for word, value in pairwise(words) if word.startswith("--")}
    with (HOME / "calls").open("a") as log:
        log.write(f"{shlex.join(words)} version_check={os.environ.get('CLAB_VERSION_CHECK')}\n")
    verbs = {
        "deploy": deploy,
        "inspect": inspect,
        "exec": execute,
        "save": save,
        "destroy": destroy,
        "restart": restart,
        "version": version,
    }
    if os.environ.get("STANDIN_DAEMON") == "no" and words[0] != "version":
        return fail(
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?."
        )
    return verbs[words[0]](flags)


def say(line: str) -> None:
    sys.stderr.write(f"12:19:19 INFO {line}\n")


def fail(verdict: str) -> int:
    sys.stderr.write((RECORDED / "invalid/unknown-node.out").read_text().replace("Unable to find node nope.", verdict))
    return 1


def deployed() -> dict[str, Any]:
    return json.loads(DEPLOYED.read_text()) if DEPLOYED.exists() else {}


def version(_: dict[str, str]) -> int:
    print(" \x1b[1mcontainerlab\x1b[0m\n    version: 0.79.0\n     commit: 0000000\n")
    return 0


def deploy(flags: dict[str, str]) -> int:
    path = Path(flags["--topo"])
    topology = yaml.safe_load(path.read_text())
    say(f"Parsing & checking topology file={path.name}")
    labs = deployed()
    if topology["name"] not in labs:
        nodes = (
            boot(path, topology) if REAL else dict.fromkeys(topology["topology"]["nodes"], os.environ["STANDIN_PID"])
        )
        (path.parent / f"clab-{topology['name']}").mkdir()
        labs[topology["name"]] = {"file": str(path.resolve()), "topology": topology, "pids": nodes}
        DEPLOYED.write_text(json.dumps(labs))
    if words := os.environ.get("STANDIN_FAIL"):
        sys.stderr.write(Path(words).read_text())
        return 1
    if words := os.environ.get("STANDIN_WARN"):
        sys.stderr.write(Path(words).read_text())
    print("╭───── \x1b[32mrunning\x1b[0m ─────╮")
    return 0


def inspect(flags: dict[str, str]) -> int:
    say("Parsing & checking topology file=rail.clab.yml")
    assert "--all" in sys.argv, "an absent lab would be an error"
    detailed = "--details" in sys.argv
    answer = {name: [entry(lab, node, detailed) for node in lab["pids"]] for name, lab in sorted(deployed().items())}
    print(json.dumps(answer, indent=2))
    return 0


def entry(lab: dict[str, Any], node: str, detailed: bool) -> dict[str, Any]:
    """A recorded container, with the names of this one."""
    name = "details.json" if detailed else "inspect-all.json"
    found: dict[str, Any] = copy.deepcopy(json.loads((RECORDED / name).read_text())["rail"][0])
    topology = lab["topology"]
    group = topology["topology"]["groups"][topology["topology"]["nodes"][node]["group"]]
    longname, address = f"clab-{topology['name']}-{node}", address_of(lab, node)
    if not detailed:
        return found | {
            "lab_name": topology["name"],
            "name": longname,
            "kind": group["kind"],
            "ipv4_address": address + "/24",
        }
    found["Names"], found["Image"], found["Pid"] = [longname], group["image"], int(lab["pids"][node])
    found["State"] = os.environ.get("STANDIN_STATE", found["State"])
    found["Labels"] |= {
        "clab-node-kind": group["kind"],
        "clab-node-longname": longname,
        "clab-node-name": node,
        "containerlab": topology["name"],
    }
    found["NetworkSettings"]["IPv4addr"] = address
    return found


def address_of(lab: dict[str, Any], node: str) -> str:
    return f"127.77.0.{list(lab['pids']).index(node) + 1}"


def execute(flags: dict[str, str]) -> int:
    lab = next(lab for lab in deployed().values() if lab["file"] == str(Path(flags["--topo"]).resolve()))
    node, command = flags["--label"].removeprefix("clab-node-name="), shlex.split(flags["--cmd"])
    enter = ["nsenter", f"--target={lab['pids'][node]}", "--net", "--mount", "--pid", "--uts"] if REAL else []
    done = subprocess.run([*enter, *command], capture_output=True, text=True)
    result = {"cmd": command, "return-code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    print(json.dumps({f"clab-{lab['topology']['name']}-{node}": [result]}))
    return 0


def save(flags: dict[str, str]) -> int:
    say(f"Parsing & checking topology file={flags['--topo']}")
    return 0


def destroy(flags: dict[str, str]) -> int:
    labs = deployed()
    wanted = [
        name
        for name, lab in labs.items()
        if lab["file"] == str(Path(flags.get("--topo", "/")).resolve()) or name == flags.get("--name")
    ]
    for name in wanted:
        lab = labs.pop(name)
        if REAL:
            for pid in lab["pids"].values():
                os.kill(int(pid), signal.SIGKILL)
    DEPLOYED.write_text(json.dumps(labs))
    return 0


def restart(flags: dict[str, str]) -> int:
    """Restart a node as containerlab does: its links are parked in a namespace, its file system stays."""
    labs, node = deployed(), flags["--node"]
    lab = next(lab for lab in labs.values() if lab["file"] == str(Path(flags["--topo"]).resolve()))
    if REAL:
        lab["pids"][node] = restarted(Path(lab["file"]), lab["topology"]["topology"], node, lab["pids"][node])
    elif words := os.environ.get("STANDIN_FAIL"):
        sys.stderr.write(Path(words).read_text())
        return 1
    DEPLOYED.write_text(json.dumps(labs))
    return 0


def restarted(path: Path, topology: dict[str, Any], name: str, pid: str) -> str:
    ports = [end["interface"] for link in topology["links"] for end in link["endpoints"] if end["node"] == name]
    park = f"clab-park-{name}"
    run(f"ip netns add {park}")
    for port in ports:
        inside(pid, f"ip link set {port} netns {park}")
    os.kill(int(pid), signal.SIGKILL)
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.02)
    node = merge(topology["groups"][topology["nodes"][name]["group"]], topology["nodes"][name])
    pid = start(path.parent, name, node, len(ports))
    for port in ports:
        run(f"ip -n {park} link set {port} netns {pid}")
        inside(pid, f"ip link set {port} up")
    run(f"ip netns del {park}")
    wait_for(name, pid, "ready")
    return pid


def boot(path: Path, topology: dict[str, Any]) -> dict[str, str]:
    """Start every node as a process in its own namespaces; return the pids by node name.

    As containerlab does, nodes are started first and cabled then.
    """
    groups, nodes, links = (topology["topology"][key] for key in ("groups", "nodes", "links"))
    merged = {name: merge(groups[node["group"]], node) for name, node in nodes.items()}
    ends = [end["node"] for link in links for end in link["endpoints"]]
    pids = {name: start(path.parent, name, node, ends.count(name)) for name, node in merged.items()}
    for number, link in enumerate(links):
        cable(link, f"passing{number}", pids)
    for name, node in merged.items():
        wait_for(name, pids[name], "ready")
        for command in node.get("exec", ()):
            inside(pids[name], command)
    return pids


def cable(link: dict[str, Any], passing: str, pids: dict[str, str]) -> None:
    """Create a link as containerlab does: both ends get temporary names, are moved, renamed and set up."""
    a, z = link["endpoints"]
    run(f"ip link add name {passing}a mtu {link['mtu']} type veth peer name {passing}z mtu {link['mtu']}")
    for name, end in ((f"{passing}a", a), (f"{passing}z", z)):
        run(f"ip link set {name} netns {pids[end['node']]}")
        inside(pids[end["node"]], f"ip link set {name} name {end['interface']}")
        inside(pids[end["node"]], f"ip link set {end['interface']} up")


def merge(group: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Merge settings as containerlab does: lists are concatenated, values of the node take precedence."""
    lists = {key: [*group.get(key, ()), *node.get(key, ())] for key in ("binds", "exec")}
    return {**group, **node, **lists}


def start(folder: Path, name: str, node: dict[str, Any], ports: int) -> str:
    binds = " ".join(f"{folder / bind}" for bind in node["binds"])
    sysctls = " ".join(f"{key}={value}" for key, value in node["sysctls"].items())
    script = f"{MANAGEMENT}; sysctl -qw {sysctls}; {NODE}"
    unshare = ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
    etc = HOME / f"{name}.etc"
    etc.mkdir(exist_ok=True)
    with (HOME / f"{name}.log").open("ab") as log:
        holder = subprocess.Popen(
            [*unshare, "sh", "-c", script, "node", name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {"ETC": str(etc), "BINDS": binds, "CMD": node.get("cmd", ""), "CLAB_INTFS": str(ports)},
            start_new_session=True,
        )
    children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children")
    while holder.poll() is None:
        if pid := children.read_text().strip():
            wait_for(name, pid, "started")
            return pid
    sys.exit(f"{name} did not start: {(HOME / f'{name}.log').read_text()}")


def wait_for(name: str, pid: str, mark: str) -> None:
    """Wait until the first process of a node has reached this point."""
    deadline = time.monotonic() + 30
    while not Path(f"/proc/{pid}/root/run/frr/{mark}").exists():
        if time.monotonic() > deadline or not Path(f"/proc/{pid}").exists():
            sys.exit(f"{name} is not {mark}: {(HOME / f'{name}.log').read_text()}")
        time.sleep(0.02)


def inside(pid: str, command: str) -> None:
    run(f"nsenter --target={pid} --net {command}")


def run(command: str) -> None:
    done = subprocess.run(shlex.split(command), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")


if __name__ == "__main__":
    sys.exit(main())

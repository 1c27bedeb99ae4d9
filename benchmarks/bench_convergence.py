"""What a change of configuration or of a link costs the twin, in CPU seconds from the request to the published state.

    python benchmarks/bench_convergence.py benchmarks/fabrics/srlinux-256.yml
    python benchmarks/bench_convergence.py benchmarks/fabrics/srlinux-640.yml --in-process

First convergence is measured in this process: all configurations parsed, then converged. Changes are measured on a
twin in another process, asked over gNMI and its remote control: the CPU time of that process while it answers, less
what it uses when idle. --in-process leaves the twin out and measures the convergence of the same changes alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from measured import machine
from pygnmi.client import gNMIclient

from railfab.device import ClassThresholds, DeviceModel, PortProfile, Qos
from railfab.endpoints import load_endpoints, read_credentials, state_file
from railfab.fabric import design
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.platforms import platform
from railfab.sim import Framing
from railfab.topology import PortKey, Role, Topology
from railfab.twin import connect

ROUNDS = 20
START_S = 900


def cpu_s(action: Callable[[], object]) -> float:
    """CPU seconds of this process in a call."""
    began_s = time.process_time()
    action()
    return time.process_time() - began_s


def process_cpu_s(pid: int) -> float:
    """User and system time of another process, ended threads included, from its CPU clock (clock_getcpuclockid(3))."""
    return time.clock_gettime(~pid << 3 | 2)


def row(what: str, cost_s: float) -> None:
    print(f"{what:44} {cost_s:9.3f}", flush=True)


# In this process


def first_convergence(models: dict[str, DeviceModel], topology: Topology) -> ForwardingState:
    """Parse all configurations and converge them, from nothing."""
    system = {name: platform(model.platform) for name, model in models.items()}
    texts = {name: system[name].text(system[name].render(model)) for name, model in models.items()}
    parsed: dict[str, DeviceModel] = {}
    row("parsing all configurations", cpu_s(lambda: parsed.update((n, system[n].parse(t)) for n, t in texts.items())))
    found: list[ForwardingState] = []

    def configured() -> None:
        start = unconfigured(LinkTable(topology), framing=Framing(), marking=Marking())
        found.append(converge(start, FabricChange(parsed)))

    row("first convergence", cpu_s(configured))
    up = sum(session.established for sessions in found[0].sessions.values() for session in sessions.values())
    row("  session ends up", up)
    return found[0]


def later(qos: Qos) -> tuple[PortProfile, ...]:
    """The profiles with ECN marks that begin later."""

    def changed(held: ClassThresholds) -> ClassThresholds:
        return replace(held, ecn=held.ecn and replace(held.ecn, kmin_bytes=held.ecn.kmin_bytes + 1))

    return tuple(
        replace(profile, thresholds=tuple(changed(held) for held in profile.thresholds)) for profile in qos.profiles
    )


def alone(state: ForwardingState, models: dict[str, DeviceModel], link: PortKey, leaf: str, spine: str) -> None:
    """The convergence of each change, mean of several."""
    model, qos, bgp, spine_bgp = models[leaf], models[leaf].qos, models[leaf].bgp, models[spine].bgp
    assert qos is not None
    assert bgp is not None
    assert spine_bgp is not None
    changes = {
        "QoS of a leaf": FabricChange({leaf: replace(model, qos=replace(qos, profiles=later(qos)))}),
        "BGP of a leaf (maximum paths)": FabricChange({leaf: replace(model, bgp=replace(bgp, max_paths=4))}),
        "BGP of a spine (AS number, all sessions down)": FabricChange(
            {spine: replace(models[spine], bgp=replace(spine_bgp, asn=64_999))}
        ),
        "drain of a spine": FabricChange({spine: replace(models[spine], drain=True)}),
        "a cut link": FabricChange({}, cut=frozenset({link})),
    }
    for what, change in changes.items():
        row(what, cpu_s(lambda change=change: [converge(state, change) for _ in range(ROUNDS)]) / ROUNDS)


# On a twin


@contextmanager
def served(intent: Path, state: Path) -> Iterator[int]:
    """A twin with every switch configured, on free ports; its process."""
    command = [
        sys.executable,
        "-m",
        "railfab",
        "twin",
        str(intent),
        "--configured",
        "--port",
        "0",
        "--state",
        str(state),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_s = time.monotonic() + START_S
        while not state_file(state, design(intent).intent.fabric, "twin").exists():
            if process.poll() is not None or time.monotonic() > until_s:
                raise SystemExit("the twin did not start")
            time.sleep(0.5)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def per_change(pid: int, change: Callable[[int], object]) -> float:
    """CPU seconds of a process for one change, mean of several, less what it uses when idle."""
    change(0)
    began_s, used_s = time.monotonic(), process_cpu_s(pid)
    time.sleep(5)
    idle = (process_cpu_s(pid) - used_s) / (time.monotonic() - began_s)
    began_s, used_s = time.monotonic(), process_cpu_s(pid)
    for number in range(1, ROUNDS + 1):
        change(number)
    return (process_cpu_s(pid) - used_s - idle * (time.monotonic() - began_s)) / ROUNDS


def over_gnmi(intent: Path, link: PortKey, leaf: str, spine: str) -> None:
    """Changes of a served twin: a gNMI Set each, or a cable cut and restored by its remote control."""
    fabric = design(intent)
    profile = fabric.models[leaf].qos.profiles[0].name  # type: ignore[union-attr]
    slope = f"/qos/buffer-management/queue-management-profile[name={profile}]/wred/wred-slope"
    slope += "[traffic-type=all][drop-probability=all]"
    bgp = "/network-instance[name=default]/protocols/bgp"
    paths = f"{bgp}/afi-safi[afi-safi-name=ipv4-unicast]/multipath/ebgp"
    asn = fabric.models[spine].bgp.asn  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as folder, served(intent, Path(folder)) as pid:
        row("serving: CPU since the start of the process", process_cpu_s(pid))
        endpoints = load_endpoints(state_file(Path(folder), fabric.intent.fabric, "twin")).by_name()
        control = connect(Path(folder), fabric.intent.fabric)

        def setter(name: str, path: str, value: Callable[[int], object]) -> Callable[[int], object]:
            node, secret = endpoints[name], read_credentials(endpoints[name])
            client = gNMIclient(
                target=(node.host, node.gnmi_port),
                username=secret.username,
                password=secret.password,
                path_root=node.ca,
                override=name,
            )
            client.connect()
            return lambda number: client.set(update=[(path, value(number))], encoding="json_ietf")

        row("QoS Set", per_change(pid, setter(leaf, slope, lambda n: {"min-threshold": str(150_000 + n)})))
        row("BGP Set (maximum paths)", per_change(pid, setter(leaf, paths, lambda n: {"maximum-paths": 64 - n % 2})))
        row(
            "BGP Set (AS number of a spine)",
            per_change(pid, setter(spine, bgp, lambda n: {"autonomous-system": asn + n % 2})),
        )
        row("a cut or restored link", per_change(pid, lambda n: control.set_link(*link, up=n % 2 == 0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent", type=Path, nargs="?", default=Path("benchmarks/fabrics/srlinux-256.yml"))
    parser.add_argument("--in-process", action="store_true", help="leave the served twin out")
    options = parser.parse_args()
    fabric = design(options.intent)
    topology, models = fabric.topology, dict(fabric.models)
    print(f"{machine()}\n{len(topology.switches())} switches, {len(topology.links):,} links; CPU seconds")
    link = next(lk for lk in topology.links if topology.node(lk.a.node).role is Role.LEAF and lk.z.node in models)
    key, leaf, spine = (link.a.node, link.a.name), link.a.node, link.z.node
    state = first_convergence(models, topology)
    print("convergence alone")
    alone(state, models, key, leaf, spine)
    if not options.in_process:
        print("on a twin, request to published state")
        over_gnmi(options.intent, key, leaf, spine)


if __name__ == "__main__":
    main()

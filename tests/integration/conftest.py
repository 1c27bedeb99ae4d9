"""One embedded lab for all tests that need real switches: up once, removed at the end."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.lab.fabrics import FRR_POD

from railfab.fabric import design
from railfab.lab import Lab, LabPlace
from railfab.lab.agent.sources import vty_json
from railfab.lab.netns.state import NetnsState, lab_state_file, load_state

SESSIONS_WITHIN_S = 150
"""Until what is waited for must be taken to hang."""
ANSWER_WITHIN_S = 30


@dataclass(frozen=True, slots=True)
class RunningLab:
    """A lab that is up, and what tests do to it from outside."""

    intent: Path
    place: LabPlace

    @property
    def state(self) -> NetnsState:
        found = load_state(lab_state_file(self.place))
        assert found is not None
        return found

    def vtysh(self, switch: str, *words: str) -> str:
        """Ask or tell the daemons of a switch."""
        sockets = self.state.runtime / switch / "run-frr"
        command = ["vtysh", "--vty_socket", str(sockets), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def show(self, switch: str, command: str) -> Any:
        """What a daemon shows, from its socket: to start vtysh takes more than the answer."""
        return show(self.state.runtime / switch / "run-frr", command)

    def run(self, node: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the network of a node."""
        namespace = next(found.namespace for found in self.state.nodes if found.name == node)
        return subprocess.run(["ip", "netns", "exec", namespace, *command], capture_output=True, text=True)

    def processes(self, switch: str) -> Iterator[tuple[int, str, str]]:
        """Process id, name and command line of what runs in a switch, known by its mount namespace."""
        holder = self.state.process(switch)
        assert holder is not None
        own = Path(f"/proc/{holder.pid}/ns/mnt").readlink()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if (path / "ns/mnt").readlink() == own:
                    yield int(path.name), (path / "comm").read_text().strip(), (path / "cmdline").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue

    def signal(self, switch: str, daemon: str, number: int) -> None:
        """Send a signal to a daemon of a switch."""
        for pid, name, _ in self.processes(switch):
            if name == daemon:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def established(self, switch: str) -> int:
        """BGP sessions of a switch that are up."""
        peers = self.show(switch, "bgp ipv4 unicast summary").get("peers", {})
        return sum(peer["state"] == "Established" for peer in peers.values())


def show(sockets: Path, command: str) -> Any:
    """What the daemon with these sockets shows that has the command: bgpd of BGP, zebra of routes and VNIs."""
    daemon = "bgpd" if command.startswith("bgp ") else "zebra"
    return vty_json(sockets / f"{daemon}.vty", f"show {command} json", within_s=ANSWER_WITHIN_S)


def wait_for(condition: Callable[[], bool], what: str, within_s: float = SESSIONS_WITHIN_S) -> None:
    """Poll until a condition holds."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(0.2)


@pytest.fixture(scope="package")
def frr_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The FRR pod, up: its intent file and its state directory. Its switches boot empty; tests share them."""
    state = tmp_path_factory.mktemp("frr-lab")
    with Lab(design(FRR_POD), state=state):
        yield FRR_POD, state


@pytest.fixture(scope="package")
def frr_fabric(frr_lab: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> RunningLab:
    """The FRR pod with the intended configuration on every switch and all BGP sessions established."""
    intent, state = frr_lab
    fabric = design(intent)
    lab = RunningLab(intent, LabPlace(fabric=fabric.intent.fabric, folder=intent.parent, state=state))
    folder = tmp_path_factory.mktemp("frr-configurations")
    for switch, text in fabric.configurations().items():
        (folder / switch).write_text(text)
        lab.vtysh(switch, "-f", str(folder / switch))
    wanted = {switch: len(model.bgp.neighbors) for switch, model in fabric.models.items()}
    wait_for(lambda: all(lab.established(name) == count for name, count in wanted.items()), "all BGP sessions")
    hosts = {str(port.address.network) for port, _, _ in fabric.topology.ports() if port.address is not None}
    wait_for(lambda: all(hosts <= lab.show(name, "ip route").keys() for name in wanted), "routes to all hosts")
    return lab

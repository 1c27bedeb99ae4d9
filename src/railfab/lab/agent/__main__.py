"""`python -m railfab.lab.agent STATE CREDENTIALS`: serve gNMI for every switch of a running lab."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import LabError, RailfabError
from railfab.gnmi.certificates import TlsIdentity
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.lab.agent.target import LinuxSwitch
from railfab.lab.netns.namespaces import NAMESPACES, enter
from railfab.lab.netns.node import DAEMONS
from railfab.lab.netns.processes import Process
from railfab.lab.netns.runtime import GNMI_PORT, PLATFORM, address, node_directory
from railfab.lab.netns.state import LabNode, NetnsState, load_state
from railfab.platforms import platform
from railfab.process.signals import stop_on_signal

HOME = Path("/proc/self/ns/net")


def serve(state: NetnsState, state_file: Path, credentials: Path, stop_requested: threading.Event) -> None:
    """Listen on the management address of every switch, inside its namespace, until a stop is requested."""
    login = read_credentials(Endpoint(name="gNMI agent", platform=PLATFORM, host="", credentials=str(credentials)))
    with ServerLoop() as loop, HOME.open() as home:
        servers, processes = [], FirstProcesses(state_file)
        for node in state.switches():
            loop.run(_move(NAMESPACES / node.namespace))
            server = GnmiServer(
                _switch(state, node, processes),
                loop,
                host=address(node),
                port=GNMI_PORT,
                credentials=login,
                identity=_identity(node_directory(state, node.name)),
            )
            server.start()
            servers.append(server)
        loop.run(_move(Path(f"/proc/self/fd/{home.fileno()}")))
        logging.info("serving %d switches", len(servers))
        stop_requested.wait()
        for server in servers:
            server.stop()


async def _move(namespace: Path) -> None:
    """Move the servers' thread into a network namespace; a socket stays in the namespace in which it is opened."""
    enter(namespace)


class FirstProcesses:
    """First process of each switch; the state file is read again when it has changed, as after a restart."""

    def __init__(self, state_file: Path) -> None:
        self._file = state_file
        self._written = -1
        self._processes: dict[str, Process] = {}

    def of(self, node: str) -> Process | None:
        """The first process of a switch; that of the last reading while the file cannot be read."""
        with suppress(OSError, RailfabError):
            written = self._file.stat().st_mtime_ns
            if written != self._written and (state := load_state(self._file)) is not None:
                self._written, self._processes = written, {found.purpose: found for found in state.processes}
        return self._processes.get(node)


def _switch(state: NetnsState, node: LabNode, processes: FirstProcesses) -> LinuxSwitch:
    return LinuxSwitch(
        node.name,
        holder=partial(processes.of, node.name),
        sockets=node_directory(state, node.name) / "run-frr",
        daemons=DAEMONS,
        map_=platform(PLATFORM).telemetry,
    )


def _identity(root: Path) -> TlsIdentity:
    return TlsIdentity((root / "gnmi.crt").read_bytes(), (root / "gnmi.key").read_bytes())


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    state_file, credentials = map(Path, sys.argv[1:])
    try:
        state = load_state(state_file)
        if state is None:
            raise LabError(str(state_file), "no such file", "Start the lab with `railfab lab up`")
        with stop_on_signal() as stop_requested:
            serve(state, state_file, credentials, stop_requested)
    except RailfabError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

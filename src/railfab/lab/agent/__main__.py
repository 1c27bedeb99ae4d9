"""`python -m railfab.lab.agent STATE CREDENTIALS`: serve gNMI for every switch of a running lab."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import LabError, RailfabError
from railfab.gnmi.certificates import Identity
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.lab.agent.target import LinuxSwitch
from railfab.lab.netns.namespaces import NAMESPACES, enter
from railfab.lab.netns.runtime import GNMI_PORT, PLATFORM, address, node_directory
from railfab.lab.netns.state import LabNode, LabState, load_state
from railfab.platforms import platform

HOME = Path("/proc/self/ns/net")


def serve(state: LabState, credentials: Path) -> None:
    """Listen on the management address of every switch, inside its namespace, until SIGINT or SIGTERM."""
    login = read_credentials(Endpoint(name="gNMI agent", platform=PLATFORM, host="", credentials=str(credentials)))
    with ServerLoop() as loop, HOME.open() as home:
        servers = []
        for node in state.switches():
            loop.run(_move(NAMESPACES / node.namespace))
            server = GnmiServer(
                _switch(state, node),
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
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
        for server in servers:
            server.stop()


async def _move(namespace: Path) -> None:
    """Move the servers' thread into a network namespace; a socket stays in the namespace in which it is opened."""
    enter(namespace)


def _switch(state: LabState, node: LabNode) -> LinuxSwitch:
    holder = state.process(node.name)
    if holder is None:
        raise LabError(
            node.name, "has no process in the state file of the lab", "Run `railfab lab down`, then `railfab lab up`"
        )
    sockets = node_directory(state, node.name) / "run-frr"
    return LinuxSwitch(node.name, holder=holder, sockets=sockets, map_=platform(PLATFORM).telemetry)


def _identity(root: Path) -> Identity:
    return Identity((root / "gnmi.crt").read_bytes(), (root / "gnmi.key").read_bytes())


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    state_file, credentials = map(Path, sys.argv[1:])
    try:
        state = load_state(state_file)
        if state is None:
            raise LabError(str(state_file), "no such file", "Start the lab with `railfab lab up`")
        serve(state, credentials)
    except RailfabError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

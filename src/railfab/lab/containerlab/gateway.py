"""One process that serves SSH and gNMI for switches whose containers have no servers, such as FRR.

It listens on the loopback address with a port for each switch. SSH sessions run in the container's namespaces; the gNMI
agent of the embedded lab reads Linux and FRR from outside. The ports are written to a file when all of them listen.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from railfab.endpoints import Credentials, Endpoint, read_credentials, write_private
from railfab.errors import LabError, RailfabError
from railfab.gnmi.certificates import TlsIdentity
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.lab.agent import LinuxSwitch
from railfab.lab.containerlab.state import GatewaySwitch, LabPaths, load_state
from railfab.lab.contract import LabPlace
from railfab.lab.netns.node import DAEMONS
from railfab.platforms import platform
from railfab.ssh.server import SshAccess, SshServer, serve

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Ports of a switch on the loopback address."""

    ssh: int
    gnmi: int


def read_ports(path: Path) -> dict[str, Ports]:
    """Ports by switch; empty while the gateway does not listen."""
    if not path.exists():
        return {}
    return {name: Ports(**ports) for name, ports in json.loads(path.read_text()).items()}


async def run(files: LabPaths, stop: asyncio.Event) -> None:
    """Serve every switch of a lab until `stop` is set. Raises RailfabError when one cannot be served."""
    state = load_state(files.state)
    if state is None:
        raise LabError(str(files.state), "no such file", "Start the lab with `railfab lab up`")
    with ServerLoop() as loop:
        async with AsyncExitStack() as stack:
            ports = {}
            for node in state.gateway_switches:
                login = _login(files, node)
                ssh = await stack.enter_async_context(await _ssh(files, node, login))
                gnmi = _gnmi(files, node, login, loop)
                stack.callback(gnmi.stop)
                ports[node.name] = {"ssh": ssh.port, "gnmi": await asyncio.to_thread(gnmi.start)}
            write_private(files.listening, json.dumps(ports, indent=2) + "\n")
            logging.info("serving %d switches", len(ports))
            await stop.wait()


def _login(files: LabPaths, node: GatewaySwitch) -> Credentials:
    path = files.credentials(node.platform)
    return read_credentials(Endpoint(name=node.name, platform=node.platform, host=LOOPBACK, credentials=str(path)))


async def _ssh(files: LabPaths, node: GatewaySwitch, login: Credentials) -> SshServer:
    access = SshAccess(username=login.username, password=login.password)
    return await serve(LOOPBACK, 0, host_key=files.keys(node.name) / "ssh_host_key", access=access, inside=node.pid)


def _gnmi(files: LabPaths, node: GatewaySwitch, login: Credentials, loop: ServerLoop) -> GnmiServer:
    keys = files.keys(node.name)
    target = LinuxSwitch(
        node.name,
        holder=lambda: node.process,
        sockets=node.sockets,
        daemons=DAEMONS,
        map_=platform(node.platform).telemetry,
    )
    identity = TlsIdentity((keys / "gnmi.crt").read_bytes(), (keys / "gnmi.key").read_bytes())
    return GnmiServer(target, loop, host=LOOPBACK, credentials=login, identity=identity)


async def _main(files: LabPaths) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await run(files, stop)


def main() -> None:
    """`python -m railfab.lab.containerlab.gateway FABRIC STATE_DIRECTORY`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    fabric, state = sys.argv[1:]
    try:
        asyncio.run(_main(LabPaths(LabPlace(fabric=fabric, folder=Path(), state=Path(state)))))
    except RailfabError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

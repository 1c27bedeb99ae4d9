"""The SSH server of a virtual switch, which costs nothing before its first client."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.twin.twins import LEAF, endpoint, srl_pod

from railfab.twin import SwitchOperation, Twin

PROGRAM = """
import socket, sys
from pathlib import Path
from railfab.endpoints import Credentials
from railfab.gnmi.server import ServerLoop
from railfab.twin.ssh_server import SwitchSsh
with ServerLoop() as loop:
    server = SwitchSsh(
        loop, lambda user: None, host="127.0.0.1", port=0, host_key=Path(sys.argv[1]), credentials=Credentials("a", "b")
    )
    server.start()
    assert server.known_hosts_line().startswith(f"[127.0.0.1]:{server.port} ssh-ed25519 ")
    print("asyncssh" in sys.modules)
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        print(client.makefile("rb").readline()[:8].decode())
    print("asyncssh" in sys.modules)
    server.stop()
    print(server.running)
"""


def test_asyncssh_is_imported_with_the_first_client(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "key")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["False", "SSH-2.0-", "True", "False"], done.stderr


def test_a_switch_that_stops_or_hangs_refuses_and_has_the_same_port_afterwards(tmp_path: Path) -> None:
    with Twin(srl_pod(), state=tmp_path, base_port=0) as twin:
        address = ("127.0.0.1", endpoint(twin, LEAF).ssh_port or 0)
        verbs = SwitchOperation
        for end, begin in ((verbs.STOP, verbs.START), (verbs.HANG, verbs.RESUME)):
            with socket.create_connection(address) as client:
                assert client.recv(4) == b"SSH-"
            twin.operate(LEAF, end)
            assert len(twin.status().faults) == 1
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address)
            twin.operate(LEAF, begin)
        with socket.create_connection(address) as client:
            assert client.recv(4) == b"SSH-"

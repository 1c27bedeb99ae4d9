"""Users' own netmiko tasks on the switches of an inventory, with a real SSH server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nornir_netmiko.tasks import netmiko_send_command
from tests.ssh.dialect import PASSWORD, serving

from railfab.deploy import nornir_of
from railfab.endpoints import Endpoint, Endpoints
from railfab.fabric import design

LEAF = "pod1-seg1-leaf1"


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A switch whose host key is among those of the user, as ssh keeps them, and in no file of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAILFAB_USERNAME", "admin")
    monkeypatch.setenv("RAILFAB_PASSWORD", PASSWORD)
    with serving(tmp_path) as server:
        (tmp_path / ".ssh").mkdir(exist_ok=True)
        (tmp_path / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {server.host_key}\n")
        yield Endpoint(name=LEAF, platform="frr", host="127.0.0.1", ssh_port=server.port)


def test_a_netmiko_task_of_a_user_runs_without_any_setup_of_plugins(endpoint: Endpoint, repository: Path) -> None:
    fabric = design(repository / "labs" / "frr-pod" / "intent.yml")
    with nornir_of(fabric, Endpoints(fabric="frr-pod", backend="file", nodes=(endpoint,))) as nornir:
        answer = nornir.run(netmiko_send_command, command_string="show clock")[LEAF][0]
    assert answer.exception is None, answer.result
    assert answer.result == "% Invalid input"


def test_netmiko_is_imported_with_the_first_connection_of_a_task_and_init_nornir_registers_it_too(
    endpoint: Endpoint, repository: Path
) -> None:
    program = f"""
import sys
from nornir.core.plugins.connections import ConnectionPluginRegister
from railfab.deploy import nornir_of
from railfab.endpoints import Endpoint, Endpoints
from railfab.fabric import design
endpoint = Endpoint(name={LEAF!r}, platform="frr", host="127.0.0.1", ssh_port={endpoint.ssh_port})
fabric = design({str(repository / "labs" / "frr-pod" / "intent.yml")!r})
with nornir_of(fabric, Endpoints(fabric="frr-pod", backend="file", nodes=(endpoint,))):
    assert "netmiko" not in sys.modules
    ConnectionPluginRegister.auto_register()
    assert "netmiko" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

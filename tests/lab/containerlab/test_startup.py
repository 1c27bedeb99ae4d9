"""Start order under containerlab: containers start before their links exist, and FRR starts after both."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.lab.containerlab.conftest import new_standin
from tests.lab.containerlab.container import container
from tests.lab.fabrics import lab_plan, small_intent

from railfab.errors import LabError
from railfab.lab.containerlab.lifecycle import wait_for_daemons
from railfab.lab.containerlab.state import GatewaySwitch, LabPaths, load_state
from railfab.lab.netns import processes
from railfab.lab.netns.node import unresponsive_daemons
from railfab.platforms import platform

pytestmark = pytest.mark.lab


class Starting:
    """A shell in a new network namespace that sources FRR's `daemons`, as the start script of the image does."""

    def __init__(self, script: Path, ports: int) -> None:
        self.process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", ". ./daemons; echo starts $bgpd", str(script)],
            cwd=script.parent,
            env=os.environ | {"CLAB_INTFS": str(ports)},
            stdout=subprocess.PIPE,
            text=True,
        )
        while not self._apart():
            time.sleep(0.01)

    def _apart(self) -> bool:
        """Whether it is in its own namespace, or through already. The name of a process changes too early to tell."""
        try:
            return Path(f"/proc/{self.process.pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
        except OSError:
            return True

    def ip(self, *words: str) -> None:
        subprocess.run(["nsenter", f"--target={self.process.pid}", "--net", "ip", "link", *words], check=True)

    def starts(self, within_s: float) -> bool:
        try:
            return self.process.communicate(timeout=within_s)[0] == "starts yes\n"
        except subprocess.TimeoutExpired:
            return False


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "daemons").write_text(platform("frr").lab.files["/etc/frr/daemons"])
    return tmp_path / "docker-start"


@pytest.fixture
def starting(script: Path) -> Iterator[Starting]:
    made = Starting(script, ports=2)
    yield made
    made.process.kill()
    made.process.wait()


class TestStartOfFrr:
    """zebra that watches a port being renamed can lose its addresses: BGP unnumbered then stays idle."""

    def test_it_waits_until_every_port_has_its_own_name(self, starting: Starting) -> None:
        starting.ip("add", "swp1", "type", "veth", "peer", "name", "clab-o-44c19537")
        assert not starting.starts(within_s=0.5)
        starting.ip("set", "clab-o-44c19537", "name", "swp16")
        assert starting.starts(within_s=10)

    def test_a_restarted_daemon_does_not_wait_for_ports(self, script: Path) -> None:
        assert Starting(script.with_name("watchfrr.sh"), ports=2).starts(within_s=10)

    def test_outside_of_containerlab_it_does_not_wait(self, script: Path) -> None:
        assert Starting(script, ports=0).starts(within_s=10)


def test_a_switch_of_a_lab_that_is_up_can_be_configured(tmp_path: Path) -> None:
    (tmp_path / "standin").mkdir()
    plan = lab_plan(small_intent(tmp_path), tmp_path / "state")
    with container(last_after_s=1.5) as pid:
        backend = new_standin(tmp_path / "standin", pid).backend()
        backend.up(plan, lambda _: None)
        state = load_state(LabPaths(plan.place).state)
        assert state is not None
        assert [unresponsive_daemons(node.sockets) for node in state.gateway_switches] == [()] * len(plan.models)
        backend.down(plan.place, lambda _: None)


def test_a_switch_whose_daemons_do_not_answer_is_named() -> None:
    with container(last_after_s=60) as pid, pytest.raises(LabError) as raised:
        wait_for_daemons([gateway_switch(pid)], within_s=0.2)
    assert str(raised.value) == (
        "node leaf1: no answer from bfdd. Check its `docker logs`, then run `railfab lab down`."
    )


def test_a_container_that_has_ended_is_not_waited_for() -> None:
    with container(last_after_s=60) as pid:
        node = gateway_switch(pid)
    with pytest.raises(LabError) as raised:
        wait_for_daemons([node])
    assert str(raised.value) == (
        "node leaf1: its container has ended. Check its `docker logs`, then run `railfab lab down`."
    )


def test_the_log_of_the_gateway_has_no_import_warning(tmp_path: Path, pid: int) -> None:
    (tmp_path / "standin").mkdir()
    plan = lab_plan(small_intent(tmp_path), tmp_path / "state")
    backend = new_standin(tmp_path / "standin", pid).backend()
    backend.up(plan, lambda _: None)
    log = LabPaths(plan.place).gateway_log.read_text()
    backend.down(plan.place, lambda _: None)
    assert "Warning" not in log


def gateway_switch(pid: int) -> GatewaySwitch:
    started = processes.started(pid)
    assert started is not None
    return GatewaySwitch(name="leaf1", platform="frr", pid=pid, started=started)

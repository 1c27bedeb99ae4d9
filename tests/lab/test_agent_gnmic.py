"""gnmic on the gNMI agent of a lab's switch."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.gnmi.gnmic import Gnmic

from railfab.endpoints import Credentials
from railfab.gnmi.certificates import Authority
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.lab.agent.target import LinuxSwitch
from railfab.lab.netns.processes import Process, started
from railfab.platforms import platform

pytestmark = pytest.mark.gnmic

LOGIN = Credentials("admin", "a secret")
STATES = "/components/component[name=*]/state/oper-status"
LINES = {f"/components/component[name={name}]/state/oper-status: INACTIVE" for name in ("bgpd", "zebra")}


@pytest.fixture(scope="module")
def gnmic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gnmic]:
    """On a switch whose daemons do not run."""
    folder, authority = tmp_path_factory.mktemp("agent"), Authority("lab")
    (folder / "ca.pem").write_bytes(authority.certificate)
    holder = Process(purpose="leaf1", pid=os.getpid(), started=started(os.getpid()) or 0)
    target = LinuxSwitch(
        "leaf1", holder=lambda: holder, sockets=folder, daemons=("zebra", "bgpd"), map_=platform("frr").telemetry
    )
    with ServerLoop() as loop:
        server = GnmiServer(target, loop, credentials=LOGIN, identity=authority.issue("leaf1"))
        yield Gnmic(f"127.0.0.1:{server.start()}", str(folder / "ca.pem"), LOGIN)
        server.stop()


def states(said: str) -> set[str]:
    return {f"/{line.lstrip('/')}" for line in said.splitlines() if "oper-status" in line}


def test_it_reads_capabilities_and_states(gnmic: Gnmic) -> None:
    assert "JSON_IETF" in gnmic.run("capabilities")
    for arguments in (("get",), ("subscribe", "--mode", "once")):
        assert states(gnmic.run(*arguments, "--path", STATES, "--format", "flat")) == LINES


@pytest.mark.parametrize("mode", ["sample", "on-change", "target-defined"])
def test_it_streams_states(gnmic: Gnmic, mode: str) -> None:
    arguments = ("--stream-mode", mode, "-i", "500ms", "--path", STATES, "--format", "flat")
    with gnmic.subscribed(*arguments) as running:
        wanted = 4 if mode == "sample" else 2
        said = running.wait(lambda said: sum("oper-status: " in line for line in said) >= wanted)
    assert states("".join(said)) == LINES


def test_a_set_is_refused(gnmic: Gnmic) -> None:
    failed = gnmic.attempt("set", "--update", "/interfaces/interface[name=swp1]/config/mtu:::uint:::1500")
    assert failed.returncode == 1
    assert "leaf1: is read-only over gNMI (1 edits refused). Configure it over SSH." in failed.stderr

"""The backend end to end on the stand-in: up, down, status, doctor and errors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import asyncssh
import pytest
from tests.lab.containerlab.conftest import RECORDED, StandIn, new_standin, write_proc
from tests.lab.containerlab.container import container
from tests.lab.fabrics import FRR_POD, lab_plan, small_intent
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import load_endpoints, read_credentials
from railfab.errors import LabError
from railfab.lab import LabPlan, LabStart, programs
from railfab.lab.containerlab import ContainerlabBackend
from railfab.lab.containerlab.host_keys import host_key_lines
from railfab.lab.containerlab.state import LabPaths, load_state
from railfab.lab.netns import processes
from railfab.platforms.shared.root_shell import RootShell
from railfab.ssh.server import SshAccess, serve


@pytest.fixture
def plan(tmp_path: Path) -> LabPlan:
    return lab_plan(small_intent(tmp_path), tmp_path / "state")


@pytest.fixture
def up(standin: StandIn, plan: LabPlan) -> Iterator[ContainerlabBackend]:
    backend = standin.backend()
    backend.up(plan, quiet)
    yield backend
    backend.down(plan.place, quiet)


class RunningLab(NamedTuple):
    """A lab that is up."""

    backend: ContainerlabBackend
    plan: LabPlan
    standin: StandIn


@pytest.fixture(scope="class")
def shared(tmp_path_factory: pytest.TempPathFactory, pid: int) -> Iterator[RunningLab]:
    """A lab for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "standin").mkdir()
    standin = new_standin(folder / "standin", pid)
    lab = RunningLab(standin.backend(), lab_plan(small_intent(folder), folder / "state"), standin)
    lab.backend.up(lab.plan, quiet)
    yield lab
    lab.backend.down(lab.plan.place, quiet)


def quiet(_: str) -> None:
    pass


def gateway(plan: LabPlan) -> processes.Process:
    state = load_state(LabPaths(plan.place).state)
    assert state is not None
    assert state.gateway is not None
    return state.gateway


def test_a_lab_that_was_never_up_is_down(standin: StandIn, plan: LabPlan) -> None:
    backend = standin.backend()
    assert backend.status(plan.place).state == "down"
    with pytest.raises(LabError, match=r"^lab small: is not up\. Start it with `railfab lab up`\.$"):
        backend.restart(plan, "pod1-spine1", None, quiet)
    assert backend.down(plan.place, quiet) is False


@pytest.mark.lab
class TestRunning:
    """What leaves a running lab as it is, on one lab."""

    def test_every_switch_is_reachable_by_ssh_and_gnmi(self, shared: RunningLab) -> None:
        endpoints = load_endpoints(shared.plan.place.endpoints_file)
        assert endpoints.backend == "containerlab"
        assert [node.name for node in endpoints.nodes] == list(shared.plan.models)
        for node in endpoints.nodes:
            shell = RootShell(node, read_credentials(node))
            with closing(shell):
                shell.open()
                assert shell.run("cat; exit 3", stdin="exact bytes\n").out == "exact bytes\n"
                assert shell.run("exit 3").status == 3

    def test_a_second_up_finds_it_and_starts_nothing(self, shared: RunningLab) -> None:
        before, progress = gateway(shared.plan), []
        start = shared.backend.up(shared.plan, progress.append)
        assert start == LabStart(endpoints=load_endpoints(shared.plan.place.endpoints_file), booted=False)
        assert gateway(shared.plan) == before
        assert progress == ["lab small is up already"]
        assert len([call for call in shared.standin.calls if call.startswith("deploy")]) == 1

    def test_what_cannot_be_restarted_is_one_line(self, shared: RunningLab) -> None:
        switches = "pod1-seg1-leaf1, pod1-seg1-leaf2, pod1-spine1"
        lines = {
            ("pod1-seg1-host1", None): f"pod1-seg1-host1: is not a switch of this lab. Name one of {switches}.",
            ("pod1-spine1", "ospfd"): (
                "daemon 'ospfd': does not run on a switch of a lab. Use one of zebra, staticd, bgpd, bfdd."
            ),
        }
        for (node, daemon), line in lines.items():
            with pytest.raises(LabError) as raised:
                shared.backend.restart(shared.plan, node, daemon, quiet)
            assert str(raised.value) == line

    def test_a_running_lab_with_another_topology_is_refused(self, shared: RunningLab) -> None:
        wider = {
            name: replace(model, interfaces=tuple(replace(i, mtu_bytes=1500) for i in model.interfaces))
            for name, model in shared.plan.models.items()
        }
        with pytest.raises(LabError) as raised:
            shared.backend.up(replace(shared.plan, models=wider), quiet)
        assert (
            str(raised.value) == "lab small: is up with another topology than the intent. Run `railfab lab down` first."
        )

    def test_a_lab_of_another_user_is_not_changed(self, shared: RunningLab, tmp_path: Path) -> None:
        elsewhere = replace(shared.plan, place=replace(shared.plan.place, state=tmp_path / "elsewhere"))
        line = (
            "lab small: is running, but was not started with this state directory. "
            "Remove it with `containerlab destroy --name small`, or change the name of the fabric."
        )
        for verb in (lambda: shared.backend.up(elsewhere, quiet), lambda: shared.backend.down(elsewhere.place, quiet)):
            with pytest.raises(LabError) as raised:
                verb()
            assert str(raised.value) == line
        assert shared.backend.status(shared.plan.place).state == "running"

    def test_secrets_are_readable_by_their_owner_only_and_in_no_argument(self, shared: RunningLab) -> None:
        files = LabPaths(shared.plan.place)
        secret = read_credentials(load_endpoints(shared.plan.place.endpoints_file).nodes[0]).password
        private = [files.credentials("frr"), *files.folder.glob("keys/*/*key")]
        assert {path.stat().st_mode & 0o077 for path in private} == {0}
        assert secret not in Path(f"/proc/{gateway(shared.plan).pid}/cmdline").read_text()
        assert secret not in shared.plan.place.endpoints_file.read_text() + files.topology.read_text()


@pytest.mark.lab
class TestUp:
    def test_a_gateway_that_has_ended_is_restarted(self, up: ContainerlabBackend, plan: LabPlan) -> None:
        before = gateway(plan)
        os.kill(before.pid, signal.SIGKILL)
        wait_until(lambda: not processes.is_running(before))
        status = up.status(plan.place)
        assert status.state == "degraded"
        up.up(plan, quiet)
        assert gateway(plan) != before
        assert up.status(plan.place).state == "running"

    def test_a_lab_with_a_restarted_switch_is_not_up(
        self, up: ContainerlabBackend, plan: LabPlan, standin: StandIn
    ) -> None:
        """Its links and the namespaces of its servers are lost."""
        with container() as pid:
            for lab in (labs := json.loads((standin.home / "deployed.json").read_text())).values():
                lab["pids"]["pod1-seg1-leaf2"] = str(pid)
            (standin.home / "deployed.json").write_text(json.dumps(labs))
            assert [node.name for node in up.status(plan.place).nodes if node.state == "degraded"] == [
                "pod1-seg1-leaf2"
            ]
            with pytest.raises(LabError) as raised:
                up.up(plan, quiet)
        assert str(raised.value) == (
            "node pod1-seg1-leaf2: was restarted, and a restarted container loses its links. "
            "Run `railfab lab down`, then `railfab lab up`; `railfab lab restart` keeps the links."
        )

    def test_a_restart_is_containerlab_s_own_and_the_gateway_serves_again(
        self, up: ContainerlabBackend, plan: LabPlan, standin: StandIn
    ) -> None:
        before = gateway(plan)
        up.restart(plan, "pod1-spine1", None, quiet)
        topology = LabPaths(plan.place).topology
        assert f"restart --topo {topology} --node pod1-spine1 version_check=disable" in standin.calls
        assert gateway(plan) != before
        assert up.status(plan.place).state == "running"

    def test_a_restart_that_containerlab_refuses_is_one_line(
        self, up: ContainerlabBackend, plan: LabPlan, standin: StandIn
    ) -> None:
        refusing = standin.backend(STANDIN_FAIL=str(RECORDED / "invalid/unknown-node.out"))
        with pytest.raises(LabError, match=r"^containerlab restart: Unable to find node nope\. "):
            refusing.restart(plan, "pod1-spine1", None, quiet)

    def test_down_leaves_nothing(self, standin: StandIn, plan: LabPlan, tmp_path: Path) -> None:
        backend = standin.backend()
        backend.up(plan, quiet)
        process = gateway(plan)
        assert backend.down(plan.place, quiet) is True
        assert not processes.is_running(process)
        assert list((tmp_path / "state").iterdir()) == []
        assert backend.binary.inspect("small") == ()
        assert backend.down(plan.place, quiet) is False

    def test_a_failed_deploy_leaves_nothing(self, standin: StandIn, plan: LabPlan, tmp_path: Path) -> None:
        backend = standin.backend(STANDIN_FAIL=str(RECORDED / "invalid/unknown-node.out"))
        with pytest.raises(LabError, match=r"^containerlab deploy: Unable to find node nope\. "):
            backend.up(plan, quiet)
        assert backend.binary.inspect("small") == ()
        assert list((tmp_path / "state").iterdir()) == []

    def test_a_container_that_does_not_run_is_named_and_all_is_removed(
        self, standin: StandIn, plan: LabPlan, tmp_path: Path
    ) -> None:
        backend = standin.backend(STANDIN_STATE="exited")
        with pytest.raises(LabError) as raised:
            backend.up(plan, quiet)
        assert str(raised.value) == (
            "node pod1-seg1-host1: is exited (Up 53 seconds). Check its `docker logs`, then run `railfab lab down`."
        )
        assert backend.binary.inspect("small") == ()
        assert list((tmp_path / "state").iterdir()) == []


def serving(loop: asyncio.AbstractEventLoop, addresses: list[str], keys: Path) -> None:
    """SSH servers like that of an SR Linux container, each with its own host key."""
    access = SshAccess(username="admin", password="unused")
    for address in addresses:
        made = serve(address, 22, host_key=keys / address, access=access)
        asyncio.run_coroutine_threadsafe(made, loop).result(10)


@pytest.mark.lab
def test_switches_with_their_own_servers_are_reached_directly(standin: StandIn, tmp_path: Path) -> None:
    plan = lab_plan(FRR_POD.parents[1] / "srl-pod/intent.yml", tmp_path / "state")
    names = [node.name for node in plan.topology.nodes]
    addresses = {name: f"127.77.0.{names.index(name) + 1}" for name in plan.models}
    loop, keys = asyncio.new_event_loop(), tmp_path / "keys"
    keys.mkdir()
    Thread(target=loop.run_forever, daemon=True).start()
    try:
        serving(loop, list(addresses.values()), keys)
    except LabError as error:
        pytest.skip(f"needs port 22 of the loopback addresses ({error.problem})")
    backend = standin.backend()
    running = backend.up(plan, quiet).endpoints
    assert {node.name: node.host for node in running.nodes} == addresses
    leaf = running.nodes[0]
    assert (leaf.platform, leaf.ssh_port, leaf.gnmi_port) == ("srlinux", 22, 57400)
    assert leaf.ca == str(LabPaths(plan.place).lab_directory / ".tls/ca/ca.pem")
    assert read_credentials(leaf).username == "admin"
    known = dict(line.split(" ", 1) for line in Path(str(leaf.known_hosts)).read_text().splitlines())
    for address in addresses.values():
        own = asyncssh.read_private_key(str(keys / address)).export_public_key().decode().split()[:2]
        assert known[address] == " ".join(own)
    assert backend.status(plan.place).state == "running"
    assert backend.down(plan.place, quiet)
    loop.call_soon_threadsafe(loop.stop)


def test_a_switch_whose_ssh_server_does_not_come_up_is_a_one_line_error() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(LabError) as raised:
        host_key_lines(["127.0.0.1"], port, within_s=0.1)
    assert str(raised.value) == (
        f"127.0.0.1 port {port}: no SSH server after 0 s. Check the container with `docker logs`."
    )


def wait_until(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def problems(backend: ContainerlabBackend, plan: LabPlan | None = None) -> list[str]:
    return [str(finding) for finding in backend.doctor(plan) if not finding.ok and finding.subject != "sch_netem"]


def test_the_doctor_finds_no_problem_on_a_complete_machine(standin: StandIn) -> None:
    assert problems(standin.backend()) == []


def test_the_doctor_names_what_is_missing(standin: StandIn) -> None:
    backend = standin.backend(STANDIN_DAEMON="no")
    write_proc(standin.home / "proc", bounding=(1 << 41) - 1 - (1 << 12))
    (standin.home / "proc/modules").unlink()
    assert problems(backend) == [
        "Docker: containerlab cannot connect to the daemon. "
        "Start the Docker daemon, or set DOCKER_HOST to its address.",
        "/proc/modules: does not exist. Use a kernel with module support; containerlab reads it at every deploy.",
        "capabilities: NET_ADMIN not available. Use a machine or a container with this capability.",
    ]


def test_a_missing_capability_that_frr_does_not_need_is_not_fatal(standin: StandIn) -> None:
    write_proc(standin.home / "proc", bounding=(1 << 41) - 1 - (1 << 24))
    assert problems(standin.backend()) == [
        "capabilities: number 24 is not available, so privileged containers cannot start. Set `privileged: false` in "
        "containerlab.yml beside the intent; FRR containers are unprivileged already."
    ]


def test_the_doctor_names_where_to_get_the_binary() -> None:
    from railfab.lab.containerlab import Containerlab

    found = problems(ContainerlabBackend(Containerlab("/nowhere/containerlab")))
    assert found[0] == "containerlab: is not installed. Install it from containerlab.dev, or use --backend netns."


def of_version(standin: StandIn, version: str) -> ContainerlabBackend:
    program = standin.home / "containerlab"
    program.write_text(f"#!/bin/sh\necho '    version: {version}'; echo '{{}}'\n")
    return standin.backend()


@pytest.mark.parametrize("version", ["0.54.2", "0.77.0"])
def test_a_binary_without_the_keys_of_our_topologies_is_named(standin: StandIn, version: str) -> None:
    assert problems(of_version(standin, version)) == [
        f"containerlab: version {version} is too old. Install containerlab 0.78 or newer."
    ]


@pytest.mark.parametrize("version", ["0.78.0", "0.79.1", "1.0.0", "0.0.0-dev", "0.79.1-next", "v0.79.0"])
def test_releases_from_0_78_on_and_development_builds_are_accepted(standin: StandIn, version: str) -> None:
    assert problems(of_version(standin, version)) == []


@pytest.mark.parametrize(
    ("backend", "line"),
    [
        ("containerlab", "containerlab: is not installed. Install it from containerlab.dev, or use --backend netns."),
        ("netns", "ip: is not installed. apt-get install iproute2."),
    ],
)
def test_the_doctor_command_says_what_to_install_on_a_machine_with_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, line: str
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(programs, "SYSTEM_FOLDERS", str(tmp_path))
    done = CliRunner().invoke(app, ["lab", "doctor", str(small_intent(tmp_path)), "--backend", backend])
    assert done.exit_code == 2, done.output
    assert line in done.stdout.splitlines()


@pytest.mark.lab
def test_an_empty_path_hides_no_program_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = CliRunner().invoke(app, ["lab", "doctor"])
    assert (done.exit_code, "ip: ok" in done.stdout.splitlines()) == (0, True), done.output


def test_a_missing_image_that_may_not_be_pulled_is_fatal(standin: StandIn, plan: LabPlan) -> None:
    (plan.place.folder / "containerlab.yml").write_text("image_pull_policy: Never\nimages: {frr: railfab/frr:none}\n")
    (standin.home / "docker").write_text("#!/bin/sh\nexit 1\n")
    (standin.home / "docker").chmod(0o755)
    path = f"{standin.home}:{os.environ['PATH']}"
    found = standin.backend(PATH=path).doctor(plan)
    image = next(finding for finding in found if finding.subject == "image railfab/frr:none")
    assert image.fatal
    assert str(image) == (
        "image railfab/frr:none: is missing and image_pull_policy is Never. Load it, or correct containerlab.yml."
    )


def test_an_invalid_state_file_is_a_one_line_error(standin: StandIn, plan: LabPlan) -> None:
    path = LabPaths(plan.place).state
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"version": 9}))
    with pytest.raises(LabError) as raised:
        standin.backend().status(plan.place)
    assert str(raised.value) == (
        f"{path}: is not a state file of this version of railfab (version 9, not 2). "
        "Remove the lab with `containerlab destroy`, then this file."
    )

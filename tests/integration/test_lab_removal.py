"""`lab down` removes everything that a lab created, however it ended, and nothing else."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.integration.conftest import RunningLab, wait_for
from tests.lab.fabrics import lab_plan, small_intent
from tests.sampled import sampled
from tests.signals import interruptible, until_caught
from typer.testing import CliRunner

from railfab.cli.lab import lab_app
from railfab.endpoints import load_endpoints
from railfab.errors import LabError, RailfabError
from railfab.fabric import design
from railfab.lab import Lab, LabPlan, backend
from railfab.lab.netns import runtime
from railfab.lab.netns.names import LabNames, lab_names
from railfab.lab.netns.namespaces import interface_names, namespace_names
from railfab.lab.netns.node import DAEMONS
from railfab.lab.netns.processes import marked_processes, process
from railfab.lab.netns.runtime import RUNTIME
from railfab.lab.netns.state import NetnsState, lab_state_file, load_state, save_state
from railfab.lab.probes import ANSWER_WITHIN_S

pytestmark = pytest.mark.lab

LAB = backend("netns")
LEAF = "pod1-seg1-leaf1"
STATE_NAME = "state"


@dataclass(frozen=True, slots=True)
class Traces:
    """Everything on the machine that has the name of a lab."""

    namespaces: frozenset[str]
    interfaces: frozenset[str]
    processes: int
    runtime: bool
    mounts: int

    @classmethod
    def of(cls, names: LabNames) -> Traces:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        return cls(
            frozenset(name for name in namespace_names() if name.startswith(names.tag)),
            frozenset(name for name in interface_names() if name.startswith(names.tag)),
            len(marked_processes(names.tag)),
            (RUNTIME / names.tag).exists(),
            sum(names.tag in line for line in mounts),
        )


NOTHING = Traces(frozenset(), frozenset(), 0, False, 0)


@pytest.fixture
def plan(tmp_path: Path) -> Iterator[LabPlan]:
    """The smallest fabric, in a state directory of its own; down at the end whatever the test did."""
    found = lab_plan(small_intent(tmp_path), tmp_path / STATE_NAME)
    yield found
    LAB.down(found.place, print)
    assert Traces.of(lab_names(found.place)) == NOTHING


def running(plan: LabPlan) -> NetnsState:
    state = load_state(lab_state_file(plan.place))
    assert state is not None
    return state


def test_down_leaves_nothing(plan: LabPlan) -> None:
    names = lab_names(plan.place)
    LAB.up(plan, print)
    there = Traces.of(names)
    assert len(there.namespaces) == 4
    assert there.interfaces == {names.bridge, *map(names.management_port, range(3))}
    assert there.processes > 3 * 6
    assert LAB.down(plan.place, print)
    assert Traces.of(names) == NOTHING
    assert list(plan.place.state.iterdir()) == []
    assert LAB.status(plan.place).state == "down"
    assert not LAB.down(plan.place, print)


def test_a_context_removes_its_lab_also_after_an_error_and_refuses_one_that_is_up(plan: LabPlan) -> None:
    intent, state = plan.place.folder / "small.yml", plan.place.state
    with suppress(ZeroDivisionError), Lab(design(intent), state=state) as lab:
        before = running(plan)
        with pytest.raises(LabError) as raised, Lab(design(intent), state=state):
            pass
        assert str(raised.value) == (
            f"lab small: is up already. Remove it with railfab lab down {intent} --state {state}."
        )
        assert running(plan) == before
        assert LAB.status(plan.place).state == "running"
        assert lab.endpoints == load_endpoints(plan.place.endpoints_file)
        _ = 1 / 0
    assert Traces.of(lab_names(plan.place)) == NOTHING


def test_a_context_leaves_a_lab_that_was_removed_and_started_again_from_elsewhere(plan: LabPlan) -> None:
    with Lab(design(plan.place.folder / "small.yml"), state=plan.place.state):
        LAB.down(plan.place, print)
        LAB.up(plan, print)
    assert LAB.status(plan.place).state == "running"


def test_down_cleans_up_after_killed_switches(plan: LabPlan) -> None:
    LAB.up(plan, print)
    for holder in running(plan).processes:
        os.kill(holder.pid, signal.SIGKILL)
    wait_for(lambda: not marked_processes(lab_names(plan.place).tag), "everything in the switches ended with them")

    def all_are_gone() -> bool:
        status = LAB.status(plan.place)
        return status.state == "degraded" and {node.state for node in status.nodes if node.kind != "host"} == {"gone"}

    wait_for(all_are_gone, "status says that the switches are gone")  # a killed process stays until it is reaped
    with pytest.raises(LabError, match=r"^lab small: is incomplete \(.*\)\. Run `railfab lab down` first\.$"):
        LAB.up(plan, print)
    assert LAB.down(plan.place, print)


def test_a_daemon_that_has_ended_is_named_by_status(plan: LabPlan) -> None:
    LAB.up(plan, print)
    state = running(plan)
    holder = state.process(LEAF)
    assert holder is not None
    kill_inside(holder.pid, "bgpd")

    def named() -> bool:
        node = next(found for found in LAB.status(plan.place).nodes if found.name == LEAF)
        return node.state == "degraded" and node.detail.startswith("no answer from bgpd; log in /run/railfab/")

    wait_for(named, "status names bgpd")


@pytest.fixture
def frozen(plan: LabPlan) -> Iterator[LabPlan]:
    """The lab with a leaf whose daemons and SSH server are stopped, and whose sockets' queues are full."""
    LAB.up(plan, print)
    state = running(plan)
    holder = state.process(LEAF)
    assert holder is not None
    for name in (*DAEMONS, "python", "python3"):
        signal_inside(holder.pid, name, signal.SIGSTOP)
    waiting = [fill_queue(state.runtime / LEAF / "run-frr" / f"{daemon}.vty") for daemon in DAEMONS]
    yield plan
    for client in itertools.chain.from_iterable(waiting):
        client.close()


def fill_queue(path: Path) -> list[socket.socket]:
    """Connect to a socket until the next connection would block."""
    clients: list[socket.socket] = []
    while True:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            client.connect(str(path))
        except BlockingIOError:
            client.close()
            return clients
        clients.append(client)


def test_status_names_what_a_frozen_switch_does_not_answer_and_waits_for_none_of_it_and_down_removes_it(
    frozen: LabPlan,
) -> None:
    began = time.monotonic()
    status = LAB.status(frozen.place)
    assert time.monotonic() - began < 3 * ANSWER_WITHIN_S
    details = {node.name: node.detail for node in status.nodes if node.state != "running"}
    assert details == {LEAF: f"no answer from zebra, staticd, bgpd, bfdd, SSH; log in {running(frozen).runtime / LEAF}"}
    assert LAB.down(frozen.place, print)
    assert Traces.of(lab_names(frozen.place)) == NOTHING


@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGTERM], few=[signal.SIGINT]))
def test_status_of_a_frozen_switch_ends_at_a_signal_with_one_line(frozen: LabPlan, number: signal.Signals) -> None:
    intent, state = frozen.place.folder / "small.yml", frozen.place.state
    command = [sys.executable, "-m", "railfab", "lab", "status", str(intent), "--state", str(state)]
    with subprocess.Popen(interruptible(command), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        until_caught(child.pid, signal.SIGALRM)  # the last handler that it installs before it asks the switches
        began = time.monotonic()
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)
    assert time.monotonic() - began < 5
    assert errors in {"", "railfab: interrupted\n"}
    assert child.returncode in {1, 130}


def test_a_second_command_waits_for_the_first_and_says_for_whom(plan: LabPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "LOCK_WITHIN_S", 0.3)
    progress: list[str] = []
    with runtime.lab_lock(print), pytest.raises(LabError) as raised:
        LAB.up(plan, progress.append)
    pid = os.getpid()
    assert progress == [f"waiting for process {pid}, which changes a lab"]
    assert str(raised.value) == (
        f"lab: process {pid} has been changing a lab for 0 s. Wait for it, or end it with kill {pid}."
    )


def kill_inside(holder: int, name: str) -> None:
    signal_inside(holder, name, signal.SIGKILL)


def signal_inside(holder: int, name: str, number: signal.Signals) -> None:
    """Signal processes of a switch by name: its mount namespace tells them from the same daemons elsewhere."""
    own = Path(f"/proc/{holder}/ns/mnt").readlink()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().strip() == name and (path.parent / "ns/mnt").readlink() == own:
                os.kill(int(path.parent.name), number)
        except (FileNotFoundError, ProcessLookupError):
            continue


UP = """\
import sys
from pathlib import Path
from tests.lab.fabrics import lab_plan
from railfab.lab import backend
backend("netns").up(lab_plan(Path(sys.argv[1]), Path(sys.argv[2])), lambda line: print(line, flush=True))
"""


STEPS = [("creating", 0.0), ("booting", 0.0), ("booting", 0.3), ("starting SSH", 0.0)]


@pytest.mark.parametrize(("step", "wait_s"), sampled(STEPS, few=[("booting", 0.3)]))
def test_down_cleans_up_after_an_up_killed_midway(plan: LabPlan, repository: Path, step: str, wait_s: float) -> None:
    ended_at(plan, repository, step, signal.SIGKILL, wait_s)
    assert Traces.of(lab_names(plan.place)) != NOTHING
    assert LAB.down(plan.place, print)
    assert Traces.of(lab_names(plan.place)) == NOTHING


def test_an_up_ended_by_ctrl_c_removes_the_lab(plan: LabPlan, repository: Path) -> None:
    ended_at(plan, repository, "booting", signal.SIGINT, 0.2)
    assert Traces.of(lab_names(plan.place)) == NOTHING
    assert list(plan.place.state.iterdir()) == []


def ended_at(plan: LabPlan, repository: Path, step: str, number: signal.Signals, wait_s: float) -> None:
    """Run `lab up` in another process and send it a signal some time after it prints this step."""
    arguments = [str(plan.place.folder / "small.yml"), str(plan.place.state)]
    with subprocess.Popen(
        interruptible([sys.executable, "-c", UP, *arguments]),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(repository)},
    ) as child:
        assert child.stdout is not None
        assert any(line.startswith(step) for line in child.stdout)
        time.sleep(wait_s)
        child.send_signal(number)


def test_a_lab_without_state_file_is_an_error_and_down_removes_it(plan: LabPlan) -> None:
    LAB.up(plan, print)
    shutil.rmtree(plan.place.state)
    with pytest.raises(LabError) as raised:
        LAB.up(plan, print)
    assert str(raised.value) == (
        "lab small: has no state file, but its namespaces or files exist. Run `railfab lab down` first."
    )
    assert LAB.down(plan.place, print)


def test_the_state_of_a_lab_before_a_reboot_is_removed(plan: LabPlan) -> None:
    """Its pids may be reused, so nothing is killed."""
    LAB.up(plan, print)
    state = running(plan)
    LAB.down(plan.place, print)
    bystander = subprocess.Popen(["sleep", "60"])
    holder = replace(state.processes[0], pid=bystander.pid)
    save_state(lab_state_file(plan.place), replace(state, boot="another", processes=(holder,)))
    progress: list[str] = []
    LAB.up(plan, progress.append)
    assert progress[0] == "removing the state of a lab that ended at the last reboot"
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


@pytest.fixture
def foreign() -> Iterator[tuple[str, str]]:
    """A namespace and a bridge of another program, with a process in the namespace."""
    namespace, bridge = f"other-{os.getpid()}", f"ob{os.getpid()}"
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    subprocess.run(["ip", "link", "add", "name", bridge, "type", "bridge"], check=True)
    with subprocess.Popen(["ip", "netns", "exec", namespace, "sleep", "600"]) as sleeper:
        yield namespace, bridge
        assert sleeper.poll() is None
        sleeper.kill()
    subprocess.run(["ip", "link", "del", bridge], check=True)
    subprocess.run(["ip", "netns", "del", namespace], check=True)


def test_down_ignores_a_state_file_that_names_namespaces_of_others(plan: LabPlan, foreign: tuple[str, str]) -> None:
    """The file belongs to the user who called sudo, but `down` runs as root."""
    LAB.up(plan, print)
    state, path = running(plan), lab_state_file(plan.place)
    nodes = (replace(state.nodes[0], namespace=foreign[0], management_port=foreign[1]), *state.nodes[1:])
    save_state(path, replace(state, nodes=nodes, bridge=foreign[1], runtime=plan.place.folder))
    LAB.down(plan.place, print)
    assert foreign[0] in namespace_names()
    assert foreign[1] in interface_names()
    assert plan.place.folder.exists()


def test_the_state_of_another_lab_is_refused(plan: LabPlan) -> None:
    LAB.up(plan, print)
    state, path = running(plan), lab_state_file(plan.place)
    save_state(path, replace(state, tag="rf000000"))
    with pytest.raises(LabError) as raised:
        LAB.down(plan.place, print)
    assert str(raised.value) == (
        f"{path}: is the state of lab rf000000, not of {state.tag}. "
        "Use the --state directory with which the lab was started."
    )
    save_state(path, state)


def test_no_process_without_the_mark_of_the_lab_is_killed(plan: LabPlan) -> None:
    LAB.up(plan, print)
    state = running(plan)
    with subprocess.Popen(["sleep", "60"]) as bystander:
        save_state(lab_state_file(plan.place), state.with_processes(process("bystander", bystander.pid)))
        LAB.down(plan.place, print)
        assert bystander.poll() is None
        bystander.kill()


def test_a_process_of_another_user_in_a_switch_is_reported_and_not_killed(plan: LabPlan) -> None:
    LAB.up(plan, print)
    namespace = lab_names(plan.place).namespace(LEAF)
    with subprocess.Popen(["ip", "netns", "exec", namespace, "sleep", "600"]) as sleeper:
        wait_for(lambda: Path(f"/proc/{sleeper.pid}/comm").read_text() == "sleep\n", "the stranger runs")
        progress: list[str] = []
        LAB.down(plan.place, progress.append)
        assert progress == [f"not killed in {namespace}: process {sleeper.pid}"]
        assert sleeper.poll() is None
        sleeper.kill()


def test_names_in_use_are_an_error_and_not_removed(plan: LabPlan) -> None:
    names = lab_names(plan.place)
    taken = names.namespace(LEAF)
    subprocess.run(["ip", "netns", "add", taken], check=True)
    subprocess.run(["ip", "link", "add", "name", names.bridge, "type", "bridge"], check=True)
    try:
        with pytest.raises(RailfabError) as raised:
            LAB.up(plan, print)
        assert str(raised.value).splitlines() == [
            f"namespace {taken}: already exists and does not belong to this lab. "
            f"Remove it with `ip netns del {taken}`, "
            "or use another --state directory, which gives other names.",
            f"interface {names.bridge}: already exists and does not belong to this lab. Remove it with "
            f"`ip link del {names.bridge}`, or use another --state directory, which gives other names.",
        ]
        assert not LAB.down(plan.place, print)
        assert taken in namespace_names()
        assert names.bridge in interface_names()
    finally:
        subprocess.run(["ip", "link", "del", names.bridge], check=True)
        subprocess.run(["ip", "netns", "del", taken], check=True)


def test_a_configuration_that_frr_refuses_is_an_error_and_the_lab_is_removed(plan: LabPlan) -> None:
    with pytest.raises(LabError) as raised:
        LAB.up(replace(plan, configurations={LEAF: "hostname x\nbogus line\n"}), print)
    line = str(raised.value)
    assert re.match(rf"^switch {LEAF}: did not start \(line 2: % Unknown command.*bogus line; .*\)\. ", line)
    assert line.endswith("Correct its configuration, or run `railfab lab doctor`.")
    assert Traces.of(lab_names(plan.place)) == NOTHING


def test_a_running_lab_with_another_topology_is_refused(plan: LabPlan) -> None:
    LAB.up(plan, print)
    leaf = plan.models[LEAF]
    changed = replace(leaf, interfaces=tuple(replace(port, mtu_bytes=1500) for port in leaf.interfaces))
    with pytest.raises(LabError) as raised:
        LAB.up(replace(plan, models={**plan.models, LEAF: changed}), print)
    assert str(raised.value) == (
        "lab small: is up with another topology than the intent. Run `railfab lab down` first."
    )


@pytest.mark.matrix
def test_two_labs_run_at_the_same_time(plan: LabPlan, tmp_path: Path) -> None:
    other = lab_plan(small_intent(tmp_path), tmp_path / "other")
    labs = [threading.Thread(target=LAB.up, args=(found, print)) for found in (plan, other)]
    try:
        for lab in labs:
            lab.start()
        for lab in labs:
            lab.join()
        assert LAB.status(plan.place).state == LAB.status(other.place).state == "running"
        LAB.down(other.place, print)
        assert LAB.status(plan.place).state == "running"
    finally:
        LAB.down(other.place, print)
    assert Traces.of(lab_names(other.place)) == NOTHING


def test_the_command_line_brings_a_configured_lab_up_and_down(tmp_path: Path) -> None:
    intent, state = str(small_intent(tmp_path)), str(tmp_path / STATE_NAME)
    run = CliRunner()
    try:
        up = run.invoke(lab_app, ["up", intent, "--state", state, "--configured", "--output", "json"])
        assert up.exit_code == 0, up.output
        assert [node["name"] for node in conforming("lab-up", up.stdout)["nodes"]] == [
            LEAF,
            "pod1-seg1-leaf2",
            "pod1-spine1",
        ]
        assert up.stderr.splitlines() == ["creating 4 links", "booting 3 switches", "starting SSH and gNMI"]
        lab = RunningLab(Path(intent), lab_plan(Path(intent), Path(state)).place)
        wait_for(lambda: lab.established("pod1-spine1") == 2, "a lab that boots configured needs no deploy")
        shown = run.invoke(lab_app, ["status", intent, "--state", state])
        assert shown.exit_code == 0
        assert shown.stdout.startswith("lab small is running")
    finally:
        down = run.invoke(lab_app, ["down", intent, "--state", state])
    assert (down.exit_code, down.stderr) == (0, "lab small is down\n")
    again = run.invoke(lab_app, ["down", intent, "--state", state, "--output", "json"])
    assert conforming("lab-down", again.stdout) == {"fabric": "small", "removed": False}

"""A roll-out on switches of real FRR that something happens to at a step of its journal: it is killed, its connections
are cut or lost, a switch freezes or reboots, the disk of its client is full. With `--resume` it is made whole, and with
`--abort` undone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from tests.integration.conftest import RunningLab, wait_for
from tests.integration.frr.bench import without_version
from tests.kills.disks import full, small_disk
from tests.kills.rollouts import BASE, KILL, Event, RolloutSite, Texts, Trial, sweep
from tests.lab.fabrics import lab_plan, small_intent

from railfab.endpoints import load_endpoints, read_credentials
from railfab.fabric import design
from railfab.lab import LabPlan, backend
from railfab.lab.netns import runtime, ssh_servers
from railfab.lab.netns.lifecycle import start_ssh_servers
from railfab.platforms import platform
from railfab.platforms.frr.reload_output import with_sorted_prefix_lists

pytestmark = pytest.mark.lab
LAB = backend("netns")
SPINE = "pod1-spine1"
CHANGES = {"bfd": "bfd: {interval_ms: 400}", "aggregates": "bgp: {aggregate_hosts: true}"}
"""Changes of the profile: one that interrupts nothing, and one before which switches are drained."""
EVENTS = (
    *("kill", "connection cut", "connection lost", "switch hangs", "reboot"),
    *("disk of the client full", "disk of a switch full"),
)


@dataclass
class LabSite(RolloutSite):
    lab: RunningLab = None  # type: ignore[assignment] # the fields of the base have defaults
    plan: LabPlan = None  # type: ignore[assignment]

    @property
    def names(self) -> list[str]:
        return [node.name for node in self.lab.state.switches()]

    def present(self) -> Texts:
        return {name: (self._running(name), self._startup(name)) for name in self.names}

    def _running(self, name: str) -> str:
        return with_sorted_prefix_lists(self.lab.vtysh(name, "-c", "show running-config no-header"))

    def _startup(self, name: str) -> str:
        return without_version((self.lab.state.runtime / name / "etc-frr" / "frr.conf").read_text())

    def pending(self, changed: Collection[str]) -> Iterator[str]:
        for name in self.names:
            folder = self.lab.state.runtime / name / "run-frr" / "railfab"
            left = {path.name for path in folder.iterdir()} - {"lock", "ended.json"} if folder.exists() else set()
            if name in changed and left:
                yield f"{name} has {left}"
        endpoint = load_endpoints(self.endpoints).nodes[len(self.journal().deploys()) % len(self.names)]
        with platform("frr").session(endpoint, read_credentials(endpoint)) as session:
            running = session.running()
        if running.pending is not None or running.drained:
            yield f"{endpoint.name} says pending: {running.pending}, drained: {running.drained}"

    def events(self) -> dict[str, Event]:
        def victim(step: int) -> str:
            return self.names[step % len(self.names)]

        return {
            event.name: event
            for event in (
                KILL,
                Event("connection cut", lambda _: self._restart_servers()),
                Event(
                    "connection lost",
                    lambda _: self._link("down"),
                    lambda _: self._link("up"),
                    gives_up=True,
                ),
                Event(
                    "switch hangs",
                    lambda step: self._signal(victim(step), signal.SIGSTOP),
                    lambda step: self._signal(victim(step), signal.SIGCONT),
                    gives_up=True,
                ),
                Event("reboot", lambda step: LAB.restart(self.plan, victim(step), None, lambda _line: None)),
                full("the client", self.state),
                full("a switch", runtime.RUNTIME),
            )
        }

    def _restart_servers(self) -> None:
        """End the SSH servers of all switches, with their connections, and start them again."""
        for name in self.names:
            for pid, _, command in self.lab.processes(name):
                if ssh_servers.__name__ in command:
                    os.kill(pid, signal.SIGKILL)
        start_ssh_servers(self.plan.place, self.lab.state, self.lab.state.switches())

    def _link(self, state: str) -> None:
        for name in self.names:
            self.lab.run(name, "ip", "link", "set", "mgmt0", state).check_returncode()

    def _signal(self, name: str, number: int) -> None:
        for pid, _, _ in self.lab.processes(name):
            with suppress(ProcessLookupError):
                os.kill(pid, number)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabSite]:
    folder = tmp_path_factory.mktemp("rollouts")
    intents = {BASE: small_intent(folder)}
    for name, change in CHANGES.items():
        intents[name] = folder / f"{name}.yml"
        profile = "profile: {"
        assert profile in intents[BASE].read_text()
        intents[name].write_text(intents[BASE].read_text().replace(profile, f"{profile}{change}, "))
    plan = replace(lab_plan(intents[BASE], folder / "state"), configurations=design(intents[BASE]).configurations())
    client, switches = (small_disk(tmp_path_factory.mktemp(name)) for name in ("client", "switches"))
    with client as disk, switches as of_switches, pytest.MonkeyPatch.context() as patched:
        patched.setattr(runtime, "RUNTIME", of_switches)
        LAB.up(plan, lambda _line: None)
        try:
            lab = RunningLab(intents[BASE], plan.place)
            wait_for(lambda: lab.established(SPINE) == 2, "the sessions of the spine")
            yield LabSite("frr", "small", plan.place.endpoints_file, disk, intents, lab=lab, plan=plan)
        finally:
            LAB.down(plan.place, lambda _line: None)


def test_a_roll_out_that_is_killed_is_finished_or_undone(site: LabSite) -> None:
    site.learn("bfd")
    case = Trial(site, "bfd", KILL, 4, "after", "--resume").run()
    assert case is not None
    assert case.problem == ""


@pytest.mark.kills
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("change", "event"),
    [pytest.param(change, event, id=f"frr-{change}-{event}") for change in CHANGES for event in EVENTS],
)
def test_whatever_happens_at_any_step_a_roll_out_is_finished_or_undone(site: LabSite, change: str, event: str) -> None:
    sweep(site, change, site.events()[event])

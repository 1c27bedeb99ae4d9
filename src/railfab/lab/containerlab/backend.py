"""The containerlab backend: a fabric in containers, booted by the `containerlab` binary."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from railfab.endpoints import Endpoints, load_endpoints
from railfab.errors import LabError, raise_all
from railfab.lab.containerlab import doctor, lifecycle
from railfab.lab.containerlab.binary import Container, Containerlab
from railfab.lab.containerlab.generate import ContainerlabFiles, lab_files, without_startup
from railfab.lab.containerlab.settings import load_settings
from railfab.lab.containerlab.state import ContainerlabState, LabPaths, load_state
from railfab.lab.containerlab.topology_check import check
from railfab.lab.contract import (
    LabPlace,
    LabPlan,
    LabStart,
    LabStatus,
    NodeStatus,
    Progress,
    Requirement,
    not_up,
    require,
)
from railfab.lab.netns import processes
from railfab.text.counted import counted

logger = logging.getLogger(__name__)


class ContainerlabBackend:
    """Containers on this machine. binary: the containerlab binary. proc: mount point of procfs."""

    name = "containerlab"

    def __init__(self, binary: Containerlab | None = None, *, proc: Path = processes.PROC) -> None:
        self.binary = binary or Containerlab()
        self.proc = proc

    def up(self, plan: LabPlan, progress: Progress) -> LabStart:
        """Boot the fabric; see Backend.up."""
        place, files = plan.place, LabPaths(plan.place)
        wanted = lab_files(plan, load_settings(place.folder))
        raise_all(list(check(wanted.topology.document(), wanted.name, exists=wanted.files.__contains__)))
        require(doctor.machine(self.binary, self.proc) + doctor.lab(self.binary, plan))
        found = self.binary.inspect(place.fabric)
        if found:
            return LabStart(endpoints=self._running(plan, wanted, found, progress), booted=False)
        with ExitStack() as undo:
            undo.callback(lifecycle.remove_files, files)
            wanted.write(files.folder)
            lifecycle.write_credentials(plan, files)
            progress(f"booting {counted(len(plan.topology.nodes), 'container')}")
            undo.callback(self.down, place, progress)
            self.binary.deploy(files.topology)
            running = self._reachable(plan, files, progress)
            undo.pop_all()
        logger.info("lab %s is up: %d switches", place.fabric, len(running.nodes))
        return LabStart(endpoints=running, booted=True)

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove the lab; see Backend.down."""
        files = LabPaths(place)
        state = load_state(files.state)
        ours = state is not None or files.topology.exists()
        there = bool(self.binary.inspect(place.fabric))
        if there and not ours:
            raise _foreign(place)
        if not ours:
            return False
        lifecycle.close_gateway(state)
        if files.topology.exists():
            self.binary.destroy(files.topology)
        elif there:
            self.binary.destroy_by_name(place.fabric)
        lifecycle.remove_files(files)
        progress(f"removed {place.fabric}")
        return True

    def restart(self, plan: LabPlan, node: str, daemon: str | None, progress: Progress) -> None:
        """Restart a switch or one daemon; see Backend.restart."""
        files = LabPaths(plan.place)
        state, found = load_state(files.state), self.binary.inspect(plan.place.fabric)
        if state is None or not found:
            raise not_up(plan.place)
        if node not in plan.models:
            raise LabError(node, "is not a switch of this lab", f"Name one of {', '.join(plan.models)}")
        if daemon is not None:
            lifecycle.require_unrestarted({container.node: container for container in found}, state)
            lifecycle.restart_one_daemon(state, node, daemon)
            return
        progress(f"restarting {node}")
        self.binary.restart(files.topology, node)
        lifecycle.close_gateway(state)
        self._reachable(plan, files, progress)

    def status(self, place: LabPlace) -> LabStatus:
        """Current state of the lab; see Backend.status."""
        files = LabPaths(place)
        state = load_state(files.state)
        found = self.binary.inspect(place.fabric) if state is not None else ()
        gateway_up = state is None or state.gateway is None or processes.is_running(state.gateway)
        failed = lifecycle.unanswering_services(files, state) if state is not None and gateway_up else {}
        nodes = tuple(_status(container, state, gateway_up, failed, files) for container in found)
        return LabStatus(fabric=place.fabric, backend=self.name, nodes=nodes)

    def doctor(self, plan: LabPlan | None) -> tuple[Requirement, ...]:
        """Requirements of a lab; see Backend.doctor."""
        return doctor.machine(self.binary, self.proc) + (doctor.lab(self.binary, plan) if plan is not None else ())

    def _running(
        self, plan: LabPlan, wanted: ContainerlabFiles, found: tuple[Container, ...], progress: Progress
    ) -> Endpoints:
        """The endpoints of a lab that is up already; its gateway is restarted if it has ended."""
        place, files = plan.place, LabPaths(plan.place)
        state = load_state(files.state)
        if state is None or not files.topology.exists():
            raise _foreign(place)
        if without_startup(files.topology.read_text()) != without_startup(wanted.topology.dump()):
            problem = "is up with another topology than the intent"
            raise LabError(f"lab {place.fabric}", problem, "Run `railfab lab down` first")
        by_node = lifecycle.require_running(found, wanted.topology.nodes)
        lifecycle.require_unrestarted(by_node, state)
        progress(f"lab {place.fabric} is up already")
        if state.gateway is not None and not processes.is_running(state.gateway):
            return self._reachable(plan, files, progress)
        return load_endpoints(place.endpoints_file)

    def _reachable(self, plan: LabPlan, files: LabPaths, progress: Progress) -> Endpoints:
        names = [node.name for node in plan.topology.nodes]
        found = lifecycle.require_running(self.binary.inspect(plan.place.fabric), names)
        progress("starting SSH and gNMI")
        lifecycle.open_gateway(plan, files, found)
        return lifecycle.publish(plan, files, found)


def _foreign(place: LabPlace) -> LabError:
    remedy = f"Remove it with `containerlab destroy --name {place.fabric}`, or change the name of the fabric"
    return LabError(f"lab {place.fabric}", "is running, but was not started with this state directory", remedy)


def _status(
    container: Container,
    state: ContainerlabState | None,
    gateway_up: bool,
    failed: Mapping[str, Sequence[str]],
    files: LabPaths,
) -> NodeStatus:
    pids = {node.name: node.pid for node in state.gateway_switches} if state else {}
    detail, healthy = container.status, container.state == "running"
    if container.node in pids and healthy:
        if not gateway_up:
            healthy, detail = False, f"no SSH and gNMI: {lifecycle.last_line(files.gateway_log)}"
        elif container.pid is not None and container.pid != pids[container.node]:
            healthy, detail = False, lifecycle.RESTARTED
        elif container.node in failed:
            healthy, detail = False, f"no answer from {', '.join(failed[container.node])}"
    gone = container.state != "running"
    return NodeStatus(
        name=container.node,
        kind=container.kind,
        state="running" if healthy else "gone" if gone else "degraded",
        address=container.ipv4,
        detail=detail,
    )


BACKEND = ContainerlabBackend()

"""The containerlab backend: the same intent as containers, wired and booted by the `containerlab` binary."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

from railfab.endpoints import Endpoints, load_endpoints
from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab.backend import Finding, LabPlace, LabPlan, LabStatus, NodeStatus, Progress
from railfab.lab.containerlab import doctor, lifecycle
from railfab.lab.containerlab.binary import Container, Containerlab, Executed
from railfab.lab.containerlab.check import check, check_file
from railfab.lab.containerlab.generate import LabFiles, lab_files
from railfab.lab.containerlab.settings import Settings, load_settings
from railfab.lab.containerlab.state import Files, LabState, load_state
from railfab.lab.netns import kernel

__all__ = [
    "BACKEND",
    "Container",
    "Containerlab",
    "ContainerlabBackend",
    "Executed",
    "LabFiles",
    "Settings",
    "check",
    "check_file",
    "lab_files",
    "load_settings",
]

logger = logging.getLogger(__name__)


class ContainerlabBackend:
    """Containers on this machine. binary: how containerlab is called. proc: where the kernel says what it has."""

    name = "containerlab"

    def __init__(self, binary: Containerlab | None = None, *, proc: Path = kernel.PROC) -> None:
        self.binary = binary or Containerlab()
        self.proc = proc

    def up(self, plan: LabPlan, progress: Progress) -> Endpoints:
        """Boot the fabric; see Backend.up."""
        place, files = plan.place, Files(plan.place)
        wanted = lab_files(plan, load_settings(place.folder))
        raise_all(list(check(wanted.topology.document(), wanted.name, exists=wanted.files.__contains__)))
        _require(doctor.machine(self.binary, self.proc) + doctor.lab(self.binary, plan))
        found = self.binary.inspect(place.fabric)
        if found:
            return self._running(plan, wanted, found, progress)
        with ExitStack() as undo:
            undo.callback(lifecycle.forget, files)
            wanted.write(files.folder)
            lifecycle.furnish(plan, files)
            progress(f"booting {len(plan.topology.nodes)} containers")
            undo.callback(self.down, place, progress)
            self.binary.deploy(files.topology)
            running = self._reachable(plan, files, progress)
            undo.pop_all()
        logger.info("lab %s is up: %d switches", place.fabric, len(running.nodes))
        return running

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove the lab; see Backend.down."""
        files = Files(place)
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
        lifecycle.forget(files)
        progress(f"removed {place.fabric}")
        return True

    def status(self, place: LabPlace) -> LabStatus:
        """The lab as it is now; see Backend.status."""
        files = Files(place)
        state = load_state(files.state)
        found = self.binary.inspect(place.fabric) if state is not None else ()
        gateway_up = state is None or state.gateway is None or kernel.is_running(state.gateway)
        nodes = tuple(_status(container, state, gateway_up, files) for container in found)
        return LabStatus(fabric=place.fabric, backend=self.name, nodes=nodes)

    def doctor(self, plan: LabPlan | None) -> tuple[Finding, ...]:
        """What the machine has and lacks; see Backend.doctor."""
        return doctor.machine(self.binary, self.proc) + (doctor.lab(self.binary, plan) if plan is not None else ())

    def _running(self, plan: LabPlan, wanted: LabFiles, found: tuple[Container, ...], progress: Progress) -> Endpoints:
        """The endpoints of a lab that is up already; its gateway is opened again if it has ended."""
        place, files = plan.place, Files(plan.place)
        state = load_state(files.state)
        if state is None or not files.topology.exists():
            raise _foreign(place)
        if files.topology.read_text() != wanted.topology.dump():
            problem = "is up, but not as the intent says now"
            raise LabError(f"lab {place.fabric}", problem, "Run `railfab lab down` first")
        by_node = lifecycle.require_running(found, wanted.topology.nodes)
        lifecycle.require_unrestarted(by_node, state)
        progress(f"lab {place.fabric} is up already")
        if state.gateway is not None and not kernel.is_running(state.gateway):
            return self._reachable(plan, files, progress)
        return load_endpoints(place.endpoints_file)

    def _reachable(self, plan: LabPlan, files: Files, progress: Progress) -> Endpoints:
        names = [node.name for node in plan.topology.nodes]
        found = lifecycle.require_running(self.binary.inspect(plan.place.fabric), names)
        progress("opening SSH and gNMI")
        lifecycle.open_gateway(plan, files, found)
        return lifecycle.publish(plan, files, found)


def _foreign(place: LabPlace) -> LabError:
    remedy = f"Remove it with `containerlab destroy --name {place.fabric}`, or name your fabric otherwise"
    return LabError(f"lab {place.fabric}", "is running, and was not started from here", remedy)


def _status(container: Container, state: LabState | None, gateway_up: bool, files: Files) -> NodeStatus:
    behind = {node.name: node.pid for node in state.behind} if state else {}
    detail, healthy = container.status, container.state == "running"
    if container.node in behind and healthy:
        if not gateway_up:
            healthy, detail = False, f"no SSH and gNMI: {lifecycle.last_line(files.gateway_log)}"
        elif container.pid is not None and container.pid != behind[container.node]:
            healthy, detail = False, lifecycle.RESTARTED
    gone = container.state != "running"
    return NodeStatus(
        name=container.node,
        kind=container.kind,
        state="running" if healthy else "gone" if gone else "degraded",
        address=container.ipv4,
        detail=detail,
    )


def _require(findings: tuple[Finding, ...]) -> None:
    errors: list[RailfabError] = [
        LabError(finding.subject, finding.problem, finding.remedy)
        for finding in findings
        if finding.fatal and not finding.ok
    ]
    raise_all(errors)


BACKEND = ContainerlabBackend()

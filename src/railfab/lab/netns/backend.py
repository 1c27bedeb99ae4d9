"""The embedded backend: a network namespace per node, FRR and an SSH server per switch, one gNMI agent."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from railfab.endpoints import Endpoints, load_endpoints
from railfab.errors import LabError
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
from railfab.lab.netns import doctor, lifecycle, processes, restart
from railfab.lab.netns.names import lab_names
from railfab.lab.netns.runtime import lab_lock, remove_files, runtime_of
from railfab.lab.netns.state import NetnsState, lab_state_file, own_state, save_state, topology_digest
from railfab.lab.netns.status import node_statuses

logger = logging.getLogger(__name__)
DOWN_FIRST = "Run `railfab lab down` first"


class NetnsBackend:
    """Network namespaces and FRR on this machine; needs root."""

    name = "netns"

    def up(self, plan: LabPlan, progress: Progress) -> LabStart:
        """Boot the fabric; see Backend.up."""
        require(doctor.machine() + doctor.lab(plan))
        with lab_lock(progress):
            running = self._running(plan, progress)
            if running is not None:
                return LabStart(endpoints=running, booted=False)
            return LabStart(endpoints=self._boot(plan, progress), booted=True)

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove the lab; see Backend.down."""
        require(doctor.rights())
        with lab_lock(progress):
            state = own_state(place)
            if state is None and not runtime_of(lab_names(place)).exists():
                return False
            self._remove(place, state, progress)
            logger.info("lab %s is down", place.fabric)
            return True

    def restart(self, plan: LabPlan, node: str, daemon: str | None, progress: Progress) -> None:
        """Restart a switch or one daemon; see Backend.restart."""
        require(doctor.rights())
        with lab_lock(progress):
            state = own_state(plan.place)
            if state is None or state.boot != processes.boot_id():
                raise not_up(plan.place)
            _require_topology(plan, state)
            switch = restart.switch_named(state, node)
            if daemon is not None:
                restart.restart_one_daemon(state, switch, daemon)
            else:
                restart.restart_switch(plan, state, switch, progress)

    def status(self, place: LabPlace) -> LabStatus:
        """Current state of the lab; see Backend.status."""
        state = own_state(place)
        nodes: tuple[NodeStatus, ...] = node_statuses(state) if state is not None else ()
        return LabStatus(fabric=place.fabric, backend=self.name, nodes=nodes)

    def doctor(self, plan: LabPlan | None) -> tuple[Requirement, ...]:
        """Requirements of a lab; see Backend.doctor."""
        return doctor.machine() + (doctor.lab(plan) if plan is not None else ())

    def _running(self, plan: LabPlan, progress: Progress) -> Endpoints | None:
        """The endpoints of this lab if it is up already. Raises LabError when it differs or is incomplete."""
        place = plan.place
        state = own_state(place)
        if state is None:
            if runtime_of(lab_names(place)).exists():
                raise LabError(
                    f"lab {place.fabric}", "has no state file, but its namespaces or files exist", DOWN_FIRST
                )
            return None
        if state.boot != processes.boot_id():
            progress("removing the state of a lab that ended at the last reboot")
            self._remove(place, state, progress)
            return None
        status = self.status(place)
        if status.state != "running" or not place.endpoints_file.exists():
            broken = (
                ", ".join(node.name for node in status.nodes if node.state != "running") or "endpoints file missing"
            )
            raise LabError(f"lab {place.fabric}", f"is incomplete ({broken})", DOWN_FIRST)
        _require_topology(plan, state)
        progress(f"lab {place.fabric} is up already")
        return load_endpoints(place.endpoints_file)

    def _remove(self, place: LabPlace, state: NetnsState | None, progress: Progress) -> None:
        """Remove a lab. After a reboot only its files are left."""
        if state is None or state.boot == processes.boot_id():
            lifecycle.remove(place, progress)
        else:
            remove_files(place, lab_names(place), lab_state_file(place))

    def _boot(self, plan: LabPlan, progress: Progress) -> Endpoints:
        state = lifecycle.allocate(plan)
        save_state(lab_state_file(plan.place), state)
        with ExitStack() as undo:
            undo.callback(lifecycle.remove, plan.place, progress)
            state = lifecycle.build(plan, state, progress)
            running = lifecycle.publish(plan.place, state)
            undo.pop_all()
        logger.info("lab %s is up: %d switches, gateway %s", state.fabric, len(running.nodes), state.gateway)
        return running


def _require_topology(plan: LabPlan, state: NetnsState) -> None:
    if state.topology_digest != topology_digest(plan):
        raise LabError(f"lab {state.fabric}", "is up with another topology than the intent", DOWN_FIRST)


BACKEND = NetnsBackend()

"""The embedded backend: a network namespace per node, FRR and an SSH server in each switch, one gNMI agent for all."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from railfab.endpoints import Endpoints, load_endpoints
from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab.backend import Finding, LabPlace, LabPlan, LabStatus, NodeStatus, Progress
from railfab.lab.netns import doctor, kernel, lifecycle
from railfab.lab.netns.names import lab_names
from railfab.lab.netns.runtime import exclusive, forget, runtime_of
from railfab.lab.netns.state import LabState, lab_state_file, own_state, save_state, wiring_digest
from railfab.lab.netns.status import node_statuses

__all__ = ["BACKEND", "NetnsBackend"]

logger = logging.getLogger(__name__)
DOWN_FIRST = "Run `railfab lab down` first"


class NetnsBackend:
    """Network namespaces and FRR on this machine; needs root."""

    name = "netns"

    def up(self, plan: LabPlan, progress: Progress) -> Endpoints:
        """Boot the fabric; see Backend.up."""
        _require(doctor.machine() + doctor.lab(plan))
        with exclusive():
            running = self._running(plan, progress)
            return running if running is not None else self._boot(plan, progress)

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove the lab; see Backend.down."""
        _require(doctor.rights())
        with exclusive():
            state = own_state(place)
            if state is None and not runtime_of(lab_names(place)).exists():
                return False
            self._remove(place, state, progress)
            logger.info("lab %s is down", place.fabric)
            return True

    def status(self, place: LabPlace) -> LabStatus:
        """The lab as it is now; see Backend.status."""
        state = own_state(place)
        nodes: tuple[NodeStatus, ...] = node_statuses(state) if state is not None else ()
        return LabStatus(fabric=place.fabric, backend=self.name, nodes=nodes)

    def doctor(self, plan: LabPlan | None) -> tuple[Finding, ...]:
        """What the machine has and lacks; see Backend.doctor."""
        return doctor.machine() + (doctor.lab(plan) if plan is not None else ())

    def _running(self, plan: LabPlan, progress: Progress) -> Endpoints | None:
        """The endpoints of this lab if it is up already. Raises LabError when what is there is not this lab, whole."""
        place = plan.place
        state = own_state(place)
        if state is None:
            if runtime_of(lab_names(place)).exists():
                raise LabError(f"lab {place.fabric}", "parts of it are left over, without a state file", DOWN_FIRST)
            return None
        if state.boot != kernel.boot_id():
            progress("forgetting a lab that ended with an earlier boot of this machine")
            self._remove(place, state, progress)
            return None
        status = self.status(place)
        if status.state != "running" or not place.endpoints_file.exists():
            broken = ", ".join(node.name for node in status.nodes if node.state != "running") or "its endpoints file"
            raise LabError(f"lab {place.fabric}", f"is there, but not whole ({broken})", DOWN_FIRST)
        if state.wiring != wiring_digest(plan):
            raise LabError(f"lab {place.fabric}", "is up, but wired otherwise than the intent says now", DOWN_FIRST)
        progress(f"lab {place.fabric} is up already")
        return load_endpoints(place.endpoints_file)

    def _remove(self, place: LabPlace, state: LabState | None, progress: Progress) -> None:
        """Undo a lab. Only a lab of this boot has left more than files; only a lab leaves a runtime directory."""
        if state is None or state.boot == kernel.boot_id():
            lifecycle.remove(place, progress)
        else:
            forget(place, lab_names(place), lab_state_file(place))

    def _boot(self, plan: LabPlan, progress: Progress) -> Endpoints:
        state = lifecycle.claim(plan)
        save_state(lab_state_file(plan.place), state)
        with ExitStack() as undo:
            undo.callback(lifecycle.remove, plan.place, progress)
            state = lifecycle.build(plan, state, progress)
            running = lifecycle.publish(plan.place, state)
            undo.pop_all()
        logger.info("lab %s is up: %d switches behind %s", state.fabric, len(running.nodes), state.gateway)
        return running


def _require(findings: tuple[Finding, ...]) -> None:
    """Raise LabError, or Problems, for everything fatal that is missing."""
    errors: list[RailfabError] = [
        LabError(finding.subject, finding.problem, finding.remedy)
        for finding in findings
        if finding.fatal and not finding.ok
    ]
    raise_all(errors)


BACKEND = NetnsBackend()

"""The twin of a fabric: servers of each switch, and one simulation, one clock and one control server."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from contextlib import ExitStack
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Self

from railfab.device import DeviceModel
from railfab.endpoints import STATE_DIR, Credentials, Endpoint, Endpoints, save_endpoints, write_private
from railfab.errors import LabError
from railfab.fabric.design import Design
from railfab.forwarding import Marking
from railfab.gnmi.certificates import TlsIdentity
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.intent import Job
from railfab.platforms import platform
from railfab.platforms.shared.virtual_images import ImageFile
from railfab.process.open_files import most_open_files
from railfab.topology import PortKey
from railfab.twin.clock import Clock
from railfab.twin.control import Control
from railfab.twin.control_server import ControlServer
from railfab.twin.faults import faults
from railfab.twin.files import TwinFiles, claimed
from railfab.twin.job_metrics import ConfigurationMetrics, JobMetrics, TwinMetrics, registry
from railfab.twin.link_parts import Direction, LinkPart
from railfab.twin.live import LiveFabric
from railfab.twin.operations import SwitchOperations
from railfab.twin.samples import ObservedSwitch
from railfab.twin.secrets import twin_secrets
from railfab.twin.served import face_of, require_served, require_traffic
from railfab.twin.servers import SwitchServers
from railfab.twin.ssh_server import SwitchSsh
from railfab.twin.status import PassingFlow, SwitchOperation, SwitchStatus, TwinStatus, step_times
from railfab.twin.switch import VirtualSwitch
from railfab.units import NS_PER_S
from railfab.workload import RecordedJob

logger = logging.getLogger(__name__)

BASE_PORT = 57400
"""SR Linux's gNMI port, used for the first switch; the others use the following ports."""
LOCALHOST = "127.0.0.1"

FILES_A_SWITCH, OTHER_FILES = 2, 200
"""Open files of a twin: for each switch the socket on which it listens and one connection, and those beside them."""

CALLS_S = 2.0
"""Interval in which the operations of a step that runs are counted, which takes milliseconds [s]."""

BOOT_S = 60.0
"""Time that a switch takes to boot after a restart [simulated s]."""

COUNTERS_AGE_S = 0.05
"""Maximum age of published counters that are used again; publishing those of all links takes milliseconds [s]."""


class Twin:
    """A running twin; a context manager.

    base_port: of the first switch in the topology's order; 0 gives every switch any free port. configured: start with
    the rendered configurations instead of factory ones. job: what the hosts run from the start. new_credentials: do
    not use the password and the CA of the fabric's last twin in `state` again. cpu: share of a core that the simulation
    may use, above 0 and at most 1. speed: simulated seconds that are due in a second; the time stamps of a twin that is
    faster than real time run ahead of the wall clock. boot_s: time that a switch takes to boot after a restart
    [simulated s], in which it has no links.
    Entering raises LabError when a twin of the fabric runs, DeviceError when a port is in use, UnsupportedFeature for a
    platform that the twin does not serve, and for an intent that it does not compute. An exception in the simulation
    stops the job; the switches keep answering.
    """

    def __init__(
        self,
        design: Design,
        *,
        state: Path = STATE_DIR,
        host: str = LOCALHOST,
        base_port: int = BASE_PORT,
        configured: bool = False,
        job: Job | RecordedJob | None = None,
        seed: int = 1,
        new_credentials: bool = False,
        cpu: float = 1.0,
        speed: float = 1.0,
        boot_s: float = BOOT_S,
    ) -> None:
        self.design = design
        self._boot_s = boot_s
        self.credentials: Credentials
        self.endpoints: Endpoints
        self.control: Control
        self._state = state
        self._host = host
        self._base_port = base_port
        self._configured = configured
        self._new_credentials = new_credentials
        self._first_job = job
        self._clock = Clock(self._advance, self._recover, cpu=cpu, speed=speed)
        self._live = LiveFabric(
            design.topology,
            design=design,
            marking=_marking(design, seed),
            stamp=self._clock.stamps.stamp_ns,
            changed=self._touch_all,
        )
        self._switches: dict[str, VirtualSwitch] = {}
        self._servers: dict[str, SwitchServers] = {}
        self._operations = SwitchOperations(self._live, self._switches, self._servers)
        self._job_metrics = JobMetrics(self.fabric, lambda: self._live.job_status().progress)
        self._calls_s = 0.0
        self._stack = ExitStack()

    @property
    def fabric(self) -> str:
        return self.design.topology.fabric

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._check_open_files()
            files = stack.enter_context(claimed(self._state, self.fabric))
            self._make_switches()
            for switch in self._switches.values():
                stack.callback(switch.close)
            self._start_servers(stack, files)
            if self._first_job is not None:
                self.switch_job(self._first_job)
            self._clock.start()
            stack.callback(self._clock.stop)
            save_endpoints(files.endpoints, self.endpoints)
            self._start_control(stack, files)
            self._stack = stack.pop_all()
        logger.info("%s: the twin serves %d switches", self.fabric, len(self._switches))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _check_open_files(self) -> None:
        """Raise LabError where the process may not have the sockets of all switches."""
        switches, limit = len(self.design.models), most_open_files()
        needed = switches * FILES_A_SWITCH + OTHER_FILES
        if limit < needed:
            problem = f"{switches:,} switches need {needed:,} open files, and the process may have {limit:,.0f}"
            raise LabError(self.fabric, problem, f"Start it where `ulimit -Hn` is {needed} or more")

    def status(self) -> TwinStatus:
        job, state = self._live.job_status(), self._live.state()
        progress = job.progress
        present = faults(self.design.topology, state, self._operations.stopped(), self._operations.slow())
        sessions = [session for held in state.sessions.values() for session in held.values()]
        return TwinStatus(
            fabric=self.fabric,
            pid=os.getpid(),
            job=job.job,
            steps=job.steps,
            last_step_s=job.recent[-1].duration_s if job.recent else None,
            last_communication_s=job.recent[-1].communication_s if job.recent else None,
            step_share=None if progress is None else progress.share,
            step_elapsed_s=None if progress is None else progress.elapsed_s,
            step_ideal_s=None if progress is None else progress.ideal_s,
            stalled=job.stalled,
            faults=tuple(map(str, present)),
            fault_details=present,
            slow_hosts=tuple(f"{host} {nic} takes {rate:g} Gb/s" for (host, nic), rate in sorted(state.slow.items())),
            sessions_up=sum(session.established for session in sessions),
            sessions=len(sessions),
            simulated_s=job.simulated_s,
            slipped_s=self._clock.slipped_ns / NS_PER_S,
            failure=self._clock.failure,
            switches=tuple(self._switch_status(name) for name in self._switches),
            last_steps=step_times(job),
        )

    def _switch_status(self, name: str) -> SwitchStatus:
        server = self._servers[name]
        switch = self._switches[name]
        return SwitchStatus(
            name=name,
            port=server.port,
            running=server.answering and switch.answers,
            fault=self._operations.fault(name),
            configured=switch.model is not None,
            unmodelled=switch.unmodelled,
        )

    def _unmodelled(self) -> dict[str, tuple[str, ...]]:
        """By switch, the lines of its configuration that have no effect."""
        return {name: switch.unmodelled for name, switch in self._switches.items()}

    def switch_job(self, job: Job | RecordedJob | None) -> None:
        """Start this job in place of the one that runs; None stops it.

        Raises IntentError when it does not fit the fabric, UnsupportedFeature when its hosts do not send RoCEv2,
        LabError when simulated time has stopped for good.
        """
        work = None
        if job is None:
            self._live.stop()
        else:
            require_traffic(self.design)
            self._check_simulation()
            self._clock.failure = ""
            work = self._live.start(job)
        self._job_metrics.begin(work)
        logger.info("%s: %s", self.fabric, "no job" if job is None else f"job {job.job}")

    def _check_simulation(self) -> None:
        if self._clock.stopped:
            problem = f"the simulation failed and cannot run a job ({self._clock.failure})"
            raise LabError(self.fabric, problem, "Stop the twin and start it again")

    def set_link(
        self,
        node: str,
        interface: str,
        *,
        up: bool,
        direction: Direction = Direction.BOTH,
        detected: bool = True,
    ) -> None:
        """Cut or restore the link at this port, or its fibre of one direction.

        detected: whether a receiver that gets nothing notices, so that both ports go down; else both stay up.
        Raises TopologyError when there is no such port.
        """
        self._live.set_link(node, interface, up, LinkPart(direction, detected))
        self._touch_all()

    def set_host_rate(self, host: str, rx_gbps: float | None, *, interface: str | None = None) -> None:
        """Let a host take packets from its NIC at this rate [Gb/s] only; 0: it takes none, None: it takes all at once.

        A NIC with a full buffer sends pause frames. Raises TopologyError for an unknown host or port.
        """
        self._live.set_host_rate(host, interface, inf if rx_gbps is None else rx_gbps)
        self._touch_all()

    def flows_through(self, node: str, interface: str) -> tuple[PassingFlow, ...]:
        """The flows that are under way and leave by a port now. Raises TopologyError for a port without a cable."""
        return self._live.flows_through(node, interface)

    def exchange_cables(self, one: PortKey, other: PortKey) -> None:
        """Let two ports exchange their far ends; the same call undoes it. Raises TopologyError."""
        self._live.exchange_cables(one, other)
        self._touch_all()

    def set_optic_loss(self, node: str, interface: str, *, loss_db: float) -> None:
        """Let the receiver of a port miss this much light [dB]; 0 cleans it. Raises TopologyError."""
        self._live.set_optic_loss(node, interface, loss_db)
        self._touch_all()

    def stop_switch(self, name: str) -> None:
        """Stop a switch's servers; the switch continues to forward. Raises EndpointError for an unknown name."""
        self.operate(name, SwitchOperation.STOP)

    def start_switch(self, name: str) -> None:
        """Start a switch's servers again, on the ports that they had."""
        self.operate(name, SwitchOperation.START)

    def operate(self, name: str, operation: SwitchOperation) -> None:
        """Stop or start the servers of a switch, have its control plane hang or resume, or switch its power.

        A switch that hangs forwards as it did, and does nothing else; its peers notice by BFD or the hold time. One
        without power boots its startup configuration when it is switched on, with all counters at 0.
        Raises EndpointError for an unknown name, LabError for a switch that has no power, or whose configuration has no
        gNMI server to start.
        """
        self._operations.operate(name, operation)
        self._touch_all()

    def _restart(self, name: str) -> None:
        """Restart a switch in a thread: the session that asks for it ends with the power."""

        def restart() -> None:
            self._operations.restart(name, self._wait_for_boot)
            self._touch_all()

        threading.Thread(target=restart, name=f"restart of {name}", daemon=True).start()

    def _wait_for_boot(self) -> bool:
        self._touch_all()
        return self._clock.wait(self._boot_s)

    def offer_image(self, name: str, place: str, image: ImageFile) -> None:
        """Put an image on the flash of a switch, or at a URL from which it can fetch it.

        Raises EndpointError for an unknown name, LabError for an image that does not fit on the flash.
        """
        self._operations.offer_image(name, place, image)

    def replace_device(self, name: str, release: str = "") -> None:
        """Put a new device in the place of a switch: factory configuration, other serial number and SSH host key.

        release: of its software; else that of the twin. Raises EndpointError for an unknown name.
        """
        self._operations.replace_device(name, release)
        self._touch_all()

    def _advance(self, dt_ns: int) -> None:
        self._live.advance(dt_ns)
        self._job_metrics.take(self._live.finished_steps())
        if time.monotonic() - self._calls_s >= CALLS_S:
            self._job_metrics.take_calls(self._live.ended_calls())
            self._calls_s = time.monotonic()

    def _recover(self) -> None:
        self._live.recover()

    def _apply(self, name: str, model: DeviceModel | None) -> None:
        self._live.configure(name, model)
        self._touch_all()

    def _touch_all(self) -> None:
        """Mark every switch to be read again: a change of one switch or link shows on others."""
        for switch in self._switches.values():
            switch.touch()

    def _observe(self, name: str) -> ObservedSwitch:
        return self._live.observed(name, COUNTERS_AGE_S)

    def _make_switches(self) -> None:
        require_served(self.design)
        models: dict[str, DeviceModel] = {}
        for model in self.design.models.values():
            system, face = platform(model.platform), face_of(model)
            tree = system.render(model)
            switch = VirtualSwitch(
                model.name,
                system,
                face,
                tree,
                cages=self._cages(model),
                announced=self._live.announced,
                apply=self._apply,
                observe=self._observe,
                observe_device=self._live.observed_device,
                stamp=self._clock.stamps.stamp_ns,
                restart=self._restart,
            )
            self._switches[model.name] = switch
            if self._configured and (loaded := switch.load(tree)) is not None:
                models[model.name] = loaded
        self._live.configure_all(models)

    def _cages(self, model: DeviceModel) -> tuple[str, ...]:
        """The names of a switch's ports without breakout."""
        topology = self.design.topology
        return topology.model_of(topology.node(model.name)).interface_names(model.platform, 1)

    def _start_servers(self, stack: ExitStack, files: TwinFiles) -> None:
        kept = twin_secrets(files, self.fabric, renewed=self._new_credentials)
        self.credentials = kept.credentials
        loop = stack.enter_context(ServerLoop())
        for index, (name, switch) in enumerate(self._switches.items()):
            port = self._base_port + index if self._base_port else 0
            identity = kept.authority.issue(name, (self._host, LOCALHOST, "localhost"))
            servers = self._servers_of(switch, loop, port, identity, files)
            servers.start()
            if servers.ssh is not None:
                stack.callback(servers.ssh.stop)
            self._servers[name] = servers
        self.endpoints = self._endpoints(files)

    def _servers_of(
        self, switch: VirtualSwitch, loop: ServerLoop, port: int, identity: TlsIdentity, files: TwinFiles
    ) -> SwitchServers:
        """The servers that the platform of a switch has. port: of the first of them; that of SSH beside gNMI is any."""
        face, login = face_of(self.design.models[switch.name]), self.credentials
        gnmi = ssh = None
        if face.models:
            gnmi = GnmiServer(switch, loop, host=self._host, port=port, credentials=login, identity=identity)
        if switch.new_cli is not None:
            ssh_port = 0 if face.models else port
            key = files.host_key
            ssh = SwitchSsh(loop, switch.new_cli, host=self._host, port=ssh_port, host_key=key, credentials=login)
        return SwitchServers(gnmi, ssh)

    def _start_control(self, stack: ExitStack, files: TwinFiles) -> None:
        configurations = ConfigurationMetrics(self._unmodelled, self.fabric)
        metrics = registry(
            self._job_metrics, TwinMetrics(self._clock, self.fabric, self._live.counted_ns), configurations
        )
        server = stack.enter_context(ControlServer(self, metrics))
        self.control = Control(self.fabric, server.url, server.token, self._state)
        write_private(files.control, json.dumps({"url": server.url, "token": server.token}) + "\n")

    def _endpoints(self, files: TwinFiles) -> Endpoints:
        known = "".join(served.ssh.known_hosts_line() for served in self._servers.values() if served.ssh is not None)
        if known:
            write_private(files.known_hosts, known)
        nodes = tuple(
            Endpoint(
                name=name,
                platform=self.design.models[name].platform,
                host=self._host,
                ssh_port=None if served.ssh is None else served.ssh.port,
                gnmi_port=None if served.gnmi is None else served.gnmi.port,
                ca=None if served.gnmi is None else str(files.ca),
                known_hosts=None if served.ssh is None else str(files.known_hosts),
                credentials=str(files.credentials),
            )
            for name, served in self._servers.items()
        )
        return Endpoints(fabric=self.fabric, backend="twin", nodes=nodes)


def _marking(design: Design, seed: int) -> Marking:
    """What the hosts of the intent send with."""
    lossless = design.intent.profile.lossless
    if lossless is None:
        return Marking(seed=seed)
    return Marking(dscp=lossless.dscp, cnp_dscp=lossless.cnp_dscp, priority=lossless.priority, seed=seed)

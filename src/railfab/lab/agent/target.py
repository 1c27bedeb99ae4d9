"""One switch of the lab as a gNMI target: read-only, OpenConfig paths."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from railfab.errors import LabError
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.target import Edit, RequestRefused, TargetView, YangModel
from railfab.lab.agent.leaves import encode
from railfab.lab.agent.linux_metrics import Measurement, bfd_metrics, bgp_metrics, daemon_metrics, interface_metrics
from railfab.lab.agent.sources import VTY_TIMEOUT_S, link_facts, proc_net_dev, vty_json
from railfab.lab.netns.processes import Process, is_running
from railfab.lab.probes import daemon_probe, unanswered
from railfab.platforms import TelemetryMap
from railfab.repeated_warnings import RepeatedWarnings

logger = logging.getLogger(__name__)

ROUTING_AGE_S = 1.0
"""Maximum age of cached BGP and BFD state [s]; a query costs a daemon milliseconds."""

RETRY_S = 5.0
"""Time until a daemon that did not answer is queried again [s]."""

OPENCONFIG = "OpenConfig working group"
MODELS = (
    YangModel("openconfig-interfaces", OPENCONFIG, "3.8.1"),
    YangModel("openconfig-if-ethernet", OPENCONFIG, "2.18.0"),
    YangModel("openconfig-network-instance", OPENCONFIG, "4.7.0"),
    YangModel("openconfig-bgp", OPENCONFIG, "9.9.1"),
    YangModel("openconfig-bfd", OPENCONFIG, "0.5.0"),
    YangModel("openconfig-platform", OPENCONFIG, "0.32.0"),
)
"""Supported OpenConfig modules, in the versions of openconfig/public of July 2026."""


Holder = Callable[[], Process | None]
"""Finds a process in the namespaces of a switch, which is another one after a restart; None when there is none."""


class CachedMeasurements:
    """Cached measurements of a daemon, refreshed when they are old; none while the daemon does not answer."""

    def __init__(self, read: Callable[[], Iterable[Measurement]]) -> None:
        self._read = read
        self._measurements: tuple[Measurement, ...] = ()
        self._refresh_at = 0.0
        self._warnings = RepeatedWarnings(logger)

    def current(self) -> tuple[Measurement, ...]:
        if time.monotonic() < self._refresh_at:
            return self._measurements
        try:
            self._measurements, wait_s = tuple(self._read()), ROUTING_AGE_S
        except (LabError, KeyError) as error:
            self._warnings.warning(f"{type(error).__name__}: {error}", again=bool(self._measurements))
            self._measurements, wait_s = (), RETRY_S
        self._refresh_at = time.monotonic() + wait_s
        return self._measurements


class LinuxSwitch:
    """A switch in namespaces.

    sockets: directory of its FRR sockets. daemons: those of FRR that it should run.
    """

    change_age_s = 1.0

    def __init__(self, name: str, *, holder: Holder, sockets: Path, daemons: Sequence[str], map_: TelemetryMap) -> None:
        self.name = name
        self._leaves = Leaves(name)
        self._holder = holder
        self._sockets = sockets
        self._warnings = RepeatedWarnings(logger, name)
        self.daemons = daemons
        self._map = map_
        self._daemon_states = CachedMeasurements(self._read_daemons)
        self._bgp = CachedMeasurements(self._read_bgp)
        self._bfd = CachedMeasurements(self._read_bfd)

    def models(self) -> Sequence[YangModel]:
        return MODELS

    def view(self, max_age_s: float) -> TargetView | None:
        return self._leaves.view(max_age_s)

    def refresh(self) -> TargetView:
        measurements = (*self._interfaces(), *self._daemon_states.current(), *self._bgp.current(), *self._bfd.current())
        values, on_change = encode(self._map, measurements)
        self._leaves.replace(values, on_change=on_change)
        return self._leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        raise RequestRefused(self.name, f"is read-only over gNMI ({len(edits)} edits refused)", "Configure it over SSH")

    def _interfaces(self) -> tuple[Measurement, ...]:
        holder = self._holder()
        if holder is None or not is_running(holder):
            return ()
        try:
            return tuple(interface_metrics(proc_net_dev(holder.pid), link_facts(holder.pid)))
        except OSError as error:
            self._warnings.warning(f"{self.name}: {error}")
            return ()

    def _read_daemons(self) -> Iterable[Measurement]:
        expected = [daemon_probe(self.name, daemon, self._sockets) for daemon in self.daemons]
        failed = {probe.service for probe in unanswered(expected, within_s=VTY_TIMEOUT_S)}
        return daemon_metrics(self.daemons, failed)

    def _read_bgp(self) -> Iterable[Measurement]:
        return bgp_metrics(vty_json(self._sockets / "bgpd.vty", "show bgp vrf default neighbors json"))

    def _read_bfd(self) -> Iterable[Measurement]:
        daemon = self._sockets / "bfdd.vty"
        return bfd_metrics(vty_json(daemon, "show bfd peers json"), vty_json(daemon, "show bfd peers counters json"))

"""One switch of the lab as a gNMI target: read-only, OpenConfig paths."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from railfab.errors import LabError
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.target import Edit, Model, RequestRefused, View
from railfab.lab.agent.leaves import encode
from railfab.lab.agent.readings import Reading, bfd_readings, bgp_readings, interface_readings
from railfab.lab.agent.sources import link_facts, proc_net_dev, vty_json
from railfab.lab.netns.kernel import Process, is_running
from railfab.platforms import TelemetryMap

logger = logging.getLogger(__name__)

ROUTING_AGE_S = 1.0
"""How long BGP and BFD states are kept: asking for them costs a daemon milliseconds [s]."""

RETRY_S = 5.0
"""How long a daemon that did not answer is left alone [s]."""

OPENCONFIG = "OpenConfig working group"
MODELS = (
    Model("openconfig-interfaces", OPENCONFIG, "3.8.1"),
    Model("openconfig-if-ethernet", OPENCONFIG, "2.18.0"),
    Model("openconfig-network-instance", OPENCONFIG, "4.7.0"),
    Model("openconfig-bgp", OPENCONFIG, "9.9.1"),
    Model("openconfig-bfd", OPENCONFIG, "0.5.0"),
)
"""The modules whose paths this target answers, in the versions of openconfig/public of July 2026."""


class Cached:
    """Readings that are expensive, asked for again when they are old; none while their source does not answer."""

    def __init__(self, read: Callable[[], Iterable[Reading]]) -> None:
        self._read = read
        self._readings: tuple[Reading, ...] = ()
        self._next = 0.0

    def readings(self) -> tuple[Reading, ...]:
        if time.monotonic() < self._next:
            return self._readings
        try:
            self._readings, wait_s = tuple(self._read()), ROUTING_AGE_S
        except (LabError, KeyError) as error:
            logger.warning("%s: %s", type(error).__name__, error)
            self._readings, wait_s = (), RETRY_S
        self._next = time.monotonic() + wait_s
        return self._readings


class LinuxSwitch:
    """A switch in namespaces. holder: a process in its namespaces. sockets: where its FRR daemons listen."""

    def __init__(self, name: str, *, holder: Process, sockets: Path, map_: TelemetryMap) -> None:
        self.name = name
        self._leaves = Leaves(name)
        self._holder = holder
        self._sockets = sockets
        self._map = map_
        self._bgp = Cached(self._read_bgp)
        self._bfd = Cached(self._read_bfd)

    def models(self) -> Sequence[Model]:
        return MODELS

    def view(self, max_age_s: float) -> View | None:
        return self._leaves.view(max_age_s)

    def refresh(self) -> View:
        readings = (*self._interfaces(), *self._bgp.readings(), *self._bfd.readings())
        values, on_change = encode(self._map, readings)
        self._leaves.replace(values, on_change=on_change)
        return self._leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        raise RequestRefused(self.name, f"is read-only over gNMI ({len(edits)} edits refused)", "Configure it over SSH")

    def _interfaces(self) -> tuple[Reading, ...]:
        if not is_running(self._holder):
            return ()
        try:
            return tuple(interface_readings(proc_net_dev(self._holder.pid), link_facts(self._holder.pid)))
        except OSError as error:
            logger.warning("%s: %s", self.name, error)
            return ()

    def _read_bgp(self) -> Iterable[Reading]:
        return bgp_readings(vty_json(self._sockets / "bgpd.vty", "show bgp vrf default neighbors json"))

    def _read_bfd(self) -> Iterable[Reading]:
        daemon = self._sockets / "bfdd.vty"
        return bfd_readings(vty_json(daemon, "show bfd peers json"), vty_json(daemon, "show bfd peers counters json"))

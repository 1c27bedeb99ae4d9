"""What can be done to a switch of the twin as a whole: its servers, its control plane, its power."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from railfab.errors import EndpointError, LabError
from railfab.forwarding import SwitchFault
from railfab.platforms.shared.virtual_images import FlashFull, ImageFile
from railfab.twin.live import LiveFabric
from railfab.twin.servers import SwitchServers
from railfab.twin.status import SwitchOperation
from railfab.twin.switch import VirtualSwitch

logger = logging.getLogger(__name__)

SLOW_S = 10.0
"""Time that a slow switch takes for every answer [s]."""


@dataclass(frozen=True, slots=True)
class SwitchOperations:
    """The switches of a twin and their servers, by name. Thread-safe: one operation at a time."""

    live: LiveFabric
    switches: Mapping[str, VirtualSwitch]
    servers: Mapping[str, SwitchServers]
    _operating: Lock = field(default_factory=Lock, repr=False)

    def fault(self, name: str) -> SwitchFault:
        return self.live.state().switch_faults.get(name, SwitchFault.NONE)

    def stopped(self) -> tuple[str, ...]:
        """The switches with power whose servers were stopped."""
        names = (name for name, server in self.servers.items() if not server.running)
        return tuple(name for name in names if self.fault(name) is not SwitchFault.OFF)

    def slow(self) -> tuple[str, ...]:
        """The switches that answer late."""
        return tuple(name for name, server in self.servers.items() if server.is_slow)

    def operate(self, name: str, operation: SwitchOperation) -> None:
        """Do one thing to a switch; nothing where it is so already.

        Raises EndpointError for an unknown name, LabError for a switch without power, and for one whose configuration
        has no gNMI server to start.
        """
        self._require(name)
        with self._operating:
            self._operate(name, operation)

    def offer_image(self, name: str, place: str, image: ImageFile) -> None:
        """Put an image on the flash of a switch, or at a URL. Raises EndpointError, and LabError without space."""
        self._require(name)
        try:
            self.switches[name].images.offer(place, image)
        except FlashFull:
            problem = f"has no space for {image.name} ({image.size_bytes:,} bytes)"
            raise LabError(name, problem, "Give it a smaller one: --megabytes") from None

    def replace_device(self, name: str, release: str) -> None:
        """Put a new device in the place of a switch. Raises EndpointError for an unknown name."""
        self._require(name)
        with self._operating:
            self._off(name)
            switch, servers = self.switches[name], self.servers[name]
            switch.become_new(release)
            if servers.ssh is not None and switch.new_cli is not None:
                servers.ssh.become_new(switch.new_cli)
            self._on(name)
        logger.info("%s: was replaced", name)

    def _require(self, name: str) -> None:
        if name not in self.servers:
            raise EndpointError(name, "is not a switch of this twin", f"Use one of {', '.join(self.servers)}")

    def _operate(self, name: str, operation: SwitchOperation) -> None:
        off = self.fault(name) is SwitchFault.OFF
        if off and operation not in (SwitchOperation.ON, SwitchOperation.OFF):
            raise LabError(name, f"has no power and cannot {operation}", "Switch it on first")
        if off is (operation is SwitchOperation.OFF) and operation in (SwitchOperation.ON, SwitchOperation.OFF):
            return
        actions: dict[SwitchOperation, Callable[[str], object]] = {
            SwitchOperation.STOP: self._stop,
            SwitchOperation.START: self._serve,
            SwitchOperation.HANG: self._hang,
            SwitchOperation.RESUME: self._resume,
            SwitchOperation.SLOW: lambda name: self.servers[name].answer_after(SLOW_S),
            SwitchOperation.QUICK: lambda name: self.servers[name].answer_after(0.0),
            SwitchOperation.OFF: self._off,
            SwitchOperation.ON: self._on,
        }
        actions[operation](name)
        logger.info("%s: %s", name, operation)

    def _stop(self, name: str) -> None:
        self.servers[name].stop()

    def _serve(self, name: str) -> None:
        """Start the servers, of which the configuration says which ones run."""
        self.servers[name].start()
        switch = self.switches[name]
        if not switch.answers:
            boots = "Switch it off and on: it boots its startup configuration, which has one"
            remedy = boots if switch.boots_answering else "Start the twin again: its startup configuration lacks it too"
            raise LabError(name, "its configuration lacks a gNMI server that is enabled", remedy)

    def _hang(self, name: str) -> None:
        self.servers[name].hang()
        self.switches[name].hang()
        self.live.hang(name)

    def _resume(self, name: str) -> None:
        if self.fault(name) is SwitchFault.HUNG:
            self.live.resume(name)
            self.switches[name].resume()
            self.servers[name].resume()
            self.servers[name].start()

    def restart(self, name: str, wait_for_boot: Callable[[], bool]) -> None:
        """Switch a switch off, and on when it has booted. wait_for_boot: false when the twin ends meanwhile.

        One whose image does not boot stays without power; switched on, it boots the release before.
        """
        with self._operating:
            comes_up = self._off(name)
        logger.info("%s: restarts", name)
        if wait_for_boot() and comes_up:
            self.operate(name, SwitchOperation.ON)

    def _off(self, name: str) -> bool:
        self.servers[name].stop()
        self.servers[name].resume()
        self.servers[name].answer_after(0.0)
        self.live.power_off(name)
        return self.switches[name].lose_power()

    def _on(self, name: str) -> None:
        self.live.power_on(name, self.switches[name].model)
        self.servers[name].start()

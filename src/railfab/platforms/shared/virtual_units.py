"""Transient timers of systemd on a virtual switch: commands that run at a later time, whoever is connected then."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from railfab.errors import DeviceError
from railfab.platforms.twin_face import VirtualDevice

TIMER, SERVICE = ".timer", ".service"


class VirtualUnits:
    """The transient units of a switch. They end with its power, as the clock of the switch does."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._lock = RLock()
        self._running: set[tuple[int, str]] = set()

    def start(self, name: str, within_s: float, action: Callable[[], object]) -> None:
        """Run an action after this time. Raises DeviceError while there is a unit of that name."""

        def run() -> None:
            unit = (self._device.boots, name)
            self._running.add(unit)
            try:
                action()
            finally:
                self._running.discard(unit)

        with self._lock:
            if self.is_active(name + TIMER) or self.is_active(name + SERVICE):
                problem = f"Unit {name}{TIMER} was already loaded or has a fragment file"
                raise DeviceError(self._device.name, problem, "Stop it first")
            self._device.timers.schedule(name, within_s, run)

    def stop(self, unit: str) -> bool:
        """Stop a timer, or a service and what it does; whether there was one. A service that runs is not stopped."""
        name = unit.removesuffix(TIMER)
        return unit.endswith(TIMER) and self._device.timers.cancel(name)

    def is_active(self, unit: str) -> bool:
        """Whether a timer waits, or a service runs."""
        if unit.endswith(TIMER):
            return self._device.timers.left_s(unit.removesuffix(TIMER)) is not None
        return (self._device.boots, unit.removesuffix(SERVICE)) in self._running

    def left_s(self, name: str) -> float | None:
        """Time until a timer ends [s]; None without one."""
        return self._device.timers.left_s(name)

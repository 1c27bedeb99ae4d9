"""A change of a virtual switch that is reverted unless it is confirmed, as the CLIs of several platforms have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock

from railfab.errors import DeviceError
from railfab.platforms.twin_face import VirtualDevice


@dataclass(frozen=True, slots=True)
class _Change:
    """name: of the change. former: the configuration before it."""

    name: str
    former: str


class TimedChange:
    """The change of a switch that waits for its confirmation, one at a time; all sessions of a switch share it.

    reverted: called after a change was reverted by its timer, with its name. It is lost with the power of the switch,
    which then boots its startup configuration.
    """

    JOB = "confirmation"

    def __init__(self, device: VirtualDevice, reverted: Callable[[str], None] = lambda _name: None) -> None:
        self._device = device
        self._reverted = reverted
        self._lock = RLock()
        self._change: _Change | None = None
        self._boots = device.boots

    @property
    def name(self) -> str | None:
        """The name of the change; None while there is none."""
        change = self._current()
        return None if change is None else change.name

    @property
    def left_s(self) -> float:
        """Time until it is reverted [s]; 0 without a change."""
        return self._device.timers.left_s(self.JOB) or 0.0

    def commit(self, text: str, name: str, within_s: float) -> None:
        """Make a text the running configuration for this time. Raises RailfabError, and DeviceError while one waits."""
        with self._lock:
            if self._current() is not None:
                raise DeviceError(self._device.name, f"change {self.name} is pending", "Confirm or revert it")
            former = self._device.running()
            self._device.replace(text)
            self._change, self._boots = _Change(name, former), self._device.boots
            self._device.timers.schedule(self.JOB, within_s, self._expire)

    def confirm(self) -> bool:
        """Keep the change; whether there was one."""
        with self._lock:
            change, self._change = self._current(), None
            self._device.timers.cancel(self.JOB)
            return change is not None

    def revert(self) -> bool:
        """Restore the configuration before the change; whether there was one."""
        with self._lock:
            change = self._current()
            if change is None:
                return False
            self._device.replace(change.former)
            self._device.timers.cancel(self.JOB)
            self._change = None
            return True

    def _current(self) -> _Change | None:
        return self._change if self._boots == self._device.boots else None

    def _expire(self) -> None:
        name = self.name
        if self.revert() and name is not None:
            self._reverted(name)

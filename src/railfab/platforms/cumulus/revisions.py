"""The revisions of a virtual Cumulus Linux switch: pending ones of its users, and those that were applied."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import RLock

from railfab.errors import Problems, RailfabError
from railfab.platforms.cumulus.commands import NvueOperation
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.cumulus.refusals import refusals
from railfab.platforms.cumulus.spelling import applied
from railfab.platforms.cumulus.tree import SET, read, text
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.timed_change import TimedChange
from railfab.platforms.twin_face import VirtualDevice

MOST = 100
"""Number of revisions that are kept (NVUE-CLI)."""
EMPTY, STARTUP, APPLIED = "empty", "startup", "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class NvueRevision:
    """A revision that was applied. saved: whether it was saved as the startup configuration then."""

    number: int
    text: str
    user: str
    message: str
    date: datetime
    saved: bool


class InvalidRevision(Exception):
    """A pending revision that the switch does not accept. number: of the revision."""

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(problem)
        self.number, self.problem = number, problem


class NvueRevisions:
    """The revisions of one switch. timed: the change that waits for its confirmation.

    applied: newest last. A timed change is saved when it is confirmed.
    """

    auto_save = True
    """Whether a revision that is applied boots, too: the default since 5.9."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._lock = RLock()
        self._numbers: dict[str, int] = {}
        self._pending: dict[str, Json] = {}
        self._next = 1
        self.applied: list[NvueRevision] = []
        self.timed = TimedChange(device, self._reverted)
        self._note(self._take_number(), user="root", message="", saved=True)

    def pending(self, user: str) -> Json | None:
        """The pending tree of a user; None without one."""
        with self._lock:
            return self._pending.get(user)

    def edit(self, user: str, operations: tuple[NvueOperation, ...], *, anew: bool = False) -> int | None:
        """Change the pending revision of a user; the number of one that is new. anew: begin it without settings."""
        with self._lock:
            base = {} if anew else self._pending.get(user, tree_of(self._device.running()))
            tree, _ = applied((NvueOperation(True, base), *operations))
            is_new = user not in self._pending
            self._pending[user] = tree
            if is_new:
                self._numbers[user] = self._take_number()
            return self._numbers[user] if is_new else None

    def detach(self, user: str) -> None:
        with self._lock:
            self._pending.pop(user, None)

    def configuration(self, name: str) -> str | None:
        """The text of a revision: a number, `applied`, `startup` or `empty`; None for one that there is not."""
        if name in (EMPTY, STARTUP, APPLIED):
            return {EMPTY: f"- {SET}: {{}}\n", STARTUP: self._device.startup(), APPLIED: self._device.running()}[name]
        return next((revision.text for revision in self.applied if str(revision.number) == name), None)

    def apply(self, user: str, configuration: str | None, *, message: str, within_s: float | None) -> NvueRevision:
        """Apply the pending revision of a user, or a configuration; for this time, or without a limit.

        Raises InvalidRevision, and DeviceError while a change waits.
        """
        with self._lock:
            is_pending = configuration is None and user in self._pending
            number = self._numbers[user] if is_pending else self._take_number()
            candidate = text(self._pending[user]) if is_pending else configuration or self._device.running()
            self._check(number, candidate)
            if within_s is None:
                self._device.replace(candidate)
                if self.auto_save:
                    self._device.save()
            else:
                self.timed.commit(candidate, str(number), within_s)
            if is_pending:
                del self._pending[user]
            return self._note(number, user=user, message=message, saved=within_s is None and self.auto_save)

    def confirm(self) -> bool:
        """Keep and save the change that waits; whether there was one."""
        with self._lock:
            if not self.timed.confirm():
                return False
            self._device.save()
            self.applied[-1] = replace(self.applied[-1], saved=True)
            return True

    def _check(self, number: int, candidate: str) -> None:
        refused = [refusal for refusal in refusals(candidate) if not refusal.is_foreign]
        if refused:
            path = refused[0].where.removeprefix("nv set ").replace(" ", ".")
            raise InvalidRevision(number, f"Config invalid at {path}: {refused[0].problem}")
        try:
            self._device.check(candidate)
        except Problems as problems:
            raise InvalidRevision(number, _reason(problems.errors[0])) from None
        except RailfabError as error:
            raise InvalidRevision(number, _reason(error)) from None

    def _reverted(self, _name: str) -> None:
        with self._lock:
            self._note(self._take_number(), user="root", message="", saved=False)

    def cancel(self) -> bool:
        """Restore what was applied before the change that waits; whether there was one."""
        with self._lock:
            is_reverted = self.timed.revert()
            if is_reverted:
                self._reverted("")
            return is_reverted

    def _take_number(self) -> int:
        number, self._next = self._next, self._next + 1
        return number

    def _note(self, number: int, *, user: str, message: str, saved: bool) -> NvueRevision:
        revision = NvueRevision(
            number=number,
            text=self._device.running(),
            user=user,
            message=message,
            date=datetime.now(UTC),
            saved=saved,
        )
        self.applied = [*self.applied, revision][-MOST:]
        return revision


def operations_of(configuration: str) -> tuple[NvueOperation, ...]:
    """The operations of a file for `patch` or `replace`. Raises ConfigError."""
    return read(configuration).operations


def _reason(error: RailfabError) -> str:
    return f"Config invalid at {error.where}: {error.problem}"

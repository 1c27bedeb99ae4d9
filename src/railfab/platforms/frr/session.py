"""One transaction with one FRR switch over SSH: files, frr-reload.py, and a job on the switch as the way back."""

from __future__ import annotations

import difflib
import re
import secrets
from types import TracebackType
from typing import Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError
from railfab.platforms import data
from railfab.platforms.frr import transaction
from railfab.platforms.frr.observe import observed
from railfab.platforms.frr.reload import in_order, pending, refusal
from railfab.platforms.frr.shell import Answer, RootShell

CONTEXT_LINES = 3
PASSES = 2
COMMAND_NOT_FOUND = 127
_HOSTNAME = re.compile(r"^hostname (\S+)", re.MULTILINE)
_VERSION = re.compile(r"^frr version .*\n", re.MULTILINE)


class FrrSession:
    """The verbs of the platform contract. Everything it leaves on the switch goes with `confirm` or `rollback`."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._name = endpoint.name
        self._shell = RootShell(endpoint, credentials)
        self._verbs = data.dialect(__package__ or "").verbs
        self._change: str | None = None
        self._sound: str | None = None  # the text that FRR has last been seen to understand

    def __enter__(self) -> Self:
        self._shell.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.close()

    def load(self) -> str:
        """The running configuration, in FRR's own words; its prefix lists by name."""
        answer = self._shell.run(self._verbs["load"])
        if answer.status != 0 or not answer.out.strip():
            raise DeviceError(self._name, f"FRR does not answer ({_first_line(answer)})", "Check that it is running")
        return in_order(answer.out)

    def diff(self, text: str) -> str:
        """Empty when frr-reload.py finds nothing to do. Raises CommitRefused when FRR does not understand the text."""
        running = self.load()
        self._must_be_for_this_switch(running, text)
        left = self._pending(text)
        self._sound = text
        if not left:
            return ""
        before, after = (_VERSION.sub("", side).splitlines() for side in (running, text))
        lines = difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=CONTEXT_LINES)
        return "\n".join(lines) or "\n".join(left)

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Replace the running configuration; the switch returns to it by itself unless `confirm` comes in time.

        Raises CommitRefused, in which case it has returned already.
        """
        if text != self._sound:
            self.diff(text)
        self._arm(text, confirm_within_s)
        try:
            refused = self._apply(text)
        except DeviceError as error:
            self._undo(error.problem)
        else:
            if refused:
                self._undo(refused)

    def confirm(self) -> None:
        """Save for the next boot and call the way back off. Raises CommitRefused when that came too late."""
        answer = self._run(transaction.confirm_script(self._verbs), self._change_name())
        self._change = None
        if answer.status == transaction.TOO_LATE:
            problem = "was not confirmed in time and has returned to what ran before"
            raise CommitRefused(self._name, problem, "Deploy again, with more time to confirm")
        if answer.status != 0:
            problem = f"cannot save its configuration ({_first_line(answer)}) and returns to what ran before"
            raise CommitRefused(self._name, problem, "Check /etc/frr on the switch")

    def rollback(self) -> None:
        """Return to what ran before `commit`. Nothing to do when nothing was committed."""
        if self._change is None:
            return
        answer = self._run(transaction.restore_script(self._verbs), self._change)
        left = pending(answer.out)
        if answer.status not in (0, transaction.TOO_LATE) or left:
            problem = f"cannot return to what ran before ({left[0] if left else refusal(answer.said())})"
            raise DeviceError(self._name, problem, "The switch tries again by itself; look at it")
        self._run(transaction.forget_script(), self._change)
        self._change = None

    def observe(self) -> Observed:
        neighbors = self._shell.run(self._verbs["neighbors"])
        addresses = self._shell.run(self._verbs["addresses"])
        return observed(self._name, neighbors=neighbors.out, addresses=addresses.out)

    def _pending(self, text: str) -> tuple[str, ...]:
        """What frr-reload.py would do. Its status decides: for a file with a bad line it shows changes all the same."""
        answer = self._run(transaction.check_script(self._verbs), str(len(text.encode())), stdin=text)
        if answer.status == 0:
            return pending(answer.out)
        self._must_have_arrived(answer)
        if answer.status == COMMAND_NOT_FOUND:
            raise DeviceError(self._name, "has no frr-reload.py", "Install frr-pythontools on the switch")
        raise CommitRefused(self._name, f"refuses {refusal(answer.said())}", "Correct it; nothing was changed")

    def _apply(self, text: str) -> str:
        """Why the switch did not take the text; empty when it did.

        What is left to do decides, not frr-reload.py's status: that is 1 also where removing a neighbour has taken
        along the lines that it then fails to remove one by one. And it needs a second pass where the order of its
        lines undoes one of them (`no neighbor X bfd`, then `no neighbor X bfd profile Y`, which turns BFD on again).
        """
        refused = ""
        for _ in range(PASSES):
            applied = self._run(transaction.apply_script(self._verbs), self._change_name())
            if applied.status == transaction.TOO_LATE:
                return "took too long and has returned to what ran before"
            left = self._pending(text)
            if not left:
                return ""
            refused = refusal(applied.said()) if applied.status else f"did not take `{left[0]}`"
        return refused

    def _arm(self, text: str, confirm_within_s: int) -> None:
        change = secrets.token_hex(8)
        length = str(len(text.encode()))
        answer = self._run(transaction.arm_script(self._verbs), length, change, str(confirm_within_s), stdin=text)
        self._must_have_arrived(answer)
        if answer.status == transaction.BUSY:
            problem = "awaits the confirmation of another change"
            raise CommitRefused(self._name, problem, "Wait until it is confirmed or undone")
        if answer.status != 0:
            problem = f"cannot begin a change ({_first_line(answer)})"
            raise CommitRefused(self._name, problem, f"Check {transaction.FOLDER} on the switch")
        self._change = change

    def _undo(self, why: str) -> None:
        """After a refusal: back to what ran before, then say why."""
        self.rollback()
        raise CommitRefused(self._name, why, "Correct it; the switch is as it was")

    def _must_be_for_this_switch(self, running: str, text: str) -> None:
        """FRR's hostname is the system's: another one never takes, and is most likely another switch's file."""
        own, wanted = _HOSTNAME.search(running), _HOSTNAME.search(text)
        if own and wanted and own[1] != wanted[1]:
            problem = f"calls itself {own[1]}, the configuration is for {wanted[1]}"
            raise CommitRefused(self._name, problem, "Check the address, or set the system's hostname")

    def _must_have_arrived(self, answer: Answer) -> None:
        if answer.status == transaction.NOT_READ:
            problem = f"cannot keep what is pushed and what runs now ({_first_line(answer)})"
            raise CommitRefused(self._name, problem, f"Check {transaction.FOLDER} on the switch")
        if answer.status == transaction.CHANGED_IN_TRANSIT:
            problem = "did not receive the whole configuration"
            raise CommitRefused(self._name, problem, "Check the connection and the space in /run; nothing was changed")

    def _run(self, script: str, *arguments: str, stdin: str = "") -> Answer:
        return self._shell.run(transaction.command(script, *arguments), stdin=stdin)

    def _change_name(self) -> str:
        if self._change is None:
            raise DeviceError(self._name, "has no change to confirm", "Commit first")
        return self._change


def _first_line(answer: Answer) -> str:
    return next(iter(answer.said().splitlines()), f"status {answer.status}")

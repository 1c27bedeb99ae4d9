"""One transaction with one FRR switch over SSH: frr-reload.py, and a job on the switch that rolls back."""

from __future__ import annotations

import difflib
import re
import secrets
from types import TracebackType
from typing import Self

from railfab.device import Observed
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError
from railfab.platforms.frr import transaction
from railfab.platforms.frr.reload_output import pending, refusal, with_sorted_prefix_lists
from railfab.platforms.frr.state import observed_state
from railfab.platforms.frr.system import pending_commands, with_running_settings, without_settings
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.root_shell import CommandResult, RootShell

CONTEXT_LINES = 3
PASSES = 2
COMMAND_NOT_FOUND = 127
_HOSTNAME = re.compile(r"^hostname (\S+)", re.MULTILINE)
_VERSION = re.compile(r"^frr version .*\n", re.MULTILINE)


class FrrSession:
    """A platforms.Session for FRR. `confirm` and `rollback` remove all of its files on the switch."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._name = endpoint.name
        self._owns_system = endpoint.owns_system
        self._settings_before = ""
        self._shell = RootShell(endpoint, credentials)
        self._verbs = yaml_files.dialect(__package__ or "").verbs
        self._change: str | None = None
        self._checked: str | None = None  # the last text that FRR accepted

    def __enter__(self) -> Self:
        self._shell.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.close()

    def load(self) -> str:
        """The running configuration as FRR shows it, with its prefix lists sorted by name."""
        answer = self._shell.run(self._verbs["load"])
        if answer.status != 0 or not answer.out.strip():
            raise DeviceError(self._name, f"FRR does not answer ({_first_line(answer)})", "Check that it is running")
        return with_sorted_prefix_lists(answer.out)

    def diff(self, text: str) -> str:
        """Unified diff; empty when frr-reload.py finds nothing to do. Raises CommitRefused for a bad text."""
        running = self.load()
        self._check_hostname(running, text)
        left = self._pending(text)
        self._checked = text
        if not left:
            return ""
        running = with_running_settings(running, self._links(), like=text) if self._owns_system else running
        text = text if self._owns_system else without_settings(text)
        before, after = (_VERSION.sub("", side).splitlines() for side in (running, text))
        lines = difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=CONTEXT_LINES)
        return "\n".join(lines) or "\n".join(left)

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        """Replace the running configuration; the switch restores it unless `confirm` comes within the time.

        Raises CommitRefused after the former configuration is restored.
        """
        if text != self._checked:
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
        """Save for the next boot and cancel the rollback. Raises CommitRefused when the time has passed."""
        answer = self._run(transaction.confirm_script(self._verbs), self._change_name())
        self._change = None
        if answer.status == transaction.TOO_LATE:
            problem = "was not confirmed in time and has restored its former configuration"
            raise CommitRefused(self._name, problem, "Deploy again")
        if answer.status != 0:
            problem = f"cannot save its configuration ({_first_line(answer)}) and will restore the former one"
            raise CommitRefused(self._name, problem, "Check /etc/frr on the switch")

    def rollback(self) -> None:
        """Restore the configuration that ran before `commit`; do nothing when nothing was committed."""
        if self._change is None:
            return
        self._set_ports(self._settings_before)
        answer = self._run(transaction.restore_script(self._verbs), self._change)
        left = pending(answer.out)
        if answer.status not in (0, transaction.TOO_LATE) or left:
            problem = f"cannot restore its former configuration ({left[0] if left else refusal(answer.output())})"
            raise DeviceError(
                self._name, problem, "Check the switch; it tries again when the confirmation time is over"
            )
        self._run(transaction.cancel_script(), self._change)
        self._change = None

    def observe(self) -> Observed:
        neighbors = self._shell.run(self._verbs["neighbors"])
        addresses = self._shell.run(self._verbs["addresses"])
        return observed_state(self._name, neighbors=neighbors.out, addresses=addresses.out)

    def _pending(self, text: str) -> tuple[str, ...]:
        """Changes that frr-reload.py would make; checks its exit status, since it lists changes for a bad file too."""
        answer = self._run(transaction.check_script(self._verbs), str(len(text.encode())), stdin=text)
        if answer.status == 0:
            return (*pending(answer.out), *self._pending_settings(text))
        self._check_received(answer)
        if answer.status == COMMAND_NOT_FOUND:
            raise DeviceError(self._name, "has no frr-reload.py", "Install frr-pythontools on the switch")
        raise CommitRefused(self._name, f"rejects {refusal(answer.output())}", "Correct it; the switch is unchanged")

    def _pending_settings(self, text: str) -> list[str]:
        """Commands that give the ports the settings of a text, where a deploy configures the system too."""
        return pending_commands(text, self._links()) if self._owns_system else []

    def _set_ports(self, text: str) -> None:
        if commands := self._pending_settings(text):
            self._shell.run("; ".join(commands))

    def _links(self) -> str:
        return self._shell.run("ip -j link show").out

    def _apply(self, text: str) -> str:
        """Apply the candidate; return why the switch rejected it, empty on success.

        Success means that no change is pending. The exit status of frr-reload.py is not used: it is also 1 after it
        removed a neighbour and then fails to remove the lines of that neighbour. A second pass is needed where the
        order of its lines reverts one of them (`no neighbor X bfd`, then `no neighbor X bfd profile Y`, which enables
        BFD again).
        """
        refused = ""
        if self._owns_system:
            self._settings_before = with_running_settings("", self._links(), like=text)
            self._set_ports(text)
        for _ in range(PASSES):
            applied = self._run(transaction.apply_script(self._verbs), self._change_name())
            if applied.status == transaction.TOO_LATE:
                return "took too long and has restored its former configuration"
            left = self._pending(text)
            if not left:
                return ""
            refused = refusal(applied.output()) if applied.status else f"did not accept `{left[0]}`"
        return refused

    def _arm(self, text: str, confirm_within_s: int) -> None:
        change = secrets.token_hex(8)
        length = str(len(text.encode()))
        answer = self._run(transaction.arm_script(self._verbs), length, change, str(confirm_within_s), stdin=text)
        self._check_received(answer)
        if answer.status == transaction.BUSY:
            problem = "has an unconfirmed change of another session"
            raise CommitRefused(self._name, problem, "Wait until it is confirmed or rolled back")
        if answer.status != 0:
            problem = f"cannot start a change ({_first_line(answer)})"
            raise CommitRefused(self._name, problem, f"Check {transaction.FOLDER} on the switch")
        self._change = change

    def _undo(self, why: str) -> None:
        """Roll back, then raise CommitRefused with the reason."""
        self.rollback()
        raise CommitRefused(self._name, why, "Correct it; the switch runs its former configuration")

    def _check_hostname(self, running: str, text: str) -> None:
        """Refuse another hostname: FRR uses the system's, so it is probably another switch's configuration."""
        own, wanted = _HOSTNAME.search(running), _HOSTNAME.search(text)
        if own and wanted and own[1] != wanted[1]:
            problem = f"has hostname {own[1]}, but the configuration is for {wanted[1]}"
            raise CommitRefused(self._name, problem, "Check the address, or set the system's hostname")

    def _check_received(self, answer: CommandResult) -> None:
        if answer.status == transaction.NOT_READ:
            problem = f"cannot store the candidate and the running configuration ({_first_line(answer)})"
            raise CommitRefused(self._name, problem, f"Check {transaction.FOLDER} on the switch")
        if answer.status == transaction.CHANGED_IN_TRANSIT:
            problem = "did not receive the whole configuration"
            raise CommitRefused(
                self._name, problem, "Check the connection and free space in /run; the switch is unchanged"
            )

    def _run(self, script: str, *arguments: str, stdin: str = "") -> CommandResult:
        return self._shell.run(transaction.command(script, *arguments), stdin=stdin)

    def _change_name(self) -> str:
        if self._change is None:
            raise DeviceError(self._name, "has no change to confirm", "Commit first")
        return self._change


def _first_line(answer: CommandResult) -> str:
    return next(iter(answer.output().splitlines()), f"status {answer.status}")

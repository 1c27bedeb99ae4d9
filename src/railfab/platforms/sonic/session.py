"""The session with one SONiC switch over SSH: patches of CONFIG_DB under a timer that restores a checkpoint."""

from __future__ import annotations

import difflib
import json
import secrets
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from types import TracebackType
from typing import Self

from railfab.device import Observed, without_secrets
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, ConfigError, DeviceError, Unreachable
from railfab.platforms.image import Image
from railfab.platforms.session import ChangeName, Identity, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.shared.frr_state import ROUTES, with_next_hop_widths
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.root_shell import CommandResult, RootShell
from railfab.platforms.sonic import images, switch_changes
from railfab.platforms.sonic.candidate import candidate, drained, is_drained, restoring, undrained
from railfab.platforms.sonic.json_patch import patch
from railfab.platforms.sonic.scope import HOST
from railfab.platforms.sonic.state import observed
from railfab.platforms.sonic.switch_changes import (
    APPLIED,
    CONFIRMED,
    CONFIRMING,
    FOLDER,
    GUARD,
    MAKE_FOLDER,
    MARK,
    UNIT,
    SwitchReading,
)
from railfab.platforms.sonic.tables import Tables, deviations, normal, row, tree_of
from railfab.platforms.sonic.tables import text as text_of

READ_WITHIN_S, CHECK_WITHIN_S, CHANGE_WITHIN_S = 60.0, 600.0, 900.0
"""Limits of commands that read, of a dry run of a patch, and of changes; the patch sorter takes minutes [s]."""
CONTEXT_LINES = 3
NO_COMMAND = 127
UPGRADE = "Upgrade it to 202111 or later, which has the generic config updater"
OBSERVED = ("neighbors", "addresses", "lldp", "ports", "queues", "asic")


class SonicSession:
    """A platforms.Session for SONiC. read_within_s: limit of calls that only read; None is READ_WITHIN_S [s]."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        self._name = endpoint.name
        self._read_within_s = read_within_s or READ_WITHIN_S
        self._shell = RootShell(endpoint, credentials)
        self._commands = dict(yaml_files.dialect(__package__ or "").verbs)

    def __enter__(self) -> Self:
        self._shell.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.close()

    def running(self) -> Running:
        """CONFIG_DB, all tables."""
        read = self._read()
        tables = self._tables(read.configuration)
        host = row(tables, "DEVICE_METADATA", HOST)
        return Running(
            text=text_of(tables),
            revision=revision(tables),
            identity=Identity(
                hostname=str(host.get("hostname", "")), version=read.release, model=str(host.get("hwsku", ""))
            ),
            pending=None if read.change is None else read.change.pending(),
            drained=is_drained(tables),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:  # noqa: ARG002
        """Compare, and have the switch check the patch in a dry run. Raises CommitRefused; changes nothing.

        The patch has nothing of tables that the text does not state and that are not the fabric's: see `candidate`.
        Where it is empty, the checkpoint of a change that a reboot has ended is removed.
        """
        stated, read = self._stated(text), self._read()
        running = self._tables(read.configuration)
        if is_drained(running):
            stated = drained(stated)
            text = text_of(stated)
        after = candidate(running, stated)
        self._check_switch(running, after)
        operations = patch(running, after)
        if operations:
            self._check(json.dumps(operations))
        elif read.change is None:
            self._forget(read.checkpoints)
        return Staged(
            text=text,
            diff=unified(running, after),
            former=text_of(restoring(undrained(running) if is_drained(running) else running, after)),
            revision=revision(running),
        )

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Apply the patch; the switch restores the checkpoint unless `confirm` comes within the time."""
        read = self._read()
        self._refuse_pending(read)
        running = self._tables(read.configuration)
        if revision(running) != staged.revision:
            problem = "has changed since its differences were shown"
            raise CommitRefused(self._name, problem, "Review them with --plan, then deploy again")
        self._forget(read.checkpoints)
        stated, token = tree_of(staged.text), change_token(change)
        after = candidate(running, stated)
        script = switch_changes.applying_script(token, revision(after), within_s, self._commands)
        result = self._run(script, stdin=json.dumps(patch(running, after)), within_s=CHANGE_WITHIN_S + within_s)
        done, _, shown = result.out.partition(f"\n{MARK}\n")
        why = "" if switch_changes.is_done(done) else switch_changes.failure(result.errors or done)
        if not why and (left := deviations(accepted := self._tables(shown), candidate(accepted, stated))):
            why = f"did not accept all of it, as `{without_secrets(left[0])}` shows"
        if why:
            self._give_up(token, why)

    def confirm(self, change: ChangeName) -> None:
        """Save for the next boot, and stop the timer."""
        read, token = self._read(), change_token(change)
        record = read.change
        if record is None or record.name != change:
            if read.ends.get(token) == CONFIRMED:
                return
            problem = "was not confirmed in time and has restored its former configuration"
            raise CommitRefused(self._name, problem, "Deploy again")
        if record.state not in (APPLIED, CONFIRMING) or (record.state == APPLIED and not record.waits):
            raise CommitRefused(self._name, f"cannot keep {record.described()}", "Revert it, then deploy again")
        if revision(self._tables(read.configuration)) != record.revision:
            problem = "no longer runs what was committed, so it is not saved and will be reverted"
            raise CommitRefused(self._name, problem, "Find out who changed or restarted it, then deploy again")
        script = switch_changes.confirming_script(token, self._commands, waits=record.waits)
        result = self._run(script, within_s=CHANGE_WITHIN_S)
        if not switch_changes.is_done(result.out):
            self._give_up(token, f"cannot save the change ({switch_changes.failure(result.output())})")

    def revert(self, change: ChangeName) -> None:
        """Restore the checkpoint of a pending change; nothing when it is not pending."""
        record = self._read().change
        if record is not None and record.name == change:
            self._revert(change_token(change), is_saved=record.state == CONFIRMING)

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        """The live state. Raises DeviceError, naming a command that does not answer."""
        verbs = [*OBSERVED, *(["resolved"] if resolved else []), *(ROUTES if routes else [])]
        script = f"; echo; echo '{MARK}'; ".join(self._commands[verb] for verb in verbs)
        read = dict(zip(verbs, self._run(script, within_s=self._read_within_s).out.split(f"\n{MARK}\n"), strict=True))
        return with_next_hop_widths(observed, self._name, read)

    def install(self, image: Image) -> None:
        self._refuse_pending(self._read())
        images.install(self._name, lambda line, s: self._run(line, within_s=s), self._commands, image)

    def operate(self, verb: Verb) -> None:
        """Do this now. Refused while a change is pending, which would save, revert or mix it.

        A drain is graceful shutdown (RFC 8326) in CONFIG_DB, with the switch's own mode of maintenance as its mark.
        """
        read = self._read()
        self._refuse_pending(read)
        running = self._tables(read.configuration)
        match verb:
            case Verb.SAVE:
                self._succeed(self._commands["save"])
            case Verb.RELOAD:
                with suppress(Unreachable):
                    self._run(self._commands["reload"])
            case Verb.DRAIN:
                self._patch(running, drained(running))
            case Verb.UNDRAIN:
                self._patch(running, undrained(running))

    def _read(self) -> SwitchReading:
        script = switch_changes.reading_script(self._commands["configuration"])
        result = self._run(script, within_s=self._read_within_s)
        return switch_changes.reading(self._name, result.out)

    def _tables(self, shown: str) -> Tables:
        """The tables of CONFIG_DB. Raises DeviceError."""
        return normal(switch_changes.tables_of(self._name, shown))

    def _stated(self, text: str) -> Tables:
        try:
            return tree_of(text)
        except ConfigError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None

    def _check_switch(self, running: Tables, after: Tables) -> None:
        """Refuse the configuration of another switch, and ports that this one has not."""
        current, wanted = (str(row(tree, "DEVICE_METADATA", HOST).get("hostname", "")) for tree in (running, after))
        check_hostname(self._name, current, wanted, remedy=f"run `config hostname {wanted}` on it")
        ports = running.get("PORT", {})
        if missing := next((port for port in after.get("PORT", {}) if port not in ports), None):
            remedy = "Split its cage with `config interface breakout`, or check the model of the switch"
            raise CommitRefused(self._name, f"has no port {missing}", remedy)

    def _check(self, operations: str) -> None:
        """Have the switch check a patch. Raises CommitRefused."""
        if why := self._refusal("check", operations, CHECK_WITHIN_S):
            raise CommitRefused(self._name, f"rejects the change ({why})", "Correct it; the switch is unchanged")

    def _patch(self, running: Tables, after: Tables) -> None:
        """Apply a change without a timer, which a drain needs none of. Raises DeviceError."""
        operations = patch(running, after)
        if operations and (why := self._refusal("patch", json.dumps(operations), CHANGE_WITHIN_S)):
            raise DeviceError(self._name, f"refuses `config apply-patch` ({why})", "Check its log")

    def _refusal(self, verb: str, operations: str, within_s: float) -> str:
        """Reason why a command does not take a patch in a file, which is removed; empty where it does."""
        file = f"{FOLDER}/{verb}.{secrets.token_hex(4)}.json"
        command = self._commands[verb].format(file=file)
        script = f"{MAKE_FOLDER} && cat > {file} && {command} && echo && echo '{switch_changes.DONE}'; rm -f {file}"
        result = self._run(script, stdin=operations, within_s=within_s)
        return "" if switch_changes.is_done(result.out) else switch_changes.failure(result.errors or result.out)

    def _succeed(self, command: str) -> None:
        result = self._run(command, within_s=CHANGE_WITHIN_S)
        if result.status != 0:
            why = switch_changes.failure(result.errors or result.out)
            raise DeviceError(self._name, f"refuses `{command}` ({why})", "Check its log")

    def _forget(self, checkpoints: Iterable[str]) -> None:
        for token in checkpoints:
            self._run(self._commands["forget"].format(name=token))

    def _refuse_pending(self, read: SwitchReading) -> None:
        if read.change is not None:
            problem = f"has an unconfirmed change: {read.change.described()}"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")

    def _give_up(self, token: str, why: str) -> None:
        """Restore the checkpoint, and raise CommitRefused; for the change of another session, that one is named."""
        record = self._read().change
        if record is not None and (record.name is None or change_token(record.name) != token):
            self._refuse_pending(self._read())
        self._revert(token)
        raise CommitRefused(self._name, why, "Correct it; the switch runs its former configuration")

    def _revert(self, token: str, *, is_saved: bool = False) -> None:
        """Stop the timer and restore the checkpoint. is_saved: whether the change may be what boots.

        Raises DeviceError where the switch cannot.
        """
        disarm = [self._commands["disarm"].format(unit=unit) for unit in (UNIT, GUARD)]
        script = "; ".join([*disarm, switch_changes.reverting_script(token, self._commands, saves=is_saved)])
        result = self._run(script, within_s=CHANGE_WITHIN_S)
        record = self._read().change
        if record is not None and record.name is not None and change_token(record.name) == token:
            why = switch_changes.failure(result.errors)
            problem = f"cannot restore checkpoint {token} ({why})"
            raise DeviceError(self._name, problem, f"Run `config rollback {token}` on it, or restart it")

    def _run(self, command: str, *, stdin: str = "", within_s: float | None = None) -> CommandResult:
        """Run commands as root. Raises DeviceError on a switch without SONiC's commands."""
        result = self._shell.run(command, stdin=stdin, within_s=within_s or READ_WITHIN_S)
        for program in ("sonic-cfggen", "config", "vtysh"):
            if f"{program}: command not found" in result.errors or f"{program}: not found" in result.errors:
                raise DeviceError(self._name, f"has no command {program!r}", "Check that it runs SONiC")
        if "No such command 'apply-patch'" in result.errors:
            raise DeviceError(self._name, "has no command `config apply-patch`", UPGRADE)
        return result


def revision(tables: Tables) -> str:
    """The digest of CONFIG_DB."""
    return sha256(text_of(tables).encode()).hexdigest()


def unified(running: Tables, after: Tables) -> str:
    """The difference of the rows that a change touches, as JSON of both sides."""
    before, then = (_rows(tree, against) for tree, against in ((running, after), (after, running)))
    if before == then:
        return ""
    old, new = (text_of(side).splitlines() for side in (before, then))
    lines = difflib.unified_diff(old, new, "running", "candidate", lineterm="", n=CONTEXT_LINES)
    return "\n".join(map(without_secrets, lines))


def _rows(tree: Tables, against: Tables) -> Tables:
    """The rows of a tree that the second tree has otherwise, or has not."""
    rows = {
        name: {key: fields for key, fields in table.items() if against.get(name, {}).get(key) != fields}
        for name, table in tree.items()
    }
    return {name: table for name, table in rows.items() if table}

"""The session with one Cumulus Linux switch over SSH: patches of NVUE under its own timer.

`nv config replace` removes the accounts that its file lacks, and `nv config show` may hide their passwords; a patch of
what differs leaves them as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from types import TracebackType
from typing import Self

from railfab.device import Observed, without_secrets
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, ConfigError, DeviceError, Unreachable
from railfab.platforms.cumulus import images, switch_changes
from railfab.platforms.cumulus.parse import configuration_of
from railfab.platforms.cumulus.patch import patch_text, unified
from railfab.platforms.cumulus.scope import candidate, copied, operators, without
from railfab.platforms.cumulus.spelling import merged
from railfab.platforms.cumulus.state import observed
from railfab.platforms.cumulus.switch_changes import (
    CHANGE,
    CONFIRMED,
    CONFIRMING,
    REVERTED,
    NvueChange,
    NvueReading,
    parts_of,
    words_of,
)
from railfab.platforms.cumulus.tree import read, text
from railfab.platforms.image import Image
from railfab.platforms.session import ChangeName, Identity, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.shared.frr_state import ROUTES, with_next_hop_widths
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.root_shell import CommandResult, RootShell

READ_WITHIN_S, CHANGE_WITHIN_S = 60.0, 300.0
"""Limits of commands that read and of those that apply [s]."""
SHUTDOWN: Json = {"router": {"bgp": {"graceful-shutdown": "enabled"}}}
MODE: Json = {"maintenance": {"unit": {"all-protocols": {"state": "maintenance"}}}}
"""A drain by a verb: what neighbours see (RFC 8326), and the mode of maintenance, which tells it from one by a
configuration."""
OBSERVED = ("neighbors", "addresses", "heard", "roce")
FACTORY_NAME = "cumulus"


class CumulusSession:
    """A platforms.Session for Cumulus Linux. read_within_s: limit of calls that only read; None: READ_WITHIN_S [s]."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        self._name = endpoint.name
        self._login = (endpoint, credentials)
        self._read_within_s = read_within_s or READ_WITHIN_S
        self._shell = RootShell(endpoint, credentials)
        self._commands = dict(yaml_files.dialect(__package__ or "").verbs)
        self._has_committed = False
        self._just_read: tuple[NvueReading, Json] | None = None

    def __enter__(self) -> Self:
        self._shell.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.close()

    def running(self) -> Running:
        self._just_read = current, tree = self._read_tree()
        change = self._pending(current, tree)
        version, model = _release(current.configuration)
        return Running(
            text=text(tree),
            revision=revision(tree),
            identity=Identity(hostname=current.hostname, version=version, model=model),
            pending=None if change is None else change.pending(),
            drained=_is_drained(tree),
        )

    def stage(self, candidate_text: str, change: ChangeName | None = None) -> Staged:  # noqa: ARG002
        """Compare, and have NVUE load the patch into a revision that is discarded. Raises CommitRefused."""
        (current, running), self._just_read = self._just_read or self._read_tree(), None
        wanted, stated_text = self._stated(candidate_text), candidate_text
        before = _undrained(running) if _is_drained(running) else running
        if _is_drained(running) and not _has(wanted, SHUTDOWN):
            wanted = merged(wanted, copied(SHUTDOWN))
            candidate_text = text(wanted)
        after = candidate(running, wanted)
        self._check_switch(running, after)
        if after == running:
            return Staged(text=candidate_text, diff="", former=stated_text, revision=revision(running))
        self._refuse_pending(current, running)
        self._refuse_edits(current)
        self._check(patch_text(running, after))
        former = text(without(before, operators(before, wanted)))
        return Staged(text=candidate_text, diff=unified(running, after), former=former, revision=revision(running))

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Apply the patch; NVUE restores its former revision unless `confirm` comes within the time."""
        current, running = self._read_tree()
        self._refuse_pending(current, running)
        if revision(running) != staged.revision:
            problem = "has changed since its differences were shown"
            raise CommitRefused(self._name, problem, "Review them with --plan, then deploy again")
        self._refuse_edits(current)
        after, token = candidate(running, self._stated(staged.text)), change_token(change)
        self._lock(token, running, after, within_s, has_leftover=bool(current.record))
        self._has_committed = True
        script = switch_changes.applying_script(token, within_s, self._commands)
        result = self._run(script, stdin=patch_text(running, after), within_s=CHANGE_WITHIN_S + within_s)
        parts = parts_of(result.out)
        if len(parts) != 4:
            self._give_up(change, "did not answer in full")
        patched, said, status, shown = parts
        if self._tree(shown) != after:
            self._give_up(change, f"did not accept all of it ({_failure(said) or _failure(patched) or 'no reason'})")
        if words_of(status) == current.status:
            self._give_up(change, "applied the change without a timer")
        self._run(switch_changes.keeping_script(words_of(status)))

    def confirm(self, change: ChangeName) -> None:
        """Stop the timer and save, from a new connection where this one made the change; so it can be reached."""
        with self._another() as shell:
            self._confirm(shell, change)

    def _confirm(self, shell: RootShell, change: ChangeName) -> None:
        current, token = self._read(shell), change_token(change)
        record = self._pending(current, self._tree(current.configuration))
        if record is None or record.name != change:
            if current.ends.get(token) == CONFIRMED:
                return
            problem = "was not confirmed in time and has restored its former configuration"
            raise CommitRefused(self._name, problem, "Deploy again")
        if record.present != record.after:
            problem = "no longer runs what was committed, so it is not saved"
            raise CommitRefused(self._name, problem, "Find out who changed it, revert the change, then deploy again")
        if not record.waits and record.state != CONFIRMING:
            raise CommitRefused(self._name, f"cannot keep {record.described()}", "Revert it, then deploy again")
        script = switch_changes.confirming_script(self._commands)
        parts = parts_of(self._run(script, within_s=CHANGE_WITHIN_S, shell=shell).out)
        if len(parts) != 4 or self._tree(parts[3]) != self._tree(current.configuration):
            self._give_up(change, "did not keep the change")
        if words_of(parts[2]) == current.record["armed"]:
            self._give_up(change, f"did not stop its timer ({_failure(parts[0]) or 'no reason'})")
        if parts[1].lstrip().startswith("Error: "):
            self._give_up(change, f"cannot save the change ({_failure(parts[1])})", is_saved=False)
        self._run(switch_changes.ending_script(CONFIRMED, token), shell=shell)

    def revert(self, change: ChangeName) -> None:
        """Restore what ran before a change that is pending; remove the record of one that is over."""
        self._restore(change)

    def _restore(self, change: ChangeName, *, is_saved: bool = True) -> None:
        """Revert a change. is_saved: whether one that was being confirmed may be what boots."""
        current, running = self._read_tree()
        record = current.change(revision(running))
        if record is None or record.name != change:
            return
        if record.before and not record.is_over:
            if record.waits or record.present != record.before:
                self._run(f"{self._commands['cancel']} 2>&1 < /dev/null", within_s=CHANGE_WITHIN_S)
            if self._digest() != record.before:
                self._run(switch_changes.undoing_script(self._commands), within_s=CHANGE_WITHIN_S)
            if self._digest() != record.before:
                problem = "cannot restore what ran before the change"
                raise DeviceError(self._name, problem, "Find the revision in `nv config history`, and apply it")
            if record.state == CONFIRMING and is_saved:
                self._save()
        self._run(f"{self._commands['detach']}; {switch_changes.ending_script(REVERTED, change_token(change))}")

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        """The live state. Raises DeviceError, naming a command that does not answer."""
        verbs = [*OBSERVED, *(["resolved"] if resolved else []), *(ROUTES if routes else [])]
        script = switch_changes.joined(*(self._commands[verb] for verb in verbs))
        read = dict(zip(verbs, parts_of(self._run(script, within_s=self._read_within_s).out), strict=True))
        return with_next_hop_widths(observed, self._name, read)

    def install(self, image: Image) -> None:
        self._refuse_pending(*self._read_tree())
        images.install(self._name, lambda line, s: self._run(line, within_s=s), self._commands, image)

    def operate(self, verb: Verb) -> None:
        """Do this now. Refused while a change is pending, which would save, revert or mix it."""
        current, running = self._read_tree()
        self._refuse_pending(current, running)
        match verb:
            case Verb.SAVE:
                self._save()
            case Verb.RELOAD:
                with suppress(Unreachable):
                    self._run(self._commands["reload"])
            case Verb.DRAIN:
                self._apply(current, running, merged(merged(copied(running), copied(SHUTDOWN)), copied(MODE)))
            case Verb.UNDRAIN:
                self._apply(current, running, _undrained(running))

    def _apply(self, current: NvueReading, running: Json, after: Json) -> None:
        """Apply a change without a timer, which a drain needs none of. Raises DeviceError."""
        patch = patch_text(running, after)
        if not patch:
            return
        self._refuse_edits(current)
        file = switch_changes.STAGED
        load = f"{self._commands['detach']}; {self._commands['patch'].format(file=file)}"
        script = f"mkdir -p {switch_changes.FOLDER}; cat > {file}; {load}; {self._commands['keep']}; rm -f {file}"
        result = self._run(script, stdin=patch, within_s=CHANGE_WITHIN_S)
        if self._digest() != revision(after):
            self._run(self._commands["detach"])
            why = _failure(result.output()) or "no reason"
            raise DeviceError(self._name, f"did not apply the change ({why})", "Check `nv config history` on it")

    def _lock(self, token: str, running: Json, after: Json, within_s: int, *, has_leftover: bool) -> None:
        """Begin the record of a change; remove that of one that is over. Raises CommitRefused where another has."""
        if has_leftover:
            self._run(f"rm -rf {CHANGE}")
        script = switch_changes.locking_script(token, revision(running), revision(after), within_s)
        result = self._run(script, stdin=patch_text(after, running))
        if "locked" not in result.out.split():
            current = self._read()
            self._refuse_pending(current, self._tree(current.configuration))
            raise CommitRefused(self._name, f"cannot keep a record ({_failure(result.output())})", "Check its memory")

    def _check(self, patch: str) -> None:
        """Have NVUE load a patch. Raises CommitRefused where nothing of it would change the switch."""
        result = self._run(switch_changes.checking_script(self._commands), stdin=patch, within_s=CHANGE_WITHIN_S)
        said, difference, *_ = [*parts_of(result.out), "", ""]
        if not difference.strip():
            why = _failure(said) or "no reason"
            raise CommitRefused(self._name, f"rejects the change ({why})", "Correct it; the switch is unchanged")

    def _check_switch(self, running: Json, after: Json) -> None:
        """Refuse the configuration of another switch; one with the name of the factory takes any."""
        current, wanted = (tree.get("system", {}).get("hostname", "") for tree in (running, after))
        remedy = f"run `nv set system hostname {wanted}`"
        check_hostname(self._name, current, wanted, factory=FACTORY_NAME, remedy=remedy)

    def _pending(self, current: NvueReading, running: Json) -> NvueChange | None:
        change = current.change(revision(running))
        return None if change is None or change.is_over else change

    def _refuse_pending(self, current: NvueReading, running: Json) -> None:
        change = self._pending(current, running)
        if change is not None:
            problem = f"has an unconfirmed change: {change.described()}"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")

    def _refuse_edits(self, current: NvueReading) -> None:
        """Refuse to discard what somebody has set as root and not applied."""
        if current.edits and not current.is_ours:
            problem = "has settings of root that are not applied"
            raise CommitRefused(self._name, problem, "Run `sudo nv config apply` or `sudo nv config detach` on it")

    def _save(self) -> None:
        """Have the switch boot what it runs. Raises DeviceError."""
        said = self._run(f"{self._commands['save']} 2>&1 < /dev/null", within_s=CHANGE_WITHIN_S).out
        if said.lstrip().startswith("Error: "):
            problem = f"does not save what it runs ({_failure(said)})"
            raise DeviceError(self._name, problem, "Remove what it names, then run `nv config save` on it")

    def _give_up(self, change: ChangeName, why: str, *, is_saved: bool = True) -> None:
        """Revert a change, and raise CommitRefused."""
        self._restore(change, is_saved=is_saved)
        raise CommitRefused(self._name, without_secrets(why), "Correct it; the switch runs its former configuration")

    def _digest(self) -> str:
        """The digest of what runs now."""
        shown = self._run(self._commands["configuration"], within_s=self._read_within_s).out
        return revision(self._tree(shown))

    @contextmanager
    def _another(self) -> Iterator[RootShell]:
        """A new connection after a commit of this session; else its own."""
        if not self._has_committed:
            yield self._shell
            return
        shell = RootShell(*self._login)
        shell.open()
        try:
            yield shell
        finally:
            shell.close()

    def _read(self, shell: RootShell | None = None) -> NvueReading:
        script = switch_changes.reading_script(self._commands)
        return switch_changes.reading(self._name, self._run(script, within_s=self._read_within_s, shell=shell).out)

    def _read_tree(self) -> tuple[NvueReading, Json]:
        current = self._read()
        return current, self._tree(current.configuration)

    def _tree(self, shown: str) -> Json:
        """The tree of `nv config show`. Raises DeviceError."""
        try:
            if not read(shown).operations:
                raise ConfigError("", "is empty", "")
            return configuration_of(shown).tree
        except ConfigError as error:
            problem = f"shows a configuration that {error.problem}"
            raise DeviceError(self._name, problem, "Check `nv config show` on it") from None

    def _stated(self, candidate_text: str) -> Json:
        try:
            configuration = configuration_of(candidate_text)
        except ConfigError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None
        return copied(configuration.tree)

    def _run(
        self, command: str, *, stdin: str = "", within_s: float | None = None, shell: RootShell | None = None
    ) -> CommandResult:
        """Run commands as root. Raises DeviceError on a switch without NVUE."""
        result = (shell or self._shell).run(command, stdin=stdin, within_s=within_s or READ_WITHIN_S)
        if "nv: command not found" in result.errors or "nv: not found" in result.errors:
            raise DeviceError(self._name, "has no command 'nv'", "Check that it runs Cumulus Linux 5.15 or later")
        return result


def revision(tree: Json) -> str:
    """The digest of a configuration."""
    return sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _release(shown: str) -> tuple[str, str]:
    """Release and model in the header of `nv config show`."""
    lines = (line.strip().removeprefix("- ") for line in shown.splitlines()[:10])
    header = dict(line.split(": ", 1) for line in lines if ": " in line)
    return header.get("version", ""), header.get("model", "")


def _has(tree: Json, part: Json) -> bool:
    """Whether a tree has every leaf of another one."""
    return all(
        _has(tree.get(name, {}), child) if isinstance(child, dict) else tree.get(name) == child
        for name, child in part.items()
    )


def _is_drained(tree: Json) -> bool:
    """Whether a verb has drained the switch."""
    return _has(tree, SHUTDOWN) and _has(tree, MODE)


def _undrained(tree: Json) -> Json:
    """A configuration without a drain by a verb."""
    return without(without(tree, SHUTDOWN), MODE)


def _failure(output: str) -> str:
    """The reason in the output of a command of NVUE: below `Invalid config`, else its first line."""
    stated = [line.strip() for line in output.splitlines() if line.strip()]
    reasons = [line for line in stated if not line.startswith(("Invalid config [", "created [", "Warning:"))]
    return (reasons or stated or [""])[0].removeprefix("Error: ")

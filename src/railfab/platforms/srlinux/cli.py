"""The CLI of a virtual SR Linux switch, a second way to the configuration that its gNMI server edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from typing import Any

from railfab.errors import RailfabError
from railfab.gnmi.confirmed import DEFAULT_ROLLBACK_S, CommitStatus
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Commit, CommitAction, DataType, PathNotFound, WrongState
from railfab.platforms.shared import json_tree
from railfab.platforms.shared.command_table import NoCommand
from railfab.platforms.shared.json_datastore import overlaid
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_cli import CliGrammar, CliRefusal, VirtualCli, cli_grammar
from railfab.platforms.srlinux import info_text, shows
from railfab.platforms.srlinux.candidates import EXCLUSIVE, SHARED, Candidate, Candidates, json_names
from railfab.platforms.srlinux.flat import words_of_line
from railfab.platforms.srlinux.refusal_texts import not_authorised, nothing_at, unknown_token
from railfab.platforms.srlinux.tree import cli_word, lines, stripped
from railfab.platforms.srlinux.typed_words import Place, Typed, placed, read, update_of, without_values, words_of
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser, NewCli

RUNNING, CANDIDATE, STATE = "running", "candidate", "state"
ROOT = "/"


def cli(device: VirtualDevice) -> NewCli:
    """The CLIs of a switch; they share its candidates."""
    candidates = Candidates(device)
    return lambda user: SrlinuxCli(_grammar(), candidates, user)


@cache
def _grammar() -> CliGrammar:
    return cli_grammar(__package__ or "")


class SrlinuxCli(VirtualCli):
    """A session: its mode, its candidate, and its context, the place below which words are read.

    A line that begins with `/` is read from the root. A line that ends in `{` or `[` is continued up to the closing
    bracket, as in a text that `info` printed.
    """

    def __init__(self, grammar: CliGrammar, candidates: Candidates, user: CliUser) -> None:
        super().__init__(grammar, candidates.device.name, user)
        self._device = candidates.device
        self._candidates = candidates
        self._candidate = Candidate(self._device)
        self._kind = ""
        self._place: Place = ()
        self._braces: list[Place] = []
        self._begun = ""

    def banner(self) -> str:
        return self.text("welcome")

    def places(self) -> Mapping[str, str]:
        marks = "" if self._device.saved or self.mode == STATE else "+"
        if self.mode == CANDIDATE:
            marks += "!" if self._candidate.is_outdated else ""
            marks += "*" if self._candidate.is_changed else ""
        marks = f"{marks} " if marks else ""
        place = " ".join(map(cli_word, words_of(self._place)))
        return {"marks": marks, "kind": self._kind, "place": place, "user": self.user.name}

    def closed(self) -> None:
        """A shared or a private candidate stays with its edits; an exclusive one ends."""
        self._candidates.leave(self)

    def refusal(self, error: RailfabError) -> str:
        busy = f"{self.text('busy')}\n" if isinstance(error, WrongState) else ""
        return busy + "\n".join(f"Error: {line}" for line in str(error).splitlines())

    # Lines

    def _output(self, line: str) -> str:
        line = f"{self._begun} {line.strip()}".strip()
        self._begun = ""
        if (words := line.split()).count("[") > words.count("]"):
            self._begun = line
            return ""
        if line.startswith("#"):
            return ""
        if line == "}" and self._braces:
            self._place = self._braces.pop()
            return ""
        if line.startswith(ROOT):
            return self._from_root(line.removeprefix(ROOT).strip())
        if line.partition(" ")[0] == "show":
            line = self._show_line(line.partition(" ")[2].strip())
        return super()._output(line)

    def _from_root(self, line: str) -> str:
        """Read a line from the root: a command leaves the context as it was."""
        context, self._place = self._place, ()
        if not line:
            return ""
        try:
            output = self._output(line)
        except CliRefusal:
            self._place = context
            raise
        if not isinstance(self._grammar.table.command(self.mode, line), NoCommand):
            self._place = context
        return output

    def _show_line(self, rest: str) -> str:
        """A show command with the words of the context, below which it is read."""
        words = () if rest.startswith(ROOT) else map(cli_word, words_of(self._place))
        return " ".join(["show", *words, rest.removeprefix(ROOT).strip()]).strip()

    def configure(self, line: str) -> str:
        """Enter a context, which a candidate creates, or set leaves of it."""
        mismatch = self._grammar.table.command(self.mode, line)
        if isinstance(mismatch, NoCommand) and mismatch.column:
            self._refuse_rest(line, mismatch.column)
        opens = line.endswith("{")
        former = self._place
        typed = read(self._place, words_of_line(line.removesuffix("{")))
        if self.mode == CANDIDATE:
            self._change(typed, line)
        elif typed[-1].leaf:
            raise CliRefusal(unknown_token(typed[-1].leaf))
        if not typed[-1].leaf:
            self._place = typed[-1].place
        if opens:
            self._braces.append(former)
        return ""

    def _refuse_rest(self, line: str, column: int) -> None:
        """Refuse a command with a word that it does not take, or without one that it needs."""
        word = line[column:].partition(" ")[0]
        raise CliRefusal(unknown_token(word) if word else self.text("incomplete", line=line))

    def _read(self, words: Sequence[str], *, entries: bool = True) -> list[Typed]:
        """Places and leaves that the words of a path name, from the context or the root on."""
        if not words or not words[0].startswith(ROOT):
            return read(self._place, words, entries=entries)
        first = words[0].removeprefix(ROOT)
        return read((), [*([first] if first else ()), *words[1:]], entries=entries)

    # Modes and contexts

    def enter_running(self) -> str:
        return self._enter(RUNNING)

    def enter_state(self) -> str:
        return self._enter(STATE)

    def _enter(self, mode: str) -> str:
        self._candidates.leave(self)
        self.mode, self._kind = mode, ""
        return ""

    def enter_shared(self) -> str:
        return self._enter_candidate(SHARED)

    def enter_private(self, name: str = "") -> str:
        return self._enter_candidate(f"private {name or f'private-{self.user.name}'}")

    def enter_exclusive(self) -> str:
        return self._enter_candidate(EXCLUSIVE)

    def _enter_candidate(self, kind: str) -> str:
        candidate = self._candidates.enter(self, kind)
        if candidate is None:
            raise CliRefusal(self.text("excluded"))
        self._candidate, self.mode, self._kind = candidate, CANDIDATE, kind
        return ""

    def leave(self) -> str:
        """Leave the context for the one around it; at the root, end the session."""
        if not self._place:
            return self.end_session()
        self._place = self._place[:-1]
        return ""

    def leave_to(self, name: str) -> str:
        """Leave the context for one above it, the nearest of this name, or for the root."""
        depths = [depth for depth, step in enumerate(self._place[:-1], start=1) if step.name == name]
        if name != "root" and not depths:
            raise CliRefusal(unknown_token(name, [*(step.name for step in self._place[:-1]), "root"]))
        self._place = self._place[: depths[-1] if depths else 0]
        return ""

    # The candidate

    def set_path(self, path: str) -> str:
        self._change(self._read(words_of_line(path)), f"set {path}")
        return ""

    def delete_path(self, path: str) -> str:
        self._require_permission(f"delete {path}")
        for typed in self._read(words_of_line(path), entries=False):
            self._candidate.change(without_values(typed, self._values(typed)))
        return ""

    def _change(self, typed: Sequence[Typed], line: str) -> None:
        self._require_permission(line)
        for each in typed:
            if each.place or each.leaf:
                self._candidate.change(update_of(each, self._values(each)))

    def _values(self, typed: Typed) -> Sequence[Any]:
        """The values that a leaf-list has in the candidate."""
        values = info_text.inner(stripped(self._candidate.tree), typed.place).get(typed.leaf)
        return values if isinstance(values, list) else ()

    def _require_permission(self, command: str) -> None:
        if not self.user.writes:
            raise CliRefusal(not_authorised(command))

    def diff(self, path: str = "") -> str:
        return info_text.difference(*self._sides(path))

    def diff_flat(self, path: str = "") -> str:
        return info_text.flat_difference(*self._sides(path))

    def _sides(self, path: str) -> tuple[Json, Json]:
        """The running configuration and the candidate, below a path."""
        typed = self._read(words_of_line(path), entries=False)[-1]
        trees = (self._device.configuration, self._candidate.tree)
        running, candidate = (info_text.kept(stripped(tree), _named(typed)) or {} for tree in trees)
        return running, candidate

    def commit_validate(self) -> str:
        self._device.check(json_tree.text(self._candidate.tree))
        return ""

    def commit_now(self) -> str:
        self._commit("commit now")
        self._enter(RUNNING)
        return self.text("committed")

    def commit_stay(self) -> str:
        self._commit("commit stay")
        return self.text("continues")

    def commit_save(self) -> str:
        return f"{self._commit_and_save()}{self.commit_now()}"

    def commit_stay_save(self) -> str:
        return f"{self._commit_and_save()}{self.commit_stay()}"

    def _commit_and_save(self) -> str:
        self._commit("commit save")
        return f"{self.save()}\n\n"

    def commit_confirmed(self, seconds: str = f"{DEFAULT_ROLLBACK_S:.0f}") -> str:
        if not seconds.isdecimal() or not int(seconds):
            raise CliRefusal(unknown_token(seconds))
        self._commit("commit confirmed", Commit(CommitAction.COMMIT, "", float(seconds)))
        self._enter(RUNNING)
        return self.text("confirmed", time=_duration(int(seconds))) + "\n" + self.text("committed")

    def _commit(self, command: str, commit: Commit | None = None) -> None:
        self._require_permission(command)
        self._candidate.commit(commit)

    def discard_now(self) -> str:
        self.discard_stay()
        self._enter(RUNNING)
        return self.text("discarded")

    def discard_stay(self) -> str:
        self._candidate.discard()
        return self.text("restarted")

    def accept(self) -> str:
        return self._answer_commit("accept", CommitAction.CONFIRM)

    def reject(self) -> str:
        return self._answer_commit("reject", CommitAction.CANCEL)

    def _answer_commit(self, verb: str, action: CommitAction) -> str:
        """Confirm or cancel the pending commit, also of another session."""
        self._require_permission(f"tools system configuration confirmed-{verb}")
        waiting = [record for record in self._device.commits() if record.status is CommitStatus.UNCONFIRMED]
        if not waiting:
            raise CliRefusal(self.text("no_commit"))
        self._device.decide(Commit(action, waiting[-1].id))
        return ""

    def save(self) -> str:
        self._require_permission("save startup")
        self._device.save()
        return self.text("saved")

    # Reading

    def info(self, text: str = "", form: str = "") -> str:
        """`info [flat] [from running|candidate|state] [PATH]`, or `| as json` of it."""
        words = words_of_line(text)
        is_flat = words[:1] == ["flat"]
        words = words[is_flat:]
        source = self.mode
        if words[:1] == ["from"]:
            source, words = self._source(words[1:2]), words[2:]
        if words[:1] == ["flat"]:
            is_flat, words = True, words[1:]
        return self._info(source, words, is_flat=is_flat, form=form)

    def _source(self, words: Sequence[str]) -> str:
        known = (CANDIDATE, RUNNING, STATE)
        if not words or words[0] not in known:
            raise CliRefusal(unknown_token(words[0], known) if words else self.text("incomplete", line="info from"))
        return words[0]

    def _info(self, source: str, words: Sequence[str], *, is_flat: bool, form: str) -> str:
        typed = self._read(words, entries=False)[-1]
        tree = info_text.kept(self._tree(source, typed), _named(typed))
        if tree is None or (not tree and typed.path):
            raise CliRefusal(nothing_at((*typed.path, *map(Element, typed.below))))
        if is_flat:
            return "".join(f"{line}\n" for line in lines(tree))
        context = () if words and words[0].startswith(ROOT) else self._place
        shown = info_text.inner(tree, context)
        if form:
            return info_text.as_json(shown)
        keys = {key for step in context[-1:] for key, _ in step.keys}
        return info_text.info({name: child for name, child in shown.items() if name not in keys})

    def _tree(self, source: str, typed: Typed) -> Json:
        """A datastore, without modules; of the state, what is at the place that words name."""
        if source != STATE:
            tree: Json = stripped(self._candidate.tree if source == CANDIDATE else self._device.configuration)
            return tree
        try:
            answers = self._device.get(typed.path, DataType.ALL)
        except PathNotFound:
            return {}
        names = json_names()
        trees = (placed(answer.path, answer.value) for answer in answers)
        state: Json = stripped(reduce(lambda merged, tree: overlaid(merged, tree, names), trees, {}))
        return state

    def show_version(self) -> str:
        return shows.version(self._device)

    def show_interface_brief(self) -> str:
        return shows.interface_brief(self._device)

    def show_lldp(self) -> str:
        return shows.lldp_neighbor(self._device)

    def show_bgp(self, instance: str, address: str = "") -> str:
        return shows.bgp_neighbor(self._device, instance, address)


def _named(typed: Typed) -> list[str]:
    return [*words_of(typed.place), *([typed.leaf] if typed.leaf else ()), *typed.below]


def _duration(seconds: int) -> str:
    """A time as the switch was seen to print that of a commit; only minutes were."""
    count, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{count} {unit}{'' if count == 1 else 's'}"

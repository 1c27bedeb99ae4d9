"""The CLI of a virtual switch: modes and their prompts, commands, filters of output, and lines of configuration.

A platform has its modes, texts and commands in `dialect.yml` under `twin`, and a subclass with a method for each
action:

    twin:
      modes: {exec: '{host}#', config: '{host}(config{place})#'}
      configures: [config]              # modes in which a line that is no command is one of configuration
      texts: {unknown: '% Invalid input', incomplete: '% Incomplete command', ambiguous: '% Ambiguous command'}
      filters: {include: include, i: include}
      commands: [...]                   # see railfab.platforms.shared.command_table
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import dropwhile, filterfalse
from typing import Any

from railfab.errors import RailfabError
from railfab.platforms.shared.command_table import Command, CommandTable, NoCommand
from railfab.ssh import END_OF_TEXT, CliUser, ReadInput, Reply, execute_lines
from railfab.yaml_reader.packaged import packaged


class CliRefusal(Exception):
    """An answer that refuses a command. text: of the switch, without line break at its end."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class CliGrammar:
    """`twin` of a `dialect.yml`. modes: prompt by mode, the first is that of a login. texts: answers by name."""

    modes: Mapping[str, str]
    configures: frozenset[str]
    texts: Mapping[str, str]
    filters: Mapping[str, str]
    table: CommandTable


def cli_grammar(package: str) -> CliGrammar:
    """The grammar in the `dialect.yml` of a platform."""
    twin: dict[str, Any] = packaged(package, "dialect.yml")["twin"]
    return CliGrammar(
        modes=twin["modes"],
        configures=frozenset(twin.get("configures", ())),
        texts=twin.get("texts", {}),
        filters=twin.get("filters", {}),
        table=CommandTable(twin["commands"]),
    )


class VirtualCli:
    """A session with the CLI of a virtual switch; see `railfab.ssh.Cli`. A platform's class derives from it.

    An action takes the parameters of its command as keyword arguments and returns its output; it raises CliRefusal.
    mode: the present one. A subclass that has subordinate modes overrides `places`, values for the prompt.
    Lines of configuration may wait while further ones have arrived; `settle` has them take effect, before a command
    other than those of UNSETTLED runs.
    """

    UNSETTLED: frozenset[str] = frozenset()

    def __init__(self, grammar: CliGrammar, host: str, user: CliUser) -> None:
        self.host = host
        self.user = user
        self.mode = next(iter(grammar.modes))
        self._grammar = grammar
        self._ends = False
        self._text: list[str] | None = None
        self._take_text: Callable[[str], str] = str

    def greeting(self) -> Reply:
        return Reply(output=self.banner(), prompt=self.prompt())

    def answer(self, line: str, more: bool = False) -> Reply:
        if self._text is not None:
            return self._continue_text(line)
        output, status = self._answered(line)
        if not more and (refused := self.settle()):
            output, status = _joined(output, refused), 1
        return self._reply(output, status)

    def _answered(self, line: str) -> tuple[str, int]:
        """Output and status of a line."""
        try:
            return self._output(line), 0
        except CliRefusal as refusal:
            return refusal.text, 1
        except RailfabError as error:
            return self.refusal(error), 1

    def execute(self, command: str, _read_input: ReadInput) -> Reply:
        return execute_lines(self, command)

    def closed(self) -> None:
        """Discard what ends with the session."""
        self.settle()

    def settle(self) -> str:
        """Have the lines of configuration that wait take effect; the text with which the switch refuses some."""
        return ""

    def banner(self) -> str:
        """Output at the begin of a session."""
        return ""

    def places(self) -> Mapping[str, str]:
        """Values for the prompt of the mode, beside `host`."""
        return {"place": ""}

    def prompt(self) -> str:
        return self._grammar.modes[self.mode].format(host=self.host, **self.places())

    def configure(self, line: str) -> str:
        """Take a line of configuration. Raises CliRefusal; a CLI without such lines refuses each."""
        raise CliRefusal(self.text("unknown", line=line, caret="^"))

    def refusal(self, error: RailfabError) -> str:
        """The text with which the switch refuses what an error names."""
        return self.text("refused", problem=str(error))

    def text(self, name: str, **values: object) -> str:
        """A text of the dialect."""
        return self._grammar.texts[name].format(**values)

    def end_session(self) -> str:
        """Close the connection after this command."""
        self._ends = True
        return ""

    def read_text(self, take: Callable[[str], str]) -> None:
        """Take the lines that follow, up to Ctrl-D, as a text; its answer is the output."""
        self._text, self._take_text = [], take

    def _continue_text(self, line: str) -> Reply:
        assert self._text is not None
        if line != END_OF_TEXT:
            self._text.append(line)
            return Reply(takes_text=True)
        text, self._text = "".join(f"{each}\n" for each in self._text), None
        try:
            return self._reply(self._take_text(text), 0)
        except CliRefusal as refusal:
            return self._reply(refusal.text, 1)
        except RailfabError as error:
            return self._reply(self.refusal(error), 1)

    def _reply(self, output: str, status: int) -> Reply:
        if output and not output.endswith("\n"):
            output += "\n"
        if self._text is not None:
            return Reply(output=output, status=status, takes_text=True)
        return Reply(output=output, prompt="" if self._ends else self.prompt(), status=status, closes=self._ends)

    def _output(self, line: str) -> str:
        if not line.strip():
            return ""
        command, *filters = re.split(r" \| ?", line)
        typed = self._grammar.table.command(self.mode, command)
        if isinstance(typed, NoCommand):
            if self.mode in self._grammar.configures:
                return self.configure(line)
            raise CliRefusal(self._no_command(line, typed))
        refused = "" if typed.entry.does in self.UNSETTLED else self.settle()
        return _joined(refused, self._filtered(self._run(typed, filters), filters))

    def _run(self, command: Command, filters: Sequence[str]) -> str:
        """Run a command. An action that has a parameter `form` is given what is no filter of text."""
        if command.entry.says is not None:
            return command.entry.says.format(**command.values)
        action: Callable[..., str] = getattr(self, command.entry.does or "")
        forms = [each for each in filters if each.split()[:1] and each.split()[0] not in self._grammar.filters]
        if forms and "form" not in signature(action).parameters:
            raise CliRefusal(self.text("unknown", line=forms[0], caret="^"))
        return action(**command.values, **({"form": forms[0]} if forms else {}))

    def _filtered(self, output: str, filters: Sequence[str]) -> str:
        for each in filters:
            name, _, argument = each.strip().partition(" ")
            if name in self._grammar.filters:
                output = FILTERS[self._grammar.filters[name]](output, argument.strip().strip("\"'"))
        return output

    def _no_command(self, line: str, mismatch: NoCommand) -> str:
        caret = " " * (len(self.prompt()) + mismatch.column) + "^"
        return self.text(mismatch.why, line=line, caret=caret)


def _joined(*texts: str) -> str:
    """Outputs one below the other."""
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts if text)


def _include(output: str, pattern: str) -> str:
    return _lines(filter(_pattern(pattern).search, output.splitlines()))


def _exclude(output: str, pattern: str) -> str:
    return _lines(filterfalse(_pattern(pattern).search, output.splitlines()))


def _begin(output: str, pattern: str) -> str:
    search = _pattern(pattern).search
    return _lines(dropwhile(lambda line: search(line) is None, output.splitlines()))


def section(output: str, pattern: str) -> str:
    """The sections with a line that matches; a section is a line with those below it that are indented."""
    search, sections = _pattern(pattern).search, list[list[str]]()
    for line in output.splitlines():
        if line.startswith(" ") and sections:
            sections[-1].append(line)
        else:
            sections.append([line])
    return _lines(line for each in sections if any(map(search, each)) for line in each)


def _pattern(text: str) -> re.Pattern[str]:
    """The regular expression of an operator; a text that is none stands for itself."""
    try:
        return re.compile(text)
    except re.error:
        return re.compile(re.escape(text))


def _count(output: str, _: str) -> str:
    return f"Count: {len(output.splitlines())} lines\n"


def _last(output: str, number: str) -> str:
    """The last lines, as many as asked for; the last screen where no number is given."""
    return _lines(output.splitlines()[-int(number) :] if number.isdecimal() and int(number) else [])


def _unchanged(output: str, _: str) -> str:
    return output


def _indented(output: str, pattern: str) -> str:
    """Each line that matches, with the lines below it that are indented more."""
    search, lines, depth = _pattern(pattern).search, [], -1
    for line in output.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth < 0 or indent <= depth:
            depth = indent if search(line) else -1
        if depth >= 0:
            lines.append(line)
    return _lines(lines)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


FILTERS: Mapping[str, Callable[[str, str], str]] = {
    "include": _include,
    "exclude": _exclude,
    "begin": _begin,
    "section": section,
    "count": _count,
    "last": _last,
    "unchanged": _unchanged,
    "indented": _indented,
}
"""Filters behind a bar, by the names with which `dialect.yml` refers to them."""

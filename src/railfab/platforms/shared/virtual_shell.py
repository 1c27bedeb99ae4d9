"""A login at a virtual switch that runs Linux: a shell whose commands are a table and a few of Linux's own.

Nothing runs on the machine that serves it, and its files are entries of a dictionary. A platform has prompts and
commands in `dialect.yml` under `twin`, as `railfab.platforms.shared.virtual_cli` says, and a subclass of VirtualShell
with a method for each action. The modes are `user` and `root`:

    twin:
      modes: {user: '{user}@{host}:~$ ', root: 'root@{host}:/home/{user}# '}
      texts: {not_root: Root privileges are required for this operation}
      commands:
        - {in: user root, line: show version, does: version}
        - {in: root, line: 'config save -y', does: save}

The first word of a command is typed in full, later ones may be shortened. A parameter is one word, quoted or not. Words
are those of the shell after its quotes: `vtysh -c 'show version'` is the line `vtysh -c {command}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from railfab.errors import RailfabError
from railfab.platforms.shared.command_table import Mismatch, NoCommand
from railfab.platforms.shared.linux_commands import COMMANDS
from railfab.platforms.shared.linux_files import USAGE, CommandFailed
from railfab.platforms.shared.root_shell import CommandResult
from railfab.platforms.shared.shell_syntax import Pipeline, ShellSyntaxError, SimpleCommand, expanded, pipelines
from railfab.platforms.shared.virtual_cli import CliGrammar
from railfab.platforms.shared.virtual_files import SINK
from railfab.platforms.shared.virtual_host import VirtualHost
from railfab.ssh import END_OF_TEXT, CliUser, ReadInput, Reply

USER, ROOT = "user", "root"
NOT_FOUND = 127
CONTINUES = "> "
"""Prompt of a line that continues one with an open quotation."""


class VirtualShell:
    """A login; see `railfab.ssh.Cli`. A platform's class derives from it.

    An action takes the parameters of its command as keyword arguments and returns its standard output; it raises
    CommandFailed, OSError of a file, or RailfabError, whose text `refusal` makes.
    is_root: whether the command that runs has root's privileges. stdin: the standard input of the command that runs;
    empty without one. variables: of the environment.
    """

    def __init__(self, grammar: CliGrammar, host: VirtualHost, user: CliUser) -> None:
        self.host = host
        self.user = user
        self.is_root = user.name == ROOT
        self.stdin: Callable[[], str] = str
        self.variables = {"USER": user.name, "HOME": "/root" if self.is_root else f"/home/{user.name}", "?": "0"}
        self._grammar = grammar
        self._ends = False
        self._roots = 0
        self._unfinished = ""
        self._text: list[str] | None = None

    def greeting(self) -> Reply:
        return Reply(output=self.banner(), prompt=self.prompt())

    def answer(self, line: str, _more: bool = False) -> Reply:
        """Answer a line at the terminal; one that reads standard input is answered at the end of that."""
        if self._text is not None:
            if line != END_OF_TEXT:
                self._text.append(line)
                return Reply(takes_text=True)
            text, self._text = "".join(f"{each}\n" for each in self._text), None
            return self._reply(self.run(self._take_line(""), lambda: text))
        line = self._take_line(line)
        try:
            parsed = pipelines(line)
        except ShellSyntaxError as error:
            if error.unfinished:
                self._unfinished = f"{line}\n"
                return Reply(prompt=CONTINUES)
            parsed = []
        if parsed and _reads_input(parsed[0].commands[0]):
            self._text, self._unfinished = [], line
            return Reply(takes_text=True)
        return self._reply(self.run(line))

    def execute(self, command: str, read_input: ReadInput) -> Reply:
        """Answer an exec request."""
        result = self.run(command, read_input)
        return Reply(output=result.out, errors=result.errors, status=result.status, closes=True)

    def closed(self) -> None:
        """Discard nothing: files and timers are the switch's."""

    def banner(self) -> str:
        """Output at the begin of a session."""
        return ""

    def prompt(self) -> str:
        return self._grammar.modes[self.mode].format(user=self.user.name, host=self.host.device.name)

    @property
    def mode(self) -> str:
        return ROOT if self.is_root else USER

    def refusal(self, error: RailfabError) -> str:
        """The text with which the switch refuses what an error names."""
        return str(error)

    def text(self, name: str, **values: object) -> str:
        """A text of the dialect."""
        return self._grammar.texts[name].format(**values)

    def begin_root(self) -> None:
        """Begin a shell of root in this session."""
        self._roots += 1
        self.is_root = True

    def end_shell(self) -> None:
        """End the last shell of root; without one, the session."""
        if self._roots:
            self._roots -= 1
            self.is_root = self._roots > 0 or self.user.name == ROOT
        else:
            self._ends = True

    def run(self, line: str, stdin: Callable[[], str] = str) -> CommandResult:
        """Run a line of commands."""
        try:
            return self._run_list(pipelines(line), stdin)
        except ShellSyntaxError as error:
            return CommandResult(USAGE, "", f"-bash: {error.problem}\n")

    def _run_list(self, parsed: Sequence[Pipeline], stdin: Callable[[], str]) -> CommandResult:
        out, errors, status = "", "", 0
        for pipeline in parsed:
            if self._ends or (pipeline.after == "&&" and status) or (pipeline.after == "||" and not status):
                continue
            result = self._run_pipeline(pipeline, stdin)
            out, errors, status = out + result.out, errors + result.errors, result.status
            self.variables["?"] = str(status)
        return CommandResult(status, out, errors)

    def run_words(self, words: Sequence[str], stdin: Callable[[], str]) -> CommandResult:
        """Run one command."""
        if not words:
            return CommandResult(0, "", "")
        former, self.stdin = self.stdin, stdin
        try:
            command = COMMANDS.get(words[0])
            if command is not None:
                return command(self, words[1:], stdin)
            return CommandResult(0, self._act(words), "")
        except CommandFailed as failed:
            return failed.result
        except OSError as error:
            return CommandResult(1, "", f"{words[0]}: {error.filename}: {error.strerror}\n")
        except RailfabError as error:
            return CommandResult(1, "", f"{self.refusal(error)}\n")
        finally:
            self.stdin = former

    @contextmanager
    def as_root(self) -> Iterator[None]:
        """Run with root's privileges."""
        former, self.is_root = self.is_root, True
        try:
            yield
        finally:
            self.is_root = former

    def root_login(self) -> VirtualShell:
        """A new login of root, as that of a job."""
        return type(self)(self._grammar, self.host, CliUser(name=ROOT))

    def path(self, name: str) -> str:
        """The path of a file that a user names."""
        return name if name.startswith("/") else f"{self.variables['HOME']}/{name.removeprefix('~/')}"

    def _act(self, words: Sequence[str]) -> str:
        """Run a command of the table. Raises CommandFailed."""
        names = {entry.words[0] for entry in self._grammar.table.entries}
        if words[0] not in names:
            raise CommandFailed(f"-bash: {words[0]}: command not found", NOT_FOUND)
        typed = self._grammar.table.of_words(self.mode, words)
        if isinstance(typed, NoCommand):
            if not self.is_root and not isinstance(self._grammar.table.of_words(ROOT, words), NoCommand):
                raise CommandFailed(self.text("not_root"))
            raise self._no_command(words, typed)
        if typed.entry.says is not None:
            return _line(typed.entry.says.format(**typed.values))
        action: Callable[..., str] = getattr(self, typed.entry.does or "")
        return _line(action(**typed.values))

    def _no_command(self, words: Sequence[str], mismatch: NoCommand) -> CommandFailed:
        """The answer to words that are no command. The texts `unknown`, `ambiguous` and `incomplete` have the words
        `command`, the first, `word`, that at fault, and `line`, all."""
        place = mismatch.column
        values = {"command": words[0], "word": words[place] if place < len(words) else "", "line": " ".join(words)}
        if mismatch.why not in self._grammar.texts and mismatch.why is not Mismatch.UNKNOWN:
            return CommandFailed(self.text(Mismatch.UNKNOWN, **values), USAGE)
        return CommandFailed(self.text(mismatch.why, **values), USAGE)

    def _run_pipeline(self, pipeline: Pipeline, stdin: Callable[[], str]) -> CommandResult:
        errors = ""
        result = CommandResult(0, "", "")
        for command in pipeline.commands:
            result = self._run_redirected(command, stdin)
            errors += result.errors
            stdin = _constant(result.out)
        return CommandResult(result.status, result.out, errors)

    def _run_redirected(self, command: SimpleCommand, stdin: Callable[[], str]) -> CommandResult:
        """Run a command whose standard input and outputs may be files; those are opened first."""
        files = {operator: self.path(self._expanded(name)) for operator, name in command.files.items()}
        try:
            if "<" in files:
                stdin = _constant(self.host.files.read(files["<"]))
            for operator, path in files.items():
                if operator != "<":
                    self._write(path, "", appends=operator.endswith(">>"))
            result = self.run_words([*map(self._expanded, command.words)], stdin)
            out, errors = result.out, result.errors
            if command.joins_errors:
                out, errors = out + errors, ""
            for operator, path in files.items():
                if operator in (">", ">>"):
                    self._write(path, out, appends=operator == ">>")
                    out = ""
                elif operator in ("2>", "2>>"):
                    self._write(path, errors, appends=operator == "2>>")
                    errors = ""
        except OSError as error:
            return CommandResult(1, "", f"-bash: {error.filename}: {error.strerror}\n")
        return CommandResult(result.status, out, errors)

    def _expanded(self, word: str) -> str:
        return expanded(word, self.variables)

    def _write(self, path: str, text: str, *, appends: bool) -> None:
        if path != SINK:
            self.check_writable(path)
            self.host.files.write(path, text, appends=appends)

    def check_writable(self, path: str) -> None:
        """Raise PermissionError for a file that is root's: those outside the home of a user and /tmp."""
        if not self.is_root and not path.startswith((f"{self.variables['HOME']}/", "/tmp/")):
            raise PermissionError(13, "Permission denied", path)

    def _take_line(self, line: str) -> str:
        """The line with those before it that it completes."""
        whole, self._unfinished = self._unfinished + line, ""
        return whole

    def _reply(self, result: CommandResult) -> Reply:
        output = _line(result.out) + result.errors
        return Reply(output=output, prompt="" if self._ends else self.prompt(), status=result.status, closes=self._ends)


def _reads_input(command: SimpleCommand) -> bool:
    """Whether a command, at a terminal, waits for a text."""
    words = [word for word in command.words if word not in ("sudo", "-n")]
    return (
        bool(words)
        and words[0] in ("cat", "tee")
        and (words == ["cat"] or words[0] == "tee")
        and "<" not in (command.files)
    )


def _constant(text: str) -> Callable[[], str]:
    return lambda: text


def _line(output: str) -> str:
    return f"{output}\n" if output and not output.endswith("\n") else output

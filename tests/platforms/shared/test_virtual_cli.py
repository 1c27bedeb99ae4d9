"""A CLI of modes: prompts, commands, filters, configuration lines, texts from the terminal, and refusals."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.errors import DeviceError
from railfab.platforms.shared.command_table import CommandTable
from railfab.platforms.shared.virtual_cli import CliGrammar, CliRefusal, VirtualCli
from railfab.ssh import END_OF_TEXT, CliUser

GRAMMAR = CliGrammar(
    modes={"exec": "{host}# ", "config": "{host}(config{place})# "},
    configures=frozenset({"config"}),
    texts={
        "unknown": "{caret}\n% Invalid command at '^' marker.",
        "incomplete": "% Incomplete",
        "refused": "% {problem}",
    },
    filters={"include": "include", "exclude": "exclude", "begin": "begin", "count": "count", "no-more": "unchanged"},
    table=CommandTable(
        [
            {"in": "exec", "line": "configure terminal", "does": "enter"},
            {"in": "any", "line": "show {what}", "does": "show"},
            {"in": "exec", "line": "terminal width {columns}", "says": "Width set to {columns} columns."},
            {"in": "exec", "line": "copy terminal: {file}", "does": "copy"},
            {"in": "exec", "line": "exit", "does": "end_session"},
            {"in": "config", "line": "end", "does": "leave"},
            {"in": "exec", "line": "fail", "does": "fail"},
        ]
    ),
)


class Cli(VirtualCli):
    """Keeps what is configured and copied."""

    def __init__(self) -> None:
        super().__init__(GRAMMAR, "leaf1", CliUser(name="admin"))
        self.lines: list[str] = []

    def places(self) -> Mapping[str, str]:
        return {"place": "-if" if self.lines[-1:] == ["interface Ethernet1"] else ""}

    def enter(self) -> str:
        self.mode = "config"
        return ""

    def leave(self) -> str:
        self.mode = "exec"
        return ""

    def show(self, what: str, form: str = "text") -> str:
        return f"{what} as {form}\nEthernet1 up\nEthernet2 down\n"

    def copy(self, file: str) -> str:
        def take(text: str) -> str:
            if "bad" in text:
                raise CliRefusal("% Bad text")
            self.lines += [file, text]
            return "Copy completed successfully."

        self.read_text(take)
        return ""

    def configure(self, line: str) -> str:
        if line == "nonsense":
            raise CliRefusal("% Invalid input")
        self.lines.append(line)
        return ""

    def fail(self) -> str:
        raise DeviceError("leaf1", "cannot", "Wait")


def test_a_command_is_answered_with_its_output_and_the_prompt() -> None:
    cli = Cli()
    reply = cli.answer("term width 511")
    assert (reply.output, reply.prompt, reply.status) == ("Width set to 511 columns.\n", "leaf1# ", 0)
    assert (cli.answer("").output, cli.answer("").prompt) == ("", "leaf1# ")


def test_a_line_that_is_no_command_is_one_of_configuration_where_the_mode_configures() -> None:
    cli = Cli()
    assert cli.answer("conf t").prompt == "leaf1(config)# "
    assert cli.answer("interface Ethernet1").prompt == "leaf1(config-if)# "
    assert cli.answer("nonsense").output == "% Invalid input\n"
    assert cli.answer("end").prompt == "leaf1# "
    assert cli.lines == ["interface Ethernet1"]


def test_a_caret_stands_under_the_word_at_fault() -> None:
    reply = Cli().answer("show interfaces all")
    typed = "leaf1# show interfaces all"
    caret, text = reply.output.splitlines()
    assert (caret.index("^"), text, reply.status) == (typed.index("all"), "% Invalid command at '^' marker.", 1)


def test_output_is_filtered_and_a_form_reaches_the_command() -> None:
    cli = Cli()
    assert cli.answer("show interfaces | include up").output == "Ethernet1 up\n"
    assert cli.answer("show interfaces | exclude Ethernet").output == "interfaces as text\n"
    assert cli.answer("show interfaces | begin Ethernet2 | no-more").output == "Ethernet2 down\n"
    assert cli.answer("show interfaces | count").output == "Count: 3 lines\n"
    assert cli.answer("show interfaces | include *up").output == ""
    assert cli.answer("show interfaces | json").output.splitlines()[0] == "interfaces as json"


def test_a_text_from_the_terminal_ends_with_its_end_and_is_answered_once() -> None:
    cli = Cli()
    assert cli.answer("copy terminal: session").takes_text
    assert cli.answer("exit").prompt == ""
    assert cli.answer(END_OF_TEXT).output == "Copy completed successfully.\n"
    assert cli.lines == ["session", "exit\n"]
    cli.answer("copy terminal: session")
    cli.answer("bad")
    assert (cli.answer(END_OF_TEXT).output, cli.answer("exit").closes) == ("% Bad text\n", True)


def test_an_error_of_the_fabric_is_a_text_of_the_dialect() -> None:
    reply = Cli().answer("fail")
    assert (reply.output, reply.status) == ("% leaf1: cannot. Wait.\n", 1)

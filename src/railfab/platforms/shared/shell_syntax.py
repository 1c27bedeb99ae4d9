"""The part of a shell's language that sessions and operators use on a switch.

Simple commands with quoting, variables and redirections, in lists (`;`, `&&`, `||`) and pipelines (`|`): what POSIX,
"Shell Command Language", 2.2 to 2.9.3 says of them. Substitutions, background lists and compound commands are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


class ShellSyntaxError(Exception):
    """A line that is none of this language. unfinished: a quotation is open, which the next line may close."""

    def __init__(self, problem: str, *, unfinished: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.unfinished = unfinished


@dataclass(slots=True)
class SimpleCommand:
    """Words as they are written, and files by the operator that redirects to or from them: `<`, `>`, `>>`, `2>`, `2>>`.

    joins_errors: standard error goes where standard output goes (`2>&1`).
    """

    words: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    joins_errors: bool = False


@dataclass(slots=True)
class Pipeline:
    """Commands, each of which reads the output of the one before. after: `&&`, `||` or `;`, which stands before it."""

    after: str
    commands: list[SimpleCommand]


REDIRECTIONS = frozenset({"<", ">", ">>", "2>", "2>>"})
LISTS = {"&&": "&&", "||": "||", ";": ";", "\n": ";"}
_TOKEN = re.compile(
    r"""(?:[ \t\r]|\\\n)+
    | (?P<operator>&&|\|\||2>&1|2>>|2>|>>|[;&|<>\n()])
    | (?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s;&|<>()'"\\])+)""",
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(
    r"""'(?P<literal>[^']*)' | "(?P<quoted>(?:\\.|[^"\\])*)" | \\(?P<escaped>.) | (?P<bare>[^'"\\]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE_OR_NAME = re.compile(r"""\\(?P<escaped>["\\$`\n])|\$(?:\{(?P<braced>\w+)\}|(?P<name>[A-Za-z_]\w*|\?))""")
_SUBSTITUTION = re.compile(r"(?<!\\)(?:\$\(|`)")


def pipelines(line: str) -> list[Pipeline]:
    """The pipelines of a line. Raises ShellSyntaxError."""
    parsed = [Pipeline(";", [SimpleCommand()])]
    tokens = [*_tokens(line), ("\n", True)]
    skipped = False
    for (token, is_operator), following in pairwise(tokens):
        command = parsed[-1].commands[-1]
        if skipped:
            skipped = False
        elif not is_operator:
            command.words.append(token)
        elif token in REDIRECTIONS:
            command.files[token], skipped = _file(*following), True
        elif token == "2>&1":
            command.joins_errors = True
        elif token == "|":
            parsed[-1].commands.append(SimpleCommand())
        elif token in LISTS:
            parsed.append(Pipeline(LISTS[token], [SimpleCommand()]))
        else:
            raise _unexpected(token)
    return list(_complete(parsed))


def _file(token: str, is_operator: bool) -> str:
    if is_operator:
        raise _unexpected("newline" if token == "\n" else token)
    return token


def _complete(parsed: Sequence[Pipeline]) -> Iterator[Pipeline]:
    """The pipelines that are not empty; raises ShellSyntaxError for an operator that has no command beside it."""
    for place, pipeline in enumerate(parsed):
        empty = [not command.words and not command.files for command in pipeline.commands]
        if not any(empty):
            yield pipeline
        elif len(empty) > 1:
            raise _unexpected("|")
        elif pipeline.after != ";" or any(later.after != ";" for later in parsed[place + 1 : place + 2]):
            raise _unexpected(pipeline.after)


def _unexpected(token: str) -> ShellSyntaxError:
    return ShellSyntaxError(f"syntax error near unexpected token `{token}'")


def _tokens(line: str) -> Iterator[tuple[str, bool]]:
    """The words and operators of a line, each with whether it is an operator."""
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            raise ShellSyntaxError(f"unexpected EOF while looking for matching `{line[place]}'", unfinished=True)
        place = match.end()
        if match["operator"]:
            yield match["operator"], True
        elif match["word"]:
            yield match["word"], False


def expanded(word: str, variables: Mapping[str, str]) -> str:
    """A word of a command without its quotes, with the values of its variables. Raises ShellSyntaxError."""
    return "".join(_part(part, variables) for part in _PART.finditer(word))


def _part(part: re.Match[str], variables: Mapping[str, str]) -> str:
    for kind in ("literal", "escaped"):
        if part[kind] is not None:
            return part[kind]
    text = part["quoted"] if part["quoted"] is not None else part["bare"]
    if _SUBSTITUTION.search(text):
        raise ShellSyntaxError("command substitution is not available on this virtual switch")
    return _ESCAPE_OR_NAME.sub(lambda match: _expanded(match, variables), text)


def _expanded(match: re.Match[str], variables: Mapping[str, str]) -> str:
    if match["escaped"] is not None:
        return match["escaped"].strip("\n")
    return variables.get(match["braced"] or match["name"], "")

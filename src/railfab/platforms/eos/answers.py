"""Answers of show commands of a virtual switch with EOS: JSON, lines, tables, and what it does not answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from railfab.platforms.eos.running_text import twin_grammar
from railfab.platforms.shared.virtual_cli import CliRefusal

Json = dict[str, Any]
_ONLY = "% Unavailable command (a virtual switch has it {form})"


def answer(form: str, tree: Callable[[], Json] | None, lines: Callable[[], Iterable[str]] | None) -> str:
    """An answer in a form. tree, lines: None where no source shows the JSON, or the text, of the command."""
    if form == "json":
        if tree is None:
            raise CliRefusal(_ONLY.format(form="without | json"))
        return json_text(tree())
    if lines is None:
        raise CliRefusal(_ONLY.format(form="with | json"))
    return lines_text(lines())


def require_json(form: str) -> None:
    """Refuse the text of a command of which no source shows it."""
    if form != "json":
        raise CliRefusal(_ONLY.format(form="with | json"))


def json_text(value: Json) -> str:
    return json.dumps(value, indent=4) + "\n"


def lines_text(lines: Iterable[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in lines)


def table(form: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Lines of a table. form: of a line."""
    return [form.format(*head), *(form.format(*row) for row in rows)]


def unknown() -> CliRefusal:
    """The refusal of a word that EOS does not have here, such as the name of no interface."""
    return CliRefusal(twin_grammar()["texts"]["unknown"])

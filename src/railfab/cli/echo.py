"""Texts on stdout and stderr, of which no character controls the terminal; without rich, which takes long to import."""

from __future__ import annotations

import typer

from railfab.text.printable import printable, printable_lines


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Write a text of lines, escaped where it cannot be printed."""
    typer.echo(printable_lines(text), err=err, nl=nl)


def echo_line(text: str, *, err: bool = False) -> None:
    """Write a text that is one line, also where a value in it has several."""
    typer.echo(printable(text), err=err)

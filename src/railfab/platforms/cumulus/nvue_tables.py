"""Outputs of `nv show`: tables of rows, trees of settings with their operational values, and JSON (NVUE-CLI)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.linux_files import CommandFailed

INDENT = "    "
"""Indent of a table that has a title."""
KIBI = 1024
TREE = ("", "operational", "applied")
NOT_COUNTED = "n/a"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: a line of dashes, and columns as wide as their longest cell."""
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)


def titled(title: str, shown: str) -> str:
    """A table under its title."""
    indented = "".join(f"{INDENT}{line}\n" for line in shown.splitlines())
    return f"{title}\n{'=' * (len(title) + 3)}\n{indented}"


def keyed(key: str, entries: Mapping[str, Mapping[str, object]]) -> str:
    """A table of entries with the same members, by key."""
    members = list(next(iter(entries.values()), {}))
    return table((key, *members), [(name, *map(str, held.values())) for name, held in entries.items()])


def tree(operational: Json, applied: Json | None = None) -> str:
    """A tree of settings, with the values that are operational and those of the applied configuration."""
    return table(TREE, [*_rows(operational, applied or {}, "")])


def _rows(operational: Json, applied: Json, indent: str) -> Iterator[tuple[str, str, str]]:
    for name, value in operational.items():
        stated = applied.get(name, "")
        if isinstance(value, dict):
            yield f"{indent}{name}", "", ""
            yield from _rows(value, stated if isinstance(stated, dict) else {}, f"{indent}  ")
        else:
            yield f"{indent}{name}", str(value), "" if isinstance(stated, dict) else str(stated)


def size(size_bytes: float) -> str:
    """A number of bytes, as NVUE writes it."""
    if size_bytes < KIBI:
        return f"{size_bytes:.0f} Bytes"
    for unit in ("KB", "MB"):
        size_bytes /= KIBI
        if size_bytes < KIBI:
            return f"{size_bytes:.2f} {unit}"
    return f"{size_bytes / KIBI:.2f} GB"


def sized(held: Json, names: Sequence[str]) -> Json:
    """A tree whose members of these names, numbers of bytes, are texts."""
    return {
        name: sized(value, names) if isinstance(value, dict) else size(value) if name in names else value
        for name, value in held.items()
    }


def in_form(form: str, held: object, text: str) -> str:
    """The text of what a command shows, or its JSON. Raises CommandFailed for another form."""
    if form == "text":
        return text
    if form != "json":
        raise CommandFailed(f"Error: Invalid Command: -o {form}")
    return json.dumps(held, indent=2)

"""JSON patches (RFC 6902) of CONFIG_DB, as `config apply-patch` takes them: a whole table, a row, or a field.

A table or row without content is removed with its parent, because CONFIG_DB has no empty tables (sonic-utilities,
generic_updater.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from railfab.errors import ConfigError
from railfab.platforms.sonic.tables import Tables

Operation = dict[str, Any]


def patch(former: Tables, candidate: Tables) -> list[Operation]:
    """The operations that make a candidate of the former tables; removals of a level before its additions."""
    return list(_level(_filled(former), _filled(candidate), (), depth=2))


def _filled(tree: Tables) -> Tables:
    return {name: table for name, table in tree.items() if table}


def _level(
    former: Mapping[str, Any], candidate: Mapping[str, Any], path: tuple[str, ...], *, depth: int
) -> Iterator[Operation]:
    yield from (_operation("remove", *path, name) for name in sorted(former.keys() - candidate.keys()))
    for name, value in sorted(candidate.items()):
        if name not in former:
            yield _operation("add", *path, name) | {"value": value}
        elif former[name] != value and depth:
            yield from _level(former[name], value, (*path, name), depth=depth - 1)
        elif former[name] != value:
            yield _operation("replace", *path, name) | {"value": value}


def _operation(kind: str, *path: str) -> Operation:
    return {"op": kind, "path": "".join(f"/{_escaped(part)}" for part in path)}


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def patched(tree: Tables, operations: Any) -> Tables:
    """The tables after a patch. Raises ConfigError, in the words of the switch's patch library where it has some."""
    if not isinstance(operations, Sequence) or isinstance(operations, str):
        raise _invalid("a patch is a list of operations")
    result = {name: {row: dict(fields) for row, fields in table.items()} for name, table in tree.items()}
    for operation in operations:
        if not isinstance(operation, dict) or operation.get("op") not in ("add", "replace", "remove"):
            raise _invalid(f"unknown operation {operation!r}")
        _apply(result, operation)
    return result


def _apply(tree: Any, operation: Operation) -> None:
    *above, last = [
        part.replace("~1", "/").replace("~0", "~") for part in str(operation.get("path", "")).split("/")[1:]
    ]
    node = tree
    for part in above:
        node = node.get(part) if isinstance(node, dict) else None
    kind = operation["op"]
    if not isinstance(node, dict) or (kind != "add" and last not in node):
        raise _invalid(f"can't {kind} a non-existent object '{last}'")
    if kind == "remove":
        del node[last]
    else:
        node[last] = operation.get("value")


def _invalid(problem: str) -> ConfigError:
    return ConfigError("patch", problem, "Correct it")

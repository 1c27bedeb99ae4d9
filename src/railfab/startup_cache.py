"""Results of slow pure functions of a text, kept beside the bytecode of this module for the next start.

Python keeps the bytecode of a module, but not that of the methods which `dataclasses` generates: it compiles about a
thousand small functions at each start, a fifth of the CPU of `railfab render`. Nor does it keep that of annotations
which are texts, the regular expressions of modules (a tenth), or what is read from the YAML files of a package. All are
functions of a text and of the version of Python, so a result is kept under the hash of its text: a text that changes
has another one. Where the folder of bytecode cannot be written, or bytecode is turned off (PYTHONDONTWRITEBYTECODE),
nothing is kept. The file is trusted as the bytecode beside it is.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import marshal
import os
import re
import sys
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import MAGIC_NUMBER, source_hash
from typing import Any

MOST_ENTRIES = 20_000
"""Entries from which on those that this process has not used are left out."""
PATTERNS = import_module("re._compiler")
"""The compiler of regular expressions."""


class StartupCache:
    """The results in a file, by the hash of their text, each as `marshal` writes it."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._entries: dict[bytes, bytes] = _read(path)
        self._used: dict[bytes, bytes] = {}
        self._has_new = False

    def result(self, kind: str, text: str, compute: Callable[[str], Any]) -> Any:
        """The result of a function of a text, kept or computed; it must be what `marshal` takes."""
        key = source_hash(f"{kind}\0{text}".encode(errors="surrogatepass"))
        kept = self._used.get(key) or self._entries.get(key)
        if kept is not None:
            with suppress(EOFError, ValueError, TypeError):  # of a damaged file
                value = marshal.loads(kept)
                self._used[key] = kept
                return value
        value = compute(text)
        self._used[key] = marshal.dumps(value)
        self._has_new = True
        return value

    def save(self) -> None:
        """Write the file, if it lacks a result; a file that cannot be written is left as it is."""
        if not self._has_new or self._path is None or sys.dont_write_bytecode:
            return
        entries = {**_read(self._path), **self._used}
        entries = self._used if len(entries) > MOST_ENTRIES else entries
        part = f"{self._path}.{os.getpid()}"
        try:
            with open(part, "wb") as file:  # noqa: PTH123 (pathlib is not imported yet at a start)
                file.write(MAGIC_NUMBER + marshal.dumps(entries))
            os.replace(part, self._path)  # noqa: PTH105
        except OSError:
            return
        self._has_new = False


def _read(path: str | None) -> dict[bytes, bytes]:
    """The entries of a file; none where it is missing, of another version of Python, or damaged."""
    try:
        with open(path or os.devnull, "rb") as file:  # noqa: PTH123
            content = file.read()
        entries = marshal.loads(content[len(MAGIC_NUMBER) :]) if content.startswith(MAGIC_NUMBER) else {}
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return entries if isinstance(entries, dict) else {}


def beside_bytecode() -> str | None:
    """Path of the file beside the bytecode of this module; None where Python keeps none."""
    return f"{__spec__.cached.removesuffix('.pyc')}.kept" if __spec__ is not None and __spec__.cached else None


def keep_generated_code(cache: StartupCache) -> None:
    """Have `dataclasses` take the code of the methods that it generates from the cache, `typing` that of the
    annotations that it evaluates, and `re` the patterns that modules compile when they are imported."""

    def code(source: str, file: str, mode: str, **settings: Any) -> Any:
        if settings:
            return builtins.compile(source, file, mode, **settings)
        return cache.result(f"{mode} {file}", source, lambda text: builtins.compile(text, file, mode))

    def run(source: str, global_names: dict[str, Any], local_names: Mapping[str, Any] | None = None) -> None:
        builtins.exec(code(source, "<string>", "exec"), global_names, local_names)

    def pattern(text: Any, flags: int = 0) -> Any:
        in_function = sys._getframe(3).f_code.co_flags & inspect.CO_OPTIMIZED
        if in_function or not isinstance(text, str) or flags & re.DEBUG:
            return compiled(text, flags)
        return PATTERNS._sre.compile(text, *cache.result(f"re {flags}", text, lambda text: _parsed(text, flags)))

    compiled = PATTERNS.compile
    dataclasses.exec = run  # type: ignore[attr-defined]  # shadows the built-in function in that module alone
    typing.compile = code  # type: ignore[attr-defined]
    if all(hasattr(PATTERNS, part) for part in ("_sre", "_parser", "_code")):  # of CPython, and not documented
        PATTERNS.compile = pattern  # type: ignore[attr-defined]


def _parsed(text: str, flags: int) -> tuple[Any, ...]:
    """A pattern as the engine of regular expressions takes it."""
    tree = PATTERNS._parser.parse(text, flags)
    names = {number: name for name, number in tree.state.groupdict.items()}
    groups = tree.state.groups
    code = [*map(int, PATTERNS._code(tree, flags))]
    return flags | tree.state.flags, code, groups - 1, tree.state.groupdict, tuple(map(names.get, range(groups)))


CACHE = StartupCache(beside_bytecode())
"""The cache of this process."""

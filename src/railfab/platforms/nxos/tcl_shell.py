"""The Tcl of `tclsh` on a virtual switch, as far as it writes files: `set`, `open`, `puts`, `close` and comments.

Words and their quotes are those of Tcl: `{...}` as it is, `"..."` with `\\xHH`, `\\n` and escaped characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from railfab.platforms.nxos.bootflash import Bootflash

MOST_CHARACTERS = 1 << 20
"""Longer scripts are discarded."""
FIRST_HANDLE = 32
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}
_OPEN = re.compile(r"\[open\s+(?P<quote>[\"{]?)(?P<path>[^\"{}\s\]]+)[\"}]?\s+\"?(?P<mode>[\w+]+)\"?\s*\]")


class TclError(Exception):
    """A script that Tcl refuses. text: its message."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class TclShell:
    """One `tclsh`. is_open: whether the present command goes on in the next line, before which the prompt is `> `."""

    def __init__(self, flash: Bootflash) -> None:
        self._flash = flash
        self._script: list[str] = []
        self._size = 0
        self._variables: dict[str, str] = {}
        self._files: dict[str, tuple[str, list[str]]] = {}
        self._handle = FIRST_HANDLE

    @property
    def is_open(self) -> bool:
        return bool(self._script)

    def take(self, line: str) -> str:
        """Take a line; the output of the command that it ends. Raises TclError."""
        self._script.append(line)
        self._size += len(line)
        if self._size > MOST_CHARACTERS:
            self._begin()
            raise TclError("script is too long")
        if len(self._script) > 1 and not any(sign in line for sign in '}"'):
            return ""
        script = "\n".join(self._script)
        words = None if _is_open(script) else list(_words(script))
        if words is None:
            return ""
        self._begin()
        return self._run(words) if words else ""

    def _begin(self) -> None:
        self._script, self._size = [], 0

    def _run(self, words: list[str]) -> str:
        match words:
            case ["set", name, value] if opened := _OPEN.fullmatch(value):
                handle = f"file{self._handle}"
                self._handle += 1
                self._files[handle] = (opened["path"], [])
                self._variables[name] = handle
                return handle
            case ["puts", "-nonewline", handle, text]:
                self._content(handle).append(text)
                return ""
            case ["puts", handle, text]:
                self._content(handle).append(f"{text}\n")
                return ""
            case ["puts", text]:
                return text
            case ["close", handle]:
                content = self._content(handle)
                path, _ = self._files.pop(self._handle_of(handle))
                if not self._flash.write(path, _of_bytes("".join(content))):
                    raise TclError(f'error writing "{self._handle_of(handle)}": no space left on device')
                return ""
        raise TclError(f'invalid command name "{words[0]}"')

    def _handle_of(self, word: str) -> str:
        if not word.startswith("$"):
            return word
        if word[1:] not in self._variables:
            raise TclError(f'can\'t read "{word[1:]}": no such variable')
        return self._variables[word[1:]]

    def _content(self, word: str) -> list[str]:
        handle = self._handle_of(word)
        if handle not in self._files:
            raise TclError(f'can not find channel named "{handle}"')
        return self._files[handle][1]


def _is_open(script: str) -> bool:
    """Whether a brace or a quote of a script is not closed yet."""
    if script.lstrip().startswith("#"):
        return False
    return any(end is None for _, end in _spans(script))


def _words(script: str) -> Iterator[str]:
    """The words of a command, of which braces are as they are and quotes are resolved."""
    if script.lstrip().startswith("#"):
        return
    for start, end in _spans(script):
        word = script[start:end]
        if word.startswith("{"):
            yield word[1:-1]
        elif word.startswith('"'):
            yield _ESCAPE.sub(_resolved, word[1:-1])
        else:
            yield word


def _spans(script: str) -> Iterator[tuple[int, int | None]]:
    """Begin and end of each word; the end is None where its quote is not closed."""
    place = 0
    while place < len(script):
        if script[place].isspace():
            place += 1
            continue
        end = _end(script, place)
        yield place, end
        if end is None:
            return
        place = end


def _end(script: str, start: int) -> int | None:
    """The end of the word that begins here."""
    closing = {"{": "}", '"': '"', "[": "]"}.get(script[start])
    if closing is None:
        match = re.compile(r"\S+").match(script, start)
        assert match is not None
        return match.end()
    depth, place = 0, start
    while place < len(script):
        sign = script[place]
        if sign == "\\":
            place += 2
            continue
        if sign == closing and (place > start or closing == "}"):
            depth -= 1
            if depth <= 0:
                return place + 1
        elif sign == script[start]:
            depth += 1
        place += 1
    return None


def _of_bytes(text: str) -> str:
    """The text of a binary file, of which each character is a byte; one with others is text already."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _resolved(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _NAMED.get(match[2], match[2])

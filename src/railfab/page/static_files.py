"""The files of the page: read once from the package, and named by their hashes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

KINDS: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
"""The files that are served, by their ending, and their media types."""
INDEX = "index.html"
_LINK = re.compile(r'((?:href|src)="/assets/)([^"?]+)"')


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the page. digest: of its content."""

    body: bytes
    kind: str
    digest: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Every file, by its path; links of the index have the hash of the file that they lead to."""
    known = {name: _file(name, body) for name, body in _walk(files(__package__) / "assets", "")}
    if INDEX in known:
        linked = _LINK.sub(lambda link: _with_digest(link, known), known[INDEX].body.decode())
        known[INDEX] = _file(INDEX, linked.encode())
    return known


def _with_digest(link: re.Match[str], known: Mapping[str, StaticFile]) -> str:
    held = known.get(link[2])
    return link[0] if held is None else f'{link[1]}{link[2]}?v={held.digest}"'


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir():
            yield from _walk(entry, f"{path}{entry.name}/")
        elif _ending(entry.name) in KINDS:
            yield f"{path}{entry.name}", entry.read_bytes()


def _file(name: str, body: bytes) -> StaticFile:
    return StaticFile(body, KINDS[_ending(name)], hashlib.sha256(body).hexdigest()[:16])


def _ending(name: str) -> str:
    return f".{name.rpartition('.')[2]}"

"""How the page is served: its address, and whether something can be changed from it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from railfab.errors import RailfabError

PAGE_PORT = 9805
"""Port of the page, unless another is stated; that of the collector is one less."""
LOCALHOST = "127.0.0.1"
TOKEN_BYTES = 16
MOST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Where the page is served. port: 0 is any free one."""

    host: str = LOCALHOST
    port: int = PAGE_PORT

    @classmethod
    def parse(cls, text: str) -> PageAddress:
        """The address of `ADDRESS:PORT`, `[ADDRESS]:PORT` or `ADDRESS`. Raises RailfabError."""
        host, colon, port = text.rpartition(":")
        if not colon or (host.count(":") and not host.endswith("]")):
            host, port = text, str(PAGE_PORT)
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isascii() or not port.isdecimal() or int(port) > MOST_PORT:
            remedy = f"Write --listen {LOCALHOST}:{PAGE_PORT}, or --listen {LOCALHOST}:0 for any free port"
            raise RailfabError("--listen", f"{text!r} is no address and port", remedy)
        return cls(host, int(port))


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(TOKEN_BYTES)

"""Names of changes in the alphabet that every switch takes: for configuration sessions, checkpoints, files and jobs.

A token is `railfab.` and the text form of a change, of which each character other than a letter, a digit, `-` and `.`
is `_` and its two hexadecimal digits per byte of UTF-8. Any later process has the change of a token, and the changes of
others have none.
"""

from __future__ import annotations

import re

from railfab.platforms.session import ChangeName

PREFIX = "railfab."
_PLAIN = re.compile(r"[^A-Za-z0-9.-]")
_ESCAPED = re.compile(r"(?:_[0-9A-F]{2})+")


def change_token(change: ChangeName) -> str:
    """The token of a change."""
    return PREFIX + _PLAIN.sub(_escape, str(change))


def change_of_token(token: str) -> ChangeName | None:
    """The change of a token; None for a name that is no token."""
    if not token.startswith(PREFIX):
        return None
    try:
        change = ChangeName.parse(_ESCAPED.sub(_unescape, token.removeprefix(PREFIX)))
    except UnicodeDecodeError:
        return None
    return change if change is not None and change_token(change) == token else None


def _escape(match: re.Match[str]) -> str:
    return "".join(f"_{byte:02X}" for byte in match[0].encode())


def _unescape(match: re.Match[str]) -> str:
    return bytes.fromhex(match[0].replace("_", "")).decode()

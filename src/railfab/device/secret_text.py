"""Lines of configurations as they may be shown: without the secrets that a switch has in them, hashed or not.

A model keeps the lines that it has no word for as they are, so that another secret is another configuration; whatever
is written for a person (a finding, a difference, the lines of a twin) passes through here.
"""

from __future__ import annotations

import re
from functools import cache

HIDDEN = "..."
_VALUE = r"(?P<value>\"[^\"]*\"|'[^']*'|\S+)"
_KIND = r"(?: (?:\d{1,2}|8a|md5|ascii-text|hexadecimal|sha\S*|aes\S*|des|type-\d+|clear|encrypted)(?= \S))*"
"""Words between the name of a secret and the secret: how it is encrypted."""
_NAMES = (
    r"(?<![\w.|])[\w-]*(?:secret|password|passkey|passphrase)",
    r"(?<![\w.|-])(?:secret-|authentication-|pre-shared-)?key(?:-string)?(?! chain| \d+:)(?: \d+ value)?",
    r"\bsnmp\S* (?:.* )?community",
    r"\bread(?:only|write)-community",
    r"\bsnmp-server user .*? auth",
    r"\bpriv",
)


_LEAF = re.compile(
    r"""(?P<name>^\s*(?:-\ )?"?(?:[\w-]+:)?
    (?:(?:[\w-]*[_-])?(?:secret|password|passkey|passphrase|cak|psk|community)
    |(?:(?:secret|auth|authentication|private|shared|pre-shared)[_-])?key)"?\s*:\s+)(?P<value>[^\s\[{].*?)(?=,?$)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A leaf of JSON or YAML, on a line of its own, whose value is a secret."""
_KEY = re.compile(r"""(?P<name>^\s*"?)(?P<value>[^"\s:{}]+)(?="?\s*:)""")
_NTP_VALUE = re.compile(r"""(?P<name>^\s*"?value"?\s*:\s+"?)(?P<value>[^"]+?)(?="?,?$)""")
_TABLES = (
    (re.compile(r"""^\s*"?(?:SNMP_COMMUNITY|read(?:only|write)-community(?:-v6)?)"?\s*:\s*\{?$"""), _KEY, 1),
    (re.compile(r"""^\s*"?NTP_KEY"?\s*:\s*\{?$"""), _NTP_VALUE, 2),
)
"""Tables of JSON or YAML that hold secrets by other names: their first line, the secret, and how deep it is in them."""


def configuration_without_secrets(text: str) -> str:
    """A whole configuration, of lines, JSON or YAML, with `...` in the place of each secret."""
    shown: list[str] = []
    opened: list[int] = []
    secret, wanted, number = _KEY, 0, 0
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        while opened and indent <= opened[-1]:
            opened.pop()
        table = next((table for table in _TABLES if table[0].search(line)), None) if not opened else None
        if table is not None:
            (_, secret, wanted), number = table, 0
        if opened and len(opened) == wanted:
            line, count = secret.subn(rf"\g<name>{HIDDEN}{number + 1}", line)
            number += count
        if opened or table is not None:
            opened.append(indent)
        shown.append(_LEAF.sub(rf'\g<name>"{HIDDEN}"', without_secrets(line)))
    return "\n".join(shown)


def without_secrets(line: str) -> str:
    """The line with `...` in the place of each secret."""
    if not _may_have_secret(line.lower()):
        return line
    for pattern in _patterns():
        line = pattern.sub(_hidden, line)
    return line


def _may_have_secret(line: str) -> bool:
    """Whether a line in small letters has a part of the name of a secret; a fifth of the time of a pattern for it."""
    is_login = "pass" in line or "priv" in line or "auth" in line
    return is_login or "secret" in line or "key" in line or "communit" in line


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """The patterns of a name with its secret; few commands show such a line, and to compile them takes 2 ms."""
    return (
        *(re.compile(rf"(?P<name>{name}{_KIND}) {_VALUE}") for name in _NAMES),
        re.compile(r"(?P<name>SNMP_COMMUNITY\|)(?P<value>\S+)"),
    )


def _hidden(match: re.Match[str]) -> str:
    return match[0][: match.start("value") - match.start()] + HIDDEN

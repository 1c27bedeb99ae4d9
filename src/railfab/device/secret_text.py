"""Lines of configurations as they may be shown: without the secrets that a switch has in them, hashed or not.

A model keeps the lines that it has no word for as they are, so that another secret is another configuration; whatever
is written for a person (a finding, a difference, the lines of a twin) passes through here.
"""

from __future__ import annotations

import re
from functools import cache

HIDDEN = "..."
_VALUE = r"(?P<value>\"[^\"]*\"|'[^']*'|\S+)"
_KIND = r"(?: (?:\d{1,2}|8a|md5|sha\S*|aes\S*|des|type-\d+|clear|encrypted)(?= \S))*"
"""Words between the name of a secret and the secret: how it is encrypted."""
_NAMES = (
    r"(?<![\w.|])[\w-]*(?:secret|password|passkey|passphrase)",
    r"(?<![\w.|-])(?:secret-|authentication-|pre-shared-)?key(?:-string)?(?! chain| \d+:)(?: \d+ value)?",
    r"\bsnmp\S* (?:.* )?community",
    r"\bread(?:only|write)-community",
    r"\bsnmp-server user .*? auth",
    r"\bpriv",
)


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

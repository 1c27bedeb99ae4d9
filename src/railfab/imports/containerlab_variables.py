"""Expand environment variables in a topology file, as containerlab does before it parses the YAML.

Source: containerlab, docs/manual/topo-def-file.md, "Environment variables", and core/file.go: a variable that is not
set and has no default is left unchanged, and `$1` is not a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

VARIABLE = re.compile(
    r"\$(?P<escaped>\$)"
    r"|\$\{(?P<name>[A-Za-z_]\w*)(?:(?P<rule>:?[-=+])(?P<word>[^{}\n]*))?\}"
    r"|\$(?P<bare>[A-Za-z_]\w*)"
)


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """The text with every variable replaced."""
    if "$" not in text:
        return text
    return VARIABLE.sub(lambda match: _value(match, environment), text)


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    if match["escaped"]:
        return "$"
    value = environment.get(match["name"] or match["bare"])
    rule = match["rule"]
    if rule is None:
        return match[0] if value is None else value
    word = expanded(match["word"], environment)
    is_set = value is not None and (bool(value) or not rule.startswith(":"))
    if rule.endswith("+"):
        return word if is_set else ""
    return str(value) if is_set else word

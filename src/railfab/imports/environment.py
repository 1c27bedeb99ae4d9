"""Variables of the environment in a topology file, as containerlab expands them before it reads the YAML.

Source: containerlab, docs/manual/topo-def-file.md, "Environment variables", and core/file.go: a variable that is not
set and has no default stays as it is written, and `$1` is none.
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
    return VARIABLE.sub(lambda found: _value(found, environment), text)


def _value(found: re.Match[str], environment: Mapping[str, str]) -> str:
    if found["escaped"]:
        return "$"
    value = environment.get(found["name"] or found["bare"])
    rule = found["rule"]
    if rule is None:
        return found[0] if value is None else value
    word = expanded(found["word"], environment)
    there = value is not None and (bool(value) or not rule.startswith(":"))
    if rule.endswith("+"):
        return word if there else ""
    return str(value) if there else word

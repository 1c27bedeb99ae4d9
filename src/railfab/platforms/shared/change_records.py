"""Records of changes in files of a switch that runs Linux, and the sentences about them."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.platforms.session import ChangeName


def number(text: str, default: float) -> float:
    """The first number of a file, such as `/proc/uptime`; the default where it has none."""
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        return default


def ends_of(lines: Iterable[str]) -> dict[str, str]:
    """The end of each change by its token, `confirmed TOKEN` a line; the last counts."""
    pairs = (line.partition(" ") for line in lines)
    return {name: how for how, _, name in pairs}


def described(name: ChangeName | None, age_s: float, ending: str) -> str:
    """One line: whose change it is, how long ago it was made, and how it will end."""
    whose = f"{name.deploy} of {name.user}@{name.host}" if name else "a change without a name"
    return f"{whose}, made {max(age_s, 0):.0f} s ago, {ending}"

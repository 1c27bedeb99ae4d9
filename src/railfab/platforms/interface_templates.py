"""Interface names as templates, and their translation between the canonical name and that of a lab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_FIELD = re.compile(r"\{(cage|lane|sub|port)(?:/(\d+))?([+-]\d+)?\}")
_NUMBERS = {"cage": r"[1-9]\d*", "lane": r"[1-9]\d*", "sub": r"0|[1-9]\d*", "port": r"0|[1-9]\d*"}


@dataclass(frozen=True, slots=True)
class InterfaceTemplates:
    """Names of a platform's interfaces in a lab, by canonical name.

    templates: canonical template to lab template, None for ports that have no name in the lab. `{cage}` and `{lane}`
    are numbers from 1, `{port}` and `{sub}` (a lane) from 0. In a lab template a number may be divided and moved:
    `{port/4+1}` makes `eth2` of `Ethernet4`, and `Ethernet5` has no name then.
    """

    templates: Mapping[str, str | None]

    @property
    def named(self) -> Mapping[str, str]:
        """The templates of the ports that have a name in the lab."""
        return {name: lab for name, lab in self.templates.items() if lab is not None}

    def lab(self, canonical: str) -> str | None:
        """The name in the lab; None for an interface that the platform does not have there."""
        for template, wanted in self.named.items():
            match = _pattern(template).fullmatch(canonical)
            if match is not None:
                return _filled(wanted, {name: int(number) for name, number in match.groupdict().items()})
        return None

    def port(self, cage: int, lane: int | None = None) -> str | None:
        """The canonical name of a port, counted from 1; None where the platform has no breakout ports."""
        for template, wanted in self.templates.items():
            if (lane is not None) == ("{lane}" in template or "{sub}" in template):
                step = _lanes_of_cage(wanted)
                return template.format(cage=cage, lane=lane, sub=(lane or 1) - 1, port=(cage - 1) * step)
        return None

    def lanes(self, cage: int, count: int) -> tuple[str | None, ...]:
        """The canonical names of the ports of a cage that is split into so many.

        Where a template has no `{lane}`, a port has the number of its first electrical lane on the switch, of which a
        cage has as many as the numbers of two cages are apart: `Ethernet2` is the second of two ports of `Ethernet0`.
        """
        named = tuple(self.port(cage, lane) for lane in range(1, count + 1))
        if None not in named:
            return named
        for template, wanted in self.templates.items():
            step = _lanes_of_cage(wanted)
            if "{port}" in template and step % count == 0:
                first = (cage - 1) * step
                return tuple(template.format(port=first + lane * step // count) for lane in range(count))
        return named

    def position(self, lab: str) -> tuple[int, int | None] | None:
        """Cage and lane, from 1, of a name in the lab, the lane None without breakout; None for any other name."""
        for template in self.named.values():
            if match := _pattern(template).fullmatch(lab):
                moved = {field[1]: int(match[field[1]]) - int(field[3] or 0) for field in _FIELD.finditer(template)}
                cage = moved["port"] + 1 if "port" in moved else moved["cage"]
                lane = moved["sub"] + 1 if "sub" in moved else moved.get("lane")
                return (cage, lane) if cage > 0 else None
        return None

    def __str__(self) -> str:
        return " or ".join(self.named)


def _lanes_of_cage(wanted: str | None) -> int:
    """By how much the numbers of two cages are apart."""
    return next((int(match[2] or 1) for match in _FIELD.finditer(wanted or "") if match[1] == "port"), 1)


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    out, at = "", 0
    for match in _FIELD.finditer(template):
        out += f"{re.escape(template[at : match.start()])}(?P<{match[1]}>{_NUMBERS[match[1]]})"
        at = match.end()
    return re.compile(out + re.escape(template[at:]))


def _filled(template: str, numbers: Mapping[str, int]) -> str | None:
    """The template with its numbers; None when one of them cannot be divided evenly."""
    out, at = "", 0
    for match in _FIELD.finditer(template):
        quotient, rest = divmod(numbers[match[1]], int(match[2] or 1))
        if rest:
            return None
        out += f"{template[at : match.start()]}{quotient + int(match[3] or 0)}"
        at = match.end()
    return out + template[at:]

"""Counters and descriptions of ports, as the show commands of several CLIs have them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railfab.platforms.twin_face import VirtualDevice

_SECTION = re.compile(r"^interface (\S+)\n((?: +.*\n)*)", re.MULTILINE)
_DESCRIPTION = re.compile(r"^ +description (.*)$", re.MULTILINE)


def port_counters(device: VirtualDevice, names: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The counters of each port. names: of the platform, by metric; a counter is the sum of its series."""
    counters: dict[str, dict[str, int]] = {}
    for metric, labels, value in device.readings():
        if (name := names.get(metric)) is not None:
            of_port = counters.setdefault(labels["interface"], dict.fromkeys(names.values(), 0))
            of_port[name] += int(value)
    return counters


def port_descriptions(configuration: str) -> dict[str, str]:
    """The descriptions of interfaces in a configuration of lines."""
    sections = _SECTION.finditer(configuration)
    return {match[1]: text[1] for match in sections if (text := _DESCRIPTION.search(match[2]))}

"""Counters and descriptions of ports, as the show commands of several CLIs have them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from railfab.platforms.twin_face import VirtualDevice

_SECTION = re.compile(r"^interface (\S+)\n((?: +.*\n)*)", re.MULTILINE)


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
    word = "description "
    return {
        name: line.removeprefix(word)
        for name, lines in interface_sections(configuration).items()
        for line in lines
        if line.startswith(word)
    }


def interface_sections(configuration: str) -> dict[str, tuple[str, ...]]:
    """The lines of each interface in a configuration of lines, without their indents."""
    return {
        match[1]: tuple(line.strip() for line in match[2].splitlines()) for match in _SECTION.finditer(configuration)
    }

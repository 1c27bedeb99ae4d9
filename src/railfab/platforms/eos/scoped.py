"""Part of a configuration that is the operator's, where the intent does not state it; and the startup file of a lab."""

from __future__ import annotations

import re
from collections.abc import Callable

from railfab.platforms.eos.lines import FORMAT, text
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.operator_topics import OperatorTopics

OPERATORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"username .*",
        r"role .*",
        r"enable .*",
        r"aaa .*",
        r"tacacs-server .*",
        r"radius-server .*",
        r"banner login\n(?s:.*)",
        r"banner motd\n(?s:.*)",
        r"ntp .*",
        r"(?:no )?logging .*",
        r"snmp-server .*",
        r"(?:clock|dns|ip domain|ip name-server|ip host|ip domain-name) .*",
        r"(?:daemon|event-handler|alias|prompt|terminal|schedule|boot|license|queue-monitor) .*",
        r"management api gnmi",
        r"management ssh",
        r"management (?!api gnmi|ssh).*",
        r"interface Management\d\S*",
        r"(?:ip|ipv6) route vrf .*",
    )
)
"""Lines of the operator by topic: those of a topic that a rendered configuration has are the intent's."""

TOPICS = OperatorTopics(FORMAT, OPERATORS)

_VRF = re.compile(r"vrf instance (\S+)")

LOGIN = Line("username admin privilege 15 secret admin")
"""The published login of containerlab's cEOS (nodes/ceos/ceos.cfg), which `lab.yml` has too; for labs only."""

GNMI = Line("management api gnmi", (Line("transport grpc default"), Line("provider eos-native")))


def scoped(configuration: str, rendered: str) -> str:
    """A configuration without what is the operator's because the rendered one does not state it.

    The VRF of the management port is too, unless packets are routed in it.
    """
    return TOPICS.scoped(configuration, rendered, _operators_vrfs(configuration, rendered))


def is_as_written(configuration: str, rendered: str) -> bool:
    """See `OperatorTopics.is_as_written`."""
    return TOPICS.is_as_written(configuration, rendered, _operators_vrfs(configuration, rendered))


def _operators_vrfs(configuration: str, rendered: str) -> Callable[[Line], bool]:
    """Whether a line is a VRF that the rendered configuration does not state, and in which no packets are routed."""

    def is_operators(line: Line) -> bool:
        vrf = _VRF.fullmatch(line.text)
        return vrf is not None and line.text not in TOPICS.stated(rendered) and vrf[1] not in _routed(configuration)

    return is_operators


def _routed(configuration: str) -> set[str]:
    """The VRFs in which packets are routed."""
    lines = FORMAT.tree(configuration)
    return {match[1] for line in lines if (match := re.fullmatch(r"ip routing .*vrf (\S+)", line.text))}


def former_text(configuration: str, rendered: str) -> str:
    """The part of a configuration that a rendered one replaces, so that a deploy of it restores that."""
    return TOPICS.replaced(rendered) + scoped(configuration, rendered)


def startup(lines: tuple[Line, ...]) -> str:
    """The startup file of a lab, with a login, and with a gNMI server where the intent states none."""
    served = any(line.text == GNMI.text for line in lines)
    return text((LOGIN, *lines, *(() if served else (GNMI,))))

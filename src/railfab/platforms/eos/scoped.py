"""Part of a configuration that is the operator's, where the intent does not state it; and the startup file of a lab."""

from __future__ import annotations

import re

from railfab.platforms.eos.lines import FORMAT, text
from railfab.platforms.shared.line_tree import Line

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

REPLACED = "! replaces "
"""Beginning of a comment with a line of the operator's topics that the text around it removes: see `former_text`."""

_VRF = re.compile(r"vrf instance (\S+)")

LOGIN = Line("username admin privilege 15 secret admin")
"""The published login of containerlab's cEOS (nodes/ceos/ceos.cfg), which `lab.yml` has too; for labs only."""

GNMI = Line("management api gnmi", (Line("transport grpc default"), Line("provider eos-native")))


def scoped(configuration: str, rendered: str) -> str:
    """A configuration without what is the operator's because the rendered one does not state it.

    The VRF of the management port is too, unless packets are routed in it.
    """
    wanted = [line.text for line in FORMAT.tree(rendered)] + _replaced(rendered)
    foreign = [topic for topic in OPERATORS if not any(map(topic.fullmatch, wanted))]
    lines = FORMAT.tree(configuration)
    routed = {match[1] for line in lines if (match := re.fullmatch(r"ip routing .*vrf (\S+)", line.text))}

    def is_operators(line: Line) -> bool:
        vrf = _VRF.fullmatch(line.text)
        if vrf is not None and line.text not in wanted and vrf[1] not in routed:
            return True
        return any(topic.fullmatch(line.text) for topic in foreign)

    return text(tuple(line for line in lines if not is_operators(line)))


def former_text(configuration: str, rendered: str) -> str:
    """The part of a configuration that a rendered one replaces, so that a deploy of it restores that.

    It says, as comments, of which of the operator's topics the rendered one has lines: what it has there is removed.
    """
    texts = [*_replaced(rendered), *(line.text for line in FORMAT.tree(rendered))]
    topics = [each for each in texts if any(topic.fullmatch(each) for topic in OPERATORS)]
    comments = [REPLACED + each.replace("\n", "\\n") + "\n" for each in dict.fromkeys(topics)]
    return "".join(comments) + scoped(configuration, rendered)


def _replaced(text: str) -> list[str]:
    comments = [line for line in text.splitlines() if line.startswith(REPLACED)]
    return [line.removeprefix(REPLACED).replace("\\n", "\n") for line in comments]


def startup(lines: tuple[Line, ...]) -> str:
    """The startup file of a lab, with a login, and with a gNMI server where the intent states none."""
    served = any(line.text == GNMI.text for line in lines)
    return text((LOGIN, *lines, *(() if served else (GNMI,))))

"""The classifier of a whole switch, as one of each of its ports with QoS.

Source: Nexus 9000 QoS guide, Using Modular QoS CLI: a policy of `system qos` holds for interfaces without their own.
"""

from __future__ import annotations

from railfab.platforms.shared.line_tree import Line

SYSTEM = "system qos"
INPUT = "service-policy type qos input "
_OF_ROCE = ("priority-flow-control mode ", "service-policy type queuing output ")


def with_classifiers(lines: list[Line]) -> list[Line]:
    """The lines with the classifier of the switch at every port with PFC or a queuing policy.

    They are as they are where there is no such port.
    """
    section = next((line for line in lines if line.text == SYSTEM), None)
    policy = next((child for child in section.children if child.text.startswith(INPUT)), None) if section else None
    if section is None or policy is None or not any(map(_is_port, lines)):
        return lines
    kept = Line(SYSTEM, tuple(child for child in section.children if child is not policy), section.number)
    return [
        kept if line is section else Line(line.text, (*line.children, policy), line.number) if _is_port(line) else line
        for line in lines
    ]


def _is_port(line: Line) -> bool:
    """Whether a line is the section of a port of RoCE without a classifier."""
    if not line.text.startswith(("interface Ethernet", "interface port-channel")):
        return False
    texts = [child.text for child in line.children]
    return any(text.startswith(_OF_ROCE) for text in texts) and not any(text.startswith(INPUT) for text in texts)

"""PFC, ECN and DSCP of the ports of a Cumulus Linux switch: the operational values of RoCE.

NVIDIA's pages show these values in text (RDMA over Converged Ethernet); their JSON has the same names. A value that is
written otherwise is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from railfab.bounded_json import load_json
from railfab.platforms.cumulus.nodes import at

ON, OFF = frozenset(("yes", "enabled", "on")), frozenset(("no", "disabled", "off"))
NOTHING = "-"
_NUMBERS = re.compile(r"\d+(,\d+)*")


class RoceOperation(NamedTuple):
    """Operation of a port; see ObservedInterface. dscp: of the code points of RoCE and of congestion notifications."""

    pfc: frozenset[int] | None
    ecn: frozenset[int] | None
    dscp: Mapping[int, int] | None


def roce_ports(shown: str) -> Mapping[str, RoceOperation]:
    """Read what each port does, from `nv show interface qos-roce-status -o json`; none where RoCE is off."""
    try:
        document = load_json(shown)
    except ValueError:
        return {}
    if not isinstance(document, dict):
        return {}
    statuses = {port: at(document, port, "qos", "roce", "status") for port in document}
    return {port: _port(status) for port, status in statuses.items() if status}


def _port(status: Mapping[str, Any]) -> RoceOperation:
    pfc, congestion = at(status, "pfc"), at(status, "congestion-control")
    points = dict(_points(status))
    return RoceOperation(_priorities(pfc), _numbers(congestion.get("enabled-tc")), points or None)


def _priorities(pfc: Mapping[str, Any]) -> frozenset[int] | None:
    """Priorities whose pause frames a port sends and obeys; None where one of the values is not known."""
    switches = {str(pfc.get(way)) for way in ("rx-enabled", "tx-enabled")}
    if not switches <= ON | OFF:
        return None
    return _numbers(pfc.get("pfc-priority")) if switches <= ON else frozenset()


def _points(status: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Code points and their queue, by the names of both maps: `roce` and `cnp`."""
    queues = at(status, "tc-map")
    for name, entry in at(status, "prio-map").items():
        queue = _numbers(at(queues, name).get("traffic-class"))
        for point in _numbers(entry.get("dscp")) or () if isinstance(entry, dict) else ():
            if queue is not None and len(queue) == 1:
                yield point, next(iter(queue))


def _numbers(value: object) -> frozenset[int] | None:
    """The numbers of a list as NVUE writes it; None for another value."""
    text = str(value)
    if text == NOTHING:
        return frozenset()
    return frozenset(map(int, text.split(","))) if _NUMBERS.fullmatch(text) else None

"""PFC, ECN and DSCP of the ports of a SONiC switch, from ASIC_DB: what orchagent has had the chip do.

Attributes and their defaults: SAI, saiport.h and saiqueue.h; layouts: sonic-swss, tests, and sonic-db-dump.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from railfab.bounded_json import load_json
from railfab.device import PortOperation
from railfab.platforms.sonic.qos import CODE_POINTS, QUEUES

PORT, QUEUE, MAP, WRED = "PORT", "QUEUE", "QOS_MAP", "WRED"
PFC, PFC_RECEIVED, PFC_SENT = (f"SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL{part}" for part in ("", "_RX", "_TX"))
PFC_MODE, SEPARATE = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE", "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE"
DSCP_MAP, QUEUE_MAP = "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP", "SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP"
MAP_VALUES = "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST"
PROFILE, MARKS, MARKS_NOTHING = (
    "SAI_QUEUE_ATTR_WRED_PROFILE_ID",
    "SAI_WRED_ATTR_ECN_MARK_MODE",
    "SAI_ECN_MARK_MODE_NONE",
)
_KEY = re.compile(r"ASIC_STATE:SAI_OBJECT_TYPE_(\w+):(oid:0x[0-9a-f]+)")

Fields = Mapping[str, str]
Objects = Mapping[str, Mapping[str, Fields]]
"""Attributes by kind and identifier."""


def asic_ports(*, ports: str, queues: str, asic: str) -> Mapping[str, PortOperation]:
    """Read what each port does; none where the switch answers otherwise than sonic-swss does.

    ports, queues: names with their identifiers, from COUNTERS_DB. asic: the dump of the objects of QoS.
    """
    try:
        objects, names = _objects(asic), _names(ports)
        marking = _marking_queues(objects, _names(queues))
        maps = {identifier: _map(fields) for identifier, fields in objects.get(MAP, {}).items()}
        return {
            name: PortOperation(pfc=_pfc(fields), ecn=marking.get(name, frozenset()), dscp=_dscp(fields, maps))
            for name, identifier in names.items()
            if (fields := objects.get(PORT, {}).get(identifier)) is not None
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _names(shown: str) -> dict[str, str]:
    """Names and identifiers, which `sonic-db-cli` prints as a dictionary of Python; none of them has a quote in it.

    `ast.literal_eval` reads it too, and raised SystemError in one of several threads that did so (Python 3.11.7).
    """
    names = load_json(shown.strip().replace("'", '"') or "{}")
    if not isinstance(names, dict):
        raise TypeError(names)
    return names


def _objects(dump: str) -> Objects:
    objects: dict[str, dict[str, Fields]] = {}
    for key, entry in load_json(dump).items():
        if match := _KEY.fullmatch(key):
            objects.setdefault(match[1], {})[match[2]] = entry["value"]
    return objects


def _pfc(port: Fields) -> frozenset[int]:
    """Priorities whose pause frames a port sends and obeys; none by default."""
    masks = (PFC_RECEIVED, PFC_SENT) if port.get(PFC_MODE) == SEPARATE else (PFC,)
    enabled = [int(port.get(mask, "0")) for mask in masks]
    return frozenset(priority for priority in QUEUES if all(mask >> priority & 1 for mask in enabled))


def _dscp(port: Fields, maps: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    """The queue of each code point. Without a map all packets have traffic class 0, and all classes queue 0."""
    classes, queues = (maps.get(port.get(attribute, ""), {}) for attribute in (DSCP_MAP, QUEUE_MAP))
    return {point: queues.get(classes.get(point, 0), 0) for point in CODE_POINTS}


def _map(fields: Fields) -> dict[int, int]:
    """Traffic class by code point, or queue by traffic class; empty for another map."""
    kind = fields.get("SAI_QOS_MAP_ATTR_TYPE", "").removeprefix("SAI_QOS_MAP_TYPE_")
    members = {"DSCP_TO_TC": ("dscp", "tc"), "TC_TO_QUEUE": ("tc", "qidx")}.get(kind)
    if members is None:
        return {}
    key, value = members
    return {entry["key"][key]: entry["value"][value] for entry in json.loads(fields[MAP_VALUES])["list"]}


def _marking_queues(objects: Objects, names: Mapping[str, str]) -> dict[str, frozenset[int]]:
    """The queues of each port whose profile of WRED marks."""
    marking = {identifier for identifier, fields in objects.get(WRED, {}).items() if _marks(fields)}
    queues: dict[str, set[int]] = {}
    for name, identifier in names.items():
        port, _, number = name.partition(":")
        if objects.get(QUEUE, {}).get(identifier, {}).get(PROFILE) in marking:
            queues.setdefault(port, set()).add(int(number))
    return {port: frozenset(numbers) for port, numbers in queues.items()}


def _marks(fields: Fields) -> bool:
    return fields.get(MARKS, MARKS_NOTHING) != MARKS_NOTHING

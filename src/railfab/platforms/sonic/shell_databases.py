"""Reads of the databases of a virtual SONiC switch: names in COUNTERS_DB, and objects of QoS in ASIC_DB.

A virtual switch does what CONFIG_DB states, and orchagent has programmed all of it. Identifiers: sonic-sairedis, with
the type of the object in the upper bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase

from railfab.device import operations
from railfab.platforms.sonic.asic_state import (
    DSCP_MAP,
    MAP,
    MAP_VALUES,
    MARKS,
    PFC,
    PORT,
    PROFILE,
    QUEUE,
    QUEUE_MAP,
    WRED,
)
from railfab.platforms.sonic.parse import parse_tree
from railfab.platforms.sonic.shell_login import SonicLogin

TYPES = {PORT: 0x01, WRED: 0x13, MAP: 0x14, QUEUE: 0x15}
"""Numbers of the types of objects (saitypes.h)."""
QUEUES_A_PORT = 8
IDENTITY = dict(zip(range(QUEUES_A_PORT), range(QUEUES_A_PORT), strict=True))
Fields = dict[str, str]


class SonicDatabases(SonicLogin):
    """The commands that read a database."""

    def port_names(self) -> str:
        return str({port.name: identifier(PORT, number) for number, port in enumerate(self.ports())})

    def queue_names(self) -> str:
        return str(
            {
                f"{port.name}:{queue}": identifier(QUEUE, number * QUEUES_A_PORT + queue)
                for number, port in enumerate(self.ports())
                for queue in range(QUEUES_A_PORT)
            }
        )

    def dump_asic(self, pattern: str) -> str:
        """The objects whose keys match a pattern of Redis."""
        held = {
            f"ASIC_STATE:SAI_OBJECT_TYPE_{kind}:{identity}": {"type": "hash", "value": fields}
            for kind, identity, fields in self._objects()
        }
        return json.dumps({key: entry for key, entry in held.items() if fnmatchcase(key, pattern)}, indent=2)

    def _objects(self) -> Iterator[tuple[str, str, Fields]]:
        done = operations(parse_tree(self.tables()))
        maps: dict[tuple[tuple[int, int], ...], str] = {}
        yield WRED, identifier(WRED, 0), {MARKS: "SAI_ECN_MARK_MODE_ALL"}
        yield MAP, (queues := identifier(MAP, 0)), _map("TC_TO_QUEUE", "tc", "qidx", IDENTITY)
        for number, port in enumerate(self.ports()):
            operation = done.get(port.name)
            if operation is None:
                yield PORT, identifier(PORT, number), {"NULL": "NULL"}
                continue
            points = tuple(sorted(operation.dscp.items()))
            if points not in maps:
                maps[points] = identifier(MAP, len(maps) + 1)
                yield MAP, maps[points], _map("DSCP_TO_TC", "dscp", "tc", dict(points))
            pfc = str(sum(1 << priority for priority in operation.pfc))
            yield PORT, identifier(PORT, number), {PFC: pfc, DSCP_MAP: maps[points], QUEUE_MAP: queues}
            for queue in sorted(operation.ecn):
                yield QUEUE, identifier(QUEUE, number * QUEUES_A_PORT + queue), {PROFILE: identifier(WRED, 0)}


def identifier(kind: str, number: int) -> str:
    """The identifier of the object of a type with this number."""
    return f"oid:0x{TYPES[kind]:x}{number:012x}"


def _map(kind: str, key: str, value: str, entries: dict[int, int]) -> Fields:
    listed = [{"key": {key: number}, "value": {value: to}} for number, to in entries.items()]
    values = json.dumps({"count": len(listed), "list": listed})
    return {"SAI_QOS_MAP_ATTR_TYPE": f"SAI_QOS_MAP_TYPE_{kind}", MAP_VALUES: values}

"""The trace of a rank as a Chakra execution trace: protobuf messages with their lengths in front.

Source: mlcommons/chakra 1.0.0, schema/protobuf/et_def.proto, and the attributes that ASTRA-sim 518bd51 reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from railfab.workload.recorded.chakra import COLLECTIVE, COMPUTE, OPS, RECEIVE, SEND, chakra_messages
from railfab.workload.recorded.nodes import NodeKind, TraceNode

VERSION = "1.0.0"
TYPES = {
    NodeKind.COMPUTE: COMPUTE,
    NodeKind.SEND: SEND,
    NodeKind.RECEIVE: RECEIVE,
    NodeKind.COLLECTIVE: COLLECTIVE,
    NodeKind.MARK: 1,
}
COMM_TYPES = {op: number for number, op in reversed(OPS.items())}
"""The number of each operation; the first of several."""


def trace_bytes(nodes: Sequence[TraceNode]) -> bytes:
    """The file of a rank. Raises RailfabError without protobuf."""
    kinds = chakra_messages()
    metadata: Any = kinds["GlobalMetadata"](version=VERSION)
    messages = [metadata.SerializeToString()]
    messages += [_message(kinds["Node"], node, nodes).SerializeToString() for node in nodes]
    return b"".join(_length(len(message)) + message for message in messages)


def _message(kind: Any, node: TraceNode, nodes: Sequence[TraceNode]) -> Any:
    message = kind(
        id=node.number,
        name=node.name,
        type=TYPES[node.kind],
        data_deps=[nodes[place].number for place in node.after],
        duration_micros=round(node.seconds * 1e6),
    )
    for name, value in _attributes(node).items():
        field = "bool_val" if isinstance(value, bool) else "string_val" if isinstance(value, str) else "int64_val"
        message.attr.add(name=name, **{field: value})
    return message


def _attributes(node: TraceNode) -> dict[str, int | bool | str]:
    """What readers ask of a node: integers as int64_val, since others are read as 0."""
    match node.kind:
        case NodeKind.COLLECTIVE:
            named = {"pg_name": node.group} if node.group else {}
            return {
                "is_cpu_op": False,
                "comm_type": COMM_TYPES[node.op],
                "comm_size": node.size_bytes,
                **named,
            }
        case NodeKind.SEND:
            return {"is_cpu_op": False, "comm_dst": node.peer, "comm_size": node.size_bytes, "comm_tag": node.tag}
        case NodeKind.RECEIVE:
            return {"is_cpu_op": False, "comm_src": node.peer, "comm_size": node.size_bytes, "comm_tag": node.tag}
    return {"is_cpu_op": node.on_host}


def _length(value: int) -> bytes:
    """A number in groups of seven bits."""
    octets = bytearray()
    while value > 127:
        octets.append(value & 127 | 128)
        value >>= 7
    return bytes([*octets, value])

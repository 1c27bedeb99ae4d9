"""Chakra execution traces: a file for each rank, `PREFIX.RANK.et`, of protobuf messages with their lengths in front.

The first message is the metadata, the others are nodes (mlcommons/chakra 1.0.0, schema/protobuf/et_def.proto). Only the
fields that are read are described here; protobuf skips the others.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from railfab.errors import IntentError, RailfabError
from railfab.text.counted import listed
from railfab.text.display import display
from railfab.text.remedies import install
from railfab.workload.recorded.nodes import NodeKind, TraceNode, check_order
from railfab.workload.recorded.trace import RankTraces

if TYPE_CHECKING:
    from google.protobuf.message import Message

FILE = re.compile(r"(?P<prefix>.+)\.(?P<rank>\d+)\.et")
MOST_NODES = 4_000_000
"""Nodes of all ranks, for which a process has some 4 GB."""
MOST_BYTES = 1 << 30
"""Largest file of a rank, unpacked."""
GZIP = b"\x1f\x8b"
SCALARS = {
    **{3: "double", 5: "float", 7: "int32", 9: "int64", 11: "uint32", 13: "uint64", 15: "sint32", 17: "sint64"},
    **{19: "fixed32", 21: "fixed64", 23: "sfixed32", 25: "sfixed64", 27: "bool", 29: "string"},
}
ATTRIBUTES = {f"{kind}_val": (number, kind.upper()) for number, kind in SCALARS.items()}
ATTRIBUTES["bool_list"] = (28, "BoolList")
"""Values that an attribute may have, one of them: number and type of each field of AttributeProto."""
NODE = {
    "id": (1, "UINT64"),
    "name": (2, "STRING"),
    "type": (3, "INT32"),
    "ctrl_deps": (4, "UINT64[]"),
    "data_deps": (5, "UINT64[]"),
    "duration_micros": (7, "UINT64"),
    "attr": (10, "AttributeProto[]"),
}
MARK_TYPES = {1: "", 2: "loads of memory", 3: "stores of memory"}
"""Types of nodes that take no time here, and what they are called; metadata means nothing."""
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
OPS = {0: "allreduce", 2: "allgather", 5: "broadcast", 6: "alltoall", 7: "reducescatter", 8: "reducescatter"}
OTHER_OPS = {1: "reduce", 3: "gather", 4: "scatter", 9: "barrier"}
"""Operations in which ranks only wait for each other here."""


@cache
def chakra_messages() -> dict[str, type[Message]]:
    """The classes of GlobalMetadata and Node. Raises RailfabError without protobuf."""
    try:
        from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
        from google.protobuf.descriptor_pool import DescriptorPool
        from google.protobuf.message_factory import GetMessageClass
    except ImportError:
        raise RailfabError("protobuf", "it is not installed, and Chakra traces need it", install("traces")) from None
    file = FileDescriptorProto(name="railfab_chakra.proto", package="ChakraProtoMsg", syntax="proto3")
    fields: dict[str, dict[str, tuple[int, str]]] = {
        "BoolList": {"values": (1, "BOOL[]")},
        "AttributeProto": {"name": (1, "STRING"), **ATTRIBUTES},
        "GlobalMetadata": {"version": (1, "STRING")},
        "Node": NODE,
    }
    for message, described in fields.items():
        entry = file.message_type.add(name=message)
        if message == "AttributeProto":
            entry.oneof_decl.add(name="value")
        for name, (number, kind) in described.items():
            field = entry.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
            if kind.endswith("[]"):
                kind, field.label = kind.removesuffix("[]"), FieldDescriptorProto.LABEL_REPEATED
            if kind in fields:
                field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".ChakraProtoMsg.{kind}"
            else:
                field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind}")
            if name in ATTRIBUTES:
                field.oneof_index = 0
    pool = DescriptorPool()
    pool.Add(file)
    names = ("GlobalMetadata", "Node")
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}")) for name in names}


def rank_files(path: Path) -> tuple[Path, ...]:
    """The files of the traces that a path means, by rank: a prefix, or the file of one rank. None for another path.

    Raises IntentError for a rank without a file.
    """
    match = FILE.fullmatch(path.name)
    prefix = match["prefix"] if match else path.name
    by_rank: dict[int, Path] = {}
    if path.parent.is_dir() and (match or not path.exists()):
        for file in path.parent.glob("*.et"):
            if (named := FILE.fullmatch(file.name)) and named["prefix"] == prefix:
                by_rank[int(named["rank"])] = file
    if not by_rank:
        return ()
    missing = [str(rank) for rank in range(max(by_rank)) if rank not in by_rank]
    if missing:
        where = path.parent / f"{prefix}.{missing[0]}.et"
        problem = f"there is no trace of rank {listed(missing)}, and one of rank {max(by_rank)}"
        raise IntentError(str(where), problem, "Add it: the ranks of a job count from 0")
    return tuple(by_rank[rank] for rank in sorted(by_rank))


def read_rank_traces(path: Path, files: Sequence[Path]) -> RankTraces:
    """The job of traces. Raises IntentError for the first file, or node, that is none."""
    traces: list[list[TraceNode]] = []
    left = MOST_NODES
    not_modelled: Counter[str] = Counter()
    for file in files:
        trace = list(_Reader(file, len(files), len(traces), not_modelled).nodes(left))
        left -= len(trace)
        check_order(str(file), trace)
        traces.append(trace)
    match = FILE.fullmatch(files[0].name)
    name = match["prefix"] if match else path.name
    return RankTraces(path=path, job=name, traces=traces, not_modelled=dict(not_modelled))


def _bytes(file: Path) -> bytes:
    """The bytes of a file, unpacked if they are packed with gzip."""
    try:
        packed = file.read_bytes()
        if not packed.startswith(GZIP):
            return packed
        with gzip.open(BytesIO(packed)) as stream:
            return stream.read(MOST_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise IntentError(str(file), "it is cut off, or no gzip", "Copy the file again") from None
    except OSError as error:
        raise IntentError(str(file), f"it cannot be read ({error.strerror})", "Name a readable file") from None


def _begins_as_a_node(metadata: Message) -> bool:
    """Whether a message of metadata has the number of a node where the version is."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    unknown = UnknownFieldSet(metadata)
    return any(unknown[place].field_number == 1 for place in range(len(unknown)))


class _Reader:
    """Reads the file of a rank. not_modelled: counts kinds of nodes that take no time here."""

    def __init__(self, file: Path, ranks: int, rank: int, not_modelled: Counter[str]) -> None:
        self._file, self._ranks, self._rank, self._not_modelled = file, ranks, rank, not_modelled

    def nodes(self, most: int) -> Iterator[TraceNode]:
        """The nodes in the order of the file; of equal numbers none is read."""
        messages = list(self._messages(most))
        places: dict[int, int] = {}
        for place, message in enumerate(messages):
            if places.setdefault(message.id, place) != place:
                raise self._error(message, "another node has the same id", "Give every node an id of its own")
        for message in messages:
            after = []
            for before in (*message.ctrl_deps, *message.data_deps):
                if before not in places:
                    problem = f"it waits for node {before}, which the file does not have"
                    raise self._error(message, problem, "Convert the trace again, with all nodes")
                after.append(places[before])
            yield self._node(message, tuple(dict.fromkeys(after)))

    def _messages(self, most: int) -> Iterator[Any]:
        kinds, held = chakra_messages(), _bytes(self._file)
        from google.protobuf.message import DecodeError
        from google.protobuf.proto import parse_length_prefixed

        if not held:
            raise IntentError(str(self._file), "the file is empty", "Record or convert the trace again")
        if len(held) > MOST_BYTES:
            raise IntentError(str(self._file), f"it has more than {MOST_BYTES:,} bytes", "Record fewer steps")
        stream, kind, count = BytesIO(held), kinds["GlobalMetadata"], 0
        while stream.tell() < len(held):
            start = stream.tell()
            try:
                message: Any = parse_length_prefixed(kind, stream)
            except (DecodeError, ValueError, EOFError):
                message = None
            if message is None:
                where, whole = f"{self._file}: byte {start}", f"{count:,} nodes before it are whole"
                raise IntentError(where, f"no message is here, or it is cut off; {whole}", "Copy the file again")
            if kind is kinds["Node"]:
                count += 1
                if count > most:
                    raise IntentError(
                        str(self._file), f"the ranks have more than {MOST_NODES:,} nodes", "Record fewer steps"
                    )
                yield message
            elif _begins_as_a_node(message):
                problem = "the first message is a node, and metadata is expected"
                raise IntentError(str(self._file), problem, "Convert the trace with Chakra 0.0.4 or later")
            kind = kinds["Node"]

    def _error(self, node: Any, problem: str, remedy: str) -> IntentError:
        return IntentError(f"{self._file}: node {node.id} ({node.name})", problem, remedy)

    def _node(self, node: Any, after: tuple[int, ...]) -> TraceNode:
        attributes = {attribute.name: attribute for attribute in node.attr}
        match node.type:
            case 1 | 2 | 3:
                return self._mark(node, after, MARK_TYPES[node.type])
            case 4:
                if not node.duration_micros and self._number(node, attributes, "num_ops"):
                    return self._mark(node, after, "computations without a duration")
                on_host = "is_cpu_op" in attributes and attributes["is_cpu_op"].bool_val
                return TraceNode(
                    number=node.id,
                    name=node.name,
                    kind=NodeKind.COMPUTE,
                    after=after,
                    seconds=node.duration_micros * 1e-6,
                    on_host=on_host,
                )
            case 5 | 6:
                return self._transfer(node, after, attributes)
            case 7:
                return self._collective(node, after, attributes)
        problem = f"{node.type} is not a type of nodes"
        raise self._error(node, problem, f"Convert the trace again; types are 1 to {COLLECTIVE}")

    def _mark(self, node: Any, after: tuple[int, ...], kind: str) -> TraceNode:
        if kind:
            self._not_modelled[kind] += 1
        return TraceNode(number=node.id, name=node.name, kind=NodeKind.MARK, after=after)

    def _transfer(self, node: Any, after: tuple[int, ...], attributes: dict[str, Any]) -> TraceNode:
        sends = node.type == SEND
        end = "comm_dst" if sends else "comm_src"
        peer = self._number(node, attributes, end)
        if peer is None:
            return self._mark(node, after, f"{'sends' if sends else 'receives'} without {end}")
        if peer >= self._ranks or peer == self._rank:
            problem = f"{end} is {peer}, and it is rank {self._rank} of {self._ranks}"
            raise self._error(node, problem, "Add the traces of all ranks")
        return TraceNode(
            number=node.id,
            name=node.name,
            kind=NodeKind.SEND if sends else NodeKind.RECEIVE,
            after=after,
            op="sendrecv",
            size_bytes=self._size(node, attributes, "sendrecv") if sends else 0,
            peer=peer,
            tag=self._number(node, attributes, "comm_tag") or 0,
        )

    def _collective(self, node: Any, after: tuple[int, ...], attributes: dict[str, Any]) -> TraceNode:
        kind = self._number(node, attributes, "comm_type")
        if kind is None or kind not in (*OPS, *OTHER_OPS):
            problem = "it has no comm_type" if kind is None else f"{kind} is not a comm_type"
            raise self._error(node, problem, "Convert the trace again; comm_type is 0 to 9")
        group = attributes["pg_name"].string_val if "pg_name" in attributes else ""
        if not group and "involved_dim" in attributes and not all(attributes["involved_dim"].bool_list.values):
            problem = "it is among some dimensions of a topology (involved_dim), and no ranks are named"
            raise self._error(node, problem, "Write the process group of each collective as pg_name")
        op, size_bytes = OPS.get(kind, ""), 0
        if op:
            size_bytes = self._size(node, attributes, op)
        else:
            self._not_modelled[f"{OTHER_OPS[kind]} operations"] += 1
        return TraceNode(
            number=node.id,
            name=node.name,
            kind=NodeKind.COLLECTIVE,
            after=after,
            op=op,
            size_bytes=size_bytes,
            group=group,
        )

    def _size(self, node: Any, attributes: dict[str, Any], op: str) -> int:
        size_bytes = self._number(node, attributes, "comm_size") or 0
        if not size_bytes:
            self._not_modelled[f"{op} of 0 bytes"] += 1
        return size_bytes

    def _number(self, node: Any, attributes: dict[str, Any], name: str) -> int | None:
        """A whole number from 0 up, of whatever type; None where the node has no such attribute."""
        if name not in attributes:
            return None
        attribute = attributes[name]
        value = getattr(attribute, attribute.WhichOneof("value") or "int64_val")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            shown = f"{value:g}" if isinstance(value, float) else display(value)
            problem = f"{name} is {shown}, which is no whole number from 0 up"
            raise self._error(node, problem, "Write it as int64_val")
        return value

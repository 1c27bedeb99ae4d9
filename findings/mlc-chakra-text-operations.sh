#!/usr/bin/env bash
# mlc-chakra 1.0.0, chakra_converter Text: a workload text in which a layer sends nothing (NONE) and another one broadcasts.
# Expected: no communication node for NONE, and one of BROADCAST, or an error. Seen: both are AllReduce nodes, the first of
# 0 bytes: a reader that refuses operations of 0 bytes refuses what the converter writes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps mlc-chakra==1.0.0 protobuf==7.36.2
cd "$work"
cat > layers.txt <<'TEXT'
HYBRID_MODEL_DATA
2
first -1 10 NONE 0 20 NONE 0 5 NONE 0 1
second -1 10 BROADCAST 4096 20 NONE 0 5 NONE 0 1
TEXT
venv/bin/chakra_converter Text --input layers.txt --output layers --num-npus 1 --num-passes 1
venv/bin/python - <<'PY'
from chakra.schema.protobuf.et_def_pb2 import COMM_COLL_NODE, CollectiveCommType, GlobalMetadata, Node
from google.protobuf.proto import parse_length_prefixed

operations = []
with open("layers.0.et", "rb") as file:
    parse_length_prefixed(GlobalMetadata, file)
    while node := parse_length_prefixed(Node, file):
        if node.type == COMM_COLL_NODE:
            values = {attribute.name: attribute.int64_val for attribute in node.attr}
            operations.append((CollectiveCommType.Name(values["comm_type"]), values["comm_size"]))
print(operations)
assert operations[:2] == [("ALL_REDUCE", 0), ("ALL_REDUCE", 4096)], operations
assert {size for _, size in operations[2:]} == {0}, operations
PY

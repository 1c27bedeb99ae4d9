#!/usr/bin/env bash
# mlc-chakra 1.0.0, chakra_generator: the nodes that send and receive. Expected: each names its peer and its bytes in the
# attributes that Chakra's own feeder reads, comm_dst or comm_src, and comm_size. Seen: the bytes are in tensor_size, and no peer
# is named, so that readers see a transfer of 0 bytes to rank 0; the ids of nodes go on from rank to rank.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps mlc-chakra==1.0.0 protobuf==7.36.2
cd "$work"
venv/bin/chakra_generator --num_npus 2
venv/bin/python - <<'PY'
from chakra.schema.protobuf.et_def_pb2 import GlobalMetadata, Node
from google.protobuf.proto import parse_length_prefixed

seen = {}
for name in ("one_comm_send_node", "one_comm_recv_node"):
    for rank in (0, 1):
        with open(f"{name}.{rank}.et", "rb") as file:
            parse_length_prefixed(GlobalMetadata, file)
            node = parse_length_prefixed(Node, file)
            seen[name, rank] = node.id, [attribute.name for attribute in node.attr]
print(seen)
assert all(names == ["is_cpu_op", "tensor_size"] for _, names in seen.values()), seen
assert seen["one_comm_send_node", 1][0] == seen["one_comm_send_node", 0][0] + 1, seen
PY

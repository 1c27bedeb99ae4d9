#!/usr/bin/env bash
# pygnmi 0.8.15, Set: the Python string "up" with the encoding json_ietf, and with the encoding proto.
# Expected: the JSON text "up" with its quotation marks, as for lists and objects, and string_val. Seen: the bytes up
# without quotation marks, which are no JSON, and proto_bytes, which is for serialised protobuf messages.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pygnmi==0.8.15
"$work/venv/bin/python" - <<'PY'
from concurrent import futures

import grpc
from pygnmi.client import gNMIclient
from pygnmi.spec.v080 import gnmi_pb2 as pb
from pygnmi.spec.v080 import gnmi_pb2_grpc

received = []


class Target(gnmi_pb2_grpc.gNMIServicer):
    def Capabilities(self, request, context):
        return pb.CapabilityResponse(gNMI_version="0.8.0", supported_encodings=[pb.JSON_IETF, pb.PROTO])

    def Set(self, request, context):
        value = request.update[0].val
        received.append((value.WhichOneof("value"), getattr(value, value.WhichOneof("value"))))
        return pb.SetResponse(timestamp=1)


server = grpc.server(futures.ThreadPoolExecutor(2))
gnmi_pb2_grpc.add_gNMIServicer_to_server(Target(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with gNMIclient(target=("127.0.0.1", port), insecure=True, username="admin", password="admin") as client:
    for value, encoding in (("up", "json_ietf"), (["up"], "json_ietf"), ("up", "proto")):
        client.set(update=[("/state", value)], encoding=encoding)
print(received)
assert received == [("json_ietf_val", b"up"), ("json_ietf_val", b'["up"]'), ("proto_bytes", b"up")], received
PY

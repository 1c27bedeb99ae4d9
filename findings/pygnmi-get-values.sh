#!/usr/bin/env bash
# pygnmi 0.8.15, Get: values of the types leaflist_val, double_val and bytes_val of gNMI's TypedValue.
# Expected: a list, a float and bytes under `val`. Seen: these updates have a path and no `val` at all, and nothing is
# raised or logged; float_val and string_val of the same answer are there.
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


def text(value):
    return pb.TypedValue(string_val=value)


VALUES = {
    "leaf-list": pb.TypedValue(leaflist_val=pb.ScalarArray(element=[text("a"), text("b")])),
    "double": pb.TypedValue(double_val=-2.5),
    "bytes": pb.TypedValue(bytes_val=b"\x01"),
    "float": pb.TypedValue(float_val=1.5),
    "string": text("up"),
}
class Target(gnmi_pb2_grpc.gNMIServicer):
    def Capabilities(self, request, context):
        return pb.CapabilityResponse(gNMI_version="0.8.0", supported_encodings=[pb.JSON_IETF, pb.PROTO])

    def Get(self, request, context):
        updates = [pb.Update(path=pb.Path(elem=[pb.PathElem(name=name)]), val=value) for name, value in VALUES.items()]
        return pb.GetResponse(notification=[pb.Notification(timestamp=1, update=updates)])


server = grpc.server(futures.ThreadPoolExecutor(2))
gnmi_pb2_grpc.add_gNMIServicer_to_server(Target(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with gNMIclient(target=("127.0.0.1", port), insecure=True, username="admin", password="admin") as client:
    (notification,) = client.get(path=["/"], encoding="proto")["notification"]
seen = {update["path"]: update.get("val", "no val") for update in notification["update"]}
print(seen)
assert seen == {"leaf-list": "no val", "double": "no val", "bytes": "no val", "float": 1.5, "string": "up"}, seen
PY

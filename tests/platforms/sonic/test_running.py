"""The running configuration of SONiC over gNMI, as sonic-gnmi answers a Get of CONFIG_DB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.platforms.sonic.running import running_text

TABLES = {"PORT": {"Ethernet0": {"speed": "100000", "NULL": "NULL"}}, "LLDP": {"GLOBAL": {"enabled": "true"}}}


class SonicGnmi(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """Takes a Get of all data in JSON_IETF alone, as sonic-gnmi does."""

    def __init__(self, *values: object) -> None:
        self._values = values
        self.paths: list[Any] = []

    def Get(self, request: Any, context: Any) -> Any:
        if request.type != request.ALL or request.encoding != gnmi_pb2.JSON_IETF:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "unsupported request type")
        self.paths += request.path
        typed = [gnmi_pb2.TypedValue(json_ietf_val=json.dumps(value).encode()) for value in self._values]
        update = [gnmi_pb2.Update(path=request.path[0], val=value) for value in typed]
        return gnmi_pb2.GetResponse(notification=[gnmi_pb2.Notification(update=update)])


@contextmanager
def serving(target: SonicGnmi) -> Iterator[Endpoint]:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(target, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield Endpoint(name="leaf1", platform="sonic", host="127.0.0.1", gnmi_port=port, plaintext=True, credentials="none")
    server.stop(0.1).wait()


def test_all_tables_are_read_in_one_get() -> None:
    target = SonicGnmi(TABLES)
    with serving(target) as leaf:
        text = running_text(leaf, Credentials("", ""), read_within_s=20.0)
    assert json.loads(text) == {"PORT": {"Ethernet0": {"speed": "100000"}}, "LLDP": {"GLOBAL": {"enabled": "true"}}}
    (path,) = target.paths
    assert (path.origin, [step.name for step in path.elem]) == ("sonic-db", ["CONFIG_DB", "localhost"])


@pytest.mark.parametrize("values", [(), ("up",), (TABLES, TABLES)], ids=["none", "text", "two"])
def test_an_answer_that_is_no_configuration_is_an_error_that_names_the_switch(values: tuple[object, ...]) -> None:
    with serving(SonicGnmi(*values)) as leaf, pytest.raises(DeviceError) as raised:
        running_text(leaf, Credentials("", ""))
    assert str(raised.value) == (
        f"leaf1: answers the Get of CONFIG_DB with {len(values)} values, which are no object of tables."
        " Check that its gNMI server serves the origin sonic-db."
    )

"""What a switch of the twin does with requests that once emptied it, were ignored, or found nothing, over real gNMI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.gnmi.stub import Stub
from tests.twin.twins import endpoint, srl_pod

from railfab.endpoints import read_credentials
from railfab.gnmi import messages, paths, values
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.target import DataType
from railfab.twin import Twin

LEAF = "pod1-seg1-leaf1"
UPLINK = "/interface[name=ethernet-1/32]"
PFC = "/qos/interfaces/interface[interface-id=ethernet-1/32]/pfc/statistics/pfc-priority"
ROUTES = "/network-instance[name=default]/route-table/ipv4-unicast/statistics/active-routes"
INVALID, UNIMPLEMENTED = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(srl_pod(), state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def switch(twin: Twin) -> Iterator[BlockingGnmiClient]:
    node = endpoint(twin, LEAF)
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        yield client


class Raw:
    """A client that sends any message."""

    def __init__(self, stub: Stub, login: Any) -> None:
        self._stub = stub
        self._login = login

    def code(self, call: str, request: Any) -> grpc.StatusCode:
        """The status of a call; of a stream, its end."""
        answer = getattr(self._stub, call)
        try:
            list(answer(request, metadata=self._login, timeout=30))
        except grpc.RpcError as error:
            found: grpc.StatusCode = error.code()
            return found
        return grpc.StatusCode.OK


@pytest.fixture(scope="module")
def raw(twin: Twin) -> Iterator[Raw]:
    node = endpoint(twin, LEAF)
    credentials = read_credentials(node)
    trust = grpc.ssl_channel_credentials(Path(node.ca or "").read_bytes())
    with grpc.secure_channel(f"{node.host}:{node.gnmi_port}", trust) as channel:
        login = (("username", credentials.username), ("password", credentials.password))
        yield Raw(Stub(channel), login)


def setting(operation: str, path: messages.Path) -> messages.SetRequest:
    value = values.encode({}, values.JSON_IETF)
    edit = path if operation == "delete" else messages.Update(path=path, val=value)
    return messages.SetRequest(**{operation: [edit]})


@pytest.mark.parametrize("operation", ["delete", "replace", "update", "union_replace"])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        (messages.Path(element=["system", "foo"]), INVALID),
        (messages.Path(element=["interface"]), INVALID),
        (paths.to_proto("/system/foo"), INVALID),
        (paths.to_proto("openconfig:/system/config"), UNIMPLEMENTED),
        (paths.to_proto("bogus:/system"), INVALID),
    ],
    ids=["element", "element of a list", "unknown", "openconfig", "other origin"],
)
def test_a_set_of_a_path_that_is_not_its_own_changes_nothing(
    switch: BlockingGnmiClient, raw: Raw, operation: str, path: messages.Path, code: grpc.StatusCode
) -> None:
    before = switch.get(("/",), DataType.CONFIG)
    assert raw.code("Set", setting(operation, path)) is code
    assert switch.get(("/",), DataType.CONFIG) == before


def subscription(**fields: Any) -> messages.SubscribeRequest:
    entry = messages.Subscription(path=paths.to_proto("/system/name"), mode=messages.SubscriptionMode.ON_CHANGE)
    return messages.SubscribeRequest(subscribe=messages.SubscriptionList(subscription=[entry], encoding=4, **fields))


@pytest.mark.parametrize("further", [subscription(), messages.SubscribeRequest(poll=messages.Poll())])
def test_a_further_message_ends_a_stream(raw: Raw, further: messages.SubscribeRequest) -> None:
    assert raw.code("Subscribe", iter((subscription(), further))) is INVALID


@pytest.mark.parametrize(
    "path",
    [
        f"{UPLINK}/statistics/in-error-packets",
        f"{UPLINK}/statistics/in-broadcast-packets",
        f"{UPLINK}/statistics/out-multicast-packets",
        f"{UPLINK}/transceiver/form-factor",
        "/platform/control[slot=A]/temperature/instant",
        "/system/information/version",
        ROUTES,
        *(f"{PFC}[index={priority}]/pfc-pause-frames-received" for priority in range(8)),
    ],
)
def test_leaves_that_collectors_ask_for_are_there(switch: BlockingGnmiClient, path: str) -> None:
    ((_, value),) = switch.get((path,), DataType.STATE)
    assert value is not None

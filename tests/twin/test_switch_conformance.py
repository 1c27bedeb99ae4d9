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
from railfab.gnmi.statuses import Absent, Refused
from railfab.gnmi.target import DataType
from railfab.platforms import SIMULATED_TIME
from railfab.platforms.srlinux.twin import check_asked
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


def subscription(path: str = "/system/name", **fields: Any) -> messages.SubscribeRequest:
    entry = messages.Subscription(path=paths.to_proto(path), mode=messages.SubscriptionMode.ON_CHANGE)
    return messages.SubscribeRequest(subscribe=messages.SubscriptionList(subscription=[entry], encoding=4, **fields))


ONCE = messages.SubscriptionList.ONCE


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/frob", "unknown element 'frob'. Options are [acl, bfd, "),
        ("/interface[name=*]/frob", "unknown element 'frob'. Options are [adapter, "),
        (f"{UPLINK}/transceiver/frob", "unknown element 'frob'. Options are [channel, "),
        (f"{UPLINK}/mtu/bytes", "unknown element 'bytes'"),
        ("/network-instance[name=default]/protocols/isis/frob", "unknown element 'frob'. Options are ["),
        ("/system/frob/...", "unknown element 'frob'. Options are ["),
    ],
)
def test_what_the_models_do_not_have_is_refused_to_a_get_and_to_a_subscribe(
    switch: BlockingGnmiClient, raw: Raw, path: str, text: str
) -> None:
    for read in (switch.get, switch.once):
        with pytest.raises(Refused) as caught:
            read((path,))
        assert caught.type is Refused  # INVALID_ARGUMENT; other statuses have classes of their own
        assert f"Path not valid - {text}" in str(caught.value)
    assert raw.code("Subscribe", iter((subscription(path),))) is INVALID


@pytest.mark.parametrize(
    "path",
    [
        f"{UPLINK}/linecard",
        "/interface[name=ethernet-1/99]",
        "/network-instance[name=default]/protocols/isis",
        # below a node of the state, of which the models that railfab has know no names
        f"{UPLINK}/statistics/frob",
    ],
)
def test_what_is_not_there_is_not_found_by_a_get_and_nothing_to_a_subscribe(
    switch: BlockingGnmiClient, raw: Raw, path: str
) -> None:
    with pytest.raises(Absent):
        switch.get((path,))
    assert raw.code("Subscribe", iter((subscription(path, mode=ONCE),))) is grpc.StatusCode.OK


@pytest.mark.parametrize("path", ["/*/name", "/.../in-octets", "/interface[name=*]/*/frob"])
def test_names_after_a_wildcard_are_not_checked(raw: Raw, path: str) -> None:
    assert raw.code("Subscribe", iter((subscription(path, mode=ONCE),))) is grpc.StatusCode.OK


def test_all_that_a_switch_has_may_be_asked_for(switch: BlockingGnmiClient, twin: Twin) -> None:
    """The answers to a Get of everything, of configuration and state, and the twin's own leaf."""
    found = {path for path, _ in switch.get(("/",), encoding=values.PROTO)}
    assert len(found) > 1000
    for path in found:
        if path[0].name != "railfab-twin":
            check_asked(LEAF, path)
    ((_, simulated_s),) = switch.get((SIMULATED_TIME,))
    assert int(simulated_s) > 0


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

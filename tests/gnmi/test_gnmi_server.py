"""A real gNMI server on localhost, asked by pygnmi and by bare gRPC."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise

import grpc
import pytest
from pygnmi.client import gNMIclient, gNMIException
from tests.gnmi.stub import Stub

from railfab.endpoints import Credentials
from railfab.errors import DeviceError, Problems
from railfab.gnmi import messages, paths, values
from railfab.gnmi.certificates import Authority
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.server import GRACE_S, GnmiServer, ServerLoop
from railfab.gnmi.target import Edit, Operation, RequestRefused, TargetView, YangModel
from railfab.gnmi.values import Uint64
from railfab.process.listeners import in_use

# pygnmi's reading thread dies with its channel and says so by an exception (P#104).
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

CREDENTIALS = Credentials("admin", "correct horse")
OCTETS = "/interface[name={}]/statistics/in-octets"
STATE = "/interface[name={}]/oper-state"


class Box:
    """A small switch: two ports with a counter that rises on each refresh, and a description that may be set."""

    change_age_s = math.inf
    origins = ("box", "native")

    def __init__(self) -> None:
        self.name = "box"
        self.leaves = Leaves("box")
        self.refreshed = 0
        self.problems: list[RequestRefused] = []
        for port in ("e1", "e2"):
            self.leaves.put(STATE.format(port), "up", on_change=True)
        self.leaves.put("/system/name", "box", config=True, on_change=True)

    def models(self) -> Sequence[YangModel]:
        return (YangModel("box", "railfab", "1"),)

    def view(self, max_age_s: float) -> TargetView | None:
        return self.leaves.view(max_age_s)

    def refresh(self) -> TargetView:
        self.refreshed += 1
        for port in ("e1", "e2"):
            self.leaves.put(OCTETS.format(port), Uint64(1000 * self.refreshed))
        return self.leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        if self.problems:
            raise Problems(self.problems)
        staged = {}
        for edit in edits:
            text = paths.to_text_elements(edit.path)
            if text != "/system/name":
                raise RequestRefused(self.name, f"{text} cannot be set", "Set /system/name")
            staged[text] = "deleted" if edit.operation is Operation.DELETE else edit.value
        for text, value in staged.items():
            self.leaves.put(text, value, config=True, on_change=True)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("test")


@pytest.fixture(scope="module")
def loop() -> Iterator[ServerLoop]:
    with ServerLoop() as running:
        yield running


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def server(box: Box, loop: ServerLoop, authority: Authority) -> Iterator[GnmiServer]:
    server = GnmiServer(box, loop, credentials=CREDENTIALS, identity=authority.issue("box"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def ca(authority: Authority, tmp_path) -> str:
    path = tmp_path / "ca.pem"
    path.write_bytes(authority.certificate)
    return str(path)


@pytest.fixture
def client(server: GnmiServer, ca: str) -> Iterator[gNMIclient]:
    with gNMIclient(
        ("127.0.0.1", server.port), username="admin", password="correct horse", path_root=ca, no_qos_marking=True
    ) as connected:
        yield connected


@pytest.fixture
def plain(box: Box, loop: ServerLoop) -> Iterator[Stub]:
    """A bare stub on a server without TLS and without passwords."""
    server = GnmiServer(box, loop, credentials=None, identity=None)
    port = server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Stub(channel)
    server.stop()


def request(*entries: messages.Subscription, mode: str = "STREAM", **fields: object) -> messages.SubscribeRequest:
    wish = messages.SubscriptionList(
        subscription=entries, mode=messages.SubscriptionList.Mode.Value(mode), encoding=values.JSON_IETF, **fields
    )
    return messages.SubscribeRequest(subscribe=wish)


def entry(path: str, mode: str = "SAMPLE", interval_s: float = 0, **fields: object) -> messages.Subscription:
    return messages.Subscription(
        path=paths.to_proto(path),
        mode=messages.SubscriptionMode.Value(mode),
        sample_interval=int(interval_s * 1e9),
        **fields,
    )


def with_aliases(asked: messages.SubscribeRequest) -> messages.SubscribeRequest:
    """A subscription with `use_aliases` of gNMI 0.7, the boolean field 3, which our messages do not have."""
    aliases = b"\x18\x01"
    wish = messages.SubscriptionList.FromString(asked.subscribe.SerializeToString() + aliases)
    return messages.SubscribeRequest(subscribe=wish)


def updates(response: messages.SubscribeResponse) -> dict[str, object]:
    notification = response.update
    return {
        paths.to_text(update.path, notification.prefix): values.decode(update.val) for update in notification.update
    }


def until_sync(stream: Iterator[messages.SubscribeResponse]) -> dict[str, object]:
    found: dict[str, object] = {}
    for response in stream:
        if response.sync_response:
            return found
        found |= updates(response)
    raise AssertionError("the stream ended without a sync")


def test_pygnmi_reads_the_capabilities(client: gNMIclient) -> None:
    answer = client.capabilities()
    assert answer["supported_models"] == [{"name": "box", "organization": "railfab", "version": "1"}]
    assert answer["supported_encodings"] == ["json_ietf", "json", "proto"]
    assert answer["gnmi_version"] == messages.VERSION


def test_pygnmi_gets_a_leaf_a_container_and_a_wildcard(client: gNMIclient) -> None:
    answer = client.get(path=["/interface[name=e1]/oper-state", "/interface[name=e2]", "/interface[name=*]/oper-state"])
    leaf, container, wildcard = (found["update"] for found in answer["notification"])
    assert [(update["path"], update["val"]) for update in leaf] == [("interface[name=e1]/oper-state", "up")]
    assert container[0]["val"]["oper-state"] == "up"
    assert int(container[0]["val"]["statistics"]["in-octets"]) > 0
    assert [update["path"] for update in wildcard] == [
        "interface[name=e1]/oper-state",
        "interface[name=e2]/oper-state",
    ]


def test_get_of_a_type_leaves_the_other_out(client: gNMIclient) -> None:
    def root(kind: str) -> dict[str, object]:
        return client.get(path=["/"], datatype=kind)["notification"][0]["update"][0]["val"]

    assert set(root("all")) == {"interface", "system"}
    assert root("config") == {"system": {"name": "box"}}
    assert set(root("state")) == {"interface"}
    assert set(root("operational")) == {"interface"}


@pytest.mark.parametrize("encoding", ["json_ietf", "json", "proto"])
def test_a_counter_is_the_same_number_in_every_encoding(client: gNMIclient, encoding: str) -> None:
    answer = client.get(path=["/interface[name=e1]/statistics/in-octets"], encoding=encoding)
    value = answer["notification"][0]["update"][0]["val"]
    assert int(value) % 1000 == 0
    assert isinstance(value, str) == (encoding == "json_ietf")


def test_proto_has_one_update_a_leaf(client: gNMIclient) -> None:
    answer = client.get(path=["/interface[name=e1]"], encoding="proto")
    assert {update["path"] for update in answer["notification"][0]["update"]} == {
        "interface[name=e1]/oper-state",
        "interface[name=e1]/statistics/in-octets",
    }


@pytest.mark.parametrize(
    ("asked", "code", "text"),
    [
        (
            messages.GetRequest(path=[paths.to_proto("/nowhere")], encoding=values.JSON_IETF),
            grpc.StatusCode.NOT_FOUND,
            "box: nothing at /nowhere. Check the path and its keys.",
        ),
        (
            messages.GetRequest(path=[messages.Path(elem=[messages.PathElem()])], encoding=values.JSON_IETF),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: a path has a step without a name. Name every step.",
        ),
        (
            messages.GetRequest(encoding=messages.Encoding.ASCII),
            grpc.StatusCode.UNIMPLEMENTED,
            "box: encoding ASCII is not supported. Use JSON_IETF, JSON or PROTO.",
        ),
        (
            messages.GetRequest(encoding=values.JSON_IETF, use_models=[messages.ModelData(name="x")]),
            grpc.StatusCode.UNIMPLEMENTED,
            "box: use_models is not supported. Leave it out.",
        ),
        (
            messages.GetRequest(path=[messages.Path(element=["system", "name"])], encoding=values.JSON_IETF),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: a path is written in the field element of gNMI 0.3. Use elem.",
        ),
        (
            messages.GetRequest(path=[paths.to_proto("openconfig:/system/name")], encoding=values.JSON_IETF),
            grpc.StatusCode.UNIMPLEMENTED,
            "box: the OpenConfig models are not enabled. Use box or native, or leave it out.",
        ),
        (
            messages.GetRequest(path=[paths.to_proto("bogus:/system/name")], encoding=values.JSON_IETF),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: origin 'bogus' is not known. Use box or native, or leave it out.",
        ),
        (
            messages.GetRequest(
                prefix=messages.Path(origin="box"),
                path=[paths.to_proto("native:/system/name")],
                encoding=values.JSON_IETF,
            ),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: a path has origin 'native' and its prefix 'box'. Give one of them.",
        ),
    ],
)
def test_a_get_that_cannot_be_served_says_why(
    plain: Stub, asked: messages.GetRequest, code: grpc.StatusCode, text: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        plain.Get(asked)
    assert (caught.value.code(), caught.value.details()) == (code, text)


def test_pygnmi_sets_and_reads_back(client: gNMIclient) -> None:
    answer = client.set(update=[("/system/name", '"renamed"')])
    assert answer["response"] == [{"path": "system/name", "op": "UPDATE"}]
    assert client.get(path=["/system/name"])["notification"][0]["update"][0]["val"] == "renamed"


def test_a_set_deletes_then_replaces_then_updates(plain: Stub, box: Box) -> None:
    """gNMI specification, section 3.4.3; what comes last prevails."""
    name = paths.to_proto("/system/name")
    replaced, updated = (
        messages.Update(path=name, val=values.encode(value, values.JSON_IETF)) for value in ("replaced", "updated")
    )
    answer = plain.Set(messages.SetRequest(update=[updated], replace=[replaced], delete=[name]))
    operations = [messages.UpdateResult.Operation.Name(result.op) for result in answer.response]
    assert operations == ["DELETE", "REPLACE", "UPDATE"]
    assert name_of(plain) == "updated"
    plain.Set(messages.SetRequest(replace=[replaced], delete=[name]))
    assert name_of(plain) == "replaced"


def name_of(plain: Stub) -> object:
    answer = plain.Get(messages.GetRequest(path=[paths.to_proto("/system/name")], encoding=values.JSON_IETF))
    return values.decode(answer.notification[0].update[0].val)


def test_a_set_that_is_refused_in_one_part_changes_nothing(client: gNMIclient) -> None:
    with pytest.raises(gNMIException) as caught:
        client.set(update=[("/system/name", '"renamed"'), ("/interface[name=e1]/mtu", 9000)])
    assert "box: /interface[name=e1]/mtu cannot be set. Set /system/name." in str(caught.value.orig_exc)
    assert client.get(path=["/system/name"])["notification"][0]["update"][0]["val"] == "box"


def test_a_refusal_with_very_many_reasons_still_reaches_the_client(plain: Stub, box: Box) -> None:
    reasons = [RequestRefused(f"place {number}", "is wrong ]%é" * 9, "Mend it") for number in range(500)]
    box.problems = reasons
    with pytest.raises(grpc.RpcError) as caught:
        plain.Set(messages.SetRequest(delete=[paths.to_proto("/system")]))
    said = caught.value.details().splitlines()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert said[0] == str(reasons[0])
    assert said[-1] == f"and {500 - len(said) + 1} more"


def test_a_set_with_a_prefix_and_broken_json_is_refused(plain: Stub) -> None:
    update = messages.Update(path=paths.to_proto("/name"), val=messages.TypedValue(json_ietf_val=b"{"))
    with pytest.raises(grpc.RpcError) as caught:
        plain.Set(messages.SetRequest(prefix=paths.to_proto("/system"), update=[update]))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    good = messages.Update(path=paths.to_proto("/name"), val=messages.TypedValue(json_ietf_val=b'"x"'))
    answer = plain.Set(messages.SetRequest(prefix=paths.to_proto("/system", "leaf1"), update=[good]))
    assert (answer.prefix.target, paths.to_text(answer.response[0].path)) == ("leaf1", "/system/name")


@pytest.mark.parametrize("password", ["", "wrong", "correct horse "])
def test_a_wrong_password_is_refused_on_every_call(server: GnmiServer, authority: Authority, password: str) -> None:
    metadata = (("username", "admin"), ("password", password))
    secure = grpc.ssl_channel_credentials(authority.certificate)
    with grpc.secure_channel(f"localhost:{server.port}", secure) as channel:
        stub = Stub(channel)
        for call in (
            lambda: stub.Capabilities(messages.CapabilityRequest(), metadata=metadata),
            lambda: stub.Get(messages.GetRequest(), metadata=metadata),
            lambda: stub.Set(messages.SetRequest(), metadata=metadata),
            lambda: next(stub.Subscribe(iter([request(entry("/"))]), metadata=metadata)),
        ):
            with pytest.raises(grpc.RpcError) as caught:
                call()
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
            assert caught.value.details() == "box: wrong user or password"


def test_a_client_that_trusts_another_authority_does_not_connect(server: GnmiServer) -> None:
    stranger = grpc.ssl_channel_credentials(Authority("other").certificate)
    with (
        grpc.secure_channel(f"127.0.0.1:{server.port}", stranger) as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        Stub(channel).Capabilities(messages.CapabilityRequest(), timeout=5)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_a_port_in_use_is_one_clear_line(server: GnmiServer, box: Box, loop: ServerLoop) -> None:
    with pytest.raises(DeviceError) as caught:
        GnmiServer(box, loop, port=server.port, credentials=None, identity=None).start()
    assert str(caught.value) == (
        f"box: cannot listen on 127.0.0.1:{server.port}, it is {in_use(server.port)}. "
        "End what uses the port, or choose another with --port."
    )


def test_an_address_of_another_machine_is_not_said_to_be_in_use(box: Box, loop: ServerLoop) -> None:
    with pytest.raises(DeviceError, match=r"box: cannot listen on 192\.0\.2\.9:0, cannot assign requested address\."):
        GnmiServer(box, loop, host="192.0.2.9", credentials=None, identity=None).start()


def test_a_server_stops_and_starts_again_on_its_port(server: GnmiServer, client: gNMIclient) -> None:
    port = server.port
    server.stop()
    assert not server.running
    assert server.start() == port
    assert client.capabilities()["supported_models"]


def test_leaving_the_loop_stops_all_servers_at_the_same_time(box: Box) -> None:
    with ExitStack() as channels:
        with ServerLoop() as own_loop:
            for _ in range(30):
                server = GnmiServer(box, own_loop, credentials=None, identity=None)
                channel = channels.enter_context(grpc.insecure_channel(f"127.0.0.1:{server.start()}"))
                until_sync(Stub(channel).Subscribe(iter([request(entry("/"))])))
            left_s = time.monotonic()
        assert time.monotonic() - left_s < 15 * GRACE_S


def test_once_sends_everything_and_ends(plain: Stub) -> None:
    answers = list(plain.Subscribe(iter([request(entry("/interface"), mode="ONCE")])))
    assert answers[-1].sync_response
    found = {path for answer in answers[:-1] for path in updates(answer)}
    assert found == {form.format(port) for form in (OCTETS, STATE) for port in ("e1", "e2")}


def test_many_leaves_travel_in_one_message_those_of_one_list_entry_side_by_side(plain: Stub, box: Box) -> None:
    for port in range(3, 300):
        box.leaves.put(STATE.format(f"e{port}"), "up")
    answers = list(plain.Subscribe(iter([request(entry("/interface"), mode="ONCE")])))[:-1]
    assert [len(answer.update.update) for answer in answers] == [256, 45]
    order = [paths.elements(path)[0] for answer in answers for path in updates(answer)]
    assert len([1 for before, after in pairwise(order) if before != after]) == 298


def test_the_prefix_is_put_before_each_path_and_its_target_comes_back(plain: Stub) -> None:
    wish = request(entry("/oper-state"), mode="ONCE", prefix=paths.to_proto("/interface[name=e2]", "leaf1"))
    first, sync = plain.Subscribe(iter([wish]))
    assert sync.sync_response
    assert first.update.prefix.target == "leaf1"
    assert updates(first) == {STATE.format("e2"): "up"}


def test_poll_answers_each_poll_anew(plain: Stub) -> None:
    asked = [request(entry(OCTETS.format("e1")), mode="POLL")]
    poll = messages.SubscribeRequest(poll=messages.Poll())

    def polls() -> Iterator[messages.SubscribeRequest]:
        yield from asked
        for _ in range(2):
            time.sleep(0.1)
            yield poll

    answers = list(plain.Subscribe(polls()))
    assert [answer.sync_response for answer in answers] == [False, True] * 3
    counts = [int(str(next(iter(updates(answer).values())))) for answer in answers[::2]]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_samples_keep_their_interval_without_drift(plain: Stub) -> None:
    call = plain.Subscribe(iter([request(entry("/interface/statistics", interval_s=0.2))]))
    until_sync(call)
    start = time.monotonic()
    arrivals = []
    for response in call:
        if "/interface[name=e1]/statistics/in-octets" in updates(response):
            arrivals.append(time.monotonic() - start)
        if len(arrivals) == 10:
            break
    call.cancel()
    late = [arrival - 0.2 * turn for turn, arrival in enumerate(arrivals, start=1)]
    assert min(late) > -0.05
    assert min(late[5:]) < 0.15, "each sample is later than the one before"


def test_on_change_is_silent_until_something_changes(plain: Stub, box: Box) -> None:
    call = plain.Subscribe(iter([request(entry("/interface[name=*]/oper-state", "ON_CHANGE"))]))
    assert until_sync(call) == {STATE.format("e1"): "up", STATE.format("e2"): "up"}
    time.sleep(0.5)
    box.leaves.put(STATE.format("e2"), "down")
    assert updates(next(call)) == {STATE.format("e2"): "down"}
    call.cancel()


def test_a_leaf_that_vanishes_is_deleted_and_one_that_comes_is_sent(plain: Stub, box: Box) -> None:
    call = plain.Subscribe(iter([request(entry("/interface[name=*]/oper-state", "ON_CHANGE"))]))
    until_sync(call)
    box.leaves.drop([STATE.format("e1")])
    deleted = next(call).update
    assert [paths.to_text(path) for path in deleted.delete] == [STATE.format("e1")]
    assert not deleted.update
    box.leaves.put(STATE.format("e3"), "up", on_change=True)
    assert updates(next(call)) == {STATE.format("e3"): "up"}
    call.cancel()


def test_looking_for_announced_changes_reads_nothing(plain: Stub, box: Box) -> None:
    call = plain.Subscribe(iter([request(entry("/interface[name=*]/oper-state", "ON_CHANGE"))]))
    until_sync(call)
    before = box.refreshed
    time.sleep(1.0)
    assert box.refreshed == before
    box.leaves.put(STATE.format("e2"), "down")
    assert updates(next(call)) == {STATE.format("e2"): "down"}
    call.cancel()


def test_a_counter_may_be_watched_for_changes(plain: Stub) -> None:
    call = plain.Subscribe(iter([request(entry(OCTETS.format("e1"), "ON_CHANGE"))]))
    first = until_sync(call)
    assert updates(next(call)) != first
    call.cancel()


def test_target_defined_samples_counters_and_watches_states(plain: Stub, box: Box) -> None:
    call = plain.Subscribe(iter([request(entry("/interface[name=e1]", "TARGET_DEFINED", interval_s=0.2))]))
    assert set(until_sync(call)) == {OCTETS.format("e1"), STATE.format("e1")}
    assert [set(updates(next(call))) for _ in range(3)] == [{OCTETS.format("e1")}] * 3
    box.leaves.put(STATE.format("e1"), "down")
    assert any(STATE.format("e1") in updates(next(call)) for _ in range(3))
    call.cancel()


def test_updates_only_leaves_the_first_values_out(plain: Stub, box: Box) -> None:
    call = plain.Subscribe(iter([request(entry(STATE.format("e1"), "ON_CHANGE"), updates_only=True)]))
    assert until_sync(call) == {}
    box.leaves.put(STATE.format("e1"), "down")
    assert updates(next(call)) == {STATE.format("e1"): "down"}
    call.cancel()


def test_a_heartbeat_repeats_what_did_not_change(plain: Stub) -> None:
    wish = entry(STATE.format("e1"), "ON_CHANGE", heartbeat_interval=300_000_000)
    call = plain.Subscribe(iter([request(wish)]))
    until_sync(call)
    start = time.monotonic()
    assert [updates(next(call)) for _ in range(2)] == [{STATE.format("e1"): "up"}] * 2
    assert time.monotonic() - start > 0.4
    call.cancel()


def test_suppressed_samples_carry_only_what_changed(plain: Stub, box: Box) -> None:
    wish = entry("/interface[name=e1]", interval_s=0.2, suppress_redundant=True)
    call = plain.Subscribe(iter([request(wish)]))
    assert len(until_sync(call)) == 2
    assert set(updates(next(call))) == {OCTETS.format("e1")}
    call.cancel()


@pytest.mark.parametrize(
    ("asked", "code", "text"),
    [
        (
            messages.SubscribeRequest(poll=messages.Poll()),
            grpc.StatusCode.INVALID_ARGUMENT,
            "the first message must be a subscription",
        ),
        (request(), grpc.StatusCode.INVALID_ARGUMENT, "no subscription in the list, name at least one path"),
        (
            request(entry("/", interval_s=0.001)),
            grpc.StatusCode.INVALID_ARGUMENT,
            "sample_interval 1000000 ns is below 100000000 ns",
        ),
        (
            request(entry("/", heartbeat_interval=5)),
            grpc.StatusCode.INVALID_ARGUMENT,
            "heartbeat_interval 5 ns is below 100000000 ns",
        ),
        (
            request(entry("/"), use_models=[messages.ModelData(name="x")]),
            grpc.StatusCode.UNIMPLEMENTED,
            "use_models is not supported, leave it out",
        ),
        (
            messages.SubscribeRequest(subscribe=messages.SubscriptionList(encoding=messages.Encoding.BYTES)),
            grpc.StatusCode.UNIMPLEMENTED,
            "box: encoding BYTES is not supported. Use JSON_IETF, JSON or PROTO.",
        ),
        (
            with_aliases(request(entry("/"))),
            grpc.StatusCode.UNIMPLEMENTED,
            "use_aliases is not supported, leave it out",
        ),
        (
            request(messages.Subscription(path=messages.Path(element=["system"]))),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: a path is written in the field element of gNMI 0.3. Use elem.",
        ),
        (
            request(entry("openconfig:/system")),
            grpc.StatusCode.UNIMPLEMENTED,
            "box: the OpenConfig models are not enabled. Use box or native, or leave it out.",
        ),
        (
            request(entry("/system"), prefix=messages.Path(origin="bogus")),
            grpc.StatusCode.INVALID_ARGUMENT,
            "box: origin 'bogus' is not known. Use box or native, or leave it out.",
        ),
    ],
)
def test_a_subscription_that_cannot_be_served_says_why(
    plain: Stub, asked: messages.SubscribeRequest, code: grpc.StatusCode, text: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        next(plain.Subscribe(iter([asked])))
    assert (caught.value.code(), caught.value.details()) == (code, text)


@pytest.mark.parametrize(
    "further",
    [messages.SubscribeRequest(poll=messages.Poll()), request(entry("/interface"))],
    ids=["a poll", "a subscription"],
)
def test_a_further_message_ends_a_stream(plain: Stub, further: messages.SubscribeRequest) -> None:
    """gNMI specification, sections 3.5.1.1 and 3.5.2."""
    synced = threading.Event()

    def asked() -> Iterator[messages.SubscribeRequest]:
        yield request(entry("/system", "ON_CHANGE"))
        synced.wait(30)
        yield further

    stream = plain.Subscribe(asked())
    until_sync(stream)
    synced.set()
    with pytest.raises(grpc.RpcError) as caught:
        next(stream)
    text = "box: a stream takes one subscription and no poll"
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, text)


@pytest.mark.parametrize("origin", ["box", "native"])
def test_an_origin_of_the_target_names_its_own_tree(plain: Stub, origin: str) -> None:
    asked = messages.GetRequest(path=[paths.to_proto(f"{origin}:/system/name")], encoding=values.JSON_IETF)
    assert values.decode(plain.Get(asked).notification[0].update[0].val) == "box"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (messages.Path(element=["system", "name"]), grpc.StatusCode.INVALID_ARGUMENT),
        (paths.to_proto("openconfig:/system/name"), grpc.StatusCode.UNIMPLEMENTED),
        (paths.to_proto("bogus:/system/name"), grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
@pytest.mark.parametrize("operation", ["delete", "replace", "update", "union_replace"])
def test_a_set_with_such_a_path_changes_nothing(
    plain: Stub, operation: str, path: messages.Path, code: grpc.StatusCode
) -> None:
    edit = path if operation == "delete" else messages.Update(path=path, val=values.encode("new", values.JSON_IETF))
    with pytest.raises(grpc.RpcError) as caught:
        plain.Set(messages.SetRequest(**{operation: [edit]}))
    assert caught.value.code() == code
    assert name_of(plain) == "box"


def test_union_replace_comes_alone(plain: Stub) -> None:
    name = paths.to_proto("/system/name")
    update = messages.Update(path=name, val=values.encode("new", values.JSON_IETF))
    with pytest.raises(grpc.RpcError) as caught:
        plain.Set(messages.SetRequest(union_replace=[update], delete=[name]))
    text = "box: union_replace beside another operation. Send it alone."
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, text)
    assert name_of(plain) == "box"


def test_pygnmi_streams(client: gNMIclient) -> None:
    wish = {
        "subscription": [{"path": "/interface[name=*]/statistics", "mode": "sample", "sample_interval": 200_000_000}],
        "mode": "stream",
        "encoding": "json_ietf",
    }
    stream = client.subscribe2(subscribe=wish)
    first = next(stream)
    assert first["sync_response"]
    later = next(stream)["update"]
    assert {update["path"] for update in later["update"]} == {
        f"interface[name={port}]/statistics/in-octets" for port in ("e1", "e2")
    }
    stream.close()


def test_two_streams_on_one_target_share_a_refresh(plain: Stub, box: Box) -> None:
    other = entry("/interface/oper-state", interval_s=0.5, heartbeat_interval=10**10)
    wish = request(entry("/interface/statistics", interval_s=0.5), other)
    call = plain.Subscribe(iter([wish]))
    until_sync(call)
    before = box.refreshed
    for _ in range(6):
        next(call)
    call.cancel()
    assert box.refreshed - before <= 4


def test_a_client_that_leaves_while_a_response_is_being_sent_is_no_error(
    box: Box, loop: ServerLoop, caplog: pytest.LogCaptureFixture
) -> None:
    """Of this many streams that end at different moments, one or more end within a send."""
    for number in range(300):
        box.leaves.put(f"/system/text[name=t{number}]", "x" * 20_000, on_change=True)
    server = GnmiServer(box, loop, credentials=None, identity=None)
    address, options = f"127.0.0.1:{server.start()}", [("grpc.use_local_subchannel_pool", 1)]
    for turn in range(25):
        with grpc.insecure_channel(address, options) as channel:
            streams = [Stub(channel).Subscribe(iter([request(entry("/"))]), timeout=20) for _ in range(5)]
            time.sleep(0.02 + 0.01 * (turn % 5))
            del streams
    with grpc.insecure_channel(address, options) as channel:
        answer = list(Stub(channel).Subscribe(iter([request(entry("/system/name"), mode="ONCE")]), timeout=20))
    server.stop()
    assert len(answer) == 2
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []

"""Confirmed commits over gNMI, as gnmi-commit-confirmed.md (OpenConfig, 0.1.0) has them: section numbers are its."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial

import grpc
import pytest
from tests.gnmi.stub import Stub

from railfab.errors import RailfabError
from railfab.gnmi import messages, paths, values
from railfab.gnmi.confirmed import DEFAULT_ROLLBACK_S, CommitStatus, ConfirmedCommits
from railfab.gnmi.extensions import commit_extension
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.gnmi.target import Commit, CommitAction, Edit, RequestRefused, TargetView, YangModel

NAME = "/system/name"
COMMIT, CONFIRM, CANCEL, DURATION = CommitAction


class Box:
    """A switch with one leaf and confirmed commits."""

    name = "box"
    change_age_s = math.inf

    def __init__(self) -> None:
        self.leaves = Leaves("box")
        self.value = "old"
        self.commits = ConfirmedCommits("box", self._restore, lambda: None)

    def models(self) -> Sequence[YangModel]:
        return ()

    def view(self, max_age_s: float) -> TargetView | None:
        return None

    def refresh(self) -> TargetView:
        self.leaves.put(NAME, self.value, config=True)
        return self.leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        self.commits.plain(partial(self._edit, edits))

    def set_commit(self, edits: Sequence[Edit], commit: Commit) -> None:
        self.commits.act(commit, partial(self._edit, edits) if edits else None)

    def _edit(self, edits: Sequence[Edit]) -> str:
        before = self.value
        for edit in edits:
            if edit.value == "bad":
                raise RequestRefused("box", "bad is no name", "Use another")
            self.value = edit.value
        return before

    def _restore(self, value: str) -> None:
        self.value = value


@pytest.fixture(scope="module")
def loop() -> Iterator[ServerLoop]:
    with ServerLoop() as running:
        yield running


@pytest.fixture
def box() -> Iterator[Box]:
    made = Box()
    yield made
    made.commits.close()


@pytest.fixture
def plain(box: Box, loop: ServerLoop) -> Iterator[Stub]:
    server = GnmiServer(box, loop, credentials=None, identity=None)
    with grpc.insecure_channel(f"127.0.0.1:{server.start()}") as channel:
        yield Stub(channel)
    server.stop()


def wish(value: str | None, *commits: Commit) -> messages.SetRequest:
    request = messages.SetRequest(extension=map(commit_extension, commits))
    if value is not None:
        request.update.add(path=paths.to_proto(NAME), val=values.encode(value, values.JSON_IETF))
    return request


def refused(stub: Stub, request: messages.SetRequest) -> str:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Set(request)
    return caught.value.code().name  # type: ignore[no-any-return,attr-defined]


def commit(seconds: float | None = 60.0, name: str = "c1") -> Commit:
    return Commit(COMMIT, name, seconds)


def eventually(box: Box, value: str) -> None:
    end_s = time.monotonic() + 20
    while box.value != value:
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_a_commit_that_is_confirmed_stays(plain: Stub, box: Box) -> None:
    plain.Set(wish("new", commit(0.5)))
    plain.Set(wish(None, Commit(CONFIRM, "c1")))
    time.sleep(0.8)
    assert box.value == "new"
    assert [record.status for record in box.commits.records()] == [CommitStatus.COMPLETE]


def test_a_commit_that_nobody_confirms_is_reverted_though_its_client_is_gone(box: Box, loop: ServerLoop) -> None:
    server = GnmiServer(box, loop, credentials=None, identity=None)
    with grpc.insecure_channel(f"127.0.0.1:{server.start()}") as channel:
        Stub(channel).Set(wish("new", commit(0.5)))
    assert box.value == "new"
    eventually(box, "old")
    assert [record.status for record in box.commits.records()] == [CommitStatus.FAILED]
    server.stop()


def test_a_commit_that_is_cancelled_is_reverted_at_once(plain: Stub, box: Box) -> None:
    plain.Set(wish("new", commit()))
    plain.Set(wish(None, Commit(CANCEL, "c1")))
    assert box.value == "old"
    plain.Set(wish("next", commit(name="c2")))
    assert [(record.number, record.id) for record in box.commits.records()] == [(1, "c1"), (2, "c2")]


def test_a_later_client_confirms_by_the_id(box: Box, loop: ServerLoop) -> None:
    server = GnmiServer(box, loop, credentials=None, identity=None)
    port = server.start()
    for request in (wish("new", commit(0.8)), wish(None, Commit(CONFIRM, "c1"))):
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            Stub(channel).Set(request)
    time.sleep(1.0)
    assert box.value == "new"
    server.stop()


def test_the_rollback_duration_may_be_changed(plain: Stub, box: Box) -> None:
    """3.2.4"""
    plain.Set(wish("new", commit(0.4)))
    plain.Set(wish(None, Commit(DURATION, "c1", 60)))
    time.sleep(0.7)
    assert box.value == "new"
    plain.Set(wish(None, Commit(DURATION, "c1", 0.2)))
    eventually(box, "old")


@pytest.mark.parametrize("seconds", [None, 0.0, -1.0])
def test_a_rollback_duration_that_is_not_above_0_is_invalid(plain: Stub, seconds: float | None) -> None:
    """3.2.4"""
    plain.Set(wish("new", commit()))
    assert refused(plain, wish(None, Commit(DURATION, "c1", seconds))) == "INVALID_ARGUMENT"


def test_a_commit_without_a_duration_has_ten_minutes(plain: Stub, box: Box) -> None:
    """3.2.1"""
    plain.Set(wish("new", commit(None)))
    assert DEFAULT_ROLLBACK_S == 600
    assert box.value == "new"


@pytest.mark.parametrize("second", [(commit(name="c2"),), (commit(),), ()])
def test_nothing_else_is_set_while_a_commit_is_unconfirmed(plain: Stub, box: Box, second: tuple[Commit, ...]) -> None:
    """3.2.1"""
    plain.Set(wish("new", commit()))
    assert refused(plain, wish("other", *second)) == "FAILED_PRECONDITION"
    assert box.value == "new"


@pytest.mark.parametrize("action", [CONFIRM, CANCEL, DURATION])
def test_an_action_needs_the_commit_that_it_names(plain: Stub, box: Box, action: CommitAction) -> None:
    """3.2.2 to 3.2.4"""
    seconds = 5.0 if action is DURATION else None
    assert refused(plain, wish(None, Commit(action, "c1", seconds))) == "FAILED_PRECONDITION"
    plain.Set(wish("new", commit()))
    assert refused(plain, wish(None, Commit(action, "c2", seconds))) == "INVALID_ARGUMENT"
    assert refused(plain, wish(None, Commit(action, "", seconds))) == "INVALID_ARGUMENT"
    assert refused(plain, wish("more", Commit(action, "c1", seconds))) == "INVALID_ARGUMENT"
    assert box.value == "new"


def test_a_commit_needs_an_id_an_action_and_changes(plain: Stub, box: Box) -> None:
    assert refused(plain, wish("new", commit(name=""))) == "INVALID_ARGUMENT"
    assert refused(plain, wish(None, commit())) == "INVALID_ARGUMENT"
    bare = messages.Extension(commit=messages.Commit(id="c1"))
    assert refused(plain, messages.SetRequest(extension=[bare])) == "INVALID_ARGUMENT"
    assert refused(plain, wish("new", commit(), commit())) == "INVALID_ARGUMENT"
    assert box.value == "old"


def test_a_commit_that_is_refused_arms_nothing(plain: Stub, box: Box) -> None:
    assert refused(plain, wish("bad", commit())) == "INVALID_ARGUMENT"
    assert box.commits.records() == ()
    plain.Set(wish("new"))
    assert box.value == "new"


def test_a_target_without_commits_refuses_them(loop: ServerLoop) -> None:
    class Bare:
        """A target whose changes are final."""

        name, change_age_s = "bare", math.inf

        def models(self) -> Sequence[YangModel]:
            return ()

        def view(self, max_age_s: float) -> TargetView | None:
            return None

        def refresh(self) -> TargetView:
            return Leaves("bare").publish()

        def set(self, edits: Sequence[Edit]) -> None:
            raise AssertionError("the Set was not refused")

    server = GnmiServer(Bare(), loop, credentials=None, identity=None)
    with grpc.insecure_channel(f"127.0.0.1:{server.start()}") as channel:
        assert refused(Stub(channel), wish("new", commit())) == "UNIMPLEMENTED"
    server.stop()


@pytest.mark.parametrize(
    "extension",
    [
        messages.Extension(depth=messages.Depth(level=1)),
        messages.Extension(master_arbitration=messages.MasterArbitration()),
        messages.Extension(registered_ext=messages.RegisteredExtension(id=999)),
    ],
    ids=["depth", "master_arbitration", "registered"],
)
def test_an_extension_is_served_or_refused_and_never_ignored(
    plain: Stub, box: Box, extension: messages.Extension
) -> None:
    request = wish("new")
    request.extension.append(extension)
    assert refused(plain, request) == "UNIMPLEMENTED"
    assert box.value == "old"
    with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
        plain.Get(messages.GetRequest(path=[paths.to_proto(NAME)], encoding=values.JSON_IETF, extension=[extension]))
    stream = messages.SubscriptionList(subscription=[messages.Subscription(path=paths.to_proto(NAME))])
    with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
        list(plain.Subscribe(iter([messages.SubscribeRequest(subscribe=stream, extension=[extension])])))


def test_a_path_of_gnmi_0_3_is_refused_and_not_read_as_the_root(plain: Stub, box: Box) -> None:
    old = messages.Path(element=["system", "name"])
    assert refused(plain, messages.SetRequest(delete=[old])) == "INVALID_ARGUMENT"
    with pytest.raises(grpc.RpcError, match="INVALID_ARGUMENT"):
        plain.Get(messages.GetRequest(path=[old], encoding=values.JSON_IETF))
    stream = messages.SubscriptionList(
        subscription=[messages.Subscription(path=old)], encoding=values.JSON_IETF, mode=messages.SubscriptionList.ONCE
    )
    with pytest.raises(grpc.RpcError, match="INVALID_ARGUMENT"):
        list(plain.Subscribe(iter([messages.SubscribeRequest(subscribe=stream)])))


def test_a_revert_that_fails_is_logged_and_ends_the_commit(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: str) -> None:
        raise RailfabError("box", "the fabric is gone", "Start it again")

    commits = ConfirmedCommits("box", broken, lambda: None)
    commits.act(commit(0.05), lambda: "old")
    end_s = time.monotonic() + 20
    while commits.records()[0].status is CommitStatus.UNCONFIRMED:
        assert time.monotonic() < end_s
        time.sleep(0.02)
    assert "box: commit c1 was not confirmed and cannot be reverted: box: the fabric is gone" in caplog.text

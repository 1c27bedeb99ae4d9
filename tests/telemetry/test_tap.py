"""What a tap records is what its replay streams; of a damaged file what is whole."""

from __future__ import annotations

import gzip
import logging
import resource
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.telemetry.rack import Rack

from railfab.endpoints import Credentials, Endpoint, read_credentials
from railfab.errors import Unreachable
from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.gnmi.server import ServerLoop
from railfab.gnmi.statuses import StreamClosed
from railfab.platforms import platform
from railfab.telemetry import Collector
from railfab.telemetry.receive.choice import receiver
from railfab.telemetry.receive.contract import Batch, Receiver, RpcEnded
from railfab.telemetry.replay import Record, RecordingReplay, recording, records
from railfab.telemetry.subscriptions import SUBSCRIBE_MODES, subscribe_rpcs
from railfab.telemetry.tap import Tap, TapError, Tapped
from railfab.telemetry.targets import TargetSpec

ANN = Credentials("ann", "secret")
LEAF, SPINE = (Endpoint(name=name, platform="srlinux", host="192.0.2.1") for name in ("leaf1", "spine1"))
MESSAGES = [(0, [b"one", b"", b"three" * 100]), (1, [b"four"]), (0, [b"five"])]


def batch(rpc: int, found: Iterable[bytes]) -> Batch:
    """A batch whose messages do not touch each other."""
    bounds, buffer = [], b""
    for message in found:
        buffer += b"\xff"
        bounds.append((len(buffer), len(buffer) + len(message)))
        buffer += message
    return Batch(rpc, np.frombuffer(buffer, np.uint8), np.array(bounds, np.int64).reshape(-1, 2))


def opened(found: Batch) -> tuple[int, list[bytes]]:
    return found.rpc, [found.buffer[start:end].tobytes() for start, end in found.bounds.tolist()]


class Scripted:
    """A receiver of batches that are known, which then breaks."""

    async def stream(self, endpoint: Endpoint, *_: object) -> AsyncGenerator[Batch | RpcEnded, Any]:
        for rpc, found in MESSAGES:
            yield batch(rpc, [endpoint.name.encode() + message for message in found])
        yield RpcEnded(1, StreamClosed("leaf1", "ended", "None"))
        raise StreamClosed("leaf1", "broke", "None")


async def streamed(receiver: Receiver, *endpoints: Endpoint) -> list[tuple[int, list[bytes]]]:
    """The batches of each target in turn, until its stream breaks."""
    found: list[tuple[int, list[bytes]]] = []
    for endpoint in endpoints:
        with suppress(StreamClosed):
            async for one in receiver.stream(endpoint, ANN, []):
                found += [opened(one)] if isinstance(one, Batch) else []
            raise AssertionError("a stream never just ends")
    return found


def recorded(path: Path) -> list[Record]:
    """A recording of two targets, and what is in it."""
    tap = Tap(path)
    arrivals = [
        (target, arrival_ns, rpc, found)
        for arrival_ns, (target, (rpc, found)) in enumerate(
            (target, one) for one in MESSAGES for target in ("leaf1", "spine1")
        )
    ]
    for target, arrival_ns, rpc, found in arrivals:
        tap.write(target, batch(rpc, found), arrival_ns)
        tap.flush()
    tap.close()
    return [Record(target, at_ns, rpc, message) for target, at_ns, rpc, found in arrivals for message in found]


def readable(path: Path) -> tuple[list[Record], str]:
    """The records that are read, and the error after them."""
    found: list[Record] = []
    try:
        found.extend(records(path))
    except TapError as error:
        return found, str(error)
    return found, ""


@pytest.mark.asyncio
async def test_a_replay_streams_what_was_recorded(tmp_path: Path) -> None:
    tap = Tap(tmp_path / "tap.gz")
    sent = await streamed(Tapped(Scripted(), tap), LEAF, SPINE)
    tap.close()
    replay = RecordingReplay(recording(tmp_path / "tap.gz"), speed=None)
    assert await streamed(replay, SPINE, LEAF) == sent[3:] + sent[:3]
    with pytest.raises(Unreachable, match=r"^leaf1: the recording has ended\. Start again to replay it again\.$"):
        await streamed(replay, LEAF)


def test_a_replay_believes_the_times_of_its_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "ann")
    monkeypatch.setenv("RAILFAB_PASSWORD", "secret")
    tap = Tap(tmp_path / "tap.gz")
    for octets, stamp_s in ((20, 2), (10, 1)):
        update = messages.Update(
            path=to_proto("/interface[name=ethernet-1/1]/statistics/in-octets"),
            val=messages.TypedValue(uint_val=octets),
        )
        notification = messages.Notification(timestamp=10**18 + stamp_s * 10**9, update=[update])
        response = messages.SubscribeResponse(update=notification)
        tap.write("leaf1", batch(0, [response.SerializeToString()]), stamp_s)
    tap.close()
    spec = TargetSpec(name="leaf1", platform="srlinux", endpoint=LEAF, telemetry=platform("srlinux").telemetry)
    late = {"device": "leaf1", "reason": "out_of_order"}
    with Collector([spec], receiver=RecordingReplay(recording(tmp_path / "tap.gz"), speed=None)) as collector:
        until_s = time.monotonic() + 30
        while not (found := collector.value("fabric_collector_dropped_updates_total", **late)):
            assert time.monotonic() < until_s
            time.sleep(0.01)
        skewed = collector.value("fabric_collector_skewed_notifications_total")
    assert (found, skewed) == (1, 0)


Message = st.tuples(st.text(max_size=5), st.integers(0, 2**62), st.integers(0, 3), st.binary(max_size=40))


@settings(max_examples=examples(20))
@given(st.lists(Message, max_size=8))
def test_the_records_read_are_those_written(tmp_path_factory: pytest.TempPathFactory, found: list[tuple]) -> None:
    path = tmp_path_factory.mktemp("tap") / "tap.gz"
    tap = Tap(path)
    for target, arrival_ns, rpc, message in found:
        tap.write(target, batch(rpc, [message]), arrival_ns)
    tap.close()
    assert list(records(path)) == found


def test_a_file_that_is_cut_off_gives_its_whole_records_and_one_error(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "tap.gz")
    content = (tmp_path / "tap.gz").read_bytes()
    cut = tmp_path / "cut.gz"
    most = 0
    for length in range(len(content)):
        cut.write_bytes(content[:length])
        found, error = readable(cut)
        assert found == whole[: len(found)]
        assert len(found) >= most
        most = len(found)
        after = f"The {most} records before are whole and were read." if most else "Nothing of it can be read."
        assert error.startswith(f"{cut}: is cut off"), length
        assert error.endswith(after)
    assert found == whole, "all but the end of the gzip stream"


def test_a_damaged_file_never_gives_a_wrong_record(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "tap.gz")
    content = bytearray((tmp_path / "tap.gz").read_bytes())
    damaged = tmp_path / "damaged.gz"
    errors = 0
    for place in range(10, len(content)):  # behind the head of gzip
        content[place] ^= 0x55
        damaged.write_bytes(content)
        content[place] ^= 0x55
        found, error = readable(damaged)
        assert found == whole[: len(found)]
        assert error
        errors += found != [] and "is damaged (" in error
    assert errors > 10


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"hello", "is damaged (incorrect header check). Nothing of it can be read"),
        (b"", "is cut off. Nothing of it can be read"),
        (gzip.compress(b"another file of some length", mtime=0), "is not a recording. Name the file that a tap wrote"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "tap.gz"
    path.write_bytes(content)
    assert readable(path) == ([], f"{path}: {problem}.")


@pytest.mark.parametrize("content", [b"hello", gzip.compress(b"another file of some length", mtime=0)])
def test_another_file_is_refused_before_anything_is_replayed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(TapError, match=r"other: is not a recording\. Name the file that a tap wrote\.$"):
        recording(tmp_path / "other")


@pytest.mark.asyncio
async def test_a_damaged_recording_breaks_the_stream_with_its_error(tmp_path: Path) -> None:
    recorded(path := tmp_path / "tap.gz")
    path.write_bytes(path.read_bytes()[:-9])
    stream = RecordingReplay([path], speed=None).stream(LEAF, ANN, [])
    assert [opened(await anext(stream)) for _ in MESSAGES] == MESSAGES
    with pytest.raises(StreamClosed, match=r"tap\.gz: is cut off\. The 10 records before are whole and were read\.$"):
        await anext(stream)


def test_files_are_renamed_when_full_and_the_oldest_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "tap.gz"
    noise = np.random.default_rng(1)
    tap = Tap(path, most_bytes=8_000, files=4)
    for number in range(30):
        tap.write("leaf1", batch(0, [noise.bytes(1_000)]), number)
        tap.flush()
    tap.close()
    files = recording(path)
    assert [file.name for file in files] == ["tap.gz.3", "tap.gz.2", "tap.gz.1", "tap.gz"]
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in files}
    found = [record.arrival_ns for file in files for record in records(file)]
    assert found == list(range(found[0], 30))
    assert 4 < len(found) <= 10


def test_a_recording_of_an_earlier_run_is_kept(tmp_path: Path) -> None:
    whole = recorded(path := tmp_path / "tap.gz")
    Tap(path).close()
    assert [record for file in recording(path) for record in records(file)] == whole


@pytest.mark.asyncio
async def test_a_replay_keeps_the_pace_of_the_recording(tmp_path: Path) -> None:
    tap = Tap(tmp_path / "tap.gz")
    for number in range(3):
        tap.write("leaf1", batch(0, [b"x"]), number * 200_000_000)
    tap.close()
    began_s = time.monotonic()
    await streamed(RecordingReplay([tmp_path / "tap.gz"], speed=4.0), LEAF)
    assert 0.1 <= time.monotonic() - began_s < 1.0


def test_a_folder_that_is_not_there_is_refused_and_a_full_disk_ends_the_recording_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TapError, match=r"cannot be written \(no such file or directory\)\. Name a file in a folder"):
        Tap(tmp_path / "absent" / "tap.gz")
    with pytest.raises(TapError, match=r"absent: no such recording\. Name the file that a tap wrote\.$"):
        recording(tmp_path / "absent")
    tap = Tap(tmp_path / "tap.gz")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        for number in range(2):
            tap.write("leaf1", batch(0, [np.random.default_rng(number).bytes(200_000)]), number)
        tap.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [(line.levelno, line.message) for line in caplog.records] == [
        (logging.ERROR, f"{tmp_path / 'tap.gz'}: the recording has ended (file too large)")
    ]


@pytest.mark.asyncio
async def test_the_stream_of_a_switch_is_replayed_as_it_came(tmp_path: Path) -> None:
    tap = Tap(tmp_path / "tap.gz")
    with ServerLoop() as loop:
        rack = Rack(tmp_path, loop)
        endpoint = rack.endpoint("pod1-seg1-leaf1")
        rpcs = subscribe_rpcs(platform("srlinux").telemetry.subscriptions, 0.1, SUBSCRIBE_MODES[0])
        requests = [rpc.subscription.request() for rpc in rpcs]
        found = []
        async with aclosing(
            Tapped(receiver("auto"), tap).stream(endpoint, read_credentials(endpoint), requests)
        ) as stream:
            async for one in stream:
                found.append(opened(one))
                if len(found) == 4:
                    break
        for name in rack.servers:
            rack.kill(name)
    tap.close()
    replayed = await streamed(RecordingReplay(recording(tmp_path / "tap.gz"), speed=None), endpoint)
    assert replayed == found

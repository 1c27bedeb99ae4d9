"""How long a target may have waited for a receiver that reads slowly, and that one which is read at once did not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import ExitStack, aclosing, contextmanager
from typing import Any

import grpc
import pytest
from tests.telemetry.rack import QUICK, eventually
from tests.telemetry.receive.peers import ADMIN, REQUEST, Peer, answer, data, endpoint, response, serving
from tests.telemetry.receive.pygnmi_receiver import PygnmiReceiver

from railfab.gnmi import messages
from railfab.telemetry import Collector
from railfab.telemetry.receive.choice import receiver
from railfab.telemetry.receive.contract import Batch, Receiver
from railfab.telemetry.receive.fast import FastReceiver
from railfab.telemetry.receive.grpcio import GrpcReceiver
from railfab.telemetry.targets import TargetSpec, telemetry_of

LARGE = response(1, 50_000)
PAUSE_S = 0.2


class Flood(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A target that sends as fast as it may."""

    def service(self, call: Any) -> Any:
        if call.method != messages.METHODS["Subscribe"]:
            return None
        return grpc.stream_stream_rpc_method_handler(self._answer, None, None)

    def _answer(self, requests: Any, context: Any) -> Iterator[bytes]:
        yield messages.SubscribeResponse(sync_response=True).SerializeToString()
        while context.is_active():
            yield LARGE


@contextmanager
def flooding() -> Iterator[int]:
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Flood()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(0).wait()


@pytest.mark.parametrize("kind", [FastReceiver, GrpcReceiver, PygnmiReceiver])
def test_a_target_waits_while_its_reader_pauses(kind: type[Receiver]) -> None:
    """At least a tenth of the pauses, as a busy machine lets the target send late, and never longer than they took."""

    async def run(port: int) -> tuple[float, float]:
        waited_s = 0.0
        async with aclosing(kind().stream(endpoint(port), ADMIN, [REQUEST])) as stream:
            await anext(stream)
            began_s = time.monotonic()
            for _ in range(40):
                await asyncio.sleep(PAUSE_S)
                batch = await anext(stream)
                assert isinstance(batch, Batch)
                waited_s += batch.waited_s
                if waited_s > 4 * PAUSE_S:
                    break
            return waited_s, time.monotonic() - began_s

    with flooding() as port:
        waited_s, took_s = asyncio.run(asyncio.wait_for(run(port), 60))
    assert 4 * PAUSE_S < waited_s < took_s + PAUSE_S


@pytest.mark.parametrize("name", ["fast", "grpc"])
def test_a_target_that_is_read_in_time_does_not_wait(name: str) -> None:
    """It sends a little all the time, of which a reader takes all each time."""

    async def script(peer: Peer) -> None:
        await peer.greet()
        peer.send(answer(1))
        while True:
            peer.send(data(1, response(1, 2_000)))
            await asyncio.sleep(0.02)

    async def run() -> list[float]:
        async with serving(script) as port, aclosing(receiver(name).stream(endpoint(port), ADMIN, [REQUEST])) as stream:
            return [batch.waited_s for _ in range(8) if isinstance(batch := await anext(stream), Batch)]

    assert asyncio.run(asyncio.wait_for(run(), 20)) == [0.0] * 8


def test_a_collector_says_for_how_long_it_held_a_target_back() -> None:
    with ExitStack() as stack:
        where = endpoint(stack.enter_context(flooding()), credentials="none")
        one = TargetSpec(name="leaf1", platform="srlinux", endpoint=where, telemetry=telemetry_of("srlinux"))
        running = stack.enter_context(Collector([one], policy=QUICK))
        eventually(running, lambda now: now.value("fabric_collector_updates_total") > 10)
        before_s = running.value("fabric_collector_held_back_seconds_total")
        for _ in range(3):
            assert running._loop
            running._loop.call_soon_threadsafe(time.sleep, 0.5)
            time.sleep(0.6)
        eventually(running, lambda now: now.value("fabric_collector_held_back_seconds_total") > before_s + 1.0)

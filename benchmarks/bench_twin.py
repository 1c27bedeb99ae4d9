"""What serving a twin costs: CPU until every switch answers, memory, one Capabilities, and streaming to a client.

    python benchmarks/bench_twin.py benchmarks/fabrics/srlinux-256.yml

Starts `railfab twin FILE --configured` as its own process and reads the CPU time (user and system) and the memory of
that process. The client runs in this process and is not counted. It subscribes every switch as the collector does, with
the paths of the platform's telemetry map.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import grpc
from measured import machine
from twin_process import Process, endpoints, twin

from railfab.endpoints import Endpoint, read_credentials
from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import SubscriptionMode, platform

CAPABILITIES_ROUNDS = 25
SETTLE_S, STREAM_S = 20, 60


@dataclass(slots=True)
class Received:
    """What the streams have brought."""

    responses: int = 0
    bytes: int = 0
    synced: set[str] = field(default_factory=set)


class Client:
    """A gNMI client of all switches, on one event loop."""

    def __init__(self, nodes: Sequence[Endpoint]) -> None:
        self.nodes = nodes
        login = read_credentials(nodes[0])
        self._metadata = (("username", login.username), ("password", login.password))
        self._trust = grpc.ssl_channel_credentials(Path(nodes[0].ca or "").read_bytes())
        self.received = Received()

    def channel(self, node: Endpoint) -> grpc.aio.Channel:
        options = [("grpc.use_local_subchannel_pool", 1)]
        return grpc.aio.secure_channel(f"{node.host}:{node.gnmi_port}", self._trust, options=options)

    async def capabilities(self, node: Endpoint) -> float:
        """Seconds for connect, TLS and Capabilities."""
        began_s = time.monotonic()
        async with self.channel(node) as channel:
            call: Any = channel.unary_unary(messages.METHODS["Capabilities"])
            await call(messages.CapabilityRequest().SerializeToString(), metadata=self._metadata, timeout=60)
        return time.monotonic() - began_s

    async def stream(self, node: Endpoint, interval_s: float) -> None:
        """Receive what a collector asks for; responses are counted and not decoded."""
        telemetry = platform(node.platform).telemetry
        entries = [
            messages.Subscription(
                path=to_proto(entry.path),
                mode=messages.SubscriptionMode.Value(entry.mode.name),
                sample_interval=int(interval_s * 1e9) if entry.mode is SubscriptionMode.SAMPLE else 0,
            )
            for entry in telemetry.subscriptions
        ]
        wish = messages.SubscribeRequest(subscribe=messages.SubscriptionList(subscription=entries, encoding=4))
        sync = messages.SubscribeResponse(sync_response=True).SerializeToString()
        async with self.channel(node) as channel:
            call = channel.stream_stream(
                messages.METHODS["Subscribe"], request_serializer=messages.SubscribeRequest.SerializeToString
            )(metadata=self._metadata)
            await call.write(wish)
            async for response in call:
                self.received.responses += 1
                self.received.bytes += len(response)
                if response == sync:
                    self.received.synced.add(node.name)


async def measure(process: Process, nodes: Sequence[Endpoint], interval_s: float) -> None:
    client = Client(nodes)
    for node in nodes:
        await client.capabilities(node)
    show(f"CPU until all of {len(nodes)} switches answer", f"{process.cpu_s():.1f} s")
    show("resident then", f"{process.resident_mb():.0f} MB")
    idle = [await client.capabilities(node) for node in nodes[:CAPABILITIES_ROUNDS]]
    show("connect, TLS and Capabilities", f"{median(idle) * 1e3:.1f} ms")
    before_s = process.cpu_s()
    await asyncio.sleep(SETTLE_S)
    show("no client", f"{(process.cpu_s() - before_s) / SETTLE_S * 100:.1f} % of a core")
    before_s = process.cpu_s()
    streams = [asyncio.create_task(client.stream(node, interval_s)) for node in nodes]
    while len(client.received.synced) < len(nodes):
        await asyncio.sleep(0.1)
        for task in streams:
            if task.done():
                task.result()
    show("all streams opened and synchronised", f"{process.cpu_s() - before_s:.1f} s of CPU")
    await asyncio.sleep(SETTLE_S)
    await _steady(process, client, interval_s)
    for task in streams:
        task.cancel()
    await asyncio.gather(*streams, return_exceptions=True)


async def _steady(process: Process, client: Client, interval_s: float) -> None:
    before_s, responses, octets = process.cpu_s(), client.received.responses, client.received.bytes
    dials = []
    for at in range(STREAM_S):
        dials.append(await client.capabilities(client.nodes[at % len(client.nodes)]))
        await asyncio.sleep(1)
    cpu_s = process.cpu_s() - before_s
    show(f"streaming every {interval_s:g} s", f"{cpu_s / STREAM_S * 100:.1f} % of a core")
    rate = (client.received.responses - responses) / STREAM_S
    show("", f"{rate:.0f} responses/s, {(client.received.bytes - octets) / STREAM_S / 1e6:.2f} MB/s")
    show("connect, TLS and Capabilities then", f"{median(dials) * 1e3:.1f} ms")
    show("resident then", f"{process.resident_mb():.0f} MB")


def show(what: str, figure: str) -> None:
    print(f"{what:44} {figure}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent", type=Path)
    parser.add_argument("--interval", type=float, default=10.0, help="sample interval of the streams [s]")
    options = parser.parse_args()
    print(f"{options.intent.stem}: {machine()}")
    with tempfile.TemporaryDirectory() as folder, twin(options.intent, Path(folder), "--configured") as process:
        nodes = endpoints(options.intent, Path(folder), process)
        asyncio.run(measure(process, nodes, options.interval))


if __name__ == "__main__":
    main()

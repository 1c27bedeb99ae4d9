"""What the collector costs: CPU seconds per million updates, and per scrape, beside grpcio's own floor.

A replay server streams as fast as its client takes it (or at a rate), over TLS on this machine; the client is a process
of its own, and only its CPU time counts. `floor` reads the same stream with grpcio and throws the bytes away; `railfab`
decodes, stores and is scraped every 10 s as by Prometheus. Pin both to a core each for figures worth quoting:

    python benchmarks/bench_collector.py                  # 1, 30 and 512 updates a message, then 64 paced targets
    python benchmarks/bench_collector.py --seconds 60 --rounds 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from prometheus_client import CollectorRegistry, generate_latest

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi import messages
from railfab.gnmi.certificates import Authority
from railfab.gnmi.client import OPTIONS
from railfab.platforms import Confidence, SubscriptionMode, TelemetryMap, TelemetryRule, TelemetrySubscription
from railfab.telemetry import Policy
from railfab.telemetry.exposition import FabricCollector
from railfab.telemetry.intended import IntendedSeries
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.session import TargetSession

SERVER = Path(__file__).with_name("gnmi_replay_server.py")
BASE_PORT = 58400
SCRAPE_S = 10.0
WARM_S = 3.0
SUBSCRIBED = "/interfaces/interface/state/counters"
COUNTERS = {
    "in-octets": ("fabric_interface_receive_bytes_total", {}),
    "in-unicast-pkts": ("fabric_interface_receive_packets_total", {"cast": "unicast"}),
    "in-multicast-pkts": ("fabric_interface_receive_packets_total", {"cast": "multicast"}),
    "in-discards": ("fabric_interface_receive_discards_total", {}),
    "in-errors": ("fabric_interface_receive_errors_total", {}),
    "out-octets": ("fabric_interface_transmit_bytes_total", {}),
    "out-unicast-pkts": ("fabric_interface_transmit_packets_total", {"cast": "unicast"}),
    "out-discards": ("fabric_interface_transmit_discards_total", {}),
}
"""What the replay server streams: every leaf has its rule, so that nothing is cheap for being unknown."""


def telemetry() -> TelemetryMap:
    path = "/interfaces/interface[name={interface}]/state/counters/"
    rules = tuple(
        TelemetryRule(path=path + leaf, metric=name, labels=labels, encoding="uint64", confidence=Confidence.VERIFIED)
        for leaf, (name, labels) in COUNTERS.items()
    )
    return TelemetryMap(
        rules=rules, subscriptions=(TelemetrySubscription(path=SUBSCRIBED, mode=SubscriptionMode.SAMPLE),)
    )


@contextmanager
def replay(folder: Path, *arguments: str, targets: int) -> Iterator[list[Endpoint]]:
    """A replay server with TLS; the endpoints of its targets."""
    authority = Authority("benchmark")
    identity = authority.issue("replay")
    for name, pem in (("ca", authority.certificate), ("cert", identity.certificate), ("key", identity.key)):
        (folder / f"{name}.pem").write_bytes(pem)
    pair = ("--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem"))
    command = [sys.executable, str(SERVER), "--engine", "grpc", *pair, *arguments]
    command += ["--base-port", str(BASE_PORT), "--targets", str(targets)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(0))
    try:
        assert server.stdout is not None
        lines = [server.stdout.readline().split() for _ in range(targets)]
        yield [
            Endpoint(name=name, platform="replay", host=host, gnmi_port=int(port), ca=str(folder / "ca.pem"))
            for _, name, host, port, *_ in lines
        ]
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def pinned(core: int) -> Callable[[], None] | None:
    """Keep server and client apart where there are cores enough."""
    if (os.cpu_count() or 1) < 2:
        return None
    return lambda: os.sched_setaffinity(0, {core})


async def floor(endpoint: Endpoint, seconds: float) -> dict[str, float]:
    """Messages a second and CPU per message of grpcio, which hands over bytes that are not decoded."""
    trust = grpc.ssl_channel_credentials(Path(endpoint.ca or "").read_bytes())
    request = messages.SubscribeRequest(subscribe=messages.SubscriptionList()).SerializeToString()
    async with grpc.aio.secure_channel(f"{endpoint.host}:{endpoint.gnmi_port}", trust, options=OPTIONS) as channel:
        call = channel.stream_stream("/gnmi.gNMI/Subscribe")()
        await call.write(request)
        until_s, count, cpu_s = time.monotonic() + WARM_S, 0, cpu()
        warm = False
        async for _ in call:
            count += 1
            if time.monotonic() > until_s:
                if warm:
                    break
                warm, count, cpu_s, until_s = True, 0, cpu(), time.monotonic() + seconds
        return {"us_per_message": (cpu() - cpu_s) / count * 1e6}


def collect(endpoints: list[Endpoint], seconds: float) -> dict[str, float]:
    """CPU per update of the collector while it is scraped."""
    found: dict[str, float] = {}
    sessions: list[TargetSession] = []
    clock = LoopClock()
    thread = threading.Thread(target=lambda: asyncio.run(stream(endpoints, sessions, clock)), daemon=True)
    thread.start()
    time.sleep(WARM_S)
    registry = CollectorRegistry()
    registry.register(FabricCollector(sessions, IntendedSeries({}, {}), clock))
    scrape_cpu_s, scrapes = 0.0, 0
    before, cpu_s, start_s = received(sessions), cpu(), time.monotonic()
    while time.monotonic() < start_s + seconds:
        time.sleep(min(SCRAPE_S, seconds))
        began_s = time.thread_time()
        generate_latest(registry)
        scrape_cpu_s, scrapes = scrape_cpu_s + time.thread_time() - began_s, scrapes + 1
    updates, used_s, seconds = received(sessions) - before, cpu() - cpu_s, time.monotonic() - start_s
    found["cpu_s_per_million_updates"] = used_s / updates * 1e6
    found["core_percent"] = used_s / seconds * 100
    found["updates_per_s"] = updates / seconds
    found["scrape_cpu_s"] = scrape_cpu_s / scrapes
    found["series"] = sum(len(session.store) for session in sessions)
    found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


async def stream(endpoints: list[Endpoint], sessions: list[TargetSession], clock: LoopClock) -> None:
    dials = asyncio.Semaphore(32)
    for endpoint in endpoints:
        nobody = Credentials("", "")
        sessions.append(
            TargetSession(endpoint, nobody, telemetry(), interval_s=30.0, policy=Policy(), dials=dials, clock=clock)
        )
    await asyncio.gather(clock.run(), *(session.run() for session in sessions))


def received(sessions: list[TargetSession]) -> int:
    return sum(session.health.updates.total() for session in sessions)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def client(kind: str, endpoints: list[Endpoint], seconds: float) -> dict[str, float]:
    """Measure in a process of its own."""
    asked = json.dumps({"kind": kind, "seconds": seconds, "endpoints": [vars_of(endpoint) for endpoint in endpoints]})
    done = subprocess.run(
        [sys.executable, __file__, "--client"],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=pinned(1),
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def vars_of(endpoint: Endpoint) -> dict[str, object]:
    return {name: getattr(endpoint, name) for name in ("name", "platform", "host", "gnmi_port", "ca")}


def as_client() -> None:
    asked = json.load(sys.stdin)
    endpoints = [Endpoint(**fields) for fields in asked["endpoints"]]
    if asked["kind"] == "floor":
        print(json.dumps(asyncio.run(floor(endpoints[0], asked["seconds"]))))
    else:
        print(json.dumps(collect(endpoints, asked["seconds"])))


def report(title: str, figures: dict[str, float]) -> None:
    print(f"{title:34}", "  ".join(f"{name} {value:,.2f}" for name, value in figures.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10.0, help="measured time of each run")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    if options.client:
        as_client()
        os._exit(0)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for updates in (1, 30, 512):
                with replay(Path(folder), "--updates", str(updates), targets=1) as endpoints:
                    report(f"floor, {updates} a message", client("floor", endpoints, options.seconds))
                    report(f"railfab, {updates} a message", client("railfab", endpoints, options.seconds))
            paced = ("--updates", "30", "--rate", "1024")
            with replay(Path(folder), *paced, targets=64) as endpoints:
                report("railfab, 64 targets at 1,024/s", client("railfab", endpoints, options.seconds))


if __name__ == "__main__":
    main()

"""The processes that bench_collector.py measures: the collector, and a reader that throws away what it gets.

Each reads a line of JSON, says READY, begins to stream at the next line, and answers each further line with its series.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
INTERVAL_S = 60.0
MOST_SERIES = 2_000_000


def railfab(asked: dict[str, Any]) -> Callable[[], int]:
    """Make a collector as `railfab collect` does; return what starts it, and then counts its series."""
    from railfab.endpoints import Endpoint
    from railfab.telemetry import Collector, MetricsServer, RetryPolicy
    from railfab.telemetry.targets import TargetSpec
    from railfab.telemetry.warm import compile_kernels

    logging.getLogger("railfab").setLevel(logging.ERROR)  # each of 64 targets is without TLS
    telemetry = _telemetry()
    specs = [
        TargetSpec(
            name=name,
            platform="replay",
            endpoint=Endpoint(
                name=name, platform="replay", host=host, gnmi_port=port, ca=asked["ca"], plaintext=asked["ca"] is None,
                credentials="none",
            ),
            telemetry=telemetry,
        )
        for name, host, port in asked["targets"]
    ]  # fmt: skip
    policy = RetryPolicy(max_series=MOST_SERIES)
    collector = Collector(specs, interval_s=INTERVAL_S, policy=policy, receiver=asked["receiver"])
    server = MetricsServer(collector.exposition, collector.healthy, port=asked["metrics_port"])
    compile_kernels()
    started = False

    def series() -> int:
        nonlocal started
        if not started:
            started = True
            collector.__enter__()
            server.__enter__()
        return sum(len(session.store) for session in collector.fleet.sessions)

    return series


def floor(asked: dict[str, Any]) -> Callable[[], int]:
    """The least that grpcio costs: messages as bytes, at which nobody looks."""
    import grpc

    from railfab.gnmi import messages

    ((_, host, port),) = asked["targets"]
    address = f"{host}:{port}"
    if asked["ca"]:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(Path(asked["ca"]).read_bytes()))
    else:
        channel = grpc.insecure_channel(address)
    request = messages.SubscribeRequest(subscribe=messages.SubscriptionList()).SerializeToString()

    def read() -> None:
        for _ in channel.stream_stream(messages.METHODS["Subscribe"])(iter((request,))):
            pass

    reader = threading.Thread(target=read, daemon=True)

    def start() -> int:
        if not reader.ident:
            reader.start()
        return 0

    return start


def _telemetry() -> Any:
    from railfab.platforms import Confidence, SubscriptionMode, TelemetryMap, TelemetryRule, TelemetrySubscription

    path = "/interfaces/interface[name={interface}]/state/counters/"
    rules = tuple(
        TelemetryRule(path=path + leaf, metric=name, labels=labels, encoding="uint64", confidence=Confidence.VERIFIED)
        for leaf, (name, labels) in COUNTERS.items()
    )
    sampled = TelemetrySubscription(path=SUBSCRIBED, mode=SubscriptionMode.SAMPLE)
    return TelemetryMap(rules=rules, subscriptions=(sampled,))


def main() -> None:
    from railfab.telemetry import batch_scheduling

    batch_scheduling()  # as `railfab collect` does; the floor too, for which it is as good
    asked = json.loads(sys.stdin.readline())
    series = (floor if asked["receiver"] == "floor" else railfab)(asked)
    print("READY", flush=True)
    for _ in sys.stdin:
        print(series(), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()

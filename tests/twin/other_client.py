"""A gNMI client in another process: `python -m tests.twin.other_client PORT CA PASSWORD`.

It streams a switch every STREAM_S, and for each line on stdin connects to it DIALS times and prints, as JSON, how long
connecting and Capabilities took, and how long the stream was silent at most [s].
"""

from __future__ import annotations

import json
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

DIALS = 9
STREAM_S = 0.2


class Client:
    def __init__(self, port: str, ca: str, password: str) -> None:
        self._address = f"127.0.0.1:{port}"
        self._trust = grpc.ssl_channel_credentials(Path(ca).read_bytes())
        self._metadata = (("username", "admin"), ("password", password))
        self.arrivals = [time.monotonic()]

    def channel(self) -> grpc.Channel:
        return grpc.secure_channel(self._address, self._trust, options=[("grpc.use_local_subchannel_pool", 1)])

    def stream(self) -> None:
        entry = gnmi_pb2.Subscription(
            path=gnmi_path_generator("/interface[name=ethernet-1/1]/statistics"),
            mode=gnmi_pb2.SubscriptionMode.Value("SAMPLE"),
            sample_interval=int(STREAM_S * 1e9),
        )
        wish = gnmi_pb2.SubscribeRequest(subscribe=gnmi_pb2.SubscriptionList(subscription=[entry], encoding=4))
        with self.channel() as channel:
            for _ in gnmi_pb2_grpc.gNMIStub(channel).Subscribe(iter([wish]), metadata=self._metadata):
                self.arrivals.append(time.monotonic())

    def dial(self) -> float:
        """How long connecting, TLS and Capabilities take [s]."""
        began_s = time.monotonic()
        with self.channel() as channel:
            gnmi_pb2_grpc.gNMIStub(channel).Capabilities(gnmi_pb2.CapabilityRequest(), metadata=self._metadata)
        return time.monotonic() - began_s

    def measure(self) -> dict[str, object]:
        first = len(self.arrivals) - 1
        dials_s = [self.dial() for _ in range(DIALS)]
        time.sleep(4 * STREAM_S)
        silent_s = max(after - before for before, after in pairwise([*self.arrivals[first:], time.monotonic()]))
        return {"dials_s": dials_s, "silent_s": silent_s}


def main() -> None:
    client = Client(*sys.argv[1:])
    threading.Thread(target=client.stream, daemon=True).start()
    client.dial()
    for _ in sys.stdin:
        sys.stdout.write(json.dumps(client.measure()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

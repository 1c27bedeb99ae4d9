"""A gNMI target that is not ours, on grpcio's server, which takes some subscriptions and refuses others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc
from tests.telemetry.rack import INTERVAL_S

from railfab.endpoints import Endpoint
from railfab.gnmi.certificates import Authority

LEAF = "pod1-seg1-leaf1"


FIRST_SAMPLES = 6
FEC = "/interface[name=e1]/ethernet/forward-error-correction/statistics/host-if-fec-router"


@dataclass
class Odd(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """A target that takes some subscriptions and refuses others; all others of gNMI it does not know.

    busy_s: for so long after a Subscribe that it takes it refuses all others. lacks: an element that its chassis does
    not have. reads_s: for so long it reads its leaves before it sends the first. paced: it samples as often as it is
    asked to, and not four times a second. stuck: after its first values it sends nothing. stops: the elements of a path
    whose RPC sends nothing after FIRST_SAMPLES. asked: the requests that it got. taken: the paths of each that was not
    refused as busy.
    """

    encodings: tuple[str, ...] = ("PROTO", "JSON_IETF")
    on_change: bool = True
    sync: bool = True
    refusal: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT
    stamp: Callable[[], int] = time.time_ns
    ends_after: int | None = None
    lacks: str = ""
    busy_s: float = 0.0
    free_s: float = 0.0
    paced: bool = False
    stuck: bool = False
    stops: tuple[str, ...] = ()
    silent: bool = False
    reads_s: float = 0.0
    asked: list[Any] = field(default_factory=list)
    taken: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def wished(self) -> set[tuple[str, ...]]:
        """The paths of each RPC that was asked for."""
        return set(map(_paths, self.asked))

    def Subscribe(self, requests: Any, context: Any) -> Iterator[Any]:
        wish = next(requests).subscribe
        self.asked.append(wish)
        if time.monotonic() < self.free_s:
            context.abort(grpc.StatusCode.CANCELLED, "System is busy")
        self.taken.add(_paths(wish))
        self.free_s = time.monotonic() + self.busy_s
        while self.silent and context.is_active():
            time.sleep(INTERVAL_S)
        read_s = time.monotonic() + self.reads_s
        while time.monotonic() < read_s and context.is_active():
            time.sleep(INTERVAL_S / 2)
        if gnmi_pb2.Encoding.Name(wish.encoding) not in self.encodings:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such encoding here")
        changing = wish.subscription[0].mode == gnmi_pb2.ON_CHANGE
        if changing and not self.on_change:
            context.abort(self.refusal, "ON_CHANGE is not supported")
        if self.lacks in [step.name for subscription in wish.subscription for step in subscription.path.elem]:
            context.abort(self.refusal, f"Path not valid - unknown element '{self.lacks}'\x1b[0m")
        asked = [subscription.path.elem[-1].name for subscription in wish.subscription]
        leaves = {"/interface[name=e1]/statistics/in-octets": 5} if "statistics" in asked else {}
        if "frame-error-count" in asked:
            leaves[f"{FEC}/frame-error-count"] = 1
        if "oper-state" in asked:
            leaves["/interface[name=e1]/oper-state"] = "up"  # type: ignore[assignment]
        yield self._said(leaves, wish.encoding)
        if self.sync:
            yield gnmi_pb2.SubscribeResponse(sync_response=True)
        sent = 0
        while self.stuck and context.is_active():
            time.sleep(INTERVAL_S / 2)
        stops = bool(self.stops) and self.stops in [
            tuple(step.name for step in one.path.elem) for one in wish.subscription
        ]
        while context.is_active() and sent != self.ends_after:
            time.sleep(wish.subscription[0].sample_interval / 1e9 if self.paced and not changing else INTERVAL_S / 2)
            if not changing and not (stops and sent == FIRST_SAMPLES):
                yield self._said(leaves, wish.encoding)
                sent += 1

    def _said(self, leaves: dict[str, Any], encoding: int) -> Any:
        update = [
            gnmi_pb2.Update(path=gnmi_path_generator(path), val=typed(value, encoding))
            for path, value in leaves.items()
        ]
        return gnmi_pb2.SubscribeResponse(update=gnmi_pb2.Notification(timestamp=self.stamp(), update=update))


def _paths(wish: Any) -> tuple[str, ...]:
    return tuple(str(one.path) for one in wish.subscription)


def typed(value: object, encoding: int) -> Any:
    if encoding == gnmi_pb2.ASCII:
        return gnmi_pb2.TypedValue(ascii_val=str(value))
    if encoding == gnmi_pb2.BYTES:
        return gnmi_pb2.TypedValue(bytes_val=str(value).encode())
    if encoding != gnmi_pb2.PROTO:
        return gnmi_pb2.TypedValue(json_ietf_val=f'"{value}"'.encode())
    if isinstance(value, int):
        return gnmi_pb2.TypedValue(uint_val=value)
    return gnmi_pb2.TypedValue(string_val=str(value))


@contextmanager
def serving(target: Odd, folder: Path, name: str = LEAF) -> Iterator[Endpoint]:
    """The endpoint of one such target, which serves meanwhile."""
    authority = Authority("odd")
    identity = authority.issue(name)
    server = grpc.server(futures.ThreadPoolExecutor(8))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(target, server)
    pair = grpc.ssl_server_credentials([(identity.key, identity.certificate)])
    port = server.add_secure_port("127.0.0.1:0", pair)
    server.start()
    ca, secret = folder / f"{name}.pem", folder / "secret.yml"
    ca.write_bytes(authority.certificate)
    secret.write_text("{username: a, password: b}")
    try:
        yield Endpoint(
            name=name, platform="srlinux", host="127.0.0.1", gnmi_port=port, ca=str(ca), credentials=str(secret)
        )
    finally:
        server.stop(0.1).wait()

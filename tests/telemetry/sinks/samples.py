"""Batches for sinks, and a receiver of remote write that answers as it is told."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cramjam
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from railfab.metrics import metric
from railfab.telemetry.sinks.contract import Labels, SampleBatch

NOW_MS = 1_764_000_000_000
BYTES = metric("fabric_interface_receive_bytes_total")


def labels(number: int) -> Labels:
    return (("device", f"leaf{number % 2 + 1}"), ("interface", f"ethernet-1/{number}"))


def batch(
    samples: dict[int, tuple[float, int]] | Iterable[int],
    *,
    now_ms: int = NOW_MS,
    gone: Iterable[int] = (),
    describe: Callable[[int], tuple] = lambda number: (BYTES, labels(number)),
) -> SampleBatch:
    """A batch of value and time by id; ids alone have their own number as value and the time of the batch."""
    found = samples if isinstance(samples, dict) else {number: (float(number), now_ms) for number in samples}
    return SampleBatch(
        ids=np.array(list(found), np.int64),
        values=np.array([value for value, _ in found.values()], np.float64),
        at_ms=np.array([at_ms for _, at_ms in found.values()], np.int64),
        gone=np.array(list(gone), np.int64),
        now_ms=now_ms,
        describe=describe,
    )


def _write_request() -> type:
    """The messages of remote write from the library, in a pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(name="write.proto", package="prometheus", syntax="proto3")
    kinds = {"double": 1, "int64": 3, "string": 9}
    for name, fields in {
        "Label": {"name": (1, "string"), "value": (2, "string")},
        "Sample": {"value": (1, "double"), "timestamp": (2, "int64")},
        "TimeSeries": {"labels": (1, "Label"), "samples": (2, "Sample")},
        "MetricMetadata": {
            "type": (1, "int64"),
            "metric_family_name": (2, "string"),
            "help": (4, "string"),
            "unit": (5, "string"),
        },
        "WriteRequest": {"timeseries": (1, "TimeSeries"), "metadata": (3, "MetricMetadata")},
    }.items():
        message = file.message_type.add(name=name)
        for entry, (number, kind) in fields.items():
            scalar = kinds.get(kind)
            message.field.add(
                name=entry,
                number=number,
                label=1 if scalar else 3,
                type=scalar or 11,
                type_name=None if scalar else f".prometheus.{kind}",
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("prometheus.WriteRequest"))


WriteRequest: Any = _write_request()


@dataclass
class Receiver:
    """Requests as they came. A request that is answered with 2xx counts as accepted.

    answers: what each one gets, the last for all others: a status, (status, headers), `hang`, `close`, or `leave`,
    which is a 204 after which the connection is closed without a word, as of a server that it was idle for too long.
    """

    answers: list = field(default_factory=lambda: [204])
    accepted: list[tuple[dict[str, str], float, int]] = field(default_factory=list)
    metadata: list[tuple[int, str, str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    arrived_s: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    text: bytes = b""

    def values(self) -> list[float]:
        return [value for _, value, _ in self.accepted]

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.headers.append(dict(handler.headers))
        self.arrived_s.append(time.monotonic())
        if answer == "hang":
            self.over.wait(30)
        if answer in ("hang", "close"):
            handler.close_connection = True
            return
        if answer == "leave":
            handler.close_connection, answer = True, 204
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        if status < 300:
            request = WriteRequest.FromString(bytes(cramjam.snappy.decompress_raw(body)))
            self.metadata += [(one.type, one.metric_family_name, one.help, one.unit) for one in request.metadata]
            self.accepted += [
                ({label.name: label.value for label in series.labels}, sample.value, sample.timestamp)
                for series in request.timeseries
                for sample in series.samples
            ]
        text = b"" if status == 204 else self.text or f"status {status}\nand more".encode()
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)


@contextmanager
def receiving(*answers: object, tls: Path | None = None) -> Iterator[tuple[Receiver, str]]:
    """A receiver and its URL. tls: its certificate and key."""
    found = Receiver(list(answers) or [204])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            found.take(self)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("" if tls else "127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield found, f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/api/v1/write"
    finally:
        found.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def eventually(condition: Callable[[], object], within_s: float = 10.0) -> None:
    """Wait for a condition."""
    until_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < until_s, f"not within {within_s} s"
        time.sleep(0.005)

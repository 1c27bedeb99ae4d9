"""What reads bytes from outside, each as a function of any bytes that gives the lines of a refusal, or fails.

`python -m tests.telemetry.fuzz.readers` lists them. folder: where a reader of files may write its file.
"""

from __future__ import annotations

import math
import random
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tests.intent.intents import error_lines
from tests.telemetry.fuzz import inputs
from tests.telemetry.receive.peers import Recorded, read_to_its_end
from tests.telemetry.test_mapping_fuzz import CONFIGURATIONS, MAPPINGS, read_configuration, read_mappings

from railfab.gnmi import messages
from railfab.platforms import platform
from railfab.telemetry.decode import BadMessage, Decoder, Taken
from railfab.telemetry.health import Health
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import NotificationDecoder
from railfab.telemetry.receive.http2 import Connection
from railfab.telemetry.receive.inflow import Shared
from railfab.telemetry.replay import records
from railfab.telemetry.series import Series
from railfab.telemetry.store import TargetStore
from railfab.telemetry.tap import CHECKED_AT, GZIP, HEAD, MAGIC
from railfab.telemetry.targets.known import targets_of_hosts
from railfab.telemetry.targets.service_discovery import Discovery, parse_targets

MAP = PathMap(platform("srlinux").telemetry)
STREAMS = 2
SEEDS = 200
WINDOW = 1 << 20


def decode(data: bytes, _: Path) -> list[str]:
    """A message is what the reference makes of it, also when compiled code alone reads it again; or it is refused.

    Not all that protobuf refuses is refused: a path that no update needs is not looked at.
    """
    store = TargetStore("leaf1", Health(tls_verified=True), expiry_s=6.0, grace_s=6.0, max_series=1000)
    decoder = Decoder("leaf1", MAP, store)
    store.begin()
    store.synced()
    wanted = _reference(data)
    try:
        for second in (1.0, 2.0):
            taken = decoder.take(*batch(data), second, lasts_s=math.inf)
            found = _read(store.read(second), taken)
            assert found == (wanted or found)
    except BadMessage as error:
        assert wanted is None
        return [str(error)]
    return []


def _reference(data: bytes) -> tuple[Any, ...] | None:
    """What protobuf reads; None where it refuses the message."""
    try:
        parsed = messages.SubscribeResponse.FromString(data)
    except DecodeError:
        return None
    if not parsed.HasField("update"):
        return _read((), Taken())
    decoded = NotificationDecoder(MAP).decode(parsed.update)
    counts = Taken(updates=decoded.updates, undecodable=decoded.undecodable)
    counts.unmapped.update(decoded.unmapped)
    return _read(dict(decoded.samples).items(), counts)


def _read(samples: Iterable[tuple[Series, float]], taken: Taken) -> tuple[Any, ...]:
    """Values as texts, updates, and those that gave no value: of a path without a rule no value is looked at."""
    values = {series: repr(value) for series, value in samples}
    return values, taken.updates, taken.undecodable + taken.unmapped.total()


def batch(message: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Buffer and bounds of one message between bytes of others; it can be written, as that of a connection."""
    between = bytearray(b"\xff" * 7 + message + b"\xff" * 5)
    return np.frombuffer(between, np.uint8), np.array([[7, 7 + len(message)]], np.int64)


def receive(data: bytes, _: Path) -> list[str]:
    """A connection is refused or read to its end; each message lies in the buffer, behind the one before it."""
    connection = Connection(Recorded(data[1:], (1 + 40 * (data or b"\0")[0],)), SHARED, STREAMS, WINDOW)
    refused = read_to_its_end(connection)
    return [refused] if refused else []


ENDPOINTS = """version: 1
fabric: a
backend: twin
nodes: [{name: leaf1, platform: eos, host: 192.0.2.1, gnmi_port: 6030, gnmi_interval_s: 5}]
"""
HOSTS = """leaf1:
  hostname: 192.0.2.1
  platform: srlinux
  data: {gnmi_port: 57400, skip_verify: true, gnmi_interval_s: 5, gnmi_mode: once, site: b, metric_labels: [site]}
"""
DISCOVERED = """[{"targets": ["192.0.2.1:57400", "[2001:db8::1]"], "labels": {"platform": "eos",
"__gnmi_interval_s": "5", "site": "b"}}]"""
SHARED = Shared.new(streams=STREAMS)


def mappings(data: bytes, folder: Path) -> list[str]:
    """A mapping file is read, or refused with readable lines."""
    return _file(data, folder, read_mappings)


def hosts(data: bytes, folder: Path) -> list[str]:
    """A hosts file, or an endpoints file, is read, or refused with readable lines."""
    return _file(data, folder, targets_of_hosts)


def gnmic(data: bytes, folder: Path) -> list[str]:
    """A configuration of gnmic is read, or refused with readable lines."""
    return _file(data, folder, read_configuration)


def discovery(data: bytes, folder: Path) -> list[str]:
    """What an HTTP service discovery answers is read, or refused with a readable line."""
    return _file(data, folder, lambda path: parse_targets("http://a/sd", path.read_bytes(), Discovery()))


def tap(data: bytes, folder: Path) -> list[str]:
    """A recording with any record whose checksum is right is read, or refused with a readable line."""
    head = HEAD.pack(len(data), zlib.crc32(data), 0, 0, 0)[:CHECKED_AT]
    return _file(zlib.compress(MAGIC + head + data, 1, GZIP), folder, lambda path: deque(records(path), 0))


def _file(data: bytes, folder: Path, load: Callable[[Path], object]) -> list[str]:
    path = folder / "file.yml"
    path.write_bytes(data)
    return error_lines(load, path)


READERS: dict[str, Callable[[bytes, Path], list[str]]] = {
    "decode": decode,
    "receive": receive,
    "mappings": mappings,
    "hosts": hosts,
    "discovery": discovery,
    "tap": tap,
    "gnmic": gnmic,
}
FILES = {
    "mappings": MAPPINGS,
    "gnmic": CONFIGURATIONS,
    "hosts": [HOSTS, ENDPOINTS],
    "discovery": [DISCOVERED],
    "tap": [bytes(HEAD.size - CHECKED_AT).decode()],
}
"""Valid content of the files of each reader of files."""


def seeds(reader: str) -> Iterator[bytes]:
    """Bytes such as a reader meets, the same in each run; they are valid but for some of `receive`."""
    draw = random.Random(1)
    if reader in FILES:
        yield from (text.encode() for text in FILES[reader])
    else:
        for _ in range(SEEDS):
            sent = [inputs.response(draw) for _ in range(4)]
            yield sent[0] if reader == "decode" else b"\x30" + inputs.connection(draw, sent)


if __name__ == "__main__":
    sys.stdout.write("\n".join(READERS) + "\n")

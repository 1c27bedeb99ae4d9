"""Compile the kernels of the collector before they are needed."""

from __future__ import annotations

import numpy as np

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import Confidence, TelemetryMap, TelemetryRule
from railfab.telemetry.decode import Decoder
from railfab.telemetry.health import Health
from railfab.telemetry.lines import Writer
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import Decoded
from railfab.telemetry.receive import scan
from railfab.telemetry.store import TargetStore

_RULE = TelemetryRule(
    path="/interface[name={interface}]/in-octets",
    metric="fabric_interface_receive_bytes_total",
    encoding="uint64",
    confidence=Confidence.VERIFIED,
    labels={},
)


def compile_kernels() -> None:
    """Receive nothing, decode and write a sample: what any target needs is compiled, and kept where that can be."""
    frame, state = np.zeros(scan.FRAME_HEADER + scan.MAX_FRAME, np.uint8), np.zeros(scan.STREAMS + scan.ROW, np.int64)
    state[scan.NEED] = scan.FRAME_HEADER
    scan.scan(frame, 0, frame.copy(), state, frame.copy(), np.zeros(2, np.int64), 1)
    store = TargetStore("none", Health(tls_verified=True), expiry_s=1.0, grace_s=1.0, max_series=1)
    decoder = Decoder("none", PathMap(TelemetryMap(rules=(_RULE,), subscriptions=())), store)
    update = messages.Update(path=to_proto("/interface[name=a]/in-octets"), val=messages.TypedValue(uint_val=1))
    response = messages.SubscribeResponse(update=messages.Notification(update=[update]))
    raw = np.frombuffer(bytearray(response.SerializeToString()), np.uint8)  # writable, as those of receivers
    decoder.take(raw, np.array([[0, len(raw)]], np.int64), 0.0, lasts_s=1.0)
    store.apply(Decoded(None, store.read(0.0)))
    sample = store.sample(0.0)
    page = Writer().page(sample)
    page.write(page.sizes, np.empty(page.size(page.sizes), np.uint8))

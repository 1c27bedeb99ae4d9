"""CPU of a push: what each sink needs to choose, encode and compress the samples of 100,000 series.

python benchmarks/bench_sinks.py [--series 100000] [--pushes 5]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from railfab.metrics import Metric, metric
from railfab.telemetry.sinks.contract import Labels, SampleBatch
from railfab.telemetry.sinks.records import RecordEncoder
from railfab.telemetry.sinks.remote_write import RemoteWriteEncoder

PORTS = 128
NOW_MS, INTERVAL_MS = 1_764_000_000_000, 10_000
NAMES = [
    metric(f"fabric_interface_{way}_{what}_total") for way in ("receive", "transmit") for what in ("bytes", "errors")
]


def describe(number: int) -> tuple[Metric, Labels]:
    port, which = divmod(number, len(NAMES))
    device = f"pod1-seg{port // PORTS // 8 + 1}-leaf{port // PORTS % 8 + 1}"
    return NAMES[which], (("device", device), ("interface", f"ethernet-1/{port % PORTS + 1}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=100_000)
    parser.add_argument("--pushes", type=int, default=5)
    options = parser.parse_args()
    ids, draw = np.arange(options.series), np.random.default_rng(1)
    print("| sink | first push, CPU-s | each further push, CPU-s | bytes to send |\n|---|---|---|---|")
    for name, encode in (("remote write", RemoteWriteEncoder()), ("Kafka, NATS", RecordEncoder())):
        cpu_s, size = [], 0
        values = draw.integers(0, 2**50, options.series)
        for push in range(options.pushes + 1):
            now_ms = NOW_MS + push * INTERVAL_MS
            values += draw.integers(0, 2**30, options.series)
            at_ms = now_ms - draw.integers(0, 2_000, options.series)
            batch = SampleBatch(ids, values.astype(np.float64), at_ms, ids[:0], now_ms, describe)
            began_s = time.process_time()
            size = sum(len(parcel.body) for parcel in encode(batch))
            cpu_s.append(time.process_time() - began_s)
        print(f"| {name} | {cpu_s[0]:.2f} | {min(cpu_s[1:]):.3f} to {max(cpu_s[1:]):.3f} | {size / 1e6:.1f} MB |")


if __name__ == "__main__":
    main()

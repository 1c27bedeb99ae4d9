"""Run the compiled code of the collector on damaged bytes in guarded memory: `python -m tests.telemetry.fuzz.kernels`.

An access too far is a segmentation fault, with a traceback. Options say how long, and with which seeds; the seed of an
input that fails is printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import random
import sys
import time
from contextlib import suppress
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
from tests.telemetry.fuzz import inputs
from tests.telemetry.fuzz.guarded import Guarded, all_guarded
from tests.telemetry.receive.peers import Recorded, read_to_its_end

from railfab.platforms import platform
from railfab.telemetry.decode import BadMessage, Decoder
from railfab.telemetry.health import Health
from railfab.telemetry.lines import Writer
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.receive import inflow
from railfab.telemetry.receive.http2 import Connection
from railfab.telemetry.receive.inflow import Shared
from railfab.telemetry.store import TargetStore

ROUND = 20
"""Inputs that one store decodes."""


@cache
def paths() -> PathMap:
    return PathMap(platform("srlinux").telemetry)


def decoded(draw: random.Random, guarded: Guarded) -> None:
    """Decode batches into a store and write what it holds."""
    store = TargetStore("leaf1", Health(tls_verified=True), expiry_s=6, grace_s=6, max_series=draw.choice((5, 1000)))
    decoder, writer = Decoder("leaf1", paths(), store), Writer()
    store.begin()
    for _ in range(ROUND):
        sent = [inputs.damaged(draw, inputs.response(draw)) for _ in range(draw.randrange(1, 5))]
        ends = np.cumsum([0, *map(len, sent)])
        bounds = guarded.of(np.stack((ends[:-1], ends[1:]), axis=1))
        with suppress(BadMessage):
            decoder.take(guarded.of(b"".join(sent)), bounds, draw.random() * 100, lasts_s=draw.choice((1.0, math.inf)))
        if draw.random() < 0.1:
            sample = store.sample(1.0)
            columns = {name: guarded.of(getattr(sample, name)) for name in ("live", "values", "rates")}
            page = writer.page(replace(sample, **columns))
            page.write(page.sizes, guarded.of(np.zeros(page.size(page.sizes), np.uint8)))
        if draw.random() < 0.1:
            store.down(1.0, grace=draw.random() < 0.5)
            store.begin()


def received(draw: random.Random, guarded: Guarded) -> None:
    """Receive connections, and check what is said to be a message."""
    shared = Shared.new(streams=2)
    shared.incoming = guarded.of(np.zeros(len(shared.incoming), np.uint8))
    for _ in range(ROUND // 4):
        sent = [inputs.response(draw) + bytes(draw.choice((0, 0, 9, 5000))) for _ in range(draw.randrange(12))]
        raw = inputs.damaged(draw, inputs.connection(draw, sent))
        sizes = [draw.choice((9, 13, 1000, 100_000)) for _ in range(3)]
        connection = Connection(Recorded(raw, sizes), shared, 2, draw.choice((6000, 1 << 20)))
        read_to_its_end(connection)


def run(seed: int) -> None:
    """One round of each."""
    for target in (decoded, received):
        draw = random.Random(f"{target.__name__} {seed}")
        space = draw.choice((64, 4000, inflow.REGION))
        limits = patch.multiple(inflow, REGION=space, KEPT=8 * space, MAX_MESSAGE=1 << 20)
        with limits, all_guarded(before=draw.random() < 0.3) as guarded:
            target(draw, guarded)


def main() -> None:
    """Run rounds up to a time or a number."""
    faulthandler.enable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--rounds", type=int, default=1 << 62)
    parser.add_argument("--for", type=float, default=math.inf, dest="seconds", help="seconds")
    options = parser.parse_args()
    begin_s, seed = time.monotonic(), options.seed
    while seed < options.seed + options.rounds and time.monotonic() < begin_s + options.seconds:
        try:
            run(seed)
        except BaseException:
            sys.stderr.write(f"failed: --seed {seed} --rounds 1\n")
            raise
        seed += 1
    sys.stdout.write(f"{seed - options.seed} rounds, no fault\n")


if __name__ == "__main__":
    main()

"""Counters that go back: a reset, a wrap of 32 bits, a reboot or a late sample, and what their rates make of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.metrics import metric
from railfab.platforms import Confidence, TelemetryMap, TelemetryRule
from railfab.telemetry.decode import Decoder
from railfab.telemetry.health import Drop, Health
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import Decoded
from railfab.telemetry.resets import BOOT_TIME, MOVED_S, Reset, Resets
from railfab.telemetry.series import Series
from railfab.telemetry.store import TargetStore

OCTETS = Series(metric("fabric_interface_receive_bytes_total"), {"interface": "ethernet-1/1"})
BOOTED = Series(metric(BOOT_TIME), {})
START_NS = 1_800_000_000_000_000_000
S = 1_000_000_000
FULL = 2**32
WAIT_S = 6.0


class Switch:
    """A store and its decoder, fed with one counter. scale: of its rule."""

    def __init__(self, scale: float = 1.0, skew_s: float = 0.0) -> None:
        self.health = Health(tls_verified=True)
        self.store = TargetStore(
            "leaf1", self.health, expiry_s=WAIT_S, grace_s=6.0, max_series=9, skew_s=skew_s, wall_ns=lambda: START_NS
        )
        self.store.begin()
        self.store.synced()
        rule = TelemetryRule(
            path="/counters[port={interface}]/in",
            metric=OCTETS.metric.name,
            encoding="uint64",
            scale=scale,
            confidence=Confidence.VERIFIED,
            labels={},
        )
        self.decoder = Decoder("leaf1", PathMap(TelemetryMap(rules=(rule,), subscriptions=())), self.store)

    def send(self, value: int, at_s: float, *, device_ns: int | None = None) -> None:
        """A sample with the time stamp of its arrival, or with another."""
        update = messages.Update(
            path=to_proto("/counters[port=ethernet-1/1]/in"), val=messages.TypedValue(uint_val=value)
        )
        stamp = START_NS + int(at_s * S) if device_ns is None else device_ns
        response = messages.SubscribeResponse(update=messages.Notification(timestamp=stamp, update=[update]))
        raw = np.frombuffer(bytearray(response.SerializeToString()), np.uint8)
        self.decoder.take(raw, np.array([[0, len(raw)]], np.int64), at_s, lasts_s=math.inf)

    def send_all(self, *values: int) -> None:
        """One sample each second."""
        for at_s, value in enumerate(values):
            self.send(value, float(at_s))

    def boot(self, boot_s: float, at_s: float) -> None:
        """The boot time is read."""
        self.store.begin_batch(at_s, math.inf)
        self.store.apply(Decoded(None, samples=[(BOOTED, boot_s)]))
        self.store.end_batch()

    def value(self) -> float:
        return dict(self.store.read(10.0))[OCTETS]

    def highest_rate(self) -> float:
        return float(self.store.sample(10.0).rates.max())

    def counted(self) -> dict[str, int]:
        return {str(reason): count for reason, count in self.health.resets.items() if count}


@pytest.mark.parametrize(
    ("values", "counted"),
    [
        ((100, 200, 300), {}),
        ((100, 100), {}),
        ((1000, 5), {"reset": 1}),
        ((FULL - 1, 0), {"wrap": 1}),
        ((FULL - 100, 50, FULL - 100, 50), {"wrap": 2}),
        ((FULL - 2**29, 2**29), {"wrap": 1}),
        ((FULL - 2**29, 2**29 + 1), {"reset": 1}),
        ((FULL, 0), {"reset": 1}),
        ((2**63, 7), {"reset": 1}),
    ],
)
def test_a_counter_that_goes_back_was_reset_unless_32_bits_were_full(
    values: tuple[int, ...], counted: dict[str, int]
) -> None:
    switch = Switch()
    switch.send_all(*values)
    assert switch.counted() == counted
    assert switch.value() == values[-1]


def test_a_wrap_is_told_in_the_unit_of_the_leaf() -> None:
    switch = Switch(scale=1e-6)
    switch.send_all(FULL - 1, 10)
    assert switch.counted() == {"wrap": 1}


@pytest.mark.parametrize("lower", [0, 5])
@pytest.mark.parametrize("before", [1000, FULL - 1])
def test_neither_a_reset_nor_a_wrap_is_a_burst(lower: int, before: int) -> None:
    switch = Switch()
    switch.send_all(before - 10, before, lower, lower + 7)
    assert switch.highest_rate() == 10.0


def test_an_older_time_stamp_is_a_late_sample_and_no_reset() -> None:
    switch = Switch()
    switch.send(1000, 5.0)
    switch.send(900, 5.1, device_ns=START_NS + 4 * S)
    assert (switch.counted(), switch.value()) == ({}, 1000.0)
    assert switch.health.drops[Drop.OUT_OF_ORDER] == 1


def test_the_same_time_stamp_again_is_no_reset() -> None:
    switch = Switch()
    switch.send(1000, 5.0)
    switch.send(900, 5.1, device_ns=START_NS + 5 * S)
    assert switch.counted() == {}


def test_a_reset_between_two_sessions_is_counted() -> None:
    switch = Switch()
    switch.send(1000, 1.0)
    switch.store.down(2.0)
    switch.store.begin()
    switch.send(3, 4.0)
    assert switch.counted() == {"reset": 1}


@pytest.mark.parametrize("boot_at_s", [9.0, 10.0, 11.0])
def test_a_counter_that_went_back_when_the_boot_time_moved_is_a_reboot(boot_at_s: float) -> None:
    switch = Switch()
    switch.boot(1000.0, 1.0)
    switch.send(500, 2.0)
    switch.store.expire(3.0)
    if boot_at_s <= 10.0:
        switch.boot(2000.0, boot_at_s)
    switch.store.expire(9.5)
    switch.send(3, 10.0)
    if boot_at_s > 10.0:
        assert switch.counted() == {}
        switch.boot(2000.0, boot_at_s)
    switch.store.expire(11.5)
    assert switch.counted() == {"reboot": 1}


def test_a_reset_is_none_of_a_boot_that_was_earlier_or_that_is_rounded_otherwise() -> None:
    counts = Health(tls_verified=True).resets
    resets = Resets(counts, WAIT_S)
    resets.settle(0.0, 1000.0)
    resets.settle(1.0, 2000.0)
    resets.add(2, 0, 1.0 + WAIT_S + 0.1, 2000.0 + MOVED_S)
    assert counts[Reset.RESET] == 0
    resets.settle(1.0 + 2 * WAIT_S + 0.3, 2000.0)
    assert counts == {Reset.RESET: 2, Reset.WRAP: 0, Reset.REBOOT: 0}


def test_a_time_stamp_beyond_the_limit_is_not_used_and_counted() -> None:
    switch = Switch(skew_s=300.0)
    switch.send(1, 0.0, device_ns=START_NS + 301 * S)
    switch.send(2, 1.0)
    switch.send(3, 2.0, device_ns=START_NS - 301 * S)
    assert (switch.value(), switch.health.skewed, switch.health.drops[Drop.OUT_OF_ORDER]) == (3.0, 2, 0)
    switch.send(4, 3.0, device_ns=START_NS + 300 * S)
    assert (switch.value(), switch.health.skewed) == (4.0, 2)


def test_the_clock_of_a_target_is_judged_by_its_least_delayed_sample() -> None:
    health = Health(tls_verified=True)
    for at_s, lag_s in ((0.0, 0.5), (1.0, -2.0), (2.0, 3.0), (31.0, 1.0)):
        health.delayed(round(at_s * S), lag_s, at_s)
    assert (health.ingest_lag_s, health.clock_skew_s) == (1.0, 2.0)
    health.delayed(61 * S, 1.5, 61.0)
    assert health.clock_skew_s == -1.0
    health.delayed(1000 * S, 4.0, 1000.0)
    assert health.clock_skew_s == -4.0

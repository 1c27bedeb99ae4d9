"""A reader of the collector gets counters and simulated time of one moment, also while a sample of a switch arrives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.app.rates import Rates
from railfab.app.reading import FabricTotals, Intended
from railfab.gnmi import messages
from railfab.gnmi.paths import elements
from railfab.platforms import SIMULATED_TIME, of_twin, platform
from railfab.telemetry.decode import Decoder
from railfab.telemetry.health import Health
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.store import TargetStore
from railfab.telemetry.whole_samples import WholeSamples
from railfab.units import NS_PER_S

MAP = PathMap(of_twin(platform("srlinux").telemetry))
PORT_GBPS = 100
PORTS = ("ethernet-1/1", "ethernet-1/2")
INTENDED = Intended(
    switches=frozenset(("leaf1",)),
    host_rails={("leaf1", port): rail for rail, port in enumerate(PORTS, start=1)},
    sessions=frozenset(),
)
START_NS = 1_795_000_000_000_000_000
BEGAN_S = 50.0


class Switch:
    """A session with a virtual switch whose two ports transmit at their rate."""

    def __init__(self) -> None:
        self._store = TargetStore("leaf1", Health(tls_verified=True), expiry_s=6.0, grace_s=6.0, max_series=100)
        self._decoder = Decoder("leaf1", MAP, self._store)
        self.whole = WholeSamples(self._store)
        self._store.begin()
        self._store.synced()

    def end(self, now_s: float) -> None:
        """The session ends; its series stay for the grace."""
        self.whole.end()
        self._store.down(now_s)

    def begin_again(self, now_s: float = 4.0) -> None:
        """The session has ended, and another one begins."""
        self.whole.end()
        self.whole.begin(now_s)
        self._store.begin()

    def synced(self) -> None:
        """All that the session has was sent."""
        self._store.synced()
        self.whole.synced()

    def take(self, sent: Sequence[messages.SubscribeResponse], now_s: float) -> None:
        """Store a batch."""
        raw = [each.SerializeToString() for each in sent]
        ends = list(accumulate(map(len, raw)))
        bounds = np.array([(end - len(each), end) for end, each in zip(ends, raw, strict=True)], np.int64)
        with self.whole.arriving(now_s):
            self._decoder.take(np.frombuffer(bytearray().join(raw), np.uint8), bounds, now_s, lasts_s=math.inf)

    def series(self, now_s: float) -> list[tuple[str, dict[str, str], float]]:
        """The samples that a reader gets."""
        sample = self.whole.sample(now_s)
        described = ((sample.table.describe(row), row) for row in np.flatnonzero(sample.live).tolist())
        return [(metric.name, labels, float(sample.values[row])) for (metric, labels), row in described]


def responses(wall_s: float, simulated_s: float) -> Iterator[messages.SubscribeResponse]:
    """A sample: a notification of each port, and one of the simulated time."""
    octets = round(simulated_s * PORT_GBPS * 1e9 / 8)
    paths = [(f"/interface[name={port}]/statistics/out-octets", octets) for port in PORTS]
    for path, value in (*paths, (SIMULATED_TIME, round(simulated_s * NS_PER_S))):
        notification = messages.Notification(timestamp=START_NS + round(wall_s * NS_PER_S))
        steps = [messages.PathElem(name=step.name, key=dict(step.keys)) for step in elements(path)]
        notification.update.add(path=messages.Path(elem=steps), val=messages.TypedValue(uint_val=value))
        yield messages.SubscribeResponse(update=notification)


def sync() -> messages.SubscribeResponse:
    return messages.SubscribeResponse(sync_response=True)


paces = st.lists(st.floats(0.0, 1.5).map(lambda pace: round(pace, 3)), min_size=2, max_size=8)


@settings(max_examples=examples(200))
@given(paces=paces, cuts=st.sets(st.integers(1, 30)))
def test_no_port_shows_more_than_its_rate_at_any_pace_whenever_it_is_read(paces: list[float], cuts: set[int]) -> None:
    """One sample a second, each second at another pace; batches end anywhere, and what is stored is read after each."""
    switch, totals, rates = Switch(), FabricTotals(INTENDED), Rates(INTENDED, window_s=2.5)
    simulated_s = accumulate(paces, initial=BEGAN_S)
    sent = [(wall_s, each) for wall_s, now_s in enumerate(simulated_s) for each in responses(wall_s, now_s)]
    ends = sorted({*(cut for cut in cuts if cut < len(sent)), len(sent)})
    for begin, end in zip([0, *ends], ends, strict=False):
        now_s = float(sent[end - 1][0])
        switch.take([each for _, each in sent[begin:end]], now_s)
        shown = rates.add(totals.read(switch.series(now_s), START_NS / NS_PER_S + now_s))
        assert all(gbps is None or gbps == pytest.approx(PORT_GBPS) for gbps in shown.rail_gbps.values())


def simulated(switch: Switch, now_s: float) -> float | None:
    return {name: value for name, _, value in switch.series(now_s)}.get("fabric_twin_simulated_seconds_total")


def sent_gbytes(switch: Switch, now_s: float) -> set[float]:
    return {value / 1e9 for name, _, value in switch.series(now_s) if name == "fabric_interface_transmit_bytes_total"}


def test_until_its_time_has_arrived_nothing_of_a_sample_is_read() -> None:
    switch = Switch()
    switch.take([*responses(0, 50), sync()], 0.0)
    *ports, time = responses(1, 51)
    switch.take(ports, 1.0)
    assert (simulated(switch, 1.0), sent_gbytes(switch, 1.0)) == (50, {625})
    switch.take([time], 1.0)
    assert (simulated(switch, 1.0), sent_gbytes(switch, 1.0)) == (51, {637.5})


def test_a_sync_ends_no_sample_and_begins_none() -> None:
    switch = Switch()
    switch.take(list(responses(0, 50)), 0.0)
    switch.take([sync()], 0.0)
    *ports, _ = responses(1, 51)
    switch.take(ports, 1.0)
    assert sent_gbytes(switch, 1.0) == {625}


def broken_off() -> Switch:
    """A switch whose session ended between the ports and the simulated time of a sample."""
    switch = Switch()
    switch.take(list(responses(0, 50)), 0.0)
    *ports, _ = responses(1, 51)
    switch.take(ports, 1.0)
    switch.end(1.0)
    return switch


def test_a_sample_that_its_session_broke_off_is_not_read_in_the_grace_and_ends_with_it() -> None:
    """Its counters are of a later moment than its time: by these a port would have sent twice what it can."""
    switch = broken_off()
    assert (simulated(switch, 1.0), sent_gbytes(switch, 1.0)) == (50, {625})
    assert (simulated(switch, 6.9), sent_gbytes(switch, 6.9)) == (50, {625})
    assert switch.series(7.1) == []


def test_the_first_whole_sample_of_the_next_session_replaces_what_was_broken_off() -> None:
    switch = broken_off()
    switch.begin_again()
    *ports, time = responses(4, 53)
    switch.take(ports, 4.0)
    assert (simulated(switch, 4.0), sent_gbytes(switch, 4.0)) == (50, {625})
    switch.take([time], 4.0)
    assert (simulated(switch, 4.0), sent_gbytes(switch, 4.0)) == (53, {662.5})


def test_after_the_grace_no_session_brings_back_what_was_broken_off() -> None:
    switch = broken_off()
    switch.begin_again(100.0)
    *ports, time = responses(100, 53)
    switch.take(ports, 100.0)
    assert switch.series(100.0) == []
    switch.take([time], 100.0)
    assert (simulated(switch, 100.0), sent_gbytes(switch, 100.0)) == (53, {662.5})


def test_a_session_that_is_in_sync_without_a_simulated_time_replaces_what_was_broken_off() -> None:
    switch = broken_off()
    switch.begin_again()
    *ports, _ = responses(4, 53)
    switch.take(ports, 4.0)
    switch.synced()
    assert (simulated(switch, 4.0), sent_gbytes(switch, 4.0)) == (None, {662.5})


def test_the_first_sample_of_another_session_is_read_as_a_whole_too() -> None:
    switch = Switch()
    switch.take(list(responses(0, 50)), 0.0)
    switch.begin_again()
    *ports, _ = responses(4, 53)
    switch.take(ports, 4.0)
    assert sent_gbytes(switch, 4.0) == {625}


def test_counters_without_a_simulated_time_are_read_as_they_come() -> None:
    switch = Switch()
    *ports, _ = responses(0, 50)
    switch.take(ports, 0.0)
    assert sent_gbytes(switch, 0.0) == {625}

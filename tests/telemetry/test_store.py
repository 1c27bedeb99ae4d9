"""What the store keeps, for how long, and in which order."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from railfab.metrics import metric
from railfab.telemetry.health import Drop, Health
from railfab.telemetry.kernel.take import REORDERED_NS
from railfab.telemetry.notification import Decoded
from railfab.telemetry.series import Series
from railfab.telemetry.store import TargetStore

LASTS_S = 6.0

PORTS = [
    Series(metric("fabric_interface_receive_bytes_total"), {"interface": f"ethernet-1/{port}"}) for port in range(5)
]


def store_of(*, expiry_s: float = 6.0, grace_s: float = 6.0, max_series: int = 100) -> tuple[TargetStore, Health]:
    health = Health(tls_verified=True)
    store = TargetStore("leaf1", health, expiry_s=expiry_s, grace_s=grace_s, max_series=max_series)
    store.begin()
    store.synced()
    return store, health


def told(*samples: tuple[Series, float], device_ns: int | None = None, removed: tuple[Series, ...] = ()) -> Decoded:
    return Decoded(device_ns, samples=list(samples), removed=list(removed))


def applied(store: TargetStore, decoded: Decoded, now_s: float, *, lasts_s: float) -> None:
    store.begin_batch(now_s, lasts_s)
    store.apply(decoded)
    store.end_batch()


@given(st.lists(st.integers(1, 50), min_size=1))
def test_the_value_with_the_newest_device_time_wins_in_any_order(times: list[int]) -> None:
    store, health = store_of()
    for device_ns in times:
        applied(store, told((PORTS[0], float(device_ns)), device_ns=device_ns), 1.0, lasts_s=LASTS_S)
    assert store.read(1.0) == [(PORTS[0], float(max(times)))]
    late = sum(now < max(times[:place], default=0) for place, now in enumerate(times))
    assert health.drops[Drop.OUT_OF_ORDER] == late


def test_a_device_whose_clock_was_set_back_is_believed_in_its_next_session() -> None:
    store, _ = store_of()
    applied(store, told((PORTS[0], 1.0), device_ns=1000), 1.0, lasts_s=LASTS_S)
    store.begin()
    applied(store, told((PORTS[0], 2.0), device_ns=10), 2.0, lasts_s=LASTS_S)
    assert store.read(2.0) == [(PORTS[0], 2.0)]


def test_a_device_whose_clock_is_set_back_during_a_session_is_believed_at_once() -> None:
    store, health = store_of()
    for lasts_s, series in ((LASTS_S, PORTS[0]), (math.inf, PORTS[1])):
        applied(store, told((series, 1.0), device_ns=10 * REORDERED_NS), 1.0, lasts_s=lasts_s)
        applied(store, told((series, 2.0), device_ns=9 * REORDERED_NS), 1.5, lasts_s=lasts_s)
        applied(store, told((series, 3.0), device_ns=8 * REORDERED_NS - 1), 2.0, lasts_s=lasts_s)
    assert store.read(2.0) == [(PORTS[0], 3.0), (PORTS[1], 3.0)]
    assert health.drops[Drop.OUT_OF_ORDER] == 2


def test_samples_in_the_wrong_order_do_not_end_the_others() -> None:
    store, _ = store_of()
    for series in PORTS[:2]:
        applied(store, told((series, 2.0), device_ns=2), 10.0, lasts_s=LASTS_S)
    applied(store, told((PORTS[0], 1.0), device_ns=1), 10.0 + LASTS_S + 0.1, lasts_s=LASTS_S)
    assert len(store.read(17.0)) == 2


def test_a_sample_expires_by_arrival_and_an_on_change_value_does_not() -> None:
    store, _ = store_of(expiry_s=6.0)
    applied(store, told((PORTS[0], 1.0), device_ns=5), 10.0, lasts_s=LASTS_S)
    applied(store, told((PORTS[1], 1.0), device_ns=5), 10.0, lasts_s=math.inf)
    applied(store, told((PORTS[2], 1.0)), 16.0, lasts_s=LASTS_S)
    assert len(store.read(16.0)) == 3
    applied(store, told((PORTS[2], 1.0)), 16.1, lasts_s=LASTS_S)
    assert store.read(16.1) == [(PORTS[1], 1.0), (PORTS[2], 1.0)]


def test_a_silent_target_keeps_its_series_until_it_is_stalled_and_then_loses_them_together() -> None:
    store, _ = store_of(expiry_s=6.0, grace_s=60.0)
    for place, series in enumerate(PORTS):
        applied(store, told((series, 1.0)), 10.0 + place, lasts_s=LASTS_S if place % 2 else math.inf)
    assert len(store.read(1000.0)) == len(PORTS)
    store.down(1000.0, grace=False)
    assert (store.read(1000.0), len(store)) == ([], 0)


def test_a_sample_of_a_slow_path_lives_for_as_long_as_that_path_says() -> None:
    store, _ = store_of(expiry_s=6.0)
    applied(store, told((PORTS[0], 1.0)), 10.0, lasts_s=90.0)
    applied(store, told((PORTS[1], 1.0)), 100.0, lasts_s=LASTS_S)
    assert len(store.read(100.0)) == 2
    applied(store, told((PORTS[1], 1.0)), 100.1, lasts_s=LASTS_S)
    assert store.read(100.1) == [(PORTS[1], 1.0)]


def test_a_sync_sweeps_what_the_new_session_did_not_bring() -> None:
    store, _ = store_of()
    applied(store, told((PORTS[0], 1.0), (PORTS[1], 1.0)), 10.0, lasts_s=math.inf)
    store.down(11.0)
    store.begin()
    applied(store, told((PORTS[1], 2.0)), 12.0, lasts_s=math.inf)
    assert len(store.read(12.0)) == 2
    store.synced()
    assert store.read(12.0) == [(PORTS[1], 2.0)]


def test_after_the_grace_everything_goes_at_once() -> None:
    store, _ = store_of(expiry_s=2.0, grace_s=60.0)
    for place, series in enumerate(PORTS):
        applied(store, told((series, 1.0)), 10.0 + place / 10, lasts_s=LASTS_S if place % 2 else math.inf)
    store.down(11.0)
    store.down(40.0)
    assert len(store.read(71.0)) == len(PORTS)
    assert store.read(71.1) == []


def test_a_session_that_dies_before_its_sync_leaves_nothing_behind() -> None:
    store, _ = store_of(expiry_s=2.0, grace_s=2.0)
    store.down(10.0)
    store.begin()
    applied(store, told((PORTS[0], 1.0)), 20.0, lasts_s=math.inf)
    store.down(20.5)
    assert len(store.read(21.0)) == 1
    assert store.read(22.1) == []


def test_beyond_the_bound_series_are_counted_and_known_ones_live_on() -> None:
    store, health = store_of(max_series=2)
    applied(store, told(*((series, 1.0) for series in PORTS)), 1.0, lasts_s=LASTS_S)
    applied(store, told((PORTS[0], 2.0), (PORTS[4], 2.0)), 2.0, lasts_s=LASTS_S)
    assert store.read(2.0) == [(PORTS[0], 2.0), (PORTS[1], 1.0)]
    assert health.drops[Drop.SERIES_LIMIT] == 4


def test_removed_series_go_before_the_samples_of_the_same_notification() -> None:
    store, _ = store_of()
    applied(store, told((PORTS[0], 9.0), (PORTS[1], 9.0)), 1.0, lasts_s=math.inf)
    applied(store, told((PORTS[0], 1.0), removed=(PORTS[0], PORTS[1])), 2.0, lasts_s=math.inf)
    assert store.read(2.0) == [(PORTS[0], 1.0)]


def test_path_roots_without_end_share_a_label() -> None:
    _, health = store_of()
    for root in range(1000):
        store_roots = Decoded(None)
        store_roots.unmapped[f"/root{root}"] += 1
        health.count_unmapped(store_roots.unmapped)
    assert len(health.unmapped) == 65
    assert health.unmapped["/..."] == 1000 - 64


def brought(store: TargetStore, ports: list[Series], now_s: float, rpc: int, *, lasts_s: float = math.inf) -> None:
    """A batch of an RPC with these series."""
    store.begin_batch(now_s, lasts_s, rpc)
    store.apply(told(*((port, now_s) for port in ports)))
    store.end_batch()


def test_what_an_answer_does_not_bring_again_ends_with_it_and_nothing_of_other_rpcs_does() -> None:
    store, _ = store_of()
    brought(store, PORTS[:3], 1.0, rpc=1)
    brought(store, PORTS[3:], 1.0, rpc=2)
    brought(store, PORTS[:1], 2.0, rpc=1)
    brought(store, PORTS[2:3], 3.0, rpc=1)
    store.answered(1, began_s=2.0)
    assert dict(store.read(3.0)) == {PORTS[0]: 2.0, PORTS[2]: 3.0, PORTS[3]: 1.0, PORTS[4]: 1.0}


def test_a_session_sweeps_nothing_of_an_rpc_that_sends_changes_only() -> None:
    store, _ = store_of()
    brought(store, PORTS[:2], 1.0, rpc=1)
    brought(store, PORTS[2:], 1.0, rpc=2)
    store.down(2.0)
    store.begin(kept=[1])
    brought(store, PORTS[2:3], 3.0, rpc=2)
    store.synced()
    assert [port for port, _ in store.read(3.0)] == PORTS[:3]


def test_a_series_that_another_rpc_brings_now_is_swept_with_that_one() -> None:
    store, _ = store_of()
    brought(store, PORTS[:1], 1.0, rpc=1)
    brought(store, PORTS[:1], 2.0, rpc=2)
    store.answered(1, began_s=3.0)
    assert store.read(3.0) == [(PORTS[0], 2.0)]
    store.answered(2, began_s=3.0)
    assert store.read(3.0) == []

"""The text of samples: what prometheus-client reads from it, and what a scrape counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families as parse

from railfab.metrics import metric
from railfab.telemetry.health import Health
from railfab.telemetry.lines import SampleLines, Writer
from railfab.telemetry.notification import Decoded
from railfab.telemetry.series import Series
from railfab.telemetry.store import RATE_WINDOW_S, TargetStore

IN = metric("fabric_interface_receive_bytes_total")
NAMES = ("fabric_interface_receive_bytes_total", "fabric_bgp_session_up", "fabric_optic_receive_power_dbm")
NS = 1_000_000_000


def store_of() -> TargetStore:
    store = TargetStore("leaf1", Health(tls_verified=True), expiry_s=60, grace_s=60, max_series=1000)
    store.begin()
    store.synced()
    return store


def applied(
    store: TargetStore,
    now_s: float,
    samples: list[tuple[Series, float]],
    device_ns: int | None = None,
    lasts_s: float = math.inf,
) -> None:
    store.begin_batch(now_s, lasts_s)
    store.apply(Decoded(device_ns, samples=samples))
    store.end_batch()


def written(store: TargetStore, now_s: float = 1.0, writer: Writer | None = None) -> dict[str, str]:
    page = (writer or Writer()).page(store.sample(now_s))
    return {name: found.tobytes().decode() for name, found in lines_of(page).items()}


def lines_of(page: SampleLines) -> dict[str, memoryview]:
    return page.write(page.sizes, np.empty(page.size(page.sizes), np.uint8))


finite = st.floats(allow_nan=False, allow_infinity=False)
values = finite | st.integers(-(2**63), 2**64).map(float) | st.integers(0, 10**12).map(lambda number: number / 1000)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=6)


@given(st.dictionaries(st.tuples(st.sampled_from(NAMES), texts), values, max_size=12))
def test_prometheus_reads_the_values_and_labels_that_were_stored(stored: dict[tuple[str, str], float]) -> None:
    labels = {name: metric(name).labels[2] for name in NAMES}
    samples = [(Series(metric(name), {labels[name]: text}), value) for (name, text), value in stored.items()]
    store = store_of()
    applied(store, 1.0, samples)
    text = "".join(written(store).values())
    found = {
        (one.name, one.labels[labels[one.name]]): one.value
        for family in parse(text)
        for one in family.samples
        if one.name in NAMES
    }
    assert found == stored
    assert {one.labels["device"] for family in parse(text) for one in family.samples} <= {"leaf1"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "-0.0"), (2.0**53, "9007199254740992.0"), (1.5, "1.5"), (-0.001, "-0.001"), (1e-12, "1e-12")],
)
def test_numbers_are_written_short_and_exact(value: float, text: str) -> None:
    store = store_of()
    applied(store, 1.0, [(Series(IN, {"interface": "e1"}), value)])
    assert written(store)[IN.name] == f'{IN.name}{{device="leaf1",interface="e1"}} {text}\n'


def test_every_series_of_a_target_has_the_label_of_its_fabric_also_an_estimate() -> None:
    store = TargetStore("leaf1", Health(tls_verified=True), fabric="east", expiry_s=60, grace_s=60, max_series=9)
    store.begin()
    store.synced()
    speed = Series(metric("fabric_interface_speed_bytes_per_second"), {"interface": "e1"})
    frames = Series(metric("fabric_pfc_receive_frames_total"), {"interface": "e1", "priority": "3"})
    applied(store, 1.0, [(speed, 12.5e9), (frames, 1.0)])
    lines = "".join(written(store).values()).splitlines()
    names = ("frames_total", "pause_estimated_seconds_total")
    assert {line.partition("{")[0].removeprefix("fabric_pfc_receive_") for line in lines} >= {*names}
    assert all('{device="leaf1",fabric="east",interface="e1"' in line for line in lines)
    assert store.table.find(frames) is not None


def test_new_series_of_a_known_metric_join_its_family() -> None:
    store, writer = store_of(), Writer()
    for place, name in enumerate((IN.name, "fabric_bgp_session_up", IN.name)):
        label = metric(name).labels[2]
        applied(store, 1.0, [(Series(metric(name), {label: f"x{place}"}), place)])
        text = written(store, writer=writer)
    assert [line.count("\n") for line in (text[IN.name], text["fabric_bgp_session_up"])] == [2, 1]


def test_the_highest_rate_between_two_samples_is_seen_by_every_scrape_of_its_window_and_the_next() -> None:
    store, port = store_of(), Series(IN, {"interface": "e1"})
    for second, value in enumerate((0.0, 100.0, 5000.0, 5100.0)):
        applied(store, 1.0 + second, [(port, value)], device_ns=(1000 + second) * NS)
    name = "fabric_interface_receive_bytes_rate_max"

    def rate(now_s: float) -> float:
        return float(written(store, now_s)[name].rpartition(" ")[2])

    assert rate(5.0) == rate(6.0) == rate(RATE_WINDOW_S + 5.0) == 4900.0
    assert rate(2 * RATE_WINDOW_S + 1.0) == 0.0
    applied(store, RATE_WINDOW_S + 1.0, [(port, 5110.0)], device_ns=1005 * NS)
    assert rate(RATE_WINDOW_S + 2.0) == 4900.0
    applied(store, 2 * RATE_WINDOW_S + 1.0, [(port, 5120.0)], device_ns=1006 * NS)
    assert rate(2 * RATE_WINDOW_S + 2.0) == 10.0


@pytest.mark.parametrize(("every_s", "lasts_s"), [(60.0, 180.0), (20.0, 60.0)])
def test_the_rate_of_samples_that_come_seldom_is_there_until_the_next(every_s: float, lasts_s: float) -> None:
    store, port = store_of(), Series(IN, {"interface": "e1"})
    for place in range(3):
        at_s = 14.9 + place * every_s
        applied(store, at_s, [(port, place * 6000.0)], device_ns=int(at_s * NS), lasts_s=lasts_s)
    at_s = 14.9 + 2 * every_s
    ages = [0.0, RATE_WINDOW_S, every_s, 1.4 * every_s]
    name = "fabric_interface_receive_bytes_rate_max"
    found = [float(written(store, at_s + age_s)[name].rpartition(" ")[2]) for age_s in ages]
    assert found == pytest.approx([6000.0 / every_s] * 4)


def test_a_counter_that_is_sent_when_it_changes_has_no_rate_while_it_stands() -> None:
    store, port = store_of(), Series(IN, {"interface": "e1"})
    for second in (1.0, 2.0):
        applied(store, second, [(port, second)], device_ns=int(second * NS))
    name = "fabric_interface_receive_bytes_rate_max"
    assert [written(store, at_s)[name].split()[-1] for at_s in (3.0, 2 * RATE_WINDOW_S)] == ["1", "0"]


def test_a_counter_that_was_reset_and_a_sample_out_of_order_give_no_rate() -> None:
    store, port = store_of(), Series(IN, {"interface": "e1"})
    for value, device_s in ((1000.0, 10), (5.0, 11), (9000.0, 9)):
        applied(store, 1.0, [(port, value)], device_ns=device_s * NS)
    assert "fabric_interface_receive_bytes_rate_max" not in written(store)


def test_a_rate_is_there_from_the_second_sample_on_and_one_that_is_no_longer_sampled_has_none() -> None:
    store, port, name = store_of(), Series(IN, {"interface": "e1"}), "fabric_interface_receive_bytes_rate_max"
    for second, there in enumerate((False, True, True)):
        applied(store, 1.0 + second, [(port, 5.0)], device_ns=(1000 + second) * NS, lasts_s=90.0)
        assert written(store, 1.0 + second).get(name, "").endswith(" 0\n") is there
    assert [name in written(store, second * RATE_WINDOW_S + 1.0) for second in (1, 2)] == [True, False]


@pytest.mark.parametrize(
    ("grown", "ns", "text"),
    [(100, 3 * NS, "33.333333"), (100, 700_000, "142857.143"), (100, 70, "1428571429"), (1e12, 1, "1e+21")],
)
def test_a_rate_is_written_with_seven_digits_or_more(grown: float, ns: int, text: str) -> None:
    store, port = store_of(), Series(IN, {"interface": "e1"})
    for value, device_ns in ((0.0, NS), (grown, NS + ns)):
        applied(store, 1.0, [(port, value)], device_ns=device_ns)
    assert written(store)["fabric_interface_receive_bytes_rate_max"].rpartition(" ")[2] == text + "\n"


# Scrapes and the loop at the same time


def filled(store: TargetStore, ports: int) -> TargetStore:
    applied(store, 1.0, [(Series(IN, {"interface": f"e{port}"}), 7.0) for port in range(ports)])
    return store


def test_a_scrape_that_began_is_written_as_it_began_though_another_has_more_rows() -> None:
    """The rows of the other lie behind the values of the first, where the kernel would read and write anything."""
    store, writer = filled(store_of(), 60), Writer()
    page = writer.page(store.sample(1.0))
    meanwhile = written(filled(store, 900), writer=writer)
    assert lines_of(page)[IN.name].tobytes().count(b"\n") == 60
    assert meanwhile[IN.name].count("\n") == 900
    assert written(store, writer=writer) == meanwhile


def test_a_sample_is_of_one_table_though_the_loop_replaces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the values of one would be written behind the names of the other."""
    store = filled(store_of(), 20)
    old, new = store.table, store.table.compacted()
    filled(store, 500)
    tables = iter((old, *[new] * 9))
    monkeypatch.setattr(TargetStore, "table", property(lambda _: next(tables)), raising=False)
    sample = store.sample(1.0)
    assert sample.table is old
    assert len({len(column) for column in (sample.live, sample.values, sample.rates, old.series.value)}) == 1


def test_estimates_of_another_table_are_none_of_a_sample() -> None:
    store = store_of()
    applied(
        store, 1.0, [(Series(metric("fabric_pfc_receive_frames_total"), {"interface": "e1", "priority": "3"}), 1.0)]
    )
    estimates = store._estimates
    assert len(estimates.of(store.table).frames) == 1
    assert len(estimates.of(store.table.compacted()).frames) == 0

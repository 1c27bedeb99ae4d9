"""What a hostile target sends without end takes no more memory than the bounds on series allow."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import platform
from railfab.telemetry.budget import BYTES_PER_SERIES, SeriesBudget
from railfab.telemetry.decode import Decoder
from railfab.telemetry.health import MOST_ROOTS, Drop, Health
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.store import ROWS_PER_SERIES, TargetStore

MAP = PathMap(platform("srlinux").telemetry)
OCTETS = "/interface[name={}]/statistics/in-octets"
PER_MESSAGE = 50
MOST = 500
MARGIN_BYTES = 16 << 20
"""Of what is not the memory of series: caches of paths that protobuf decodes, and of the allocator."""

Sent = Iterator[messages.Update]


def numbered(path: str, value: messages.TypedValue) -> Sent:
    return (messages.Update(path=to_proto(path.format(number)), val=value) for number in count())


def plain() -> Sent:
    return numbered(OCTETS.replace("{}", "e{}"), messages.TypedValue(uint_val=1))


def long_names() -> Sent:
    return numbered(OCTETS.replace("{}", "{}" + 1_500 * "x"), messages.TypedValue(uint_val=1))


def unmapped() -> Sent:
    return numbered("/news[name={}]/of-no-metric", messages.TypedValue(uint_val=1))


def states() -> Sent:
    return numbered("/interface[name={}]/oper-state", messages.TypedValue(string_val="up"))


def neighbours() -> Sent:
    return numbered("/system/lldp/interface[name=e1]/neighbor[id={}]/system-name", messages.TypedValue(string_val="a"))


def containers() -> Sent:
    return (
        messages.Update(path=to_proto(f"/interface[name=e{number}]/statistics"), val=messages.TypedValue(json_val=text))
        for number in count()
        for text in [json.dumps({"in-octets": number, "out-octets": number}).encode()]
    )


def one_series_in_many_words() -> Sent:
    return (
        messages.Update(path=messages.Path(origin=f"o{number}", elem=to_proto(OCTETS.format("e1")).elem), val=value)
        for number in count()
        for value in [messages.TypedValue(uint_val=1)]
    )


KINDS = [plain, long_names, unmapped, states, neighbours, containers, one_series_in_many_words]


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Target:
    """A target whose streams never end. Each of its samples has expired when the next message arrives."""

    def __init__(self, kind: Callable[[], Sent], budget: SeriesBudget, *, most: int = MOST) -> None:
        self.health = Health(tls_verified=True)
        self.store = TargetStore("leaf1", self.health, expiry_s=6, grace_s=6, max_series=most, budget=budget)
        self.store.begin()
        self.store.synced()
        self._decoder = Decoder("leaf1", MAP, self.store)
        self._sent, self._now_s = kind(), 0.0

    def send(self, messages_sent: int) -> None:
        for _ in range(messages_sent):
            self._now_s += 10
            update = [next(self._sent) for _ in range(PER_MESSAGE)]
            raw = messages.SubscribeResponse(update=messages.Notification(update=update)).SerializeToString()
            bounds = np.array([[0, len(raw)]], np.int64)
            self._decoder.take(np.frombuffer(bytearray(raw), np.uint8), bounds, self._now_s, lasts_s=6)
            self.store.expire(self._now_s)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_new_names_without_end_are_bounded_by_the_series_of_all_targets(kind: Callable[[], Sent]) -> None:
    budget = SeriesBudget(MOST)
    target = Target(kind, budget, most=10 * MOST)
    target.send(2 * MOST // PER_MESSAGE)
    full_bytes, table = resident_bytes(), target.store.table
    rows = (table.series_count, table.key_count, table.text_bytes)
    target.send(4 * MOST // PER_MESSAGE)
    message_bytes = PER_MESSAGE * 2 * 1_700
    assert (table.series_count, table.key_count) <= (MOST, MOST)
    assert budget.used <= MOST + message_bytes // BYTES_PER_SERIES
    assert rows == (table.series_count, table.key_count, table.text_bytes), "nothing is stored beyond the bound"
    assert resident_bytes() - full_bytes < MARGIN_BYTES


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_those_of_one_target_are_bounded_though_its_samples_expire(kind: Callable[[], Sent]) -> None:
    most = 50
    target = Target(kind, SeriesBudget(1_000_000), most=most)
    target.send(2 * ROWS_PER_SERIES * most // PER_MESSAGE + 5)
    table, rows = target.store.table, ROWS_PER_SERIES * most + MOST_ROOTS + PER_MESSAGE
    assert max(table.series_count, table.key_count) <= rows


def test_what_passes_the_bound_is_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    target = Target(plain, SeriesBudget(MOST))
    with caplog.at_level(logging.WARNING):
        target.send(MOST // PER_MESSAGE + 3)
    assert target.health.drops[Drop.SERIES_LIMIT] == 3 * PER_MESSAGE
    [line] = [record.getMessage() for record in caplog.records]
    assert line == (
        "leaf1: has more series than --max-series-per-target 500 or, with all other targets, --max-series 500 allow."
        " The others are counted, and not stored."
    )


def test_a_target_that_was_removed_leaves_its_series_to_the_others_and_stores_none() -> None:
    budget = SeriesBudget(MOST)
    first, second = Target(plain, budget), Target(plain, budget)
    first.send(MOST // PER_MESSAGE)
    second.send(1)
    assert (budget.used, len(second.store.read(10.0))) == (MOST, 0)
    first.store.release()
    assert budget.used == 0
    first.send(1)
    second.send(1)
    assert budget.used == PER_MESSAGE == len(second.store.read(20.0))


def test_known_series_are_stored_when_there_is_room_for_no_other() -> None:
    budget = SeriesBudget(1)
    target = Target(lambda: numbered(OCTETS.replace("{}", "e1"), messages.TypedValue(uint_val=7)), budget)
    target.send(3)
    assert [value for _, value in target.store.read(30.0)] == [7.0]
    assert target.health.drops[Drop.SERIES_LIMIT] == 0

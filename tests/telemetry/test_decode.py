"""The compiled decoder does what the reference does with protobuf, in every encoding, split and order."""

from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from railfab.gnmi import messages
from railfab.gnmi.paths import Element, wire_elements
from railfab.platforms import of_twin, platform
from railfab.telemetry import decode
from railfab.telemetry.decode import BadMessage, Decoder, Taken
from railfab.telemetry.health import Drop, Health
from railfab.telemetry.kernel.columns import At
from railfab.telemetry.mapping import PathMap, path_map
from railfab.telemetry.notification import NotificationDecoder, normalised_ns
from railfab.telemetry.series import Series
from railfab.telemetry.store import TargetStore

MAP = PathMap(platform("srlinux").telemetry)
NOW_NS = 1_795_000_000_000_000_000
PORTS = ("ethernet-1/1", "ethernet-1/2")
LEAVES = ("in-octets", "out-octets", "in-unicast-packets", "news")


def pair(most: int = 1000) -> tuple[Decoder, TargetStore]:
    store = TargetStore("leaf1", Health(tls_verified=True), expiry_s=6.0, grace_s=6.0, max_series=most)
    store.begin()
    store.synced()
    return Decoder("leaf1", MAP, store), store


def batch(sent: Iterable[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Buffer, writable as that of a receiver, and bounds, with bytes of others around each message."""
    buffer, bounds = bytearray(b"\xff" * 7), []
    for each in sent:
        bounds.append((len(buffer), len(buffer) + len(each)))
        buffer += each + b"\xff" * 5
    return np.frombuffer(buffer, np.uint8), np.array(bounds, np.int64).reshape(-1, 2)


def take(decoder: Decoder, sent: Sequence[messages.Notification], now_s: float = 1.0) -> Taken:
    raw = [messages.SubscribeResponse(update=each).SerializeToString() for each in sent]
    return decoder.take(*batch(raw), now_s, lasts_s=math.inf)


def expected(sent: Iterable[messages.Notification]) -> tuple[dict[Series, float], Taken]:
    """What the reference makes of the same notifications, each sample newer than the one before."""
    reference, values, total = NotificationDecoder(MAP), dict[Series, float](), Taken()
    for each in sent:
        decoded = reference.decode(each)
        for gone in decoded.removed:
            values.pop(gone, None)
        values.update(decoded.samples)
        total.updates += decoded.updates
        total.undecodable += decoded.undecodable
        total.unmapped.update(decoded.unmapped)
    return values, total


def path(*steps: Element) -> messages.Path:
    return messages.Path(elem=[messages.PathElem(name=step.name, key=dict(step.keys)) for step in steps])


def json_text(number: float) -> bytes:
    return json.dumps(number).encode()


numbers = st.integers(0, 2**64 - 1) | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=True)
typed = st.one_of(
    st.integers(0, 2**64 - 1).map(lambda number: messages.TypedValue(uint_val=number)),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: messages.TypedValue(int_val=number)),
    st.booleans().map(lambda flag: messages.TypedValue(bool_val=flag)),
    st.floats().map(lambda number: messages.TypedValue(double_val=number)),
    st.floats(width=32).map(lambda number: messages.TypedValue(float_val=number)),
    numbers.map(lambda number: messages.TypedValue(json_val=json_text(number))),
    numbers.map(lambda number: messages.TypedValue(json_ietf_val=json.dumps(str(number)).encode())),
    numbers.map(lambda number: messages.TypedValue(string_val=repr(number))),
    st.decimals(allow_nan=False, allow_infinity=False, places=5).map(
        lambda number: messages.TypedValue(ascii_val=str(number))
    ),
    st.builds(
        lambda digits, precision: messages.TypedValue(
            decimal_val=messages.Decimal64(digits=digits, precision=precision)
        ),
        st.integers(-(2**63), 2**63 - 1),
        st.integers(0, 30),
    ),
    st.text(max_size=5).map(lambda text: messages.TypedValue(string_val=text)),
    st.binary(max_size=6).map(lambda text: messages.TypedValue(json_ietf_val=text)),
    st.from_regex(r"\A-?[0-9]{0,19}\.?[0-9]{0,8}\Z").map(lambda text: messages.TypedValue(json_val=text.encode())),
    st.from_regex(r"\A-?[0-9]{0,19}\.?[0-9]{0,8}\Z").map(lambda text: messages.TypedValue(ascii_val=text)),
    st.just(messages.TypedValue()),
    st.from_regex(r"\A-?[0-9]{0,19}\.?[0-9]{0,8}\Z").map(lambda text: messages.TypedValue(bytes_val=text.encode())),
    st.binary(max_size=4).map(lambda content: messages.TypedValue(bytes_val=content)),
    st.just(messages.TypedValue(leaflist_val=messages.ScalarArray())),
    st.sampled_from(LEAVES).map(lambda leaf: messages.TypedValue(json_val=json.dumps({leaf: "7"}).encode())),
)


@st.composite
def notifications(draw: st.DrawFn) -> messages.Notification:
    port = Element("interface", (("name", draw(st.sampled_from(PORTS))),))
    split = draw(st.integers(0, 2))
    updates = []
    for leaf in draw(st.lists(st.sampled_from(LEAVES), max_size=4, unique=True)):
        steps = (port, Element("statistics"), Element(leaf))
        updates.append(messages.Update(path=path(*steps[split:]), val=draw(typed)))
    for state in draw(st.lists(st.sampled_from(("up", "down", "asleep")), max_size=1)):
        steps = (port, Element("oper-state"))
        if split < 2:
            updates.append(messages.Update(path=path(*steps[split:]), val=messages.TypedValue(string_val=state)))
    prefix = path(*(port, Element("statistics"))[:split])
    deletes = [path(Element("statistics"))] if split == 1 and draw(st.booleans()) else []
    return messages.Notification(
        prefix=prefix, update=updates, delete=deletes, atomic=split == 2 and draw(st.booleans())
    )


@given(st.lists(notifications(), max_size=8), st.data())
def test_any_batching_gives_what_protobuf_gives(sent: list[messages.Notification], data: st.DataObject) -> None:
    decoder, store = pair()
    total = Taken()
    rest = sent
    while rest:
        count = data.draw(st.integers(1, len(rest)))
        taken = take(decoder, rest[:count])
        total.updates += taken.updates
        total.undecodable += taken.undecodable
        total.unmapped.update(taken.unmapped)
        rest = rest[count:]
    values, wanted = expected(sent)
    assert dict(store.read(1.0)) == values
    assert (total.updates, total.undecodable, total.unmapped) == (wanted.updates, wanted.undecodable, wanted.unmapped)


@given(st.lists(notifications(), min_size=1, max_size=3), st.data())
def test_damaged_bytes_end_the_stream_or_are_what_protobuf_reads(
    sent: list[messages.Notification], data: st.DataObject
) -> None:
    raw = bytearray(messages.SubscribeResponse(update=sent[0]).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    decoder, store = pair()
    take(decoder, sent)
    learnt, other = pair()
    take(learnt, sent)
    message = bytes(raw)
    try:
        parsed = messages.SubscribeResponse.FromString(message)
    except DecodeError:
        parsed = None
    try:
        decoder.take(*batch([message]), 2.0, lasts_s=math.inf)
    except BadMessage:
        assert parsed is None
        return
    if parsed is not None and parsed.HasField("update"):
        learnt._general(message, Taken())
        assert {series for series, _ in store.read(2.0)} == {series for series, _ in other.read(2.0)}


def test_the_second_time_a_stream_is_decoded_by_the_kernel_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, store = pair()
    sent = [
        messages.Notification(
            timestamp=NOW_NS + second,
            prefix=path(Element("interface", (("name", port),))),
            update=[
                messages.Update(
                    path=path(Element("statistics"), Element(leaf)), val=messages.TypedValue(uint_val=second)
                )
                for leaf in LEAVES
            ]
            + [messages.Update(path=path(Element("oper-state")), val=messages.TypedValue(string_val="up"))],
        )
        for second in (1, 2, 3)
        for port in PORTS
    ]
    take(decoder, sent[:4])
    monkeypatch.setattr(NotificationDecoder, "decode_update", None)
    taken = take(decoder, sent[4:])
    assert (taken.updates, taken.device_ns) == (10, NOW_NS + 3)
    assert {
        value for series, value in store.read(1.0) if "octets" in series.metric.name or "bytes" in series.metric.name
    } == {3.0}


def test_what_does_not_fit_is_counted_and_does_not_grow() -> None:
    store = TargetStore("leaf1", health := Health(tls_verified=True), expiry_s=6.0, grace_s=6.0, max_series=3)
    store.begin()
    decoder = Decoder("leaf1", MAP, store)
    for number in range(2000):
        port = Element("interface", (("name", f"e{number}"),))
        update = messages.Update(
            path=path(port, Element("statistics"), Element("in-octets")), val=messages.TypedValue(uint_val=number)
        )
        take(decoder, [messages.Notification(update=[update])])
    assert len(store) == len(store.read(1.0)) == 3
    assert store.table.key_count == store.table.series_count == 3
    assert health.drops[Drop.SERIES_LIMIT] == 1997


def test_a_message_of_many_updates_is_decoded_whole() -> None:
    decoder, store = pair(100_000)
    update = [
        messages.Update(
            path=path(Element("interface", (("name", f"e{number}"),)), Element("statistics"), Element("in-octets")),
            val=messages.TypedValue(uint_val=number),
        )
        for number in range(3000)
    ]
    for _ in range(2):
        assert take(decoder, [messages.Notification(update=update)]).updates == 3000
    assert sorted(value for _, value in store.read(1.0)) == list(map(float, range(3000)))


def test_targets_of_a_platform_share_what_a_path_means() -> None:
    """The ports of a thousand switches have the same paths, whose rules are found once."""
    first, second = NotificationDecoder(MAP), NotificationDecoder(MAP)
    raw = path(Element("interface", (("name", "e1"),)), Element("statistics"), Element("in-octets")).SerializeToString()
    assert first.known(wire_elements(raw)) is second.known(wire_elements(bytes(bytearray(raw))))
    assert first.known(wire_elements(raw)) is not NotificationDecoder(PathMap(platform("srlinux").telemetry)).known(
        wire_elements(raw)
    )


def long_prefix(size: int) -> messages.Path:
    return messages.Path(target="x" * size)


@pytest.mark.parametrize("updates", [3, 30])
def test_a_long_prefix_is_not_kept_with_each_path(updates: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a message of 64 MB fills all memory, and places of texts no longer fit into 32 bits."""
    monkeypatch.setattr(decode, "MOST_LISTED", 8)
    decoder, store = pair()
    sent = counters(range(updates))
    sent.prefix.CopyFrom(long_prefix(2 * decode.MOST_KEY))
    for _ in range(2):
        assert take(decoder, [sent]).updates == updates
    assert sorted(value for _, value in store.read(1.0)) == list(map(float, range(updates)))
    assert store.table.key_count == len(decoder._reference._by_steps) == 0


def test_paths_are_kept_up_to_a_length() -> None:
    decoder, store = pair()
    sent = [counters(range(1)), counters(range(1))]
    rest = len(sent[0].update[0].path.SerializeToString())
    for each, more in zip(sent, (0, 1), strict=True):
        each.prefix.CopyFrom(long_prefix(decode.MOST_KEY - rest - 3 + more))
        assert len(each.prefix.SerializeToString()) + rest == decode.MOST_KEY + more
        take(decoder, [each])
        assert store.table.key_count == 1


def test_a_broken_path_far_down_a_message_is_an_error_after_what_stands_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decode, "MOST_LISTED", 8)
    decoder, store = pair()
    update = list(counters(range(20)).update)
    broken = bytes((0x22, 4, 0x0A, 2, 0x1A, 0xFF))
    raw = messages.Notification(update=update).SerializeToString() + broken
    raw += messages.Notification(update=counters(range(50, 60)).update).SerializeToString()
    head = messages.SubscribeResponse(update=messages.Notification(update=update)).SerializeToString()[:1]
    with pytest.raises(BadMessage, match="not gNMI"):
        decoder.take(*batch([head + varint_of(len(raw)) + raw]), 1.0, lasts_s=math.inf)
    assert len(store) == 20


def varint_of(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))


def test_a_long_value_of_an_enumeration_is_read_and_not_kept() -> None:
    decoder, store = pair()
    port = Element("interface", (("name", "e1"),))
    for size, kept in ((0, 1), (1000, 1)):
        value = messages.TypedValue(string_val="up").SerializeToString()
        value += (b"\xfa\x7f" + varint_of(size) + bytes(size)) * bool(size)  # a field that gNMI does not have
        update = messages.Update(path=path(port, Element("oper-state")), val=messages.TypedValue.FromString(value))
        for _ in range(2):
            assert take(decoder, [messages.Notification(update=[update])]).updates == 1
        assert store.table.state_count == kept
        assert [value for _, value in store.read(1.0)] == [1.0]


def test_one_leaf_written_in_two_ways_is_one_series() -> None:
    decoder, store = pair()
    port, rest = Element("interface", (("name", "e1"),)), (Element("statistics"), Element("in-octets"))
    whole = messages.Update(path=path(port, *rest), val=messages.TypedValue(uint_val=1))
    part = messages.Update(path=path(*rest), val=messages.TypedValue(uint_val=2))
    take(decoder, [messages.Notification(update=[whole]), messages.Notification(prefix=path(port), update=[part])])
    assert [value for _, value in store.read(1.0)] == [2.0]


def test_a_series_that_was_deleted_comes_back() -> None:
    decoder, store = pair()
    port = Element("interface", (("name", "e1"),))
    update = messages.Update(
        path=path(port, Element("statistics"), Element("in-octets")), val=messages.TypedValue(uint_val=1)
    )
    take(decoder, [messages.Notification(update=[update]), messages.Notification(delete=[path(port)])])
    assert (store.read(1.0), len(store)) == ([], 0)
    take(decoder, [messages.Notification(update=[update])])
    assert len(store.read(1.0)) == 1


def test_a_synchronised_stream_is_told_from_updates() -> None:
    decoder, _ = pair()
    raw = messages.SubscribeResponse(sync_response=True).SerializeToString()
    assert decoder.take(*batch([raw]), 1.0, lasts_s=math.inf).synced
    assert not decoder.take(*batch([]), 1.0, lasts_s=math.inf).synced


def counters(ports: Iterable[int]) -> messages.Notification:
    """Octets received on these ports."""
    steps = Element("statistics"), Element("in-octets")
    return messages.Notification(
        prefix=messages.Path(target="leaf1"),
        update=[
            messages.Update(
                path=path(Element("interface", (("name", f"ethernet-1/{port}"),)), *steps),
                val=messages.TypedValue(uint_val=port),
            )
            for port in ports
        ],
    )


def test_a_series_that_the_kernel_knows_takes_less_than_400_bytes() -> None:
    sent = [counters(range(first, first + 50)) for first in range(0, 2050, 50)]
    take(pair(10_000)[0], sent)  # fills the bounded caches that all targets share
    decoder, store = pair(10_000)
    take(decoder, sent[:1])
    tracemalloc.start()
    try:
        take(decoder, sent[1:])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(store) == 2050
    assert held / 2000 < 400


def test_what_stands_before_a_path_that_is_not_protobuf_is_stored() -> None:
    decoder, store = pair()
    update = counters(range(2)).update
    broken = bytes((0x22, 4, 0x0A, 2, 0x1A, 0xFF))  # an update with a path whose element is longer than the path
    raw = b"".join(messages.Notification(update=[each]).SerializeToString() for each in update) + broken
    with pytest.raises(BadMessage, match="not gNMI"):
        decoder.take(*batch([b"\x0a" + bytes((0x80 | len(raw) & 0x7F, len(raw) >> 7)) + raw]), 1.0, lasts_s=math.inf)
    assert [value for _, value in store.read(1.0)] == [0.0, 1.0]


@pytest.mark.parametrize("per_s", [1, 1_000, 1_000_000, 1_000_000_000])
def test_a_time_stamp_in_another_unit_is_the_same_time_as_in_the_reference(per_s: int) -> None:
    decoder, _ = pair()
    stamp = 1_795_000_000 * per_s
    found = take(decoder, [messages.Notification(timestamp=stamp)]).device_ns
    assert found == normalised_ns(stamp) == 1_795_000_000 * 1_000_000_000


LIMITS = (10**11, 10**14, 10**17, 9_223_372_036, 9_223_372_036_854, 9_223_372_036_854_775, 2**63 - 2)


@given(
    st.sampled_from(LIMITS).flatmap(lambda limit: st.integers(limit - 1, limit + 1)) | st.integers(-(2**63), 2**63 - 1)
)
def test_every_time_stamp_is_the_time_of_the_reference_or_none(stamp: int) -> None:
    """One that 64 bits do not hold in nanoseconds neither wraps around nor ends the collector."""
    decoder, store = pair()
    sent = messages.Notification(timestamp=stamp, update=counters(range(1)).update)
    found = [take(decoder, [sent]).device_ns for _ in range(2)]
    assert found == [normalised_ns(stamp)] * 2
    assert store.at[At.DEVICE_NS] == store.table.series.device_ns[0] == (normalised_ns(stamp) or 0) < 2**63
    decoder._general(messages.SubscribeResponse(update=sent).SerializeToString(), taken := Taken())
    assert taken.device_ns == normalised_ns(stamp)


def test_the_rules_of_a_platform_are_compiled_once_for_all_of_its_targets() -> None:
    telemetry = platform("srlinux").telemetry
    assert path_map(of_twin(telemetry)) is path_map(of_twin(telemetry))
    assert path_map(of_twin(telemetry)) is not path_map(telemetry)
    assert path_map(replace(telemetry, rules=telemetry.rules[:1])) is not path_map(telemetry)

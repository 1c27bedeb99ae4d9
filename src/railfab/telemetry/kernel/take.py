"""From raw SubscribeResponses to columns: one call for a batch, no work on paths that are known.

Field numbers: github.com/openconfig/gnmi, proto/gnmi/gnmi.proto. What a message has beyond what targets write is left
to protobuf (`Stop.ODD`), so that whatever is decoded here is decoded as protobuf does.
"""

from __future__ import annotations

from typing import Any

from railfab.telemetry.kernel.columns import HAS_RATES, NO_RATE, STOP_BITS, Array, At, KeyKind, Stop, Tables, Undecoded
from railfab.telemetry.kernel.jit import called, compiled, from_start, inlined
from railfab.telemetry.kernel.probe import equal, mixed, path_hash
from railfab.telemetry.kernel.values import number
from railfab.telemetry.kernel.wire import length, skipped, varint

(NOW_NS, LASTS_NS, GENERATION, WINDOW, MOST_SERIES, LAST_KEY, IGNORE_DELETES, PRESENT) = map(int, tuple(At)[:8])
(WALL_NS, SKEW_NS, PENDING, UPDATES, FRESH, OUT_OF_ORDER, SERIES_LIMIT, DEVICE_NS) = map(int, tuple(At)[8:16])
(SYNCED, UNMAPPED, SKEWED, RESETS, WRAPS) = map(int, tuple(At)[16:])
P_KEY, P_PREFIX, P_PREFIX_END, P_PATH, P_PATH_END, P_VALUE, P_VALUE_END, P_DEVICE_NS = map(int, Undecoded)
P_WIDTH = len(Undecoded)
_UNMAPPED, _NUMBER, _STATE = int(KeyKind.UNMAPPED), int(KeyKind.NUMBER), int(KeyKind.STATE)
_DONE, _PENDING_FIRST, _DELETES, _ODD = map(int, Stop)
_STOP_BITS = STOP_BITS
_NS_PER_S = 1e9
REORDERED_NS = 2_000_000_000
"""A sample that is older than the last by up to so much came in the wrong order; by more, its clock was set back."""
_REORDERED_NS = REORDERED_NS
_HAS_RATES, _NO_RATE = HAS_RATES, NO_RATE
_EXACT = 9_007_199_254_740_992.0
_WRAP, _MOST_GROWN = 4_294_967_296.0, 1_073_741_824.0
"""A 32-bit counter begins again behind 2**32 - 1. One that would have grown by more than a quarter was reset."""
_MILLISECOND, _MICROSECOND, _NANOSECOND = 100_000_000_000, 100_000_000_000_000, 100_000_000_000_000_000
_LATEST_NS = 0x7FFFFFFFFFFFFFFF


@inlined
def nanoseconds(timestamp: int) -> Any:
    """A time stamp in nanoseconds, 0 for none, as `notification.normalised_ns`."""
    if timestamp <= 0:
        return 0
    unit_ns = 1
    if timestamp < _MILLISECOND:
        unit_ns = 1_000_000_000
    elif timestamp < _MICROSECOND:
        unit_ns = 1_000_000
    elif timestamp < _NANOSECOND:
        unit_ns = 1_000
    return timestamp * unit_ns if timestamp <= _LATEST_NS // unit_ns else 0


@inlined
def _is_key(keys: Array, row: int, buffer: Array, prefix: int, prefix_end: int, path: int, path_end: int) -> Any:
    split, start = keys.split[row], keys.start[row]
    return (
        split == prefix_end - prefix
        and keys.length[row] == split + path_end - path
        and equal(keys.text, start + split, buffer, path, path_end - path)
        and equal(keys.text, start, buffer, prefix, split)
    )


@called
def _found(keys: Array, buffer: Array, prefix: int, prefix_end: int, path: int, path_end: int) -> Any:
    """The row of a path, or -1."""
    wanted = path_hash(buffer, prefix, prefix_end, path, path_end)
    mask = len(keys.slots) - 1
    place = wanted & mask
    while keys.slots[place]:
        row = keys.slots[place] - 1
        if keys.hash[row] == wanted and _is_key(keys, row, buffer, prefix, prefix_end, path, path_end):
            return row
        place = (place + 1) & mask
    return -1


@called
def _state(states: Array, rule: int, buffer: Array, at: int, end: int) -> Any:
    """Whether the number of an enumeration's value is known, and the number."""
    mask = len(states.slots) - 1
    place = mixed(rule, buffer, at, end) & mask
    while states.slots[place]:
        row = states.slots[place] - 1
        if (
            states.rule[row] == rule
            and states.length[row] == end - at
            and equal(states.text, states.start[row], buffer, at, end - at)
        ):
            return True, states.value[row]
        place = (place + 1) & mask
    return False, 0.0


@inlined
def _rounded(rate: float) -> Any:
    """A rate to seven digits or more, so that it is written in a few."""
    if rate >= _EXACT:
        return rate
    places = 1.0 if rate >= 1e6 else 1e3 if rate >= 1e3 else 1e6
    return float(int(rate * places + 0.5)) / places


@inlined
def _rate(series: Array, row: int, value: float, device_ns: int, at: Array) -> Any:
    """Keep the highest rate of the present window and of the one before."""
    window = at[WINDOW]
    if series.window[row] != window:
        series.earlier[row] = series.rate[row] if series.window[row] == window - 1 else _NO_RATE
        series.rate[row] = _NO_RATE
        series.window[row] = window
    before_ns, now_ns = series.device_ns[row], device_ns
    if before_ns == 0 or device_ns == 0:
        before_ns, now_ns = series.arrival_ns[row], at[NOW_NS]
    grown = value - series.value[row]
    if grown >= 0 and now_ns > before_ns:
        rate = grown / ((now_ns - before_ns) / _NS_PER_S)
        if rate > series.rate[row]:
            series.rate[row] = _rounded(rate)


@called
def _went_back(before: float, value: float, scale: float, at: Array) -> Any:
    """Count a counter that is lower than before, as a reset or as a wrap of 32 bits."""
    if before < _WRAP * scale and value + _WRAP * scale - before <= _MOST_GROWN * scale:
        at[WRAPS] += 1
    else:
        at[RESETS] += 1


@inlined
def _put(series: Array, row: int, value: float, scale: float, device_ns: int, at: Array) -> Any:
    """Store a sample, unless one of this session that is a little newer is there. scale: of the value's unit."""
    if series.present[row]:
        before_ns = series.device_ns[row]
        if series.generation[row] == at[GENERATION]:
            if device_ns and before_ns - _REORDERED_NS <= device_ns < before_ns:
                at[OUT_OF_ORDER] += 1
                return
            if series.counter[row] & _HAS_RATES:
                _rate(series, row, value, device_ns, at)
        if value < series.value[row] and series.counter[row] and (device_ns != before_ns or not device_ns):
            _went_back(series.value[row], value, scale, at)
    else:
        if at[PRESENT] >= at[MOST_SERIES]:
            at[SERIES_LIMIT] += 1
            at[FRESH] += 1
            return
        at[PRESENT] += 1
        series.present[row] = 1
        series.rate[row] = series.earlier[row] = _NO_RATE
    series.value[row] = value
    series.device_ns[row] = device_ns
    series.arrival_ns[row] = at[NOW_NS]
    series.expires_ns[row] = at[NOW_NS] + at[LASTS_NS]
    series.generation[row] = at[GENERATION]
    at[FRESH] += 1


@inlined
def _is_digit(byte: int) -> Any:
    return 0x30 <= byte <= 0x39


@inlined
def _may_have_leaves(buffer: Array, value: int, value_end: int) -> Any:
    """Whether a TypedValue may be a container as JSON, or is no value."""
    if value >= value_end:
        return True
    if buffer[value] != 0x52 and buffer[value] != 0x5A:  # json_val, json_ietf_val
        return False
    start, end = length(buffer, value + 1, value_end)
    return (
        start < 0
        or start == end
        or (buffer[start] not in (0x22, 0x2D, 0x66, 0x6E, 0x74) and not _is_digit(buffer[start]))
    )


@inlined
def _decoded(tables: Tables, buffer: Array, row: int, value: int, value_end: int, device_ns: int, at: Array) -> Any:
    """Whether an update of a known path is decoded here, and then its samples are stored."""
    keys, bindings, series = tables.keys, tables.bindings, tables.series
    kind = keys.kind[row]
    first = keys.first[row]
    if kind == _NUMBER:
        known, found = number(buffer, value, value_end)
        if not known:
            return False
        for binding in range(first, first + keys.count[row]):
            scale = bindings.scale[bindings.rule[binding]]
            sample = found * scale if scale else found / _NS_PER_S
            _put(series, bindings.series[binding], sample, scale, device_ns, at)
        return True
    if kind == _STATE:
        known, found = _state(tables.states, bindings.rule[first], buffer, value, value_end)
        if known:
            _put(series, bindings.series[first], found, 1.0, device_ns, at)
        return known
    if kind == _UNMAPPED and not _may_have_leaves(buffer, value, value_end):
        tables.roots[first] += 1
        at[UNMAPPED] += 1
        at[FRESH] += 1
        return True
    return False


@called
def _outline(buffer: Array, start: int, end: int) -> Any:
    """Of a Notification: whether it is plain, time stamp, prefix, whether it deletes, and the number of its updates."""
    timestamp, prefix, prefix_end, deletes, updates = 0, start, start, False, 0
    prefixes = 0
    at = start
    while at < end:
        tag = buffer[at]
        at += 1
        if tag == 0x22:  # update
            updates += 1
            at = skipped(buffer, 2, at, end)
        elif tag == 0x08:  # timestamp
            timestamp, at = varint(buffer, at, end)
        elif tag == 0x12:  # prefix
            prefix, prefix_end = length(buffer, at, end)
            prefixes += 1
            at = prefix_end
        elif tag == 0x2A:  # delete
            deletes = True
            at = skipped(buffer, 2, at, end)
        elif tag == 0x30:  # atomic
            value, at = varint(buffer, at, end)
            deletes = deletes or value != 0
        else:
            return False, 0, 0, 0, False, 0
        if at < 0:
            return False, 0, 0, 0, False, 0
    return prefixes < 2, nanoseconds(timestamp), prefix, prefix_end, deletes, updates


@called
def _is_plain(buffer: Array, start: int, end: int) -> Any:
    """Whether all updates of a Notification have the fields that targets write, each once."""
    at = start
    while at < end:
        tag = buffer[at]
        at += 1
        if tag != 0x22:
            at = skipped(buffer, tag & 7, at, end)
            continue
        inner, at = length(buffer, at, end)
        paths = values = 0
        while 0 <= inner < at:
            tag = buffer[inner]
            if tag == 0x0A:
                paths += 1
            elif tag == 0x1A:
                values += 1
            elif tag != 0x20:  # duplicates
                return False
            inner = skipped(buffer, tag & 7, inner + 1, at)
        if inner < 0 or paths > 1 or values > 1:
            return False
    return True


@inlined
def _parts(buffer: Array, inner: int, end: int) -> Any:
    """Path and value of a plain update."""
    path = path_end = value = value_end = end
    while inner < end:
        tag = buffer[inner]
        if tag == 0x0A:
            path, path_end = length(buffer, inner + 1, end)
            inner = path_end
        elif tag == 0x1A:
            value, value_end = length(buffer, inner + 1, end)
            inner = value_end
        else:
            inner = skipped(buffer, 0, inner + 1, end)
    return path, path_end, value, value_end


@inlined
def _updates(
    tables: Tables, buffer: Array, start: int, end: int, prefix: int, prefix_end: int, device_ns: int, at: Array
) -> Any:
    """Decode the updates of a plain Notification, up to one that Python has to decode: it and all behind it are listed,
    since values of one series keep their order."""
    keys, pending = tables.keys, tables.pending
    position = start
    last = at[LAST_KEY]
    while position < end:
        tag = buffer[position]
        if tag != 0x22:
            position = skipped(buffer, tag & 7, position + 1, end)
            continue
        inner, position = length(buffer, position + 1, end)
        path, path_end, value, value_end = _parts(buffer, inner, position)
        row = keys.follows[last] if last >= 0 else -1
        if row < 0 or not _is_key(keys, row, buffer, prefix, prefix_end, path, path_end):
            row = _found(keys, buffer, prefix, prefix_end, path, path_end)
            if last >= 0:
                keys.follows[last] = row
        last = row
        if row >= 0 and not at[PENDING] and _decoded(tables, buffer, row, value, value_end, device_ns, at):
            at[UPDATES] += 1
            continue
        place = at[PENDING] * P_WIDTH
        pending[place + P_KEY] = row
        pending[place + P_PREFIX] = prefix
        pending[place + P_PREFIX_END] = prefix_end
        pending[place + P_PATH] = path
        pending[place + P_PATH_END] = path_end
        pending[place + P_VALUE] = value
        pending[place + P_VALUE_END] = value_end
        pending[place + P_DEVICE_NS] = device_ns
        at[PENDING] += 1
    at[LAST_KEY] = last


@inlined
def _response(buffer: Array, at: int, end: int) -> Any:
    """Whether a SubscribeResponse is plain, whether it is a sync_response, and its Notification."""
    synced, start, stop, fields = False, at, at, 0
    while at < end:
        tag = buffer[at]
        at += 1
        if tag == 0x0A:  # update
            start, stop = length(buffer, at, end)
            at = stop
            fields += 1
        elif tag == 0x18:  # sync_response
            value, at = varint(buffer, at, end)
            synced = value != 0
            fields += 1
        else:
            return False, False, 0, 0
        if at < 0:
            return False, False, 0, 0
    return fields < 2, synced, start, stop


@compiled
def take(buffer: Array, bounds: Array, message: int, given: Tables, at: Array) -> Any:
    """Decode the messages of a batch from one on; return where it stopped and why (`Stop`).

    buffer: uint8. bounds: int64, start and end of each message, one after the other. at: int64, settings and counts
    (`At`). The answer has the message in its upper bits and the reason in the lowest `STOP_BITS`.
    """
    buffer, bounds, at = from_start(buffer), from_start(bounds), from_start(at)
    tables = Tables(
        from_start(given.keys),
        from_start(given.bindings),
        from_start(given.states),
        from_start(given.series),
        from_start(given.roots),
        from_start(given.pending),
    )
    messages = len(bounds) // 2
    room = len(tables.pending) // P_WIDTH
    while message < messages:
        plain, synced, start, end = _response(buffer, bounds[2 * message], bounds[2 * message + 1])
        if not plain:
            return message << _STOP_BITS | _ODD
        if synced:
            at[SYNCED] = 1
        plain, device_ns, prefix, prefix_end, deletes, updates = _outline(buffer, start, end)
        if not plain or not _is_plain(buffer, start, end):
            return message << _STOP_BITS | _ODD
        if deletes and not at[IGNORE_DELETES]:
            return message << _STOP_BITS | _DELETES
        if at[PENDING] + updates > room:
            return message << _STOP_BITS | _PENDING_FIRST
        if device_ns:
            at[DEVICE_NS] = device_ns
        if at[SKEW_NS] and device_ns and abs(device_ns - at[WALL_NS]) > at[SKEW_NS]:
            at[SKEWED] += 1
            device_ns = 0
        _updates(tables, buffer, start, end, prefix, prefix_end, device_ns, at)
        at[IGNORE_DELETES] = 0
        message += 1
    return message << _STOP_BITS | _DONE


@compiled
def take_listed(buffer: Array, place: int, count: int, given: Tables, at: Array) -> Any:
    """Decode the listed updates from one on; return the first that Python has to decode.

    count: of `Tables.pending`.
    """
    buffer, at = from_start(buffer), from_start(at)
    while place < count:
        first = place * P_WIDTH
        row, value, value_end = (
            given.pending[first + P_KEY],
            given.pending[first + P_VALUE],
            given.pending[first + P_VALUE_END],
        )
        if row < 0 or not _decoded(given, buffer, row, value, value_end, given.pending[first + P_DEVICE_NS], at):
            return place
        at[UPDATES] += 1
        place += 1
    return place


@compiled
def put(rows: Array, values: Array, device_ns: int, series: Array, at: Array) -> Any:
    """Store samples that Python has decoded. rows: int64, values: float64."""
    for place in range(len(rows)):
        _put(series, rows[place], values[place], 1.0, device_ns, at)

"""A scrape of a collector before the journal of the targets: what may be served, what must be, and what must not.

Times are Unix time [s]. A collector that is late serves what it has read, so that everything is allowed to take effect
within PROMPT_S and the lateness of the collector.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

PROMPT_S = 1.0
MARGIN_S = 0.25
LAG_S = 40.0
"""A scrape shows the largest lateness of 30 s, and a little more after a stop."""
SILENT_INTERVALS = 3
FOREVER = float("inf")
STATE = "oper-status"
LEAVES = {
    ("fabric_interface_receive_bytes_total", ""): "in-octets",
    ("fabric_interface_receive_packets_total", "unicast"): "in-unicast-pkts",
    ("fabric_interface_receive_discards_total", ""): "in-discards",
    ("fabric_interface_receive_errors_total", ""): "in-errors",
    ("fabric_interface_oper_up", ""): "oper-status",
}
_LINE = re.compile(r"(\w+)\{([^}]*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
NS = 1e9


@dataclass(frozen=True, slots=True)
class Scrape:
    """A scrape that began and ended then.

    late_s: lateness of the collector. values: by target, then interface and leaf. up: whether each session is up.
    """

    began_s: float
    ended_s: float
    late_s: float
    values: Mapping[str, Mapping[str, float]]
    up: Mapping[str, bool]


def parsed(text: str, began_s: float, ended_s: float) -> Scrape:
    """A scrape from its text."""
    found = [(name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in _LINE.findall(text)]
    lag = re.search(r"^fabric_collector_lag_seconds (\S+)$", text, re.MULTILINE)
    return scrape_of(found, began_s, ended_s, float(lag[1]) if lag else 0.0)


def scrape_of(
    found: Iterable[tuple[str, Mapping[str, str], float]], began_s: float, ended_s: float, late_s: float
) -> Scrape:
    values: dict[str, dict[str, float]] = {}
    up: dict[str, bool] = {}
    for name, labels, value in found:
        if name == "fabric_collector_session_up":
            up[labels["device"]] = value == 1
        if leaf := LEAVES.get((name, labels.get("cast", ""))):
            key = f"{labels['interface']} {leaf}"
            held = values.setdefault(labels["device"], {})
            assert key not in held, f"{key} twice"
            held[key] = value
    return Scrape(began_s, ended_s, late_s, values, up)


@dataclass(slots=True)
class Sent:
    """What was sent of one series: begin and end of each, and the value; None for a delete."""

    began_s: list[float] = field(default_factory=list)
    ended_s: list[float] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)

    def add(self, began_s: float, ended_s: float, value: float | None) -> None:
        self.began_s.append(began_s)
        self.ended_s.append(ended_s)
        self.values.append(value)

    def before(self, at_s: float) -> float:
        """The end of the last before a time; 0 for none."""
        place = bisect_left(self.ended_s, at_s)
        return self.ended_s[place - 1] if place else 0.0


@dataclass(frozen=True, slots=True)
class Stream:
    """A subscription, as the target saw it. changes: whether to changes. cut: whether the target ended it.

    syncs_s, synced_s: before which and after which its sync_response was sent; the collector may have read it between.
    """

    connection: str
    changes: bool
    cut: bool
    began_s: float
    syncs_s: float
    synced_s: float
    ended_s: float


class Truth:
    """What one target has sent, and how a collector has to serve it.

    interval_s: of its samples. stopped: when the process of the collector did not run. doubted_s: how long a sample may
    be doubted since its time stamp is older than that of the last. judged: how often something had to be there, gone or
    up.
    """

    def __init__(
        self,
        entries: Sequence[Mapping[str, Any]],
        interval_s: float,
        stopped: Sequence[tuple[float, float]],
        doubted_s: float = 0.0,
    ) -> None:
        self._interval_s, self._stopped, self._doubted_s = interval_s, stopped, doubted_s
        self._stops_s = [began_s for began_s, _ in stopped]
        self._lost_s = [0.0, *accumulate(ended_s - began_s for began_s, ended_s in stopped)]
        self.sent: dict[str, Sent] = {}
        self._samples = Sent()
        self.streams: list[Stream] = []
        self.dials_s: list[float] = []
        self.judged: Counter[str] = Counter()
        self._read(sorted(entries, key=lambda entry: entry["done"]))

    def _read(self, entries: Sequence[Mapping[str, Any]]) -> None:
        began, synced, ended = {}, {}, {}
        cut: set[str] = set()
        for entry in entries:
            at_s, done_s = entry["at"] / NS, entry["done"] / NS
            stream = entry.get("stream"), entry.get("changes")
            if "sent" in entry:
                began.setdefault(stream, at_s)
                self._add(entry, at_s, done_s)
            elif "synced" in entry:
                synced[stream] = (at_s, done_s)
            elif "ended" in entry:
                ended.setdefault(stream, at_s)
                cut |= {entry["stream"].split("/")[0]} if entry["ended"] == "dropped" else set()
            elif "dial" in entry:
                self.dials_s.append(at_s)
        for stream, began_s in began.items():
            times_s = (*synced.get(stream, (FOREVER, FOREVER)), ended.get(stream, FOREVER))
            connection = str(stream[0]).split("/")[0]
            self.streams.append(Stream(connection, bool(stream[1]), connection in cut, began_s, *times_s))
        self.streams.sort(key=lambda stream: stream.began_s)

    def _add(self, entry: Mapping[str, Any], at_s: float, done_s: float) -> None:
        for key in entry["deleted"]:
            self.sent[key].add(at_s, done_s, None)
        for key, value in entry["sent"].items():
            self.sent.setdefault(key, Sent()).add(at_s, done_s, value)
        if entry["sent"] and not entry["changes"]:
            self._samples.add(at_s, done_s, len(entry["sent"]))

    def problems(self, scrape: Scrape, name: str) -> Iterator[str]:
        """What is wrong with a scrape."""
        values = scrape.values.get(name, {})
        allowed_s = PROMPT_S + self._late_s(scrape)
        for key in values.keys() - self.sent.keys():
            yield f"{key} was never sent"
        for key, sent in self.sent.items():
            yield from self._series(key, sent, scrape, values.get(key), allowed_s)
        yield from self._together(scrape, values, allowed_s)
        if not values and scrape.up[name]:
            yield "the session is up, and nothing is there"
        if self._must_be_up(scrape, allowed_s):
            self.judged["up"] += 1
            if not scrape.up[name]:
                yield "the session is in sync and not up"

    def waits_s(self, until_s: float) -> Iterator[float]:
        """How long the target waited to be dialled after each end of its streams [s]."""
        for one in self.streams:
            if one.ended_s < until_s:
                place = bisect_left(self.dials_s, one.ended_s - PROMPT_S)
                yield (self.dials_s[place] if place < len(self.dials_s) else until_s) - one.ended_s

    def resets(self, key: str, began_s: float, ended_s: float) -> int:
        """How often a counter fell between two times."""
        sent = self.sent[key]
        values = [value for at_s, value in zip(sent.began_s, sent.values, strict=True) if began_s <= at_s <= ended_s]
        return sum(then < before for before, then in pairwise(value for value in values if value is not None))

    def _series(self, key: str, sent: Sent, scrape: Scrape, value: float | None, allowed_s: float) -> Iterator[str]:
        seen, coming = _places(sent, scrape, allowed_s + self._doubted_s)
        possible = sent.values[max(seen, 0) : coming]
        if value is not None and value not in possible:
            yield f"{key} is {value:.0f}, and sent last were {[one and f'{one:.0f}' for one in possible]}"
        if seen >= 0 and None not in possible and self._must_be_there(key, sent, seen, scrape, allowed_s):
            self.judged["there"] += 1
            if value is None:
                yield f"{key} is missing, sent {scrape.began_s - sent.ended_s[coming - 1]:.1f} s ago"
        if coming and self._must_be_gone(key, sent, coming - 1, scrape, allowed_s):
            self.judged["gone"] += 1
            if value is not None:
                yield f"{key} is there, sent {scrape.began_s - sent.ended_s[coming - 1]:.1f} s ago"

    def _must_be_there(self, key: str, sent: Sent, seen: int, scrape: Scrape, allowed_s: float) -> bool:
        """Whether a series that must be known still counts: its target sends, or its session ended a moment ago."""
        changes = key.endswith(STATE)
        stream = self._stream_at(changes, sent.began_s[seen])
        until_s = min(scrape.ended_s, stream.ended_s)
        if stream.synced_s > stream.ended_s or scrape.ended_s > stream.ended_s + self._lasting_s:
            return False
        if self._may_be_swept(stream, scrape.ended_s):
            return False
        return self._keeps(self._samples if changes else sent, until_s, allowed_s)

    def _must_be_gone(self, key: str, sent: Sent, last: int, scrape: Scrape, allowed_s: float) -> bool:
        """Whether the last that may be known counts no more: deleted, or silent for too long."""
        if sent.values[last] is None:
            return scrape.began_s > sent.ended_s[last] + allowed_s
        stream = self._stream_at(key.endswith(STATE), sent.began_s[last])
        if not stream.cut and stream.ended_s < scrape.began_s - allowed_s:  # the collector ends what is stalled
            return True
        if self._is_swept(stream, scrape.began_s - allowed_s):
            return True
        last_s, silence_s = sent.ended_s[last], (SILENT_INTERVALS + 1) * self._interval_s
        if key.endswith(STATE):
            last_s = max(last_s, self._samples.before(scrape.ended_s))
        if stream.ended_s < scrape.began_s:
            last_s, silence_s = max(last_s, stream.ended_s), silence_s + self._interval_s
        return self._counted(scrape.began_s) - self._counted(last_s) > silence_s + allowed_s

    def _is_swept(self, stream: Stream, at_s: float) -> bool:
        """Whether a later connection had brought all that is there."""
        synced = Counter(one.connection for one in self._later(stream) if one.synced_s < min(at_s, one.ended_s))
        return 2 in synced.values()

    def _may_be_swept(self, stream: Stream, at_s: float) -> bool:
        """Whether a later connection was about to have brought all that is there."""
        syncing = Counter(one.connection for one in self._later(stream) if one.syncs_s < at_s)
        return 2 in syncing.values()

    def _later(self, stream: Stream) -> list[Stream]:
        """The streams of later connections."""
        return [one for one in self.streams if one.began_s > stream.ended_s and one.connection != stream.connection]

    def _must_be_up(self, scrape: Scrape, allowed_s: float) -> bool:
        """Whether both streams are in sync and samples arrive."""
        is_open = [
            one
            for one in self.streams
            if one.synced_s < scrape.began_s - allowed_s and one.ended_s > scrape.ended_s + allowed_s
        ]
        return len(is_open) == 2 and self._keeps(self._samples, scrape.ended_s, allowed_s)

    def _together(self, scrape: Scrape, values: Mapping[str, float], allowed_s: float) -> Iterator[str]:
        """The samples of one message are all there or none is."""
        together: dict[float, list[bool]] = {}
        for key, sent in self.sent.items():
            seen, coming = _places(sent, scrape, allowed_s)
            if seen >= 0 and coming == seen + 1 and not key.endswith(STATE) and sent.values[seen] is not None:
                together.setdefault(sent.began_s[seen], []).append(key in values)
        for found in together.values():
            if len(set(found)) > 1:
                yield f"{sum(found)} of {len(found)} series of one message are there"

    @property
    def _lasting_s(self) -> float:
        """How long a sample surely lasts."""
        return SILENT_INTERVALS * self._interval_s - MARGIN_S

    def _keeps(self, sent: Sent, until_s: float, allowed_s: float) -> bool:
        """Whether it was sent again and again until then, without a pause near to silence."""
        began_s = until_s - allowed_s - self._lasting_s
        places = bisect_left(sent.ended_s, began_s), bisect_left(sent.ended_s, until_s)
        times_s = (began_s, *sent.ended_s[slice(*places)], until_s)
        return all(then - before < self._lasting_s - MARGIN_S for before, then in pairwise(times_s))

    def _stream_at(self, changes: bool, began_s: float) -> Stream:
        return [one for one in self.streams if one.changes == changes and one.began_s <= began_s][-1]

    def _late_s(self, scrape: Scrape) -> float:
        """The lateness of the collector, as far as it is not that of a stop that is over."""
        places = (bisect_left(self._stops_s, at_s) for at_s in (scrape.began_s - LAG_S, scrape.began_s))
        recent = self._stopped[slice(*places)]
        if not recent or scrape.late_s > max(ended_s - began_s for began_s, ended_s in recent) + MARGIN_S:
            return scrape.late_s
        began_s, ended_s = recent[-1]
        return ended_s - began_s if scrape.began_s < ended_s + 2 * PROMPT_S else 0.0

    def _counted(self, at_s: float) -> float:
        """Time without that at which the collector did not run."""
        place = bisect_left(self._stops_s, at_s)
        runs_again_s = self._stopped[place - 1][1] if place else at_s
        return at_s - self._lost_s[place] + max(0.0, runs_again_s - at_s)


def _places(sent: Sent, scrape: Scrape, allowed_s: float) -> tuple[int, int]:
    """The last value that must be known, -1 for none, and the first that cannot be."""
    return bisect_left(sent.ended_s, scrape.began_s - allowed_s) - 1, bisect_left(sent.began_s, scrape.ended_s)

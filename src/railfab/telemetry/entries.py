"""List entries whose labels stand in leaves beside the value: LLDP neighbours, BFD sessions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from railfab.telemetry.mapping import Match, Steps
from railfab.telemetry.series import Series


@dataclass(slots=True)
class _Entry:
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, tuple[Match, float]] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)


class Entries:
    """Texts and values of each entry, until its labels are complete; of too many the oldest is dropped."""

    def __init__(self, most: int) -> None:
        self._entries: dict[Steps, _Entry] = {}
        self._most = most

    def text(self, steps: Steps, text: str) -> None:
        """A leaf that gives a label."""
        self._entry(steps[:-1]).texts[steps[-1].name] = text

    def value(self, steps: Steps, match: Match, number: float) -> None:
        """A leaf that gives a value."""
        self._entry(steps[:-1]).values[match.rule.metric.name] = (match, number)

    def settle(self, at: Iterable[Steps]) -> tuple[list[tuple[Series, float]], list[Series]]:
        """After a notification: the samples of these entries, and the series that their new labels replace."""
        samples, gone = [], []
        for entry in (self._entries[steps] for steps in at if steps in self._entries):
            for name, (match, number) in entry.values.items():
                series = _labelled(entry, match)
                before = entry.series.get(name)
                if before is not None and before != series:
                    gone.append(before)
                if series is not None:
                    entry.series[name] = series
                    samples.append((series, number))
        return samples, gone

    def forget(self, steps: Steps) -> list[Series]:
        """An entry, or one leaf of it, was deleted: the series that go with it."""
        entry = self._entries.pop(steps, None)
        if entry is not None:
            return list(entry.series.values())
        entry = self._entries.get(steps[:-1])
        if entry is None:
            return []
        entry.texts.pop(steps[-1].name, None)
        lost = [name for name, (match, _) in entry.values.items() if _concerns(match, steps[-1].name)]
        for name in lost:
            if entry.values[name][0].rule.ends_in(steps[-1].name):
                del entry.values[name]
        return [entry.series.pop(name) for name in lost if name in entry.series]

    def _entry(self, steps: Steps) -> _Entry:
        entry = self._entries.get(steps)
        if entry is None:
            if len(self._entries) >= self._most:
                del self._entries[next(iter(self._entries))]
            entry = self._entries[steps] = _Entry()
        return entry


def _concerns(match: Match, leaf: str) -> bool:
    return match.rule.ends_in(leaf) or leaf in match.rule.siblings


def _labelled(entry: _Entry, match: Match) -> Series | None:
    """The series, once every label is known."""
    labels = dict(match.labels)
    for leaf, pattern in match.rule.siblings.items():
        found = pattern.fullmatch(entry.texts.get(leaf, ""))
        if found is None:
            return None
        labels.update(match.rule.matched(found))
    return Series(match.rule.metric, labels)

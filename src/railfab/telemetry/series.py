"""A series: a metric of the catalogue with its labels."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.metrics import DEVICE, Metric


class Series:
    """One line of exposition without the labels of its target. Compared by value; the hash is worked out once.

    labels: pairs sorted as in the catalogue.
    """

    __slots__ = ("_hash", "labels", "metric")

    def __init__(self, metric: Metric, labels: Mapping[str, str]) -> None:
        self.metric = metric
        self.labels = tuple((name, labels[name]) for name in metric.labels if name in labels and name not in DEVICE)
        self._hash = hash((metric.name, self.labels))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Series) and self.metric.name == other.metric.name and self.labels == other.labels

    def __repr__(self) -> str:
        return f"{self.metric.name}{{{', '.join(f'{name}={value!r}' for name, value in self.labels)}}}"

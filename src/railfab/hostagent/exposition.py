"""The text format of Prometheus, written without a library and with what is constant in it made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from railfab.metrics import Kind, metric

TYPES = {Kind.COUNTER: "counter", Kind.GAUGE: "gauge", Kind.INFO: "gauge"}
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Source = Callable[[], bytes | None]
"""Gives the digits of a value now; None where there is none, and the sample is left out."""


class NicExposition:
    """Families of samples, in the order of their first one. labels: that every sample has."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._families: dict[str, list[tuple[bytes, Source | None]]] = {}

    def add(self, name: str, value: float, labels: Mapping[str, str] | None = None) -> None:
        """Add a sample of a metric of the catalogue whose value stays; empty labels are left out."""
        self._family(name).append((self._before(name, labels or {}) + f"{value!r}\n".encode(), None))

    def add_source(self, name: str, source: Source, labels: Mapping[str, str] | None = None) -> None:
        """Add a sample whose value is read for each exposition."""
        self._family(name).append((self._before(name, labels or {}), source))

    def text(self) -> bytes:
        """All families now, each with its type and help."""
        parts: list[bytes] = []
        for name, samples in self._families.items():
            before = len(parts)
            for text, source in samples:
                if source is None:
                    parts.append(text)
                elif (value := source()) is not None:
                    parts += (text, value, b"\n")
            if len(parts) > before:
                parts.insert(before, _head(name))
        return b"".join(parts)

    def _family(self, name: str) -> list[tuple[bytes, Source | None]]:
        return self._families.setdefault(name, [])

    def _before(self, name: str, labels: Mapping[str, str]) -> bytes:
        """A sample up to its value."""
        pairs = {**self._labels, **labels}
        inside = ",".join(f'{key}="{text.translate(ESCAPES)}"' for key, text in pairs.items() if text)
        return f"{name}{{{inside}}} ".encode()


def _head(name: str) -> bytes:
    entry = metric(name)
    return f"# HELP {name} {entry.help}\n# TYPE {name} {TYPES[entry.kind]}\n".encode()

"""Canonical samples as hypothesis draws them: labels and values that a rule of a telemetry map can carry."""

from __future__ import annotations

import re
import string
from typing import TypeVar

from hypothesis import strategies as st

from railfab.metrics import Kind
from railfab.platforms import TelemetryRule, platform
from railfab.platforms.telemetry_map import LABEL, carried_labels
from railfab.telemetry.mapping import compiled
from railfab.testing.reuse import reused

T = TypeVar("T")
PLAIN = string.ascii_letters + string.digits + "-_."
NUMBERED = re.compile(r"(?::|\*-)\{(\w+)\}")
PUNCTUATION = "/[]=\\ "
"""Characters that a path has to escape."""
TIMESTAMPS = st.integers(0, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000)


def rule_labels(name: str, rule: TelemetryRule) -> st.SearchStrategy[dict[str, str]]:
    """Labels of a series that a rule of the platform of that name carries."""
    plain = label_texts(name, carried_labels(rule) - {*rule.texts}, rule.path)
    written = st.fixed_dictionaries({label: _chosen(tuple(texts)) for label, texts in rule.texts.items()})
    return st.tuples(plain, written).map(lambda drawn: {**rule.labels, **drawn[0], **drawn[1]})


@reused
def label_texts(name: str, labels: frozenset[str], path: str) -> st.SearchStrategy[dict[str, str]]:
    """Texts of these labels of a path: ports and addresses as the platform of that name has them, others as they come.

    One that begins as no port does is of another kind of interface, with a number. One after a colon or a dash
    is a number, as of a queue in `Ethernet0:3` and `Ethernet1-3`; before a letter, a colon ends the name of a module.
    """
    ports = st.integers(1, 32).map(platform(name).lab.interfaces.port).filter(bool).map(str)
    known = {
        "peer": ports | st.ip_addresses(v=4).map(str),
        "interface": ports,
        "priority": st.integers(0, 7).map(str),
    }
    known |= {label: st.integers(0, 15).map(str) for label in NUMBERED.findall(path)}
    port = str(platform(name).lab.interfaces.port(1))
    beginnings = [(label, begins) for label, begins in LABEL.findall(path) if not port.startswith(begins)]
    known |= {label: st.integers(1, 32).map(f"{begins}{{}}".format) for label, begins in beginnings}
    anything = st.text(PLAIN + PUNCTUATION, min_size=1, max_size=12)
    return st.fixed_dictionaries({label: known.get(label, anything) for label in sorted(labels)})


def native_values(rule: TelemetryRule) -> st.SearchStrategy[float]:
    """Canonical values that the rule's leaf carries exactly."""
    if compiled(rule).metric.kind is Kind.INFO:
        return st.just(1.0)
    if rule.states is not None:
        return _chosen(tuple(float(value) for value in rule.states.values()))
    if rule.encoding == "timestamp":
        return TIMESTAMPS
    return _multiples(rule.scale, 2**32 - 1 if rule.encoding == "uint32" else 2**53)


@reused
def _chosen(values: tuple[T, ...]) -> st.SearchStrategy[T]:
    return st.sampled_from(values)


@reused
def _multiples(scale: float, most: int) -> st.SearchStrategy[float]:
    return st.integers(0, most).map(lambda number: number * scale)

"""What a twin encodes, a collector decodes: for every rule of every platform, in every encoding."""

from __future__ import annotations

import string
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railfab.gnmi import messages
from railfab.gnmi.bundles import bundles
from railfab.gnmi.target import Selected
from railfab.gnmi.values import ENCODINGS
from railfab.metrics import Kind
from railfab.platforms import TelemetryRule, platform, platform_names
from railfab.telemetry.decode import Decoder
from railfab.telemetry.mapping import PathMap, compiled
from railfab.twin.encoder import Encoder, Wildcard

RULES = [(name, place) for name in platform_names() for place, _ in enumerate(platform(name).telemetry.rules)]
CARRIES_ADDRESS = {"srlinux": "[peer-address={peer}]"}
PLAIN = string.ascii_letters + string.digits + "-_."


class Sample(NamedTuple):
    metric: str
    labels: Mapping[str, str]
    value: float


def wildcard_of(name: str) -> Wildcard:
    """What stands for `*`: the platform's word where the twin serves it, else anything."""
    face = platform(name).twin
    return partial(face.wildcard, "leaf1") if face else lambda key, pattern, labels: "anything"


def texts(name: str, rule: TelemetryRule, label: str) -> st.SearchStrategy[str]:
    """Texts that a label of this rule may have; slashes and brackets included where the field has them."""
    if label == "peer":
        numbered = CARRIES_ADDRESS.get(name, "{peer}") in rule.path
        return st.ip_addresses(v=4).map(str) if numbered and name in CARRIES_ADDRESS else st.just("ethernet-1/9")
    return st.text(PLAIN + "/[]=\\ ", min_size=1, max_size=12)


def values(rule: TelemetryRule) -> st.SearchStrategy[float]:
    """Canonical values that the rule's leaf can carry exactly."""
    ready = compiled(rule)
    if ready.metric.kind is Kind.INFO:
        return st.just(1.0)
    if rule.states is not None:
        return st.sampled_from([float(value) for value in rule.states.values()])
    if rule.encoding == "timestamp":
        return st.integers(0, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000)
    most = 2**32 - 1 if rule.encoding == "uint32" else 2**53
    return st.integers(0, most).map(lambda number: number * rule.scale)


@st.composite
def samples(draw: st.DrawFn, name: str, rule: TelemetryRule) -> Sample:
    ready = compiled(rule)
    patterns = (*(pattern for _, _, pattern in ready.keys), *ready.siblings.values())
    wanted = {label for pattern in patterns for label in pattern.groupindex}
    labels = {label: draw(texts(name, rule, label)) for label in sorted(wanted)}
    return Sample(rule.metric, {**rule.labels, **labels}, draw(values(rule)))


@pytest.mark.parametrize(("name", "place"), RULES)
@settings(max_examples=15)
@given(data=st.data(), encoding=st.sampled_from(ENCODINGS))
def test_decoding_undoes_encoding(name: str, place: int, data: st.DataObject, encoding: int) -> None:
    telemetry = platform(name).telemetry
    sample = data.draw(samples(name, telemetry.rules[place]))
    encoder = Encoder(telemetry, wildcard_of(name))
    encoded = encoder.encode([(sample.metric, sample.labels)], np.array([sample.value]))
    leaves = [Selected(leaf, at) for at, leaf in enumerate(encoded.leaves)]
    decoder = Decoder(PathMap(telemetry))
    decoded = [
        decoder.decode(messages.SubscribeResponse.FromString(bundle.whole(encoded.values, 1)).update)
        for bundle in bundles(leaves, encoding=encoding, target="")
    ]
    found = {(series.metric.name, series.labels): value for one in decoded for series, value in one.samples}
    ordered = tuple(
        (label, sample.labels[label])
        for label in compiled(telemetry.rules[place]).metric.labels
        if label in sample.labels
    )
    assert found[sample.metric, ordered] == sample.value
    assert not any(one.undecodable or one.unmapped for one in decoded)

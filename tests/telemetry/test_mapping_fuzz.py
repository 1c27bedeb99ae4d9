"""Fuzzing: any mapping file, and any gnmic configuration, is read or refused with readable lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.intent.intents import ROOT, error_lines
from tests.laws import examples

from railfab.imports.gnmic import convert, read_gnmic
from railfab.imports.gnmic.files import hosts_text, mappings_text
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.telemetry.mapping import PathMap

few = settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

MAPPINGS = [
    (ROOT / "docs" / "examples" / "mappings.yml").read_text(),
    """version: 1
metrics:
  acme_a_total: {kind: counter, help: A., labels: [b, c]}
  acme_i_info: {kind: info, help: I., labels: [text]}
platforms:
  own:
    new: true
    subscriptions: [{path: "/a[x=*]", mode: on_change, origin: o, target: t, encoding: json_ietf, optional: true}]
    rules:
      - {path: "/a[x={b}]/c_{c}_d", metric: acme_a_total, encoding: decimal, scale: 0.5, on_change: true}
      - {path: "/a[x=*%{b}.0]/s", metric: acme_a_total, labels: {c: d}, confidence: verified}
      - {path: "/a[x=y]/t", metric: acme_i_info, from_leaf: {name: "{text}"}}
  srlinux:
    rules:
      - {path: "/interface[name={interface}]/oper-state", metric: fabric_interface_oper_up, states: {up: 1, down: 0}}
      - {path: "/interface[name={interface}]/admin-state", metric: fabric_interface_admin_up, drop: true}
""",
]
CONFIGURATIONS = [path.read_text() for path in sorted((ROOT / "tests" / "imports" / "gnmic").glob("*.yaml"))]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
PATHS = st.text(alphabet="/ab[]{}*=:\\\\.%-_ ", max_size=20)
NAMES = st.sampled_from(("srlinux", "fabric_interface_oper_up", "acme_a_total", "queue", "device", "${X}", "10s"))
VALUES = SCALARS | PATHS | NAMES | st.lists(SCALARS | PATHS, max_size=3) | st.dictionaries(NAMES, SCALARS, max_size=3)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Each mapping or list of a document, with each of its keys."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [place for key, value in inner for place in ((node, key), *places(value))]


@st.composite
def mutants(draw: st.DrawFn, sources: Sequence[str]) -> str:
    """A document after one to three changes of a value or a key, as JSON, which is YAML."""
    document = deepcopy(yaml.safe_load(draw(st.sampled_from(sources))))
    for _ in range(draw(st.integers(1, 3))):
        if not (found := places(document)):
            break
        node, key = draw(st.sampled_from(found))
        change = draw(st.sampled_from(("value", "value", "path", "key", "delete")))
        if change == "value":
            node[key] = draw(VALUES)
        elif change == "path":
            node[key] = f"{node[key]}{draw(PATHS)}"
        else:
            value = node.pop(key)
            if change == "key" and isinstance(node, dict):
                node[draw(NAMES | st.text(max_size=8))] = value
    return json.dumps(document, allow_nan=False, default=str) if not _has_nan(document) else "{}"


def _has_nan(node: Any) -> bool:
    return any(isinstance(node[key], float) and not abs(node[key]) < float("inf") for node, key in places(node))


def read_mappings(path: Path) -> None:
    for telemetry in telemetry_maps([path]).values():
        PathMap(telemetry)


def read_configuration(path: Path) -> None:
    conversion = convert(read_gnmic(path, {}), ("eos",))
    hosts_text(conversion)
    mappings_text(conversion)


@few
@given(text=mutants(MAPPINGS))
def test_a_mutated_mapping_file_is_read_or_refused_with_readable_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.yml"
    path.write_text(text)
    error_lines(read_mappings, path)


@few
@given(text=mutants(CONFIGURATIONS))
def test_a_mutated_gnmic_configuration_is_read_or_refused_with_readable_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(text)
    error_lines(read_configuration, path)

"""An audit finds every single edit of a leaf that harms RoCE or the fabric, and passes those that do not.

By hand, one for each hazard and for what has been found before; and generated from the schema: another value of every
leaf that is rendered, a value that the schema refuses, a leaf that it does not know.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.audit.cases import Case, cases
from tests.findings import reasons, wrong
from tests.platforms.hazards import patterns, without_edit
from tests.platforms.srlinux.configuration import SRLINUX
from tests.platforms.srlinux.edits import GONE, HARMFUL, HARMLESS, RENAMED, Edit, edited

from railfab.device import DeviceModel
from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings
from railfab.findings import Finding, Severity
from railfab.platforms.hazards import Hazard
from railfab.platforms.shared.json_tree import Json, is_list
from railfab.platforms.srlinux.differences import TreeSetting, settings
from railfab.platforms.srlinux.refusals import refusals
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped
from railfab.platforms.srlinux.value_types import fits

LEAF = "pod1-seg1-leaf1"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "srl-pod" / "intent.yml")


def findings(fabric: Design, text: str) -> tuple[Finding, ...]:
    return configuration_findings(fabric, {LEAF: text})


@pytest.mark.parametrize("edit", HARMFUL.values(), ids=HARMFUL)
def test_an_edit_that_harms_is_found_with_its_reason(fabric: Design, edit: Edit) -> None:
    text = edited(fabric.texts[LEAF], edit.path, edit.value)
    assert not refusals(text), "the switch would accept it"
    assert SRLINUX.parse(text) != SRLINUX.parse(fabric.texts[LEAF])
    assert edit.found in reasons(wrong(findings(fabric, text)))


@pytest.mark.parametrize("edit", HARMLESS.values(), ids=HARMLESS)
def test_an_edit_that_does_not_harm_is_a_note(fabric: Design, edit: Edit) -> None:
    text = edited(fabric.texts[LEAF], edit.path, edit.value)
    found = findings(fabric, text)
    assert wrong(found) == []
    assert reasons(found) <= ({edit.found, "unmodelled"} if edit.found else set())
    assert all(one.is_foreign for one in refusals(text))


@pytest.mark.parametrize(("old", "new"), RENAMED.values(), ids=RENAMED)
def test_another_name_of_an_object_is_a_note(fabric: Design, old: str, new: str) -> None:
    text = fabric.texts[LEAF].replace(old, new)
    assert text != fabric.texts[LEAF]
    found = findings(fabric, text)
    assert [str(one) for one in wrong(found)] == []
    assert any("has another name than in the intent" in one.problem for one in found)


def shuffled(value: Any, order: random.Random) -> Any:
    """The tree with its members and the entries of its lists in another order, but for those of a policy."""
    if isinstance(value, dict):
        members = list(value.items())
        order.shuffle(members)
        return {name: child if name == "statement" else shuffled(child, order) for name, child in members}
    if is_list(value):
        entries = [shuffled(entry, order) for entry in value]
        order.shuffle(entries)
        return entries
    return value


def test_another_order_is_nothing(fabric: Design) -> None:
    tree = shuffled(json.loads(fabric.texts[LEAF]), random.Random(1))
    assert json.dumps(tree) != json.dumps(json.loads(fabric.texts[LEAF]))
    assert findings(fabric, json.dumps(tree)) == ()


def matched(changed: str, rendered: str, intended: DeviceModel) -> list[Hazard]:
    return patterns(SRLINUX, changed, rendered, intended, SRLINUX.parse(changed))


def audited(case: Case) -> list[Hazard]:
    return matched(case.text, case.design.texts[case.name], case.design.models[case.name])


def test_every_pattern_is_found_by_an_edit_of_its_kind(fabric: Design) -> None:
    """But for those of limits, several hops, second classifiers, LAGs and VXLAN, of which no such intent has one."""
    text, model = fabric.texts[LEAF], fabric.models[LEAF]
    edits = [
        (edit.found, partial(matched, edited(text, edit.path, edit.value), text, model)) for edit in HARMFUL.values()
    ]
    edits += [(case.said["kind"], partial(audited, case)) for case in cases("mistakes", ["srlinux"])]
    assert sorted((hazard.kind, hazard.paths[0].rpartition("/")[2]) for hazard in without_edit(SRLINUX, edits)) == [
        ("prefix-limit", "max-received-routes"),
        ("session-down", "admin-state"),
        ("tunnel-qos", "vxlan-default"),
        ("wrong-classifier", "dscp-policy"),
        ("wrong-lacp", "interval"),
    ]


def test_packets_that_leave_a_tunnel_have_the_classifier_of_the_ports(repository: Path, tmp_path: Path) -> None:
    """Only where VXLAN ends; without the line an audit says what becomes of RoCE."""
    text = (repository / "inventory" / "fabrics" / "dual-esi.yml").read_text()
    path = tmp_path / "dual-esi.yml"
    path.write_text(text.replace("model: 7060dx5-64s ", "model: 7220-ixr-d5 "))
    overlay = design(path)
    rendered = json.loads(overlay.texts[LEAF])
    classifiers = rendered["srl_nokia-qos:qos"]["classifiers"]
    assert classifiers["vxlan-default"] == classifiers["dscp-policy"][0]["name"] == "fabric"
    assert not refusals(overlay.texts[LEAF])
    del classifiers["vxlan-default"]
    found = configuration_findings(overlay, {LEAF: json.dumps(rendered)})
    assert "tunnel-qos" in reasons(wrong(found))


def test_only_a_switch_with_tunnels_has_a_classifier_of_them(fabric: Design) -> None:
    assert "vxlan-default" not in fabric.texts[LEAF]


def test_the_places_of_hazards_are_configuration_of_the_schema() -> None:
    for hazard in SRLINUX.hazards():
        for path in hazard.paths:
            assert schema().at(path.removesuffix("/...")) not in (None, ""), path


# Generated from the schema


LABELS = {"/interface/description"}
"""Rendered leaves that only people read."""


def other_values(kind: Mapping[str, Any], value: str) -> Iterator[Any]:
    """Values of a type that a leaf has not, those next to it first."""
    if "range" in kind:
        for number in (int(value) + 1, int(value) - 1):
            if any(low <= number <= high for low, high in kind["range"]):
                yield number
    yield from (name for name in kind.get("names", ()) if name != value)
    if kind["type"] == "boolean":
        yield value != "true"


def with_leaf(tree: Json, setting: TreeSetting, value: Any) -> str:
    """The tree with another value for one leaf, which is searched by its place."""

    def changed(node: Json) -> Json:
        return {
            name: [changed(entry) for entry in child]
            if is_list(child)
            else changed(child)
            if isinstance(child, dict)
            else value
            if node is target and name == leaf
            else child
            for name, child in node.items()
        }

    leaf = setting.path.rpartition("/")[2]
    steps = setting.path[len(setting.entry.path) :].strip("/").split("/")[:-1]
    target: Any = setting.entry.tree
    for step in steps:
        target = target[step]
    return json.dumps(changed(tree))


def test_another_value_of_a_rendered_leaf_is_found(fabric: Design) -> None:
    tree = stripped(json.loads(fabric.texts[LEAF]))
    leaves = {one.path: one for one in settings(tree) if one.value is not None}
    assert len(leaves) > 60
    tried = 0
    for path, setting in leaves.items():
        kind = schema().type_of(schema().at(path))
        assert kind is not None, path
        if path in LABELS or (value := next(other_values(kind, setting.value or ""), None)) is None:
            continue
        tried += 1
        found = findings(fabric, with_leaf(tree, setting, value))
        assert wrong(found), f"{path} {value}"
    assert tried > 40


def test_a_value_that_the_schema_refuses_is_refused_with_its_place(fabric: Design) -> None:
    tree = stripped(json.loads(fabric.texts[LEAF]))
    tried = 0
    for setting in {one.path: one for one in settings(tree) if one.value is not None}.values():
        kind = schema().type_of(schema().at(setting.path)) or {}
        for value in ("no such value", -1, [{"x": 1}]):
            if not fits(value, kind):
                tried += 1
                refused = refusals(with_leaf(tree, setting, value))
                assert [one.is_unknown for one in refused] == [False], setting.path
                assert refused[0].where == f"/{setting.place}"
    assert tried > 120


def test_the_class_of_what_the_schema_refuses(fabric: Design) -> None:
    port = "/interface[name=ethernet-1/32]"
    for path, value, line in (
        (
            "mtu",
            700,
            "error {}: / interface ethernet-1/32 mtu: is 700, which is not 1450 to 9500. Correct or remove it.",
        ),
        ("oper-state", "up", "error {}: / interface ethernet-1/32 oper-state: is state, which cannot be configured."),
        ("colour", 1, "warning {}: / interface ethernet-1/32 colour: is unknown to SR Linux 25.3.1. Remove it,"),
        ("ethernet", 1, "error {}: / interface ethernet-1/32 ethernet: is a container, not a value."),
        ("subinterface", {}, "error {}: / interface ethernet-1/32 subinterface: is a list, not a container."),
        (
            "ethernet/hold-time/up",
            50,
            "error {}: / interface ethernet-1/32 ethernet hold-time up: is 50, which is not 0 or",
        ),
    ):
        text = edited(fabric.texts[LEAF], f"{port}/{path}", value)
        lines = [found.line for found in findings(fabric, text)]
        assert any(found.startswith(line.format(LEAF)) for found in lines), lines


def test_a_deleted_session_or_loopback_is_an_error(fabric: Design) -> None:
    for path in (
        "/network-instance[name=default]/protocols/bgp",
        "/interface[name=system0]/subinterface[index=0]/ipv4",
    ):
        assert Severity.ERROR in {one.severity for one in findings(fabric, edited(fabric.texts[LEAF], path, GONE))}


@pytest.mark.parametrize(
    "broken",
    [
        {"system": []},
        {"system": {"control-plane-traffic": 7}},
        {"acl": 0},
        {"acl": {"interface": [{"interface-id": "ethernet-1/1.0", "input": 3}]}},
        {"acl": {"interface": [{"interface-id": "ethernet-1/1.0", "input": {"acl-filter": [3]}}]}},
    ],
    ids=str,
)
def test_filters_of_another_shape_are_no_traceback(fabric: Design, broken: Mapping[str, Any]) -> None:
    assert isinstance(SRLINUX.differences(json.dumps(broken), fabric.texts[LEAF]), tuple)

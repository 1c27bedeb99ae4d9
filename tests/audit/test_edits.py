"""Edits of `tests/audit/*.yml` change what they name, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.audit.edits import base_text, edited

LINES = "interface A\n   mtu 9216\n   sub 1\n      leaf\n   last\n!\nother\nend\n"
TREE = json.dumps({"PORT": {"Ethernet0": {"mtu": "9100"}}, "list": [{"name": "a"}, {"name": "b", "of": [1]}]})


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        ({"in": "interface A", "add": "x\n y"}, LINES.replace("   mtu", "   x\n    y\n   mtu")),
        ({"in": ["interface A", "sub 1"], "add": "x"}, LINES.replace("      leaf", "      x\n      leaf")),
        ({"add": "x\n y"}, LINES.replace("end", "x\n y\nend")),
        ({"in": "interface A", "remove": "sub 1"}, LINES.replace("   sub 1\n      leaf\n", "")),
        ({"in": "interface A", "replace": "sub 1", "with": "sub 2"}, LINES.replace("sub 1", "sub 2")),
        ({"text": "mtu 9216", "with": "mtu 1500"}, LINES.replace("9216", "1500")),
    ],
    ids=str,
)
def test_an_edit_of_lines(edit: Mapping[str, Any], after: str) -> None:
    assert edited("eos", LINES, [edit]) == after


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (
            {"in": "PORT", "set": {"Ethernet0": {"fec": "rs"}, "Ethernet8": {}}},
            {"Ethernet0": {"mtu": "9100", "fec": "rs"}, "Ethernet8": {}},
        ),
        ({"in": ["PORT", "Ethernet0"], "remove": "mtu"}, {"Ethernet0": {}}),
    ],
    ids=str,
)
def test_an_edit_of_a_tree(edit: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    assert json.loads(edited("sonic", TREE, [edit]))["PORT"] == after


def test_an_edit_of_a_list_in_a_tree() -> None:
    after = edited(
        "srlinux", TREE, [{"in": ["list", {"name": "b"}], "set": {"of": [2]}}, {"in": "list", "remove": {"name": "a"}}]
    )
    assert json.loads(after)["list"] == [{"name": "b", "of": [1, 2]}]


def test_lines_of_srlinux_are_added_to_and_removed_from_its_tree() -> None:
    port = "set / interface ethernet-1/1"
    added = edited("srlinux", "{}", [{"add": f"{port} mtu 9230\n{port} subinterface 0 ip-mtu 9216"}])
    (interface,) = json.loads(added)["srl_nokia-interfaces:interface"]
    assert interface == {"name": "ethernet-1/1", "mtu": 9230, "subinterface": [{"index": 0, "ip-mtu": 9216}]}
    for line, left in ((" mtu 9230", {"name", "subinterface"}), (" subinterface 0", {"name", "mtu"})):
        after = edited("srlinux", added, [{"remove": port + line}])
        (interface,) = json.loads(after)["srl_nokia-interfaces:interface"]
        assert {key for key, value in interface.items() if value} == left


def test_an_edit_of_the_first_operation_of_cumulus() -> None:
    assert edited("cumulus", "- set:\n    a: 1\n    b: 2\n", [{"remove": "a"}]) == "- set:\n    b: 2\n"


def test_junos_is_edited_in_the_form_of_set_lines() -> None:
    assert base_text("junos", 'a {\n    b "c d";\n}\n') == 'set a b "c d"\n'


@pytest.mark.parametrize(
    "edit",
    [
        {"in": "interface B", "add": "x"},
        {"remove": "x"},
        {"text": "x9", "with": "y"},
        {"in": "interface A", "remove": "leaf"},
    ],
)
def test_an_edit_of_what_is_not_there_is_an_error(edit: Mapping[str, Any]) -> None:
    with pytest.raises(LookupError):
        edited("eos", LINES, [edit])

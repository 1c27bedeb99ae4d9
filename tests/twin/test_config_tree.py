"""Editing a configuration by gNMI paths."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.gnmi.paths import elements, to_text_elements
from railfab.gnmi.target import Edit, Operation, RequestRefused
from railfab.platforms.shared.json_edits import edited
from railfab.platforms.shared.json_names import JsonNames
from railfab.platforms.shared.json_paths import nodes_at, selected

KEYS = {"interface": ("name",), "subinterface": ("index",), "queue": ("name",), "slope": ("type", "ecn")}
TREE: dict[str, Any] = {
    "m:interface": [
        {"name": "e1", "mtu": 9000, "subinterface": [{"index": 0, "vlan": "n:untagged"}]},
        {"name": "e2", "mtu": 1500},
    ],
    "q:qos": {"queue": [{"name": "roce", "depth": 7}], "slope": [{"type": "all", "ecn": True, "kmin": 10}], "on": {}},
}


def names() -> JsonNames:
    known = JsonNames(lambda name, entry: tuple(key for key in KEYS.get(name, ()) if key in entry))
    known.learn(TREE)
    return known


def edit(operation: Operation, path: str, value: Any = None) -> dict[str, Any]:
    return edited(TREE, [Edit(operation, elements(path), value)], names(), "box")


def at(tree: dict[str, Any], path: str) -> list[Any]:
    return [answer.value for answer in nodes_at(tree, elements(path), names())]


DELETE, REPLACE, UPDATE = Operation.DELETE, Operation.REPLACE, Operation.UPDATE


def test_the_given_tree_stays_as_it_is() -> None:
    before = deepcopy(TREE)
    edit(REPLACE, "/", {})
    edit(DELETE, "/interface")
    edit(UPDATE, "/interface[name=e1]/mtu", 1)
    assert before == TREE


@pytest.mark.parametrize("path", ["/interface[name=e1]", "/m:interface[m:name=e1]"])
def test_module_prefixes_do_not_matter_in_paths(path: str) -> None:
    assert at(TREE, path) == [TREE["m:interface"][0]]


def test_replacing_an_entry_forgets_what_it_held_and_keeps_the_key() -> None:
    tree = edit(REPLACE, "/interface[name=e1]", {"mtu": 4000})
    assert at(tree, "/interface[name=e1]") == [{"name": "e1", "mtu": 4000}]
    assert at(tree, "/interface[name=e2]") == [TREE["m:interface"][1]]


def test_updating_an_entry_keeps_what_it_held() -> None:
    tree = edit(UPDATE, "/interface[name=e1]", {"speed": "400G"})
    assert at(tree, "/interface[name=e1]") == [{**TREE["m:interface"][0], "speed": "400G"}]


def test_an_entry_that_is_not_there_is_made_with_its_keys_as_json_has_them() -> None:
    tree = edit(UPDATE, "/interface[name=e3]/subinterface[index=5]/vlan", "x")
    assert at(tree, "/interface[name=e3]") == [{"name": "e3", "subinterface": [{"index": 5, "vlan": "x"}]}]


def test_an_update_at_the_root_merges_lists_by_key() -> None:
    tree = edit(UPDATE, "/", {"interface": [{"name": "e2", "mtu": 9000}, {"name": "e3"}]})
    assert [entry["name"] for entry in tree["m:interface"]] == ["e1", "e2", "e3"]
    assert at(tree, "/interface/mtu") == [9000, 9000]


def test_a_replace_at_the_root_leaves_nothing_else() -> None:
    assert edit(REPLACE, "/", {"qos": {"x": 1}}) == {"q:qos": {"x": 1}}


def test_a_boolean_key_is_written_as_in_paths() -> None:
    assert at(TREE, "/qos/slope[type=all][ecn=true]/kmin") == [10]
    assert at(edit(UPDATE, "/qos/slope[ecn=true][type=all]/kmin", 5), "/qos/slope/kmin") == [5]


def test_deletes_take_lists_entries_and_wildcards_and_pass_over_what_is_not_there() -> None:
    assert "m:interface" not in edit(DELETE, "/interface")
    assert at(edit(DELETE, "/interface[name=e1]"), "/interface/name") == ["e2"]
    assert at(edit(DELETE, "/interface[name=*]/mtu"), "/interface/mtu") == []
    assert "m:interface" not in edit(DELETE, "/interface[name=*]")
    assert edit(DELETE, "/nowhere[x=1]/y") == TREE
    assert edit(DELETE, "/") == {}


def test_an_empty_container_stays_because_its_presence_may_mean_something() -> None:
    assert at(edit(DELETE, "/qos/queue[name=roce]"), "/qos/on") == [{}]


def test_edits_apply_in_their_order() -> None:
    steps = [
        Edit(DELETE, elements("/interface")),
        Edit(REPLACE, elements("/interface[name=e9]"), {"mtu": 1}),
        Edit(UPDATE, elements("/interface[name=e9]"), {"mtu": 2}),
    ]
    assert edited(TREE, steps, names(), "box")["m:interface"] == [{"name": "e9", "mtu": 2}]


@pytest.mark.parametrize(
    ("operation", "path", "value", "message"),
    [
        (UPDATE, "/", 5, "box: /: takes a container. Send a JSON object."),
        (
            UPDATE,
            "/interface[name=*]/mtu",
            5,
            "box: /interface/mtu: has a wildcard. Name one node in each replace and update.",
        ),
        (UPDATE, "/interface[name=e1]", 5, "box: /interface: is a list entry. Send a JSON object."),
        (
            REPLACE,
            "/interface[name=e1]",
            {"name": "e2"},
            "box: /interface: names other keys in its value. Send the keys of the path, or none.",
        ),
        (
            UPDATE,
            "/interface/mtu",
            5,
            "box: /interface/mtu: interface is a list and has no child of this name. "
            "Name the keys of a list, and nothing below a leaf.",
        ),
        (
            UPDATE,
            "/interface[name=e1]/mtu/x",
            5,
            "box: /interface/mtu/x: mtu is a leaf and has no child of this name. "
            "Name the keys of a list, and nothing below a leaf.",
        ),
        (UPDATE, "/qos[x=1]", {}, "box: /qos: qos is not a list and has no keys. Leave the keys out."),
        (REPLACE, "/qos", 5, "box: /qos: does not take a value of this kind. Send what the path holds."),
        (REPLACE, "/interface", {}, "box: /interface: does not take a value of this kind. Send what the path holds."),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(operation: Operation, path: str, value: Any, message: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        edit(operation, path, value)
    assert str(caught.value) == message


def leaves_at(path: str) -> dict[str, Any]:
    return {to_text_elements(path): value for path, value in selected(TREE, elements(path), names())}


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("/interface[name=*]/mtu", ["/interface[name=e1]/mtu", "/interface[name=e2]/mtu"]),
        ("/interface[name=e2]", ["/interface[name=e2]/name", "/interface[name=e2]/mtu"]),
        ("/.../depth", ["/qos/queue[name=roce]/depth"]),
        ("/*/queue/depth", ["/qos/queue[name=roce]/depth"]),
        ("/interface[name=e1]/mtu/x", []),
    ],
)
def test_a_pattern_selects_the_leaves_at_and_below_it(pattern: str, paths: list[str]) -> None:
    assert list(leaves_at(pattern)) == paths


def test_leaves_are_the_tree_by_path() -> None:
    assert leaves_at("/") == {
        "/interface[name=e1]/name": "e1",
        "/interface[name=e1]/mtu": 9000,
        "/interface[name=e1]/subinterface[index=0]/index": 0,
        "/interface[name=e1]/subinterface[index=0]/vlan": "n:untagged",
        "/interface[name=e2]/name": "e2",
        "/interface[name=e2]/mtu": 1500,
        "/qos/queue[name=roce]/name": "roce",
        "/qos/queue[name=roce]/depth": 7,
        "/qos/slope[ecn=true][type=all]/type": "all",
        "/qos/slope[ecn=true][type=all]/ecn": True,
        "/qos/slope[ecn=true][type=all]/kmin": 10,
    }


ports = st.dictionaries(st.sampled_from(["e1", "e2", "e3", "e4"]), st.integers(0, 9000), min_size=1)


@given(ports, ports)
def test_what_a_replace_sets_is_what_a_get_finds(first: dict[str, int], second: dict[str, int]) -> None:
    tree: dict[str, Any] = {}
    for wanted in (first, second):
        steps = [Edit(DELETE, elements("/interface"))]
        steps += [Edit(REPLACE, elements(f"/interface[name={name}]"), {"mtu": mtu}) for name, mtu in wanted.items()]
        tree = edited(tree, steps, names(), "box")
    assert {entry["name"]: entry["mtu"] for entry in at(tree, "/interface")} == second


@given(ports, ports)
def test_an_update_is_the_union_and_the_later_one_counts(first: dict[str, int], second: dict[str, int]) -> None:
    tree: dict[str, Any] = {}
    for wanted in (first, second):
        value = {"interface": [{"name": name, "mtu": mtu} for name, mtu in wanted.items()]}
        tree = edited(tree, [Edit(UPDATE, (), value)], names(), "box")
    assert {entry["name"]: entry["mtu"] for entry in at(tree, "/interface")} == first | second

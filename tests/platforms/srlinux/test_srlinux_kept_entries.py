"""Entries that are not checked again: what they are kept for never changes the judgement of a configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from tests.platforms.srlinux.rendered import rendered
from tests.platforms.srlinux.spoilt import dangling, lacking
from tests.platforms.srlinux.test_srlinux_rules import configurations

from railfab.platforms.contract import Refusal
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux import constraints
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.place import NodePlace
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped
from railfab.platforms.srlinux.xpath import compiled

PORT = {"name": "ethernet-1/1", "admin-state": "enable"}
INSTANCE = {"network-instance": [{"name": "default", "interface": [{"name": "ethernet-1/1.0"}]}]}


def alone(tree: Json) -> tuple[Refusal, ...]:
    constraints._VALID.clear()
    return violations(tree)


def test_a_configuration_is_judged_alike_whatever_was_checked_before() -> None:
    spoilt = [*dangling(rendered().values()).values(), *lacking(rendered().values()).values()]
    trees = [stripped(tree) for tree in (*rendered().values(), *spoilt, *(tree for tree, _ in configurations()))]
    separately = [alone(tree) for tree in trees]
    assert sum(map(bool, separately)) > 140
    constraints._VALID.clear()
    assert [violations(tree) for tree in trees] == separately
    assert [violations(tree) for tree in reversed(trees)] == separately[::-1]


@pytest.mark.parametrize(
    ("valid", "refused", "problem"),
    [
        (
            {"interface": [PORT | {"ethernet": {"aggregate-id": "lag1"}}, {"name": "lag1"}]},
            {"interface": [PORT | {"ethernet": {"aggregate-id": "lag1"}}]},
            "is lag1, and there is no interface name of this name",
        ),
        (
            {"interface": [PORT | {"subinterface": [{"index": 0}]}], **INSTANCE},
            {"interface": [PORT | {"subinterface": [{"index": 0, "type": "local-mirror-dest"}]}], **INSTANCE},
            "subinterface with type local-mirror-dest cannot be configured on network-instance",
        ),
    ],
    ids=["a reference", "a rule of an entry in the entry"],
)
def test_an_entry_is_checked_again_where_it_looks_outside(valid: Json, refused: Json, problem: str) -> None:
    assert alone(valid) == ()
    assert problem in [refusal.problem for refusal in violations(refused)]


def test_a_port_with_another_description_is_not_checked_again() -> None:
    alone({"interface": [PORT | {"description": "to spine 1"}]})
    kept = set(constraints._VALID)
    assert kept
    assert violations({"interface": [PORT | {"description": "to spine 2"}]}) == ()
    assert kept == set(constraints._VALID)
    assert violations({"interface": [PORT | {"mtu": 1}]}) != () or kept != set(constraints._VALID)


def evaluated(tree: Json, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The places of the constraints that a check evaluates."""
    places = set[str]()
    broken_rules = constraints._ConstraintCheck._broken_rules

    def noted(check: constraints._ConstraintCheck, path: str, where: str, place: NodePlace) -> Iterator[Refusal]:
        places.add(where)
        return broken_rules(check, path, where, place)

    with monkeypatch.context() as patch:
        patch.setattr(constraints._ConstraintCheck, "_broken_rules", noted)
        assert violations(tree) == ()
    return places


def test_a_use_of_a_port_is_checked_again_where_what_it_reads_of_the_port_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tree(unit: Json, **leaves: str) -> Json:
        return {"interface": [PORT | {"subinterface": [{"index": 0} | unit]} | leaves], **INSTANCE}

    use = "/ network-instance default interface ethernet-1/1.0 name"
    assert alone(tree({})) == ()
    assert use not in evaluated(tree({}, description="to spine 2"), monkeypatch)
    assert use in evaluated(tree({"type": "routed"}), monkeypatch)
    assert use not in evaluated(tree({"type": "routed"}), monkeypatch)


@pytest.mark.parametrize(
    ("expression", "reach"),
    [
        (". mod 50 = 0", 0),
        ("../type != 'a'", 1),
        ("starts-with(../../../name, 'ethernet')", 3),
        ("../a/../../b = 'c'", 2),
        ("../a[b = ../../c]/d", 2),
        ("../../a[b = current()/../../../c]", 3),
        ("(../..)/../a", 3),
        ("not(/interface[name=current()]/mtu)", math.inf),
    ],
)
def test_an_expression_looks_so_many_levels_up(expression: str, reach: float) -> None:
    assert compiled(expression).reach == reach


def test_leaves_that_nothing_reads_are_no_part_of_the_content() -> None:
    unread = schema().unread_leaves
    assert "description" in unread
    assert not {"name", "admin-state", "mtu", "interface", "subinterface", "peer-group"} & unread

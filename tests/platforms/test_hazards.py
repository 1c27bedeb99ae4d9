"""Hazards are data: their format, their conditions, and what is refused when they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.device.planned import LEAF, pod64

from railfab.findings import Severity
from railfab.platforms import Difference, Side, platform
from railfab.platforms.hazard_kinds import hazard_kinds
from railfab.platforms.hazards import Hazard, gaps_of, hazard_of
from railfab.platforms.setting_patterns import Condition, Operator, matches

LEAF_MODEL = pod64()[1][LEAF]
ENTRY: Mapping[str, Any] = {
    "kind": "rate-limit",
    "path": "/interface/rate",
    "source": "RFC 1",
}


def difference(path: str = "/interface/rate", **fields: Any) -> Difference:
    return Difference(**({"side": Side.ADDED, "path": path, "text": f"set {path}", "section": "/interface"} | fields))


def found(entry: Mapping[str, Any], *differences: Difference) -> list[str]:
    return [hazard.kind for hazard, _ in matches([hazard_of({**ENTRY, **entry})], differences, LEAF_MODEL)]


def line(pattern: str, **fields: Any) -> dict[str, Any]:
    return {**{name: value for name, value in ENTRY.items() if name != "path"}, "line": pattern, **fields}


def test_an_entry_becomes_a_hazard() -> None:
    entry = {**ENTRY, "when": {"value": {"above": 3}, "mode": "on", "kind": ["a", "b"]}, "remedy": "Lower it"}
    kind = hazard_kinds()["rate-limit"]
    assert hazard_of(entry) == Hazard(
        kind=kind.code,
        paths=("/interface/rate",),
        when=(
            Condition(name="value", test=Operator.ABOVE, operand=3),
            Condition(name="mode", test=Operator.IS, operand="on"),
            Condition(name="kind", test=Operator.IN, operand=["a", "b"]),
        ),
        severity=kind.severity,
        consequence=kind.consequence,
        source="RFC 1",
        remedy="Lower it",
    )


GAP: Mapping[str, Any] = {"kinds": ["pfc-off"], "reason": "it has no queues", "source": "RFC 1"}


def test_a_condition_of_the_file_is_one_of_every_pattern_also_of_one_with_another_on_the_same_value() -> None:
    """An entry about `interface.key` does not judge the management ports, which the file excuses by `interface.key`."""
    conditions = [
        {condition.operand for condition in hazard.unless if condition.name == "interface.key"}
        for hazard in platform("cumulus").hazards()
    ]
    assert all(r"eth\d+" in operands for operands in conditions)
    assert {r"eth\d+", "lo"} in conditions


def test_gaps_have_a_reason_by_kind() -> None:
    (gap,) = set(gaps_of([{**GAP, "kinds": ["pfc-off", "ecn-off"]}], [hazard_of(ENTRY)]).values())
    assert (gap.reason, gap.source, gap.instead) == ("it has no queues", "RFC 1", ())


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"kinds": ["rate-limit"]}, "gap rate-limit: has a pattern or another gap"),
        ({"kinds": ["no-kind"]}, "needs a `kind` of hazard_kinds.yml"),
        ({"reason": ""}, "needs a reason"),
        ({"reason": "It has none."}, "without a full stop"),
        ({"source": ""}, "a source or `instead`"),
        ({"instead": ["pfc-on-lossy-class"]}, "pfc-on-lossy-class, given instead, has no pattern"),
    ],
)
def test_a_gap_that_is_not_valid_is_refused(more: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        gaps_of([{**GAP, **more}], [hazard_of(ENTRY)])


def test_a_gap_names_the_kinds_that_are_given_instead() -> None:
    entry = {"kinds": ["pfc-off"], "instead": ["rate-limit"], "reason": "a shaper stops it"}
    (gap,) = gaps_of([entry], [hazard_of(ENTRY)]).values()
    assert gap.instead == ("rate-limit",)


def test_a_kind_has_one_gap() -> None:
    with pytest.raises(ValueError, match="gap pfc-off: has a pattern or another gap"):
        gaps_of([GAP, GAP], [])


def test_a_platform_may_have_another_consequence_and_severity_than_the_kind() -> None:
    hazard = hazard_of({**ENTRY, "severity": "warning", "consequence": "it is slow"})
    assert (hazard.severity, hazard.consequence) == (Severity.WARNING, "it is slow")
    assert hazard_kinds()["rate-limit"].severity is Severity.ERROR


def test_every_pattern_of_a_kind_that_matches_a_place_is_seen() -> None:
    """Two of one kind: neither hides the other, at an exact path or at those below one."""
    places = {"first": "/interface/rate", "second": "/interface/rate", "third": "/interface/..."}
    hazards = [hazard_of({**ENTRY, "path": path, "consequence": name}) for name, path in places.items()]
    assert [hazard.consequence for hazard, _ in matches(hazards, [difference()], LEAF_MODEL)] == list(places)


@pytest.mark.parametrize(
    ("test", "operand", "value", "holds"),
    [
        ("is", "on", "on", True),
        ("is", True, "true", True),
        ("is_not", "on", "off", True),
        ("in", [1, 2], "2", True),
        ("not_in", [1, 2], "2", False),
        ("below", 10, "9", True),
        ("below", 10, "10", False),
        ("at_least", 10, "10", True),
        ("above", 10, "10.5", True),
        ("above", 10, "word", False),
        ("matches", "r[a-z]+", "rs-528", False),
        ("matches", "rs-.*", "rs-528", True),
        ("below", "$max_paths", "63", True),
        ("below", "$max_paths", "64", False),
        ("in", "$lossless_classes", "roce", True),
        ("in", "$lossless_dscp", "26", True),
        ("in", "$lossless_priorities", "4", False),
        ("in", "$lossless_dscp", "AF31", True),
        ("below", "$rate_gbps(interface.name)", "399", True),
        ("above", "$value(intended)", "8", True),
        ("above", "$value(intended)", "7", False),
    ],
)
def test_a_condition_compares_with_a_constant_or_a_fact_of_the_intent(
    test: str, operand: object, value: str, holds: bool
) -> None:
    at = difference(values={"value": value, "intended": 7, "interface.name": "ethernet-1/32"})
    assert found({"when": {"value": {test: operand}}}, at) == ["rate-limit"] * holds


def test_a_condition_may_name_a_key_or_a_leaf_of_the_same_entry() -> None:
    at = difference(values={"acl-filter.name": "a"}, entry={"match": {"ipv4": {"protocol": "udp"}}})
    assert found({"when": {"match/ipv4/protocol": "udp", "acl-filter.name": "a"}}, at) == ["rate-limit"]
    assert found({"when": {"match/ipv4/dscp": "absent"}}, at) == ["rate-limit"]
    assert found({"when": {"match/ipv4/protocol": "absent"}}, at) == []


def test_a_hazard_may_be_excused() -> None:
    entry = {"unless": {"interface.name": {"matches": "mgmt.*"}, "bound": "nowhere"}}
    assert found(entry, difference(values={"interface.name": "ethernet-1/1"})) == ["rate-limit"]
    assert found(entry, difference(values={"interface.name": "mgmt0"})) == []
    assert found(entry, difference(values={"bound": "nowhere"})) == []


def test_a_condition_may_compare_a_fact() -> None:
    for port, names in (("ethernet-1/32", ["rate-limit"]), ("ethernet-1/1/1", [])):
        at = difference(values={"interface.name": port})
        assert found({"when": {"$rate_gbps(interface.name)": {"above": 100}}}, at) == names


def test_a_path_is_exact_or_with_everything_below_it() -> None:
    below = difference("/interface/rate/limit")
    assert found({}, below) == []
    assert found({"path": "/interface/..."}, below, difference("/interfaces")) == ["rate-limit"]


def test_a_line_is_matched_as_a_whole_and_its_groups_are_values() -> None:
    entry = line(r"router bgp \d+: neighbor (?P<peer>\S+) allowas-in (?P<times>\d+)", when={"times": {"above": 1}})
    for times, names in ((1, []), (2, ["rate-limit"])):
        at = difference(f"router bgp 65001: neighbor swp1 allowas-in {times}")
        assert [hazard.kind for hazard, _ in matches([hazard_of(entry)], [at], LEAF_MODEL)] == names


def test_a_missing_line_may_be_excused_by_another_value_in_its_section() -> None:
    entry = line(
        r"router \d+: no neighbor (?P<peer>\S+) timers .*", sides="missing", unless_added="neighbor {peer} timers .*"
    )
    lost = difference("router 1: no neighbor a timers 3 9", side=Side.MISSING)
    for added, names in (
        ("router 1: neighbor a timers 1 3", []),
        ("router 1: neighbor b timers 1 3", ["rate-limit"]),
        ("router 2: neighbor a timers 1 3", ["rate-limit"]),
    ):
        edits = [lost, difference(added)]
        assert [hazard.kind for hazard, _ in matches([hazard_of(entry)], edits, LEAF_MODEL)] == names


@pytest.mark.parametrize(
    ("field", "beside", "with_it", "without"),
    [
        ("when_added", difference("policy-map a: police 10"), ["rate-limit"], []),
        ("when_missing", difference("policy-map a: police 10", side=Side.MISSING), ["rate-limit"], []),
        ("unless_missing", difference("policy-map a: police 10", side=Side.MISSING), [], ["rate-limit"]),
    ],
)
def test_a_line_may_need_or_exclude_another_line(
    field: str, beside: Difference, with_it: list[str], without: list[str]
) -> None:
    entry = line(r"interface \S+: service-policy (?P<policy>\S+)", **{field: "policy-map {policy}: police .*"})
    for policy, names in (("a", with_it), ("b", without)):
        edits = [difference(f"interface x: service-policy {policy}"), beside]
        assert [hazard.kind for hazard, _ in matches([hazard_of(entry)], edits, LEAF_MODEL)] == names


def test_a_hazard_may_be_of_added_or_missing_settings_only() -> None:
    entry = {"sides": ["missing"]}
    assert found(entry, difference(), difference(side=Side.MISSING)) == ["rate-limit"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"line": "x"}, "needs either `path` or `line`"),
        ({"path": []}, "needs either `path` or `line`"),
        ({"severity": "note"}, "`severity` is error or warning"),
        ({"severity": "fatal"}, "'fatal' is not a valid Severity"),
        ({"consequence": "It drops."}, "a consequence without a full stop"),
        ({"source": ""}, "needs a source"),
        ({"when": {"value": {"near": 1}}}, "'near' is not a valid Operator"),
        ({"when": {"value": {"above": "$kmx"}}}, "no fact $kmx"),
        ({"kind": "slow-rate"}, "needs a `kind` of hazard_kinds.yml"),
        ({"kind": None}, "needs a `kind` of hazard_kinds.yml"),
        ({"condition": 1}, "unexpected keyword argument"),
        ({"path": [], "line": "neighbor (?P<peer>x", "when": {}}, "missing ), unterminated subpattern"),
        ({"path": [], "line": "x", "when": {"value": 1}}, "a pattern has no group value"),
    ],
)
def test_an_entry_that_is_not_valid_is_refused_by_name(change: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)) as refused:
        hazard_of({**ENTRY, **change})
    assert str(refused.value).startswith(f"hazard {change.get('kind', 'rate-limit')}: ")

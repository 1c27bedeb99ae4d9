"""The plan of a change: what interrupts is drained, what cuts hosts off is refused, and a document says it all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from railfab.deploy import ChangePlan, Preview, plan_of
from railfab.errors import Problems, RailfabError
from railfab.fabric import Design, design

RACK = Path(__file__).with_name("rack_sonic.yml")
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
ECN = "profile: {lossless: {ecn: {400: {kmin_bytes: 400000, kmax_bytes: 1600000}}}}\n"
MTU = "profile: {mtu: 9000}\n"


@pytest.fixture(scope="module")
def before() -> Design:
    return design(RACK)


def changed(tmp_path: Path, change: str) -> Design:
    path = tmp_path / "changed.yml"
    path.write_text(f"{RACK.read_text()}{change}")
    return design(path)


def previews(before: Design, after: Design, *, factory: bool = False) -> list[Preview]:
    """Previews of all switches that run the first design, or nothing yet."""
    return [
        Preview(name=name, text="{}" if factory else before.texts[name], candidate=text, diff=f"-{name}\n+{name}")
        for name, text in after.texts.items()
    ]


def test_thresholds_that_sonic_sets_in_place_are_not_drained(tmp_path: Path, before: Design) -> None:
    after = changed(tmp_path, ECN)
    plan = plan_of(after, previews(before, after), "deploy")
    assert {(change.interrupts, change.drains, change.cut_off) for change in plan.changes.values()} == {
        (False, False, ())
    }
    plan.refuse_cuts()


def test_an_mtu_is_drained_and_its_only_path_is_refused(tmp_path: Path, before: Design) -> None:
    after = changed(tmp_path, MTU)
    plan = plan_of(after, previews(before, after), "deploy")
    assert all(change.interrupts for change in plan.changes.values())
    assert {name for name, change in plan.changes.items() if change.drains} == {SPINE}
    assert plan.changes[LEAF].reasons[0].startswith("MTU of ")
    with pytest.raises(Problems) as refused:
        plan.refuse_cuts()
    assert f"{LEAF}: its change interrupts forwarding (MTU of " in str(refused.value)
    assert "and cuts off pod1-seg1-host[1-2]. End their jobs and add " in str(refused.value)
    undrained = plan_of(after, previews(before, after), "deploy", drain=False)
    assert not any(change.drains for change in undrained.changes.values())


def test_a_switch_that_its_configuration_drains_is_not_drained_by_a_verb_too(tmp_path: Path, before: Design) -> None:
    """The end of that drain would end the other."""
    after = changed(tmp_path, f"{MTU}drain: [{SPINE}]\n")
    begins = plan_of(after, previews(before, after), "deploy").changes
    ends = plan_of(before, previews(after, before), "deploy").changes
    for changes in (begins, ends):
        assert (changes[SPINE].interrupts, changes[SPINE].drains) == (True, False)


def test_a_rail_switch_of_a_drain_has_no_hosts_to_cut_off_any_more(tmp_path: Path, before: Design) -> None:
    after = changed(tmp_path, f"{MTU}drain: [{LEAF}]\n")
    begins = plan_of(after, previews(before, after), "deploy").changes
    ends = plan_of(before, previews(after, before), "deploy").changes
    assert (bool(begins[LEAF].cut_off), ends[LEAF].cut_off) == (True, ())


def remade(tmp_path: Path, name: str) -> dict[str, Preview]:
    """Previews of another MTU on the switches of a design, by name."""
    intent, path = RACK.parents[2] / "inventory" / "fabrics" / f"{name}.yml", tmp_path / "changed.yml"
    text = re.sub(r"^  mtu: \d+.*\n", "", intent.read_text(), flags=re.MULTILINE)
    path.write_text(text.replace("profile:\n", "profile:\n  mtu: 9000\n", 1))
    return {preview.name: preview for preview in previews(design(intent), design(path))}


def test_a_port_with_an_address_of_its_own_is_cut_off_and_not_drained(tmp_path: Path) -> None:
    """Hosts of pod64 have a port on each of the two leaves of their segment, each reached by its leaf alone."""
    leaf = remade(tmp_path, "pod64-sonic")[LEAF]
    change = plan_of(design(tmp_path / "changed.yml"), [leaf], "deploy").changes[LEAF]
    assert (change.drains, change.cut_off) == (False, tuple(f"pod1-seg1-host{number}" for number in range(1, 5)))


def test_a_lag_to_a_pair_is_drained_unless_its_other_switch_is_drained_already(tmp_path: Path) -> None:
    both = remade(tmp_path, "dual-esi")
    first, second = sorted(both)[:2]
    after = design(tmp_path / "changed.yml")
    change = plan_of(after, [both[first]], "deploy").changes[first]
    assert (change.interrupts, change.drains, change.cut_off) == (True, True, ())
    drained = replace(both[second], drained=True)
    assert plan_of(after, [both[first], drained], "deploy").changes[first].cut_off


def test_a_factory_switch_has_no_traffic_to_move(before: Design) -> None:
    plan = plan_of(before, previews(before, before, factory=True), "deploy")
    assert not any(change.interrupts or change.drains or change.cut_off for change in plan.changes.values())


def test_without_waves_all_switches_are_one_wave_and_nothing_is_drained(tmp_path: Path, before: Design) -> None:
    after = changed(tmp_path, MTU)
    plan = plan_of(after, previews(before, after), "deploy", waves=False)
    (wave,) = plan.waves
    assert set(wave.switches) == set(after.texts)
    assert not any(change.drains or change.interrupts for change in plan.changes.values())
    assert plan_of(after, [], "deploy", waves=False).waves == ()


def test_a_document_is_read_as_the_plan_that_was_written(tmp_path: Path, before: Design) -> None:
    after = changed(tmp_path, MTU)
    plan = plan_of(after, previews(before, after), "deploy")
    assert ChangePlan.parse(plan.document(), "plan.json") == plan
    kept = plan.without_diffs()
    assert "+pod1" not in kept.document()
    assert all(change.diff_sha256 for change in kept.changes.values())


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', '{"version": 9}', "\0"])
def test_what_is_no_plan_is_named(text: str) -> None:
    with pytest.raises(RailfabError, match=r"^plan\.json: is not a saved plan \(.*\)\. Make it again with railfab dep"):
        ChangePlan.parse(text, "plan.json")


def test_a_plan_with_a_strange_key_is_refused(before: Design) -> None:
    plan = plan_of(before, previews(before, before, factory=True), "deploy")
    document = json.loads(plan.document())
    document["waves"][0]["speed"] = 1
    with pytest.raises(RailfabError, match="is not a saved plan"):
        ChangePlan.parse(json.dumps(document), "plan.json")

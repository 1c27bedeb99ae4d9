"""A remedy that names a value of the intent is planned before it is offered."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from tests.laws import examples
from tests.topology.fabric_intents import documents, fabric
from tests.topology.test_buildable import CASES as UNBUILDABLE
from tests.topology.test_networks_errors import CASES as OF_NETWORKS

from railfab.errors import RailfabError, each
from railfab.fabric import Design, design
from railfab.fabric.trial import changed
from railfab.findings import Severity
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, Remedy, remedy, setting
from railfab.topology import findings, wire

ROOT = Path(__file__).parents[2]
FEW_HOSTS: dict[str, Any] = {
    "hosts": {"gpus": 8, "rate_gbps": 400},
    "backend__segments": {"hosts": 12, "rail_switches": 8, "model": "7060x6-64pe"},
    "backend__spines": {"count": 4, "rate_gbps": 800, "model": "7060x6-64pe"},
}
"""96 GPUs on switches of 64 x 800G."""
FINDINGS: dict[str, dict[str, Any]] = {
    "few hosts": FEW_HOSTS,
    "few hosts, many spines": FEW_HOSTS | {"backend__spines": FEW_HOSTS["backend__spines"] | {"count": 16}},
    "few segments": {
        "backend__pods": 2,
        "backend__segments__count": 1,
        "backend__spines__links_per_leaf": 1,
        "backend__super_spines": {"count": 8, "rate_gbps": 400, "model": "7220-ixr-d5"},
    },
    "blocking": {"backend__spines__links_per_leaf": 1, "backend__oversubscription": 1},
    "blocking without ports": {
        "backend__segments__hosts": 12,
        "backend__spines__links_per_leaf": 2,
        "backend__oversubscription": 1,
    },
    "claim": {"hosts__nic_ports": 1, "backend__survives": "switch"},
    "mtu": {"profile__mtu": 1500},
    "bfd": {"profile__bfd": {"interval_ms": 50, "multiplier": 3}},
    "no ecn": {"profile__lossless__ecn": False},
    "neither": {"profile__lossless__ecn": False, "profile__lossless__pfc": False},
    "racks": {"backend__segments__hosts": 8, "hosts__per_rack": 8, "hosts__units": 10},
    "uet": {"profile__transport": "uet"},
    "gpus": {"hosts__model": "gpu-server-8", "hosts__gpus": 4},
}
INTENTS = {
    **{f"unbuildable {number}": changes for number, (changes, _) in enumerate(UNBUILDABLE)},
    **{name: {"backend__growth": {"hosts": 4}} | changes for name, (changes, _) in OF_NETWORKS.items()},
    **FINDINGS,
}
CODE = re.compile(r"\b(use|set|Use|Set) [a-z_.]+: ")


def planned(intent: FabricIntent, path: Path) -> Design:
    """The design of an intent, as a user has it: from a file."""
    path.write_text(yaml.safe_dump(intent.model_dump(mode="json", exclude_unset=True)))
    return design(path)


def offered(intent: FabricIntent, path: Path) -> Iterator[tuple[Choice, bool]]:
    """What the messages about an intent propose, and whether it is the remedy for an error."""
    try:
        found = [(one.remedy, one.severity is Severity.ERROR) for one in planned(intent, path).findings]
    except RailfabError as error:
        found = [(one.remedy, True) for one in each(error)]
    for proposed, of_error in found:
        if isinstance(proposed, Remedy):
            yield from ((choice, of_error) for choice in proposed.choices if choice.changes)


def problems(intent: FabricIntent) -> set[str]:
    """Errors of an intent and codes of its findings, with nothing but the checks themselves."""
    try:
        found = findings(wire(intent), intent)
    except RailfabError as error:
        return {one.problem for one in each(error)}
    return {one.problem for one in found if one.severity is Severity.ERROR}


def assert_helps(intent: FabricIntent, choice: Choice, *, of_error: bool) -> None:
    """The intent with a choice has an error less, and none that it did not have."""
    before, after = problems(intent), problems(changed(intent, choice.changes))
    assert after <= before, (choice, after - before)
    assert len(after) < len(before) or not of_error, choice


@pytest.mark.parametrize("name", INTENTS)
def test_what_is_offered_leads_to_no_other_error(name: str, tmp_path: Path) -> None:
    intent = fabric(**INTENTS[name])
    choices = list(offered(intent, tmp_path / "intent.yml"))
    assert choices or name not in FINDINGS
    for choice, of_error in choices:
        assert_helps(intent, choice, of_error=of_error)


@given(documents())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_it_does_so_for_any_intent_that_cannot_be_built(tmp_path: Path, document: dict[str, Any]) -> None:
    intent = FabricIntent.model_validate(document)
    assume(problems(intent))
    for choice, of_error in offered(intent, tmp_path / "intent.yml"):
        assert_helps(intent, choice, of_error=of_error)


def lines(intent: FabricIntent, path: Path) -> list[str]:
    try:
        return [str(found) for found in planned(intent, path).findings]
    except RailfabError as error:
        return [str(one).removeprefix(f"{path}: ") for one in each(error)]


def test_defaults_do_not_overbuild_silently(tmp_path: Path) -> None:
    """A full rail switch has 32 uplinks; 12 hosts fill 6. Growth to 12 hosts does not divide among 4 spines."""
    assert lines(fabric(**FEW_HOSTS), tmp_path / "few.yml") == [
        "backend.spines.links_per_leaf: without a statement, a rail switch has the 32 uplinks that it needs with 64 "
        "hosts: 5.3 times what its 12 hosts can fill. Set backend.growth.hosts: 16 (if segments will not grow) or "
        "backend.spines.links_per_leaf: 2."
    ]


def test_twice_the_uplinks_of_the_present_hosts_is_overbuilt(tmp_path: Path) -> None:
    """32 of 64 hosts: 16 of the 32 uplinks of a rail switch carry nothing, but have ports and optics."""
    segments = FEW_HOSTS["backend__segments"] | {"hosts": 32}
    (found,) = lines(fabric(**FEW_HOSTS | {"backend__segments": segments}), tmp_path / "half.yml")
    assert "32 uplinks that it needs with 64 hosts: 2.0 times what its 32 hosts can fill. Set" in found


@pytest.mark.parametrize(
    "stated",
    [{"backend__spines__links_per_leaf": 2}, {"backend__growth": {"hosts": 16}}, {"backend__growth": {"hosts": 64}}],
)
def test_what_is_stated_is_no_default(stated: dict[str, Any], tmp_path: Path) -> None:
    assert lines(fabric(**FEW_HOSTS | stated), tmp_path / "few.yml") == []


def test_with_one_link_to_each_of_too_many_spines_fewer_spines_are_proposed(tmp_path: Path) -> None:
    (line,) = lines(fabric(**FINDINGS["few hosts, many spines"]), tmp_path / "few.yml")
    assert line.endswith("or backend.spines.count: 2 with backend.spines.links_per_leaf: 3.")


def test_uplinks_of_spines_for_few_segments(tmp_path: Path) -> None:
    found = lines(fabric(**FINDINGS["few segments"]), tmp_path / "few.yml")
    (line,) = [line for line in found if "without a statement" in line]
    assert line.startswith(
        "backend.super_spines.links_per_spine: without a statement, a spine has the 16 uplinks that "
    )
    assert line.endswith(
        "Set backend.growth.segments: 1 (if pods will not grow) or backend.super_spines.links_per_spine: 1."
    )


def test_a_choice_that_leads_to_the_next_error_is_left_out_and_without_any_the_message_says_so(tmp_path: Path) -> None:
    """24 cages of hosts leave 8 for uplinks: neither more links nor more spines have ports."""
    (line,) = lines(fabric(**FINDINGS["blocking without ports"]), tmp_path / "full.yml")
    assert line.endswith("Set backend.oversubscription: 3 (if blocking is intended).")
    large = fabric(backend__segments__hosts=12, backend__growth={"hosts": 4})
    (line,) = lines(large, tmp_path / "large.yml")
    assert "and correct what follows from it: " in line


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        ("7060x6-64pe", "Set profile.ecmp: flow or profile.ecmp: flowlet"),
        ("7220-ixr-d5", "Set profile.ecmp: flow"),
        ("sn5600", "Set hosts.reorder: true or profile.ecmp: flow"),
    ],
)
def test_only_the_balancing_that_the_switches_have_is_proposed(model: str, offered: str, tmp_path: Path) -> None:
    """EOS has flowlets and no adaptive routing, SR Linux neither, and Cumulus Linux adaptive routing only."""
    switches: dict[str, Any] = {"backend__segments__model": model, "backend__spines__model": model}
    (line,) = lines(fabric(profile__ecmp="adaptive", **switches), tmp_path / "adaptive.yml")
    assert line.endswith(f"hosts.reorder is false. {offered}.")


def test_an_intent_without_a_proposal_is_planned_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The trial costs nothing where there is nothing to try."""

    def refuse(_: FabricIntent) -> None:
        raise AssertionError("a good intent is tried")

    monkeypatch.setattr("railfab.fabric.trial.diagnosis", refuse)
    assert planned(fabric(), tmp_path / "good.yml").findings == ()


def test_a_large_fabric_is_tried_with_two_pods_of_two_segments(tmp_path: Path) -> None:
    intent = fabric(
        backend__pods=30,
        backend__segments__count=12,
        backend__spines__links_per_leaf=1,
        backend__super_spines={"count": 4, "rate_gbps": 400, "links_per_spine": 1, "model": "linux-256"},
        backend__oversubscription=2,
        profile__bfd={"interval_ms": 50, "multiplier": 3},
    )
    assert any("Use an interval of at least 100 ms" in line for line in lines(intent, tmp_path / "large.yml"))


def test_the_texts_of_choices_are_joined_by_verb() -> None:
    found = remedy(Choice("1"), Choice("2"), Choice("super_spines", verb="add"), setting("hosts.reorder", True, "note"))
    assert found == "Use 1 or 2, or add super_spines, or set hosts.reorder: true (note)"


@pytest.mark.parametrize("package", ["topology", "qos", "fabric"])
def test_no_plain_text_proposes_a_value_of_a_key(package: str) -> None:
    """A remedy with a value is made of choices, so that it is tried."""
    for path in (ROOT / "src" / "railfab" / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                assert not CODE.search(node.value), (path, node.value)

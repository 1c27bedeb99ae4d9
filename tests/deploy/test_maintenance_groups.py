"""A deploy to switches on which the operator has maintenance groups, and to drained switches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nornir.core import Nornir
from tests.twin.small_fabric import INTENT, OTHER_SPINE, SPINE, small
from tests.twin.twins import until

from railfab.deploy import apply_all, new_change, nornir_of, preview_all, verify_all
from railfab.endpoints import read_credentials
from railfab.errors import CommitRefused
from railfab.fabric import design
from railfab.findings import Finding
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.statuses import CallFailed
from railfab.gnmi.target import DataType
from railfab.platforms import Verb, platform
from railfab.twin import Twin

GROUPS, PROFILES = "/system/maintenance/group", "/system/maintenance/profile"
POLICY, SET = "/routing-policy/policy[name=op]", "/routing-policy/prefix-set[name=op]"
STATEMENT = {"match": {"prefix": {"prefix-set": "op"}}, "action": {"policy-result": "accept"}}
OWN = (
    (f"{SET}/prefix[ip-prefix=10.0.0.0/8][mask-length-range=8..32]", {}),
    (f"{POLICY}/statement[name=10]", STATEMENT),
    (f"{PROFILES}[name=op]/bgp/export-policy", "op"),
)
"""A profile of the operator with its policy and the set that this uses."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(small(), state=tmp_path_factory.mktemp("groups"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def nornir(twin: Twin) -> Iterator[Nornir]:
    """A Nornir of the twin, whose switches have no maintenance groups and run the intent after each test."""
    chosen = nornir_of(small(), twin.endpoints)
    yield chosen
    with client(twin) as switch:
        switch.set(SetChanges(delete=("/system/maintenance",)))
    apply_all(chosen, small().configurations(), new_change(), lambda _: None)


def client(twin: Twin) -> BlockingGnmiClient:
    endpoint = twin.endpoints.by_name()[SPINE]
    return BlockingGnmiClient(endpoint, read_credentials(endpoint))


def set_by_hand(twin: Twin, *updates: tuple[str, Any]) -> None:
    with client(twin) as switch:
        switch.set(SetChanges(update=updates))


def read(twin: Twin, path: str) -> Any:
    with client(twin) as switch:
        return [value for _, value in switch.get((path,), DataType.CONFIG)]


def intended(folder: Path, *, drain: str = "", profile: str = "") -> dict[str, str]:
    """The configurations of the fabric with a drained switch, and with another line in its profile."""
    file = folder / "changed.yml"
    text = INTENT.replace("profile:\n", f"profile:\n  {profile}\n") if profile else INTENT
    file.write_text(f"{text}drain: [{drain}]\n")
    return design(file).configurations()


def group(name: str, **members: Any) -> tuple[tuple[str, Any], ...]:
    """An enabled maintenance group of the operator; members: of the default network instance."""
    instance = {"name": "default", **members}
    body = {"members": {"bgp": {"network-instance": [instance]}}, "maintenance-mode": {"admin-state": "enable"}}
    return ((f"{GROUPS}[name={name}]", body),)


def previewed(nornir: Nornir, texts: dict[str, str]) -> dict[str, str]:
    """The differences of the switches that would change."""
    return {one.name: one.diff for one in preview_all(nornir, texts, lambda _: None) if one.changed}


def deployed(nornir: Nornir, texts: dict[str, str]) -> dict[str, str]:
    """The result of each switch, and its error."""
    outcomes = apply_all(nornir, texts, new_change(), lambda _: None)
    return {one.name: one.error or one.result for one in outcomes if one.result != "no change"}


def test_the_policies_of_an_operators_maintenance_profile_stay_on_the_switch(twin: Twin, nornir: Nornir) -> None:
    texts = small().configurations()
    set_by_hand(twin, *OWN, ("/routing-policy/policy[name=unused]/default-action/policy-result", "accept"))
    before = [read(twin, path) for path in (POLICY, SET, PROFILES)]
    found = previewed(nornir, texts)
    assert [line for line in found[SPINE].splitlines() if line[:4] in ("+set", "-set")] == [
        "-set / routing-policy policy unused default-action policy-result accept"
    ]
    former = preview_all(nornir, texts, lambda _: None)
    assert deployed(nornir, texts) == {SPINE: "changed"}
    assert [read(twin, path) for path in (POLICY, SET, PROFILES)] == before
    assert previewed(nornir, texts) == {}
    back = texts | {one.name: one.text for one in former if one.name == SPINE}
    assert deployed(nornir, back) == {SPINE: "changed"}
    assert "unused" in json.dumps(read(twin, "/routing-policy"))
    assert [read(twin, path) for path in (POLICY, SET, PROFILES)] == before


def test_verify_does_not_ask_to_deploy_what_a_deploy_leaves_to_the_operator(twin: Twin, nornir: Nornir) -> None:
    set_by_hand(twin, *OWN)
    until(lambda: not _asks_to_deploy(verify_all(nornir, small(), wait_s=0).findings))
    found = verify_all(nornir, small(), wait_s=0).findings
    assert [one.line for one in found if "/routing-policy" in one.where] == [
        f"note {SPINE}: /routing-policy: railfab does not model 'set / routing-policy policy op statement 10 action "
        "policy-result accept' (and 2 lines more). "
        "Check that nothing there concerns the fabric. [unmodelled]"
    ]


def _asks_to_deploy(findings: Iterable[Finding]) -> bool:
    return any("Deploy the intent" in finding.remedy for finding in findings)


OTHER_TIMERS = "bgp: {keepalive_s: 10, hold_s: 30}"


def test_a_change_of_the_bgp_of_a_drained_switch_is_refused_before_any_switch_is_changed(
    twin: Twin, nornir: Nornir, tmp_path: Path
) -> None:
    assert deployed(nornir, intended(tmp_path, drain=SPINE)) == {SPINE: "changed"}
    before = read(twin, "/")
    with pytest.raises(CommitRefused) as refused:
        preview_all(nornir, intended(tmp_path, drain=SPINE, profile=OTHER_TIMERS), lambda _: None)
    assert str(refused.value) == (
        f"{SPINE}: is in maintenance mode (group fabric-drain), and the BGP of network-instance default cannot be "
        "changed. Remove the switch from `drain` of the intent and deploy first."
    )
    assert read(twin, "/") == before
    assert deployed(nornir, intended(tmp_path, profile=OTHER_TIMERS)).keys() == small().texts.keys()


def test_a_drained_switch_takes_other_changes(nornir: Nornir, tmp_path: Path) -> None:
    deployed(nornir, intended(tmp_path, drain=SPINE))
    changed = deployed(nornir, intended(tmp_path, drain=SPINE, profile="mtu: 9000"))
    assert {changed[name] for name in (SPINE, OTHER_SPINE)} == {"changed"}


@pytest.fixture
def operator(twin: Twin) -> Iterator[Callable[[Verb], None]]:
    """Runs a verb on the spine; its drain is ended after the test."""
    endpoint = twin.endpoints.by_name()[SPINE]

    def operate(verb: Verb) -> None:
        with platform(endpoint.platform).session_factory(SPINE)(endpoint, read_credentials(endpoint)) as session:
            session.operate(verb)

    yield operate
    operate(Verb.UNDRAIN)


def test_a_change_of_the_bgp_of_a_switch_that_a_verb_drained_asks_for_the_end_of_its_drain(
    nornir: Nornir, tmp_path: Path, operator: Callable[[Verb], None]
) -> None:
    operator(Verb.DRAIN)
    with pytest.raises(CommitRefused, match=r"group fabric-drain.* End its drain first \(railfab undrain\)\."):
        preview_all(nornir, intended(tmp_path, profile=OTHER_TIMERS), lambda _: None)
    assert previewed(nornir, small().configurations()) == {}


def test_the_drain_of_a_verb_outlasts_that_of_the_intent(
    twin: Twin, nornir: Nornir, tmp_path: Path, operator: Callable[[Verb], None]
) -> None:
    operator(Verb.DRAIN)
    for drain in (SPINE, ""):
        assert previewed(nornir, intended(tmp_path, drain=drain)) == {}
    assert "fabric-drain" in json.dumps(read(twin, GROUPS))
    operator(Verb.UNDRAIN)
    assert "drain" not in json.dumps(read(twin, "/"))
    assert previewed(nornir, small().configurations()) == {}


def test_a_verb_does_not_drain_beside_an_operators_group(twin: Twin, operator: Callable[[Verb], None]) -> None:
    set_by_hand(twin, *group("upgrade"))
    before = read(twin, "/")
    with pytest.raises(CommitRefused, match="cannot be drained while its maintenance group upgrade has its BGP"):
        operator(Verb.DRAIN)
    assert read(twin, "/") == before


def test_a_change_of_bgp_that_an_operators_group_freezes_names_the_group(
    twin: Twin, nornir: Nornir, tmp_path: Path
) -> None:
    set_by_hand(twin, *group("upgrade"))
    assert previewed(nornir, small().configurations()) == {}
    with pytest.raises(CommitRefused, match=r"group upgrade.* End maintenance group upgrade on the switch"):
        preview_all(nornir, intended(tmp_path, profile=OTHER_TIMERS), lambda _: None)


def test_a_drain_beside_an_operators_group_is_refused_by_the_plan_and_the_switch(
    twin: Twin, nornir: Nornir, tmp_path: Path
) -> None:
    texts = intended(tmp_path, drain=SPINE)
    set_by_hand(twin, *group("upgrade", **{"peer-group": ["fabric"]}))
    with pytest.raises(CommitRefused) as refused:
        preview_all(nornir, texts, lambda _: None)
    assert str(refused.value) == (
        f"{SPINE}: cannot be drained while its maintenance group upgrade has its BGP sessions. "
        "End maintenance group upgrade on the switch."
    )
    with pytest.raises(CallFailed, match="of group upgrade, which has a BGP session of it"):
        set_by_hand(twin, *group("another"))
    set_by_hand(twin, (f"{GROUPS}[name=upgrade]/maintenance-mode/admin-state", "disable"))
    assert deployed(nornir, texts) == {SPINE: "changed"}
    with pytest.raises(CallFailed, match="of group upgrade, which has a BGP session of it"):
        set_by_hand(twin, (f"{GROUPS}[name=upgrade]/maintenance-mode/admin-state", "enable"))

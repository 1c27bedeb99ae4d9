"""Failed changes and their rollback, and findings of verify after manual changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nornir.core import Nornir
from tests.commands import run

from railfab.deploy import (
    Outcome,
    apply_all,
    new_change,
    nornir_of,
    preview_all,
    tasks,
    verify_all,
)
from railfab.device import DeviceModel
from railfab.endpoints import read_credentials
from railfab.fabric import Design, design, resolve_endpoints
from railfab.fabric.audit import configuration_findings
from railfab.findings import Finding, Severity
from railfab.gnmi.paths import elements
from railfab.gnmi.target import Commit, Edit, Operation
from railfab.platforms import ChangeName, Staged, platform
from railfab.platforms.srlinux.session import GnmiSession
from railfab.twin import Twin

LEAF = "pod1-seg1-leaf1"
UPLINK, HOST_PORT = "ethernet-1/32", "ethernet-1/1/1"
BGP = "/network-instance[name=default]/protocols/bgp"
QOS = "/qos/interfaces/interface"
SLOPE = "wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
PROFILE = "/qos/buffer-management/queue-management-profile[name=400g-40m]"
BUFFERS = "/qos/buffer-management/buffer-allocation-profile[name=400g-40m]"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "srl-pod" / "intent.yml")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("changes")


@pytest.fixture(scope="module")
def twin(fabric: Design, state: Path) -> Iterator[Twin]:
    with Twin(fabric, state=state, base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def inventory(twin: Twin, fabric: Design, state: Path) -> Nornir:
    """A Nornir of the twin."""
    return nornir_of(fabric, resolve_endpoints(fabric, "twin", state))


@pytest.fixture
def nornir(twin: Twin, fabric: Design, inventory: Nornir) -> Iterator[Nornir]:
    """A Nornir of the twin, whose switches all serve and run the intent before and after each test."""
    yield inventory
    twin.start_switch(LEAF)
    revert_pending(inventory, fabric)
    apply_all(inventory, fabric.configurations(), new_change(), lambda _name: None)


@pytest.fixture
def settled(nornir: Nornir, fabric: Design) -> None:
    """What the tests before have disturbed works again: BGP and BFD take their time."""
    found = verify_all(nornir, fabric, wait_s=60).findings
    assert {one.severity for one in found} == {Severity.NOTE}


def revert_pending(nornir: Nornir, fabric: Design) -> list[ChangeName]:
    """Revert what is pending on the switches; the names of these changes."""
    previews = preview_all(nornir, fabric.texts, lambda _name: None, is_own=lambda _change: True)
    return [found.reverted for found in previews if found.reverted is not None]


def set_by_hand(twin: Twin, path: str, value: Any, operation: Operation = Operation.UPDATE) -> None:
    """Set a value on the leaf, as somebody would by hand."""
    twin._switches[LEAF].set([Edit(operation, elements(path), value)])


def running(twin: Twin) -> DeviceModel:
    model = twin._switches[LEAF].model
    assert isinstance(model, DeviceModel)
    return model


def without_watchdog(fabric: Design) -> dict[str, str]:
    """Configurations that change every switch."""
    srlinux = platform("srlinux")
    texts = {}
    for name, model in fabric.models.items():
        assert model.qos is not None
        texts[name] = srlinux.text(srlinux.render(replace(model, qos=replace(model.qos, watchdog=None))))
    return texts


def on_leaf(outcomes: Sequence[Outcome]) -> Outcome:
    return next(outcome for outcome in outcomes if outcome.name == LEAF)


def disconnect_after_set(twin: Twin, *, away_s: float | None) -> None:
    """Stop the leaf's server after its next Set: for away_s, or for good."""
    switch = twin._switches[LEAF]
    take = switch.set_commit

    def server() -> None:
        time.sleep(0.1)
        twin.stop_switch(LEAF)
        if away_s is not None:
            time.sleep(away_s)
            twin.start_switch(LEAF)

    def taken(edits: Sequence[Edit], commit: Commit) -> None:
        take(edits, commit)
        switch.set_commit = take  # type: ignore[method-assign]
        threading.Thread(target=server, daemon=True).start()
        time.sleep(1.0)

    switch.set_commit = taken  # type: ignore[method-assign]


def test_a_switch_that_disconnects_during_its_change_is_rolled_back_when_it_reconnects(
    twin: Twin, fabric: Design, nornir: Nornir
) -> None:
    before = running(twin)
    disconnect_after_set(twin, away_s=2.0)
    outcomes = apply_all(nornir, without_watchdog(fabric), new_change(), lambda _name: None)
    failed = on_leaf(outcomes)
    assert (failed.failed, failed.changed, failed.unsettled) == (True, False, False), failed.error
    assert "lost the connection" in str(failed.error)
    assert running(twin) == before
    assert all(outcome.changed for outcome in outcomes if outcome.name != LEAF)


def test_a_switch_that_stays_unreachable_is_unsettled_until_the_next_deploy_reverts_its_change(
    twin: Twin, fabric: Design, nornir: Nornir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "RECONNECT_WITHIN_S", 1.0)
    before, change = running(twin), new_change()
    kept: dict[str, str] = {}
    disconnect_after_set(twin, away_s=None)
    outcomes = apply_all(nornir, without_watchdog(fabric), change, lambda _name: None, keep=kept.__setitem__)
    twin.start_switch(LEAF)
    failed = on_leaf(outcomes)
    assert failed.unsettled
    assert str(failed.error).endswith(
        "unless the change was confirmed, the switch reverts it within 120 s. Deploy again: it finds what is pending."
    )
    assert running(twin) != before
    assert platform("srlinux").parse(kept[LEAF]) == before
    another = on_leaf(apply_all(nornir, fabric.texts, new_change(), lambda _name: None))
    assert f"has an unconfirmed change of {change.user}@{change.host} (deploy {change.deploy})" in str(another.error)
    assert revert_pending(nornir, fabric) == [change]
    assert running(twin) == before


def test_verify_names_a_change_that_is_neither_confirmed_nor_reverted(
    twin: Twin, fabric: Design, nornir: Nornir, state: Path
) -> None:
    change = new_change()
    endpoint = resolve_endpoints(fabric, "twin", state).by_name()[LEAF]
    with platform("srlinux").session(endpoint, read_credentials(endpoint)) as session:
        session.commit(session.stage(without_watchdog(fabric)[LEAF]), change, 120)
    owner = f"deploy {change.deploy} of {change.user}@{change.host}"
    assert [str(found) for found in seen(nornir, fabric) if "a change" in str(found)] == [
        f"{LEAF}: a change: is neither confirmed nor reverted ({owner}). "
        "Wait until it ends, or run railfab deploy where it was begun."
    ]


def test_a_lost_switch_that_is_abandoned_is_not_waited_for(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    disconnect_after_set(twin, away_s=None)
    abandoned = threading.Event()
    abandoned.set()
    began_s = time.monotonic()
    failed = on_leaf(apply_all(nornir, without_watchdog(fabric), new_change(), lambda _name: None, abandoned=abandoned))
    assert time.monotonic() - began_s < tasks.RECONNECT_WITHIN_S / 2
    assert failed.unsettled


def test_no_switch_is_changed_after_a_stop_request(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    before = running(twin)
    stop_requested = threading.Event()
    stop_requested.set()
    outcomes = apply_all(
        nornir, without_watchdog(fabric), new_change(), lambda _name: None, stop_requested=stop_requested
    )
    assert on_leaf(outcomes).error == f"{LEAF}: skipped: a stop was requested. Deploy again for the remaining switches."
    assert all(outcome.failed and not outcome.unsettled for outcome in outcomes)
    assert running(twin) == before


def test_a_switch_changed_since_its_preview_is_not_changed(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    texts = without_watchdog(fabric)
    approved = {outcome.name: outcome.diff for outcome in preview_all(nornir, texts, lambda _name: None)}
    set_by_hand(twin, f"/interface[name={UPLINK}]/description", "moved to rack 7")
    by_hand = running(twin)
    outcomes = apply_all(nornir, texts, new_change(), lambda _name: None, approved=approved)
    assert on_leaf(outcomes).error == (
        f"{LEAF}: has changed since its differences were shown. Review them with --plan, then deploy again."
    )
    assert running(twin) == by_hand
    assert [outcome.failed for outcome in outcomes].count(True) == 1


def test_a_switch_changed_between_reading_and_staging_is_not_changed(
    twin: Twin, fabric: Design, nornir: Nornir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no differences were reviewed, as in a playbook: the change by hand would be undone unseen."""
    stage, by_hand = GnmiSession.stage, []

    def stage_late(session: GnmiSession, text: str, change: ChangeName | None = None) -> Staged:
        set_by_hand(twin, f"/interface[name={UPLINK}]/description", "moved to rack 7")
        by_hand.append(running(twin))
        return stage(session, text, change)

    monkeypatch.setattr(GnmiSession, "stage", stage_late)
    (outcome,) = apply_all(nornir.filter(name=LEAF), without_watchdog(fabric), new_change(), lambda _name: None)
    assert outcome.error == (
        f"{LEAF}: has changed since its differences were shown. Review them with --plan, then deploy again."
    )
    monkeypatch.undo()
    assert [running(twin)] == by_hand


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("words", [("verify", "--wait", "0"), ("audit",)], ids=["verify", "audit"])
def test_a_switch_that_does_not_answer_hides_no_finding_of_the_others(
    twin: Twin, nornir: Nornir, state: Path, repository: Path, words: tuple[str, ...], output: str
) -> None:
    intent = repository / "labs" / "srl-pod" / "intent.yml"
    twin.stop_switch(LEAF)
    done = run(words[0], intent, "--on", "twin", "--state", state, "--output", output, *words[1:])
    assert done.returncode == 2
    others = ["pod1-seg1-leaf2", "pod1-spine1", "pod1-spine2"]
    if output == "json":
        document, errors = json.loads(done.stdout), json.loads(done.stderr)["errors"]
        assert document["checked"] == others
        assert {finding["switch"] for finding in document["findings"]} == set(others)
        assert [error["where"] for error in errors] == [LEAF]
    else:
        lines = done.stdout.splitlines()
        assert lines.pop().startswith("cabling: ")
        assert lines[-1].startswith("3 of 4 switches checked")
        assert done.stderr.startswith(f"railfab: {LEAF}: ")
        assert done.stderr.count("\n") == 1


# Manual changes of one setting that verify must find.

NAMED = {
    "lldp off": ("/system/lldp/admin-state", "disable"),
    "a policy that nothing uses": (
        "/routing-policy/policy[name=leak]",
        {"default-action": {"policy-result": "accept"}},
    ),
    "a static route": (
        "/network-instance[name=default]",
        {
            "next-hop-groups": {"group": [{"name": "out", "nexthop": [{"index": 1, "ip-address": "10.17.0.1"}]}]},
            "static-routes": {"route": [{"prefix": "0.0.0.0/0", "next-hop-group": "out"}]},
        },
    ),
    "a second subinterface": (f"/interface[name={UPLINK}]/subinterface[index=7]", {"admin-state": "enable"}),
    "marks by the average": (f"{PROFILE}/weight-factor", 7),
    "a short egress queue": (f"{BUFFERS}/queues/queue[queue-name=roce]/maximum-burst-size", 10_000),
    "open by default": (f"{BGP}/ebgp-default-policy/import-reject-all", False),
    "marking switched off": (f"{PROFILE}/{SLOPE}/slope-enabled", False),
    "group disabled": (f"{BGP}/group[group-name=fabric]/admin-state", "disable"),
    "PFC off on one port": (f"{QOS}[interface-id={UPLINK}]/pfc/pfc-enable", False),
    "another queue for RoCE": ("/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]/forwarding-class", "default"),
    "a narrow host port": (f"/interface[name={HOST_PORT}]/mtu", 1600),
    "another AS": (f"{BGP}/autonomous-system", 65500),
}


def seen(nornir: Nornir, fabric: Design) -> list[Finding]:
    """What verify finds wrong with the leaf."""
    return [
        found
        for found in verify_all(nornir, fabric, wait_s=0).findings
        if found.where.startswith(LEAF) and found.severity is not Severity.NOTE
    ]


def test_verify_finds_nothing_on_a_fabric_that_runs_its_intent(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    """But for what a deploy leaves to others: the management access of each switch."""
    found = verify_all(nornir, fabric, wait_s=15).findings
    assert {one.severity for one in found} == {Severity.NOTE}
    sections = {one.where.partition(": ")[2] for one in found}
    assert sections == {"/interface", "/network-instance", "/system/grpc-server"}


@pytest.mark.parametrize(("path", "value"), NAMED.values(), ids=NAMED)
def test_verify_finds_a_manual_change(twin: Twin, fabric: Design, inventory: Nornir, path: str, value: Any) -> None:
    """With a finding about the leaf; some are notes, as they change nothing in the fabric. Only the leaf is asked."""
    leaf = inventory.filter(name=LEAF)
    before, clean = running(twin), verify_all(leaf, fabric, wait_s=0).findings
    set_by_hand(twin, path, value)
    found = verify_all(leaf, fabric, wait_s=0).findings
    assert [one for one in found if one not in clean and one.where.startswith(LEAF)], path
    apply_all(leaf, fabric.configurations(), new_change(), lambda _name: None)
    assert running(twin) == before


@pytest.mark.usefixtures("settled")
def test_a_setting_that_differs_from_the_intent_and_the_far_end_is_named_with_both(
    twin: Twin, fabric: Design, nornir: Nornir
) -> None:
    set_by_hand(twin, f"{QOS}[interface-id={UPLINK}]/pfc/pfc-enable", False)
    assert [str(found) for found in seen(nornir, fabric)] == [
        f"{LEAF}: set / qos interfaces interface {UPLINK} pfc pfc-enable false: the port neither sends "
        "nor obeys pause frames, so that lossless packets are dropped here or at its peer. Deploy the intent.",
        f"{LEAF} {UPLINK} and pod1-spine1 ethernet-1/1: PFC of priority 3 differs: off and on. "
        "Configure both ends with the same value.",
    ]


@pytest.mark.usefixtures("settled")
def test_an_unmodelled_difference_is_reported_with_its_line(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    path = f"/interface[name={UPLINK}]/subinterface[index=0]/ipv6/router-advertisement/router-role"
    set_by_hand(twin, f"{path}/min-advertisement-interval", 5)
    assert [str(found) for found in seen(nornir, fabric)] == [
        f"{LEAF}: set / interface {UPLINK} subinterface 0 ipv6 router-advertisement router-role "
        "min-advertisement-interval 5: the rendered intent has 4. Deploy the intent."
    ]


@pytest.mark.usefixtures("settled")
def test_live_findings_are_those_of_the_same_text_in_a_file(twin: Twin, fabric: Design, nornir: Nornir) -> None:
    """Also where a deploy changes nothing: verify reads the whole configuration."""
    entry = "/acl/acl-filter[name=drops][type=ipv4]/entry[sequence-id=10]"
    set_by_hand(twin, entry, {"match": {"ipv4": {"protocol": "udp"}}, "action": {"drop": {}}})
    set_by_hand(twin, "/acl/interface[interface-id=ethernet-1/32.0]/input/acl-filter[name=drops][type=ipv4]", {})
    live = list(verify_all(nornir, fabric, wait_s=0).findings)
    texts = {name: twin._switches[name].running() for name in fabric.models}
    assert live == list(configuration_findings(fabric, texts))
    assert [found.line for found in live if found.severity is not Severity.NOTE] == [
        f"error {LEAF}: set / acl acl-filter drops type ipv4 entry 10 action drop: the first entry "
        "that matches RoCE, BGP, BFD or neighbor discovery drops it on the ports that have the filter. "
        "Remove it on the switch; a deploy leaves it alone. [packet-filter]",
    ]
    read: list[str] = []
    verify_all(nornir, fabric, wait_s=60, accept=["packet-filter"], on_done=read.append)
    assert sorted(read) == sorted(fabric.models), "what is accepted is not waited for"
    set_by_hand(twin, "/acl", None, Operation.DELETE)
    assert seen(nornir, fabric) == []

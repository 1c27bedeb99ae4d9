"""Deploys, rollbacks and drains by the commands of a user, on virtual switches of each platform over SSH."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.integration.switches.racks import LEAF, OVER_SSH, Railfab, left_behind, opened
from tests.sampled import sampled

from railfab.endpoints import Endpoint
from railfab.twin import Twin

on_each = pytest.mark.parametrize("system", sampled(OVER_SSH, few=["eos", "sonic"]), indirect=True)


def running(endpoint: Endpoint) -> str:
    with opened(endpoint) as session:
        return session.running().revision


@on_each
def test_a_factory_fabric_is_brought_to_the_intent_and_a_second_run_changes_nothing(
    railfab: Railfab, leaf: Endpoint, twin: Twin, rack: Path, state: Path, system: str
) -> None:
    assert railfab("verify", "--wait", "0").returncode == railfab("drift").returncode == 1
    factory = running(leaf)
    first = conforming("deploy", railfab("deploy", "--yes", "--output", "json").stdout)
    assert [(outcome["changed"], outcome["failed"]) for outcome in first] == [(True, False)] * 3
    saved = twin._switches[LEAF]
    assert saved.startup() == saved.running()
    second = conforming("deploy", railfab("deploy", "--yes", "--output", "json").stdout)
    assert [(outcome["changed"], outcome["diff"]) for outcome in second] == [(False, "")] * 3
    verified = railfab("verify")
    assert (verified.returncode, verified.stderr, verified.stdout.splitlines()[0]) == (
        0,
        "",
        "3 of 3 switches checked: all 4 BGP session ends are as the intent says",
    )
    assert left_behind(leaf) == ""
    assert railfab("drift").stdout.endswith("3 of 3 switches read: 3 in step\n")
    intended, taken = running(leaf), state / f"taken-{system}"
    assert railfab("snapshot", "-o", str(taken)).returncode == 0
    back = railfab("rollback", "--yes", "--output", "json")
    assert [outcome["changed"] for outcome in conforming("rollback", back.stdout)] == [True] * 3
    assert running(leaf) == factory
    assert railfab("verify", "--wait", "0").returncode == 1
    different = conforming("diff", railfab("diff", str(rack), "--output", "json", intent=taken).stdout)
    assert all(switch["settings"] and switch["sessions"] for switch in different["switches"])
    again = railfab("rollback", "--to", str(taken), "--yes", "--output", "json")
    assert [outcome["changed"] for outcome in conforming("rollback", again.stdout)] == [True] * 3
    assert running(leaf) == intended
    same = conforming("diff", railfab("diff", str(rack), "--output", "json", intent=taken).stdout)
    assert [switch["settings"] for switch in same["switches"]] == [[]] * 3
    assert left_behind(leaf) == ""


@pytest.mark.matrix
@on_each
def test_a_drain_by_a_command_stays_with_the_next_deploy_until_it_ends(railfab: Railfab, leaf: Endpoint) -> None:
    assert railfab("deploy", "--yes").returncode == 0
    assert railfab("drain", LEAF, "--yes").returncode == 0
    assert "operator-drain" in railfab("verify").stdout
    deployed = json.loads(railfab("deploy", "--yes", "--output", "json").stdout)
    assert [outcome["changed"] for outcome in deployed] == [False] * 3
    assert [outcome["drained"] for outcome in deployed] == [True, False, False]
    assert railfab("undrain", LEAF).returncode == 0
    assert railfab("verify").returncode == 0
    assert left_behind(leaf) == ""

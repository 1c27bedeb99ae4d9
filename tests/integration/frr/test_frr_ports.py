"""MTU and admin state of Linux's ports are part of a change where a deploy configures the system too. Real FRR."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.integration.frr.bench import Node, change, eventually, settle, without_version
from tests.platforms.frr.switches import LEAF, text, with_bgp
from tests.sampled import sampled

from railfab.errors import CommitRefused
from railfab.platforms.frr.system import PortSettings, comments, running_settings

pytestmark = pytest.mark.lab

FORMER = {"swp1": PortSettings(9000), "swp2": PortSettings(9000)}
CHANGED = {"swp1": PortSettings(1500), "swp2": PortSettings(9000, enabled=False)}
SLOWER = text(with_bgp(LEAF, max_paths=2))


@pytest.fixture
def leaf(switches: tuple[Node, Node]) -> Iterator[Node]:
    """The leaf, whose system is ours."""
    node = settle(switches[0], LEAF)
    yield replace(node, endpoint=replace(node.endpoint, owns_system=True))
    for port, settings in FORMER.items():
        node.inside("ip", "link", "set", port, "mtu", str(settings.mtu_bytes), "up")
    settle(node, LEAF)


def ports(node: Node) -> dict[str, PortSettings]:
    """The settings of the two ports that the tests change."""
    found = running_settings(node.inside("ip", "-j", "link", "show"))
    return {name: found[name] for name in FORMER}


def committed(node: Node, candidate: str, within_s: int = 300) -> str:
    """Commit in a session that ends without a confirmation; the differences."""
    with node.session() as session:
        staged = session.stage(candidate)
        session.commit(staged, change(), within_s)
    return staged.diff


def test_a_deploy_shows_sets_and_keeps_the_settings_once(leaf: Node) -> None:
    lines = committed(leaf, comments(CHANGED) + text(LEAF)).splitlines()
    assert [line for line in lines if "ip link" in line and line[0] in "+-"] == [
        "-! ip link set dev swp1 mtu 9000 up",
        "-! ip link set dev swp2 mtu 9000 up",
        "+! ip link set dev swp1 mtu 1500 up",
        "+! ip link set dev swp2 mtu 9000 down",
    ]
    assert ports(leaf) == CHANGED
    with leaf.session() as session:
        session.confirm(change())
        assert session.running().pending is None
        assert session.stage(comments(CHANGED) + text(LEAF)).diff == ""
    assert ports(leaf) == CHANGED
    assert without_version(leaf.startup.read_text()) == text(LEAF), "FRR boots its own part"


CANDIDATES = {"ports alone": text(LEAF), "with a change of FRR": SLOWER}


@pytest.mark.parametrize("frr", sampled(CANDIDATES, few=["with a change of FRR"]))
def test_another_session_reverts_them_with_the_change(leaf: Node, frr: str) -> None:
    former = leaf.running()
    committed(leaf, comments(CHANGED) + frr)
    assert ports(leaf) == CHANGED
    with leaf.session() as session:
        session.revert(change())
        assert session.running().pending is None
    assert (ports(leaf), leaf.running()) == (FORMER, former)


@pytest.mark.parametrize("frr", sampled(CANDIDATES, few=["ports alone"]))
def test_the_switch_restores_them_without_a_confirmation(leaf: Node, frr: str) -> None:
    former = leaf.running()
    committed(leaf, comments(CHANGED) + frr, within_s=4)
    assert ports(leaf) == CHANGED
    assert eventually(lambda: not leaf.left_behind())
    assert (ports(leaf), leaf.running()) == (FORMER, former)


def test_a_setting_that_linux_refuses_is_named_and_all_is_restored(leaf: Node) -> None:
    former = leaf.running()
    too_large = {"swp1": PortSettings(1500), "swp2": PortSettings(70000)}
    with pytest.raises(CommitRefused) as refused:
        committed(leaf, comments(too_large) + SLOWER)
    assert str(refused.value).startswith("rft-leaf: did not accept `ip link set dev swp2 mtu 70000 up`. ")
    assert (ports(leaf), leaf.running()) == (FORMER, former)


def test_what_a_candidate_replaces_is_a_text_that_restores_it(leaf: Node) -> None:
    with leaf.session() as session:
        former = session.stage(comments(CHANGED) + text(LEAF)).former
        assert session.running().text == former.removeprefix(comments(FORMER))
        committed(leaf, comments(CHANGED) + text(LEAF))
        session.confirm(change())
    committed(leaf, former)
    with leaf.session() as session:
        session.confirm(change())
    assert ports(leaf) == FORMER


def test_a_port_of_its_own_session_is_not_shut_down(leaf: Node) -> None:
    mtu = json.loads(leaf.inside("ip", "-j", "link", "show", "mgmt0"))[0]["mtu"]
    with leaf.session() as session, pytest.raises(CommitRefused) as refused:
        session.stage(comments({"mgmt0": PortSettings(mtu, enabled=False)}) + text(LEAF))
    assert "would lose this SSH session with `interface mgmt0` shut down" in str(refused.value)


def test_a_system_that_is_not_ours_is_left_alone(leaf: Node) -> None:
    foreign = replace(leaf, endpoint=replace(leaf.endpoint, owns_system=False))
    with foreign.session() as session:
        staged = session.stage(comments(CHANGED) + text(LEAF))
    assert (staged.diff, staged.text) == ("", text(LEAF))
    committed(foreign, comments(CHANGED) + SLOWER)
    assert ports(leaf) == FORMER

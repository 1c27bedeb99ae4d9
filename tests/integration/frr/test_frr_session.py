"""The session of the FRR platform against real FRR over real SSH."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_interface
from pathlib import Path
from threading import Barrier

import pytest
from tests.integration.frr.bench import (
    CREDENTIALS,
    SPINE,
    Node,
    change,
    eventually,
    push,
    settle,
    ssh_server,
    without_version,
)
from tests.platforms.frr.switches import LEAF, RICH, SLOWER, text, with_bgp
from tests.sampled import sampled

from railfab.device import BfdTimers, DeviceModel, Policy
from railfab.endpoints import Credentials, read_credentials
from railfab.errors import CommitRefused, DeviceError, LoginRefused, Unreachable, UnsupportedFeature
from railfab.platforms import Verb, platform
from railfab.platforms.frr.on_switch import PYTHON, program
from railfab.platforms.frr.on_switch.commands import uptime
from railfab.platforms.frr.session import FrrSession

pytestmark = pytest.mark.lab

Switches = tuple[Node, Node]


def established(node: Node, for_s: float = 0.0) -> dict[str, int]:
    """Number of times that each session of a switch has come up, of those that have been up for so long."""
    return {
        peer: neighbor["connectionsEstablished"]
        for peer, neighbor in node.show("bgp vrf default neighbors").items()
        if isinstance(neighbor, dict)
        and neighbor.get("bgpState") == "Established"
        and neighbor["bgpTimerUpMsec"] >= 1000 * for_s
    }


@pytest.fixture
def leaf(switches: Switches) -> Node:
    """The leaf with its model, whatever the test before it did."""
    return settle(switches[0], LEAF)


@pytest.fixture
def leaf_at_work(leaf: Node) -> Node:
    """The leaf with its sessions up; a new one may still end when the two ends have connected to each other."""
    assert eventually(lambda: len(established(leaf, for_s=3)) == 3), leaf.inside("vtysh", "-c", "show bgp summary")
    return leaf


def test_a_switch_boots_from_the_rendered_text(switches: Switches) -> None:
    assert without_version(switches[1].running()) == text(SPINE)


@pytest.fixture
def empty_leaf(switches: Switches) -> Node:
    """The leaf without a configuration, whatever the test before it did."""
    node = switches[0]
    node.startup.write_text("")
    node.inside("/usr/lib/frr/watchfrr.sh", "restart", "all")
    assert eventually(lambda: "frr version" in node.running() and "router bgp" not in node.running())
    return node


def test_a_first_push_configures_an_empty_switch(empty_leaf: Node) -> None:
    node = empty_leaf
    with node.session() as session:
        staged = session.stage(text(LEAF))
        assert "+router bgp 4200001001" in staged.diff.splitlines()
        session.commit(staged, change(), 300)
        assert session.stage(text(LEAF)).diff == ""
        session.confirm(change())
        assert platform("frr").parse(session.running().text) == LEAF
    assert without_version(node.running()) == text(LEAF)
    assert platform("frr").parse(node.startup.read_text()) == LEAF
    assert node.left_behind() == set()


def test_the_same_model_again_changes_nothing(leaf_at_work: Node) -> None:
    before = established(leaf_at_work)
    with leaf_at_work.session() as session:
        assert session.stage(text(LEAF)).diff == ""
    push(leaf_at_work, LEAF)
    assert established(leaf_at_work) == before


def test_a_switch_says_what_it_is_and_what_it_runs(leaf: Node) -> None:
    with leaf.session() as session:
        found = session.running()
        again = session.running()
        assert found == again
        session.commit(session.stage(text(SLOWER)), change(), 300)
        assert session.running().revision != found.revision
        session.revert(change())
        assert session.running() == found
    assert (found.identity.hostname, found.identity.version, found.pending) == ("rft-leaf", "8.4.4", None)


def test_sessions_neighbours_and_mtu_are_observed(leaf_at_work: Node) -> None:
    with leaf_at_work.session() as session:
        assert eventually(lambda: all(found.bfd_up for found in session.observe().sessions))
        seen = session.observe()
        assert seen.next_hop_widths is None
        assert eventually(lambda: max(session.observe(resolved=False, routes=True).next_hop_widths or {0: 0}) == 3)
    assert {found.interface for found in seen.sessions} == {"swp1", "swp3", "swp10"}
    for found in seen.sessions:
        assert (found.established, found.remote_as, found.neighbor_device) == (True, 65001, "rft-spine")
    ports = {found.name: found for found in seen.interfaces}
    assert set(ports) == {"mgmt0", "swp1", "swp2", "swp3", "swp10"}
    assert all(ports[name].oper_up and ports[name].mtu_bytes == 9000 for name in ports if name != "mgmt0")


def test_the_loopback_of_the_other_end_is_reached_over_both_kinds_of_session(leaf_at_work: Node) -> None:
    def hops() -> list[dict[str, str]]:
        found = leaf_at_work.show("ip route 10.254.1.1/32")
        return found["10.254.1.1/32"][0]["nexthops"] if found else []

    assert eventually(lambda: len(hops()) == 3)
    assert {(hop["interfaceName"], hop["afi"]) for hop in hops()} == {
        ("swp1", "ipv6"),
        ("swp3", "ipv4"),
        ("swp10", "ipv6"),
    }


def _changed(number: int) -> DeviceModel:
    """The leaf with other sessions, other interfaces and policies, no neighbour and another AS number, or all of it."""
    *ports, loopback = LEAF.interfaces
    swp1, swp3, swp10 = LEAF.neighbors
    slow = BfdTimers(interval_ms=1500, multiplier=3)
    elsewhere = (replace(swp1, remote_as=65009, bfd=slow), replace(swp3, bfd=slow), replace(swp10, bfd=None))
    moved = replace(loopback, addresses=(ip_interface("10.255.1.7/32"),))
    export, imports = LEAF.policies
    policies = (Policy(name="aaa", rules=imports.rules), Policy(name="fabric-export", rules=export.rules[::-1]))
    open_ended = replace(swp1, import_policies=("aaa",)), replace(swp3, import_policies=())
    alone = with_bgp(LEAF, asn=64999, max_paths=256, neighbors=())
    return (
        replace(with_bgp(LEAF, neighbors=elsewhere), interfaces=(*ports, moved)),
        replace(
            with_bgp(LEAF, neighbors=open_ended, requires_policy=False, multiple_as=False),
            interfaces=(replace(ports[0], enabled=False), *ports[2:], loopback),
            policies=policies,
        ),
        replace(alone, policies=(), drain=True),
        replace(RICH, name=LEAF.name),
    )[number]


@pytest.mark.parametrize("number", sampled(range(4), few=[3]))
def test_any_change_is_applied_and_reverted_completely(leaf: Node, number: int) -> None:
    running, changed = leaf.running(), _changed(number)
    with leaf.session() as session:
        session.commit(session.stage(text(changed)), change(), 300)
        assert session.stage(text(changed)).diff == ""
        assert platform("frr").parse(session.running().text) == changed
        session.revert(change())
        assert session.running().text == running
    assert leaf.left_behind() == set()


def test_a_change_shows_as_unified_lines_and_resets_no_session(leaf_at_work: Node) -> None:
    before = established(leaf_at_work)
    with leaf_at_work.session() as session:
        staged = session.stage(text(SLOWER))
        lines = staged.diff.splitlines()
        assert lines[:2] == ["--- running", "+++ candidate"]
        assert {"-  maximum-paths 64", "+  maximum-paths 2", "+ neighbor swp1 timers 5 15"} <= set(lines)
        session.commit(staged, change(), 300)
        session.confirm(change())
    assert without_version(leaf_at_work.running()) == text(SLOWER)
    assert established(leaf_at_work) == before


@pytest.mark.parametrize(
    ("found", "bad", "message"),
    [
        (
            " neighbor swp1 bfd\n",
            " neighbor swp1 bogus-knob 7\n",
            "rejects line 35: % Unknown command: neighbor swp1 bogus-knob 7",
        ),
        ("  maximum-paths 64\n", "  maximum-paths sixty\n", "rejects line 52: % Unknown command: maximum-paths sixty"),
    ],
    ids=["unknown", "value"],
)
def test_a_bad_line_is_refused_with_nothing_changed(leaf_at_work: Node, found: str, bad: str, message: str) -> None:
    running, before = leaf_at_work.running(), established(leaf_at_work)
    broken = text(LEAF).replace(found, bad, 1)
    with leaf_at_work.session() as session, pytest.raises(CommitRefused) as refused:
        session.stage(broken)
    assert str(refused.value) == f"rft-leaf: {message}. Correct it; the switch is unchanged."
    assert leaf_at_work.running() == running
    assert established(leaf_at_work) == before
    assert leaf_at_work.left_behind() == set()


def test_a_line_that_fails_only_when_applied_is_reverted(leaf_at_work: Node) -> None:
    running, before, saved = leaf_at_work.running(), established(leaf_at_work), leaf_at_work.startup.read_text()
    broken = text(SLOWER).replace(" neighbor swp1 bfd\n", " neighbor 10.9.9.9 peer-group NOPE\n neighbor swp1 bfd\n", 1)
    with leaf_at_work.session() as session, pytest.raises(CommitRefused) as refused:
        session.commit(session.stage(broken), change(), 300)
    message = "`neighbor 10.9.9.9 peer-group NOPE`: % Configure the peer-group first"
    assert str(refused.value) == f"rft-leaf: {message}. Correct it; the switch runs its former configuration."
    assert leaf_at_work.running() == running
    assert leaf_at_work.startup.read_text() == saved
    assert established(leaf_at_work) == before
    assert leaf_at_work.left_behind() == set()


def test_the_file_of_another_switch_is_refused(leaf: Node) -> None:
    running = leaf.running()
    problem = "has hostname rft-leaf, but the configuration is for rft-spine"
    with leaf.session() as session, pytest.raises(CommitRefused) as refused:
        session.stage(text(SPINE))
    assert str(refused.value) == f"rft-leaf: {problem}. Check the address, or set the system's hostname."
    assert leaf.running() == running


def test_a_switch_that_was_changed_since_it_was_staged_is_not_changed(leaf: Node) -> None:
    with leaf.session() as session:
        staged = session.stage(text(SLOWER))
        leaf.inside("vtysh", "-c", "configure terminal", "-c", "interface swp2", "-c", "description by hand")
        running = leaf.running()
        with pytest.raises(CommitRefused) as refused:
            session.commit(staged, change(), 300)
        assert session.running().pending is None
    problem = "has changed since its differences were shown"
    assert str(refused.value) == f"rft-leaf: {problem}. Review them with --plan, then deploy again."
    assert leaf.running() == running


def test_a_revert_of_nothing_does_nothing(leaf: Node) -> None:
    running = leaf.running()
    with leaf.session() as session:
        session.revert(change())
        session.commit(session.stage(text(SLOWER)), change(), 300)
        session.revert(change("another"))
        assert session.running().pending is not None
        session.revert(change())
        session.revert(change())
        assert session.running().text == running


def test_a_pending_change_is_read_by_name_with_its_time(leaf: Node) -> None:
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
    with leaf.session() as later:
        pending = later.running().pending
        later.revert(change())
        assert later.running().pending is None
    assert pending is not None
    assert pending.change == change()
    assert pending.reverts_in_s is not None
    assert 200 < pending.reverts_in_s < 300
    assert pending.description.startswith("deploy1 of alice@desk, made ")
    assert pending.description.endswith(" s unless it is confirmed")


def test_a_later_session_confirms_and_only_then_the_startup_changes(leaf: Node) -> None:
    saved = leaf.startup.read_text()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
    assert leaf.startup.read_text() == saved
    with leaf.session() as later:
        later.confirm(change())
        later.confirm(change())
        assert later.running().pending is None
    assert eventually(lambda: leaf.programs() == [])
    assert without_version(leaf.running()) == text(SLOWER)
    assert without_version(leaf.startup.read_text()) == text(SLOWER)
    assert leaf.left_behind() == set()


def test_a_startup_file_keeps_its_owner_and_mode(leaf: Node) -> None:
    leaf.startup.chmod(0o640)
    shutil.chown(leaf.startup, "frr", "frr")
    push(leaf, SLOWER)
    found = leaf.startup.stat()
    assert (leaf.startup.owner(), leaf.startup.group(), found.st_mode & 0o777) == ("frr", "frr", 0o640)


def test_a_startup_file_that_is_a_mount_point_is_saved_too(leaf: Node) -> None:
    behind = leaf.root / "behind.conf"
    behind.write_text("hostname rft-leaf\n")
    leaf.inside("mount", "--bind", str(behind), "/etc/frr/frr.conf")
    try:
        push(leaf, SLOWER)
        assert without_version(behind.read_text()) == text(SLOWER)
    finally:
        leaf.inside("umount", "/etc/frr/frr.conf")
    assert not (leaf.root / "etc" / "frr.conf.railfab").exists()


def test_a_confirmation_that_holds_the_lock_when_the_time_is_over_wins(leaf: Node) -> None:
    """The job that reverts waits for the lock, and looks then whether the change is still pending."""
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 6)
        with leaf.locked():
            folder = leaf.root / "run" / "railfab"
            deadline = json.loads((folder / "change" / "record.json").read_text())["deadline"]
            assert eventually(lambda: uptime() > deadline and leaf.waiting_for_lock() == [leaf.job()])
            (folder / "change").rename(folder / "removed")
    assert eventually(lambda: leaf.programs() == [])
    assert without_version(leaf.running()) == text(SLOWER)


def test_the_switch_reverts_an_unconfirmed_change_and_refuses_a_confirmation_that_comes_too_late(leaf: Node) -> None:
    running, saved = leaf.running(), leaf.startup.read_text()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 4)
        assert without_version(leaf.running()) == text(SLOWER)
        assert eventually(lambda: not leaf.left_behind())
        assert (leaf.running(), leaf.startup.read_text()) == (running, saved)
        with pytest.raises(CommitRefused) as refused:
            session.confirm(change())
    problem = "was not confirmed in time and has restored its former configuration"
    assert str(refused.value) == f"rft-leaf: {problem}. Deploy again."


def test_a_confirmation_of_what_does_not_run_any_more_is_refused(leaf: Node) -> None:
    """As after a restart of FRR, which boots the former configuration."""
    running, saved = leaf.running(), leaf.startup.read_text()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        leaf.inside("vtysh", "-c", "configure terminal", "-c", "interface swp2", "-c", "description by hand")
        with pytest.raises(CommitRefused) as refused:
            session.confirm(change())
        session.revert(change())
    problem = "no longer runs what was committed, so it is not saved and will be reverted"
    assert str(refused.value) == f"rft-leaf: {problem}. Find out who changed or restarted it, then deploy again."
    assert (leaf.running(), leaf.startup.read_text()) == (running, saved)


def test_a_second_change_is_refused_with_who_holds_the_switch_and_since_when(leaf: Node) -> None:
    with leaf.session() as first, leaf.session() as second:
        staged = second.stage(text(SLOWER))
        first.commit(first.stage(text(SLOWER)), change(), 300)
        with pytest.raises(CommitRefused) as refused:
            second.commit(staged, change("deploy2"), 300)
        first.revert(change())
        second.commit(staged, change("deploy2"), 300)
        second.revert(change("deploy2"))
    message = str(refused.value)
    assert message.startswith("rft-leaf: has an unconfirmed change: deploy1 of alice@desk, made ")
    assert message.endswith(" s unless it is confirmed. Confirm or revert it first.")
    assert without_version(leaf.running()) == text(LEAF)


def test_of_two_sessions_that_commit_at_the_same_time_one_wins(leaf: Node) -> None:
    def commit(name: str) -> str:
        with leaf.session() as session:
            staged = session.stage(text(SLOWER))
            ready.wait(30)
            try:
                session.commit(staged, change(name), 300)
            except CommitRefused as refused:
                return str(refused)
        return "won"

    ready = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(("one", "two"), pool.map(commit, ("one", "two")), strict=True))
    winner = next(name for name, answer in answers.items() if answer == "won")
    loser = answers["two" if winner == "one" else "one"]
    assert loser.startswith(f"rft-leaf: has an unconfirmed change: {winner} of alice@desk, made ")
    with leaf.session() as session:
        session.confirm(change(winner))
    assert without_version(leaf.startup.read_text()) == text(SLOWER)


def test_a_change_whose_job_was_killed_is_recognised_and_reverted_by_name(leaf: Node) -> None:
    running = leaf.running()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
    leaf.kill(leaf.job())
    with leaf.session() as session:
        pending = session.running().pending
        session.revert(change())
        assert session.running().text == running
    assert pending is not None
    assert (pending.change, pending.reverts_in_s) == (change(), None)
    assert pending.description.endswith("is not reverted by the switch, because its rollback job was killed")


def test_a_truncated_request_is_not_carried_out(leaf: Node) -> None:
    """As when the connection breaks while the candidate is sent."""
    running = leaf.running()
    with leaf.session() as session:
        answer = session._shell.run(shlex.join([*PYTHON, program()]), stdin='{"verb": "commit", "text": "host')
    assert json.loads(answer.out)["refused"][1] == "did not receive the whole configuration"
    assert leaf.running() == running


def test_the_program_for_the_switch_needs_no_newer_python_than_its_pages_say() -> None:
    ast.parse(program(), feature_version=(3, 8))


def test_the_program_for_the_switch_does_not_import_typing_which_each_verb_would_wait_for() -> None:
    assert not re.search(r"(?m)^(from|import) typing", program())


def refusal(session: FrrSession, kind: type[Exception]) -> str:
    with pytest.raises(kind) as refused, session:
        pass
    return str(refused.value)


def test_a_wrong_password_is_a_one_line_error(leaf: Node) -> None:
    wrong = FrrSession(leaf.endpoint, Credentials("admin", "wrong"))
    message = f"rft-leaf: rejects user 'admin' or the password. Check {leaf.endpoint.credentials}."
    assert refusal(wrong, LoginRefused) == message


def test_a_host_key_that_is_not_known_is_a_one_line_error(leaf: Node, tmp_path: Path) -> None:
    empty = tmp_path / "known_hosts"
    empty.write_text("")
    stranger = FrrSession(replace(leaf.endpoint, known_hosts=str(empty)), CREDENTIALS)
    message = f"rft-leaf: has a host key that is not in {empty}. Check the key, then add it."
    assert refusal(stranger, LoginRefused) == message


def test_a_host_key_that_has_changed_is_refused(switches: Switches, tmp_path: Path) -> None:
    node, other = switches
    wrong = tmp_path / "known_hosts"
    wrong.write_text(f"{node.endpoint.host} {(other.root / 'host.key.pub').read_text()}")
    stranger = FrrSession(replace(node.endpoint, known_hosts=str(wrong)), CREDENTIALS)
    message = f"rft-leaf: has a host key that is not in {wrong}. Check the key, then add it."
    assert refusal(stranger, LoginRefused) == message


def test_the_user_may_say_that_host_keys_are_not_checked(leaf: Node, tmp_path: Path) -> None:
    unchecked = replace(leaf.endpoint, known_hosts=str(tmp_path / "none"), skip_verify=True)
    with FrrSession(unchecked, CREDENTIALS) as session:
        assert session.running().text == leaf.running()


def test_a_switch_that_is_not_there_is_a_one_line_error(leaf: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railfab.platforms.shared.root_shell.RETRY_AFTER_S", 0.01)
    away = FrrSession(replace(leaf.endpoint, ssh_port=2222), CREDENTIALS)
    message = (
        f"rft-leaf: no SSH connection to {leaf.endpoint.host} port 2222. Check the address and that the switch is up."
    )
    assert refusal(away, Unreachable) == message


def test_a_key_logs_in_without_a_password(leaf: Node, tmp_path: Path) -> None:
    login = tmp_path / "login.yml"
    login.write_text(f"username: admin\nkey_file: {leaf.root / 'user.key'}\n")
    endpoint = replace(leaf.endpoint, credentials=str(login))
    with FrrSession(endpoint, read_credentials(endpoint)) as session:
        assert session.running().text == leaf.running()


def test_a_key_that_is_not_wanted_is_a_one_line_error(leaf: Node, tmp_path: Path) -> None:
    other = FrrSession(leaf.endpoint, Credentials("admin", "", str(leaf.root / "host.key")))
    message = f"rft-leaf: rejects user 'admin' or the key. Check {leaf.endpoint.credentials}."
    assert refusal(other, LoginRefused) == message
    absent = FrrSession(leaf.endpoint, Credentials("admin", "", str(tmp_path / "none")))
    message = f"rft-leaf: key file {tmp_path / 'none'} does not exist. Check {leaf.endpoint.credentials}."
    assert refusal(absent, LoginRefused) == message


@pytest.fixture
def hidden(switches: Switches) -> Iterator[Callable[[str], None]]:
    """Hides a folder of the spine behind an empty one, for the length of a test."""
    spine, folders = switches[1], list[str]()

    def hide(folder: str) -> None:
        spine.inside("mount", "-t", "tmpfs", "tmpfs", folder)
        folders.append(folder)

    yield hide
    for folder in folders:
        spine.inside("umount", folder)


def test_a_switch_whose_frr_does_not_run_is_a_one_line_error(switches: Switches, hidden: Callable[[str], None]) -> None:
    hidden("/var/run/frr")
    with switches[1].session() as session, pytest.raises(DeviceError) as refused:
        session.running()
    problem = "zebra and staticd and bgpd and bfdd do not run"
    assert str(refused.value) == f"rft-spine: {problem}. Start them, or check /etc/frr/daemons."


def test_a_switch_without_frr_s_tools_is_a_one_line_error(switches: Switches, hidden: Callable[[str], None]) -> None:
    hidden("/usr/lib/frr")
    with switches[1].session() as session:
        assert session.stage(text(SPINE)).diff == "", "equal lines need no frr-reload.py"
        with pytest.raises(DeviceError) as refused:
            session.stage(text(with_bgp(SPINE, max_paths=2)))
    assert str(refused.value) == "rft-spine: has no frr-reload.py. Install frr-pythontools on the switch."


# What sudo does, from parts that every Linux has: a copy of setpriv that runs as root whoever calls it.
SUDO = """#!/bin/sh
[ "$1" = -n ] && shift
exec /usr/local/sbin/become-root --reuid 0 --regid 0 --clear-groups "$@"
"""


@pytest.fixture
def plain_user(switches: Switches, hidden: Callable[[str], None]) -> Iterator[Node]:
    """The spine, reached as a user who is not root."""
    spine = switches[1]
    for name in ("host.key", "login.yml"):
        shutil.chown(spine.root / name, "nobody")
    hidden("/usr/local/sbin")
    user = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")
    with ssh_server(spine.root, spine.pid, spine.endpoint.host, 2022, user=user) as server:
        yield replace(spine, endpoint=replace(spine.endpoint, ssh_port=2022, skip_verify=True))
        os.killpg(server.pid, signal.SIGTERM)


def test_a_user_who_cannot_become_root_is_a_one_line_error(plain_user: Node) -> None:
    problem = "user 'admin' is not root and sudo asks for a password"
    message = f"rft-spine: {problem}. Log in as root, or allow sudo without a password."
    assert refusal(plain_user.session(), LoginRefused) == message


def test_a_user_who_may_become_root_can_do_all_that_root_can(plain_user: Node) -> None:
    plain_user.inside("cp", "/usr/bin/setpriv", "/usr/local/sbin/become-root")
    plain_user.inside("sh", "-c", 'printf %s "$1" > /usr/local/sbin/sudo', "sh", SUDO)
    plain_user.inside("chmod", "4755", "/usr/local/sbin/become-root")
    plain_user.inside("chmod", "755", "/usr/local/sbin", "/usr/local/sbin/sudo")
    slower = with_bgp(SPINE, max_paths=2)
    with plain_user.session() as session:
        staged = session.stage(text(slower))
        session.commit(staged, change(), 300)
        session.revert(change())
        assert without_version(session.running().text) == text(SPINE)


def test_an_operator_drains_and_returns_a_switch(leaf_at_work: Node, switches: Switches) -> None:
    spine, community = switches[1], "65535:0"

    def received() -> str:
        return json.dumps(spine.show("bgp ipv4 unicast 10.255.1.1/32"))

    assert eventually(lambda: "10.255.1.1" in received())
    assert "graceful-shutdown" not in received().lower()
    with leaf_at_work.session() as session:
        session.operate(Verb.DRAIN)
        assert session.running().drained
        assert eventually(lambda: community in received() or "graceful-shutdown" in received().lower())
        session.operate(Verb.UNDRAIN)
        assert not session.running().drained
    assert eventually(lambda: "graceful-shutdown" not in received().lower() and community not in received())
    assert not (leaf_at_work.startup.parent / "railfab.drained").exists()
    assert without_version(leaf_at_work.running()) == text(LEAF)


VRF = "router bgp 4200001001 vrf blue"


def test_a_drain_by_a_verb_stays_with_whatever_is_pushed(leaf: Node) -> None:
    drained, slower = text(replace(LEAF, drain=True)), text(replace(SLOWER, drain=True))
    with leaf.session() as session:
        session.operate(Verb.DRAIN)
        staged = session.stage(text(LEAF))
        assert (staged.diff, staged.text, without_version(staged.former)) == ("", drained, text(LEAF))
        of_vrf = session.stage(f"{text(LEAF)}{VRF}\nexit\n!\n")
        assert f"{VRF}\n bgp graceful-shutdown\nexit" in of_vrf.text
        session.commit(session.stage(text(SLOWER)), change("slower"), 300)
        session.confirm(change("slower"))
        assert (without_version(leaf.running()), session.running().drained) == (slower, True)
    assert without_version(leaf.startup.read_text()) == slower


def test_a_drain_that_is_saved_stays_over_a_restart_and_one_that_is_not_ends_with_it(leaf: Node) -> None:
    with leaf.session() as session:
        session.operate(Verb.DRAIN)
        session.operate(Verb.SAVE)
        session.operate(Verb.RELOAD)
        assert session.running().drained
        session.operate(Verb.UNDRAIN)
        session.operate(Verb.SAVE)
        session.operate(Verb.DRAIN)
        session.operate(Verb.RELOAD)
        assert not session.running().drained
        assert session.stage(text(LEAF)).text == text(LEAF)


def test_the_drain_of_an_intent_is_not_that_of_a_verb(leaf: Node) -> None:
    drained = replace(LEAF, drain=True)
    with leaf.session() as session:
        push(leaf, drained)
        assert not session.running().drained
        assert session.stage(text(LEAF)).text == text(LEAF)
        session.operate(Verb.DRAIN)
        assert session.running().drained
        assert session.stage(text(LEAF)).text == text(drained)
        session.operate(Verb.UNDRAIN)
    assert without_version(leaf.running()) == text(LEAF)


def test_a_drain_that_was_ended_by_hand_is_forgotten_with_the_next_change(leaf: Node) -> None:
    router = ("vtysh", "-c", "configure terminal", "-c", "router bgp 4200001001")
    with leaf.session() as session:
        session.operate(Verb.DRAIN)
        leaf.inside(*router, "-c", "no bgp graceful-shutdown")
        assert not session.running().drained
        push(leaf, replace(LEAF, drain=True))
        assert not session.running().drained
        push(leaf, LEAF)
    assert without_version(leaf.running()) == text(LEAF)


def test_an_operator_saves_the_running_configuration_and_restarts_frr_with_it(leaf: Node) -> None:
    with leaf.session() as session:
        leaf.inside("vtysh", "-c", "configure terminal", "-c", "interface swp2", "-c", "description kept")
        session.operate(Verb.SAVE)
        leaf.inside("vtysh", "-c", "configure terminal", "-c", "interface swp2", "-c", "description lost")
        session.operate(Verb.RELOAD)
        assert " description kept" in session.running().text.splitlines()
    assert " description kept" in leaf.startup.read_text().splitlines()


def test_a_restart_that_the_switch_has_no_means_for_is_refused_by_name(leaf: Node) -> None:
    daemons = leaf.root / "etc" / "daemons"
    daemons.rename(daemons.with_suffix(".away"))
    try:
        with leaf.session() as session, pytest.raises(UnsupportedFeature) as refused:
            session.operate(Verb.RELOAD)
    finally:
        daemons.with_suffix(".away").rename(daemons)
    assert str(refused.value).startswith("rft-leaf: cannot restart FRR without systemd or /etc/frr/daemons.")


@pytest.mark.parametrize("verb", sampled([Verb.SAVE, Verb.DRAIN, Verb.UNDRAIN, Verb.RELOAD], few=[Verb.RELOAD]))
def test_nothing_is_done_to_a_switch_with_a_pending_change(leaf: Node, verb: Verb) -> None:
    saved = leaf.startup.read_text()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        with pytest.raises(CommitRefused) as refused:
            session.operate(verb)
        session.revert(change())
    assert "has an unconfirmed change: deploy1 of alice@desk" in str(refused.value)
    assert leaf.startup.read_text() == saved

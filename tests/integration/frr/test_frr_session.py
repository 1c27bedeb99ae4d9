"""The session of the FRR platform against real FRR over real SSH."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import ip_interface
from pathlib import Path

import pytest
from tests.integration.frr.bench import CREDENTIALS, Node, ssh_server, within
from tests.platforms.frr.switches import LEAF, RICH, SPINE, text, with_bgp, with_neighbors

from railfab.device import BfdTimers, BgpTimers, DeviceModel, Policy
from railfab.endpoints import Credentials, read_credentials
from railfab.errors import CommitRefused, DeviceError, LoginRefused, Unreachable
from railfab.platforms import platform
from railfab.platforms.frr.session import FrrSession
from railfab.platforms.frr.transaction import FOLDER

pytestmark = pytest.mark.lab

Switches = tuple[Node, Node]
SLOWER = with_neighbors(with_bgp(LEAF, max_paths=2), timers=BgpTimers(keepalive_s=5, hold_s=15))
"""Another model of the same switch, whose change resets no session."""


def without_version(running: str) -> str:
    return "".join(line for line in running.splitlines(keepends=True) if not line.startswith("frr version"))


def push(node: Node, model: DeviceModel) -> None:
    with node.session() as session:
        session.commit(text(model), confirm_within_s=300)
        session.confirm()


def established(node: Node) -> dict[str, int]:
    """Number of times that each established session of a switch has come up."""
    peers = json.loads(node.inside("vtysh", "-c", "show bgp vrf default neighbors json"))
    return {
        peer: found["connectionsEstablished"]
        for peer, found in peers.items()
        if isinstance(found, dict) and found.get("bgpState") == "Established"
    }


@pytest.fixture
def leaf(switches: Switches) -> Node:
    """The leaf with its model, whatever the test before it did."""
    node = switches[0]
    if without_version(node.running()) != text(LEAF):
        push(node, LEAF)
    return node


@pytest.fixture
def leaf_at_work(leaf: Node) -> Node:
    assert within(30, lambda: len(established(leaf)) == 3), leaf.inside("vtysh", "-c", "show bgp summary")
    return leaf


def test_a_switch_boots_from_the_rendered_text(switches: Switches) -> None:
    assert without_version(switches[1].running()) == text(SPINE)


def test_a_first_push_configures_an_empty_switch(switches: Switches) -> None:
    node = switches[0]
    with node.session() as session:
        assert "+router bgp 4200001001" in session.diff(text(LEAF)).splitlines()
        session.commit(text(LEAF), confirm_within_s=300)
        assert session.diff(text(LEAF)) == ""
        session.confirm()
        assert platform("frr").parse(session.load()) == LEAF
    assert without_version(node.running()) == text(LEAF)
    saved = (node.root / "etc" / "frr.conf").read_text()
    assert platform("frr").parse(saved) == LEAF
    assert node.left_behind() == set()


def test_the_same_model_again_changes_nothing(leaf_at_work: Node) -> None:
    before = established(leaf_at_work)
    with leaf_at_work.session() as session:
        assert session.diff(text(LEAF)) == ""
    push(leaf_at_work, LEAF)
    assert established(leaf_at_work) == before


def test_sessions_neighbours_and_mtu_are_observed(leaf_at_work: Node) -> None:
    with leaf_at_work.session() as session:
        assert within(20, lambda: all(found.bfd_up for found in session.observe().sessions))
        seen = session.observe()
    assert {found.interface for found in seen.sessions} == {"swp1", "swp3", "swp10"}
    for found in seen.sessions:
        assert (found.established, found.remote_as, found.neighbor_device) == (True, 65001, "rft-spine")
    ports = {found.name: found for found in seen.interfaces}
    assert set(ports) == {"mgmt0", "swp1", "swp2", "swp3", "swp10"}
    assert all(ports[name].oper_up and ports[name].mtu_bytes == 9000 for name in ports if name != "mgmt0")


def test_the_loopback_of_the_other_end_is_reached_over_both_kinds_of_session(leaf_at_work: Node) -> None:
    def hops() -> list[dict[str, str]]:
        found = json.loads(leaf_at_work.inside("vtysh", "-c", "show ip route 10.254.1.1/32 json"))
        return found["10.254.1.1/32"][0]["nexthops"] if found else []

    assert within(20, lambda: len(hops()) == 3)
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


@pytest.mark.parametrize("number", range(4))
def test_any_change_is_applied_and_rolled_back_completely(leaf: Node, number: int) -> None:
    running, changed = leaf.running(), _changed(number)
    with leaf.session() as session:
        session.commit(text(changed), confirm_within_s=300)
        assert session.diff(text(changed)) == ""
        assert platform("frr").parse(session.load()) == changed
        session.rollback()
        assert session.load() == running
    assert leaf.left_behind() == set()


def test_a_change_shows_as_unified_lines_and_resets_no_session(leaf_at_work: Node) -> None:
    before = established(leaf_at_work)
    with leaf_at_work.session() as session:
        lines = session.diff(text(SLOWER)).splitlines()
        assert lines[:2] == ["--- running", "+++ candidate"]
        assert {"-  maximum-paths 64", "+  maximum-paths 2", "+ neighbor swp1 timers 5 15"} <= set(lines)
        session.commit(text(SLOWER), confirm_within_s=300)
        session.confirm()
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
    with leaf_at_work.session() as session:
        for verb in (session.diff, lambda text: session.commit(text, confirm_within_s=300)):
            with pytest.raises(CommitRefused) as refused:
                verb(broken)
            assert str(refused.value) == f"rft-leaf: {message}. Correct it; the switch is unchanged."
    assert leaf_at_work.running() == running
    assert established(leaf_at_work) == before
    assert leaf_at_work.left_behind() == set()


def test_a_line_that_fails_only_when_applied_is_rolled_back(leaf_at_work: Node) -> None:
    running, before = leaf_at_work.running(), established(leaf_at_work)
    broken = text(SLOWER).replace(" neighbor swp1 bfd\n", " neighbor 10.9.9.9 peer-group NOPE\n neighbor swp1 bfd\n", 1)
    with leaf_at_work.session() as session, pytest.raises(CommitRefused) as refused:
        session.commit(broken, confirm_within_s=300)
    message = "`neighbor 10.9.9.9 peer-group NOPE`: % Configure the peer-group first"
    assert str(refused.value) == f"rft-leaf: {message}. Correct it; the switch runs its former configuration."
    assert leaf_at_work.running() == running
    assert established(leaf_at_work) == before
    assert leaf_at_work.left_behind() == set()


def test_the_file_of_another_switch_is_refused(leaf: Node) -> None:
    running = leaf.running()
    problem = "has hostname rft-leaf, but the configuration is for rft-spine"
    with leaf.session() as session, pytest.raises(CommitRefused) as refused:
        session.diff(text(SPINE))
    assert str(refused.value) == f"rft-leaf: {problem}. Check the address, or set the system's hostname."
    assert leaf.running() == running


def test_a_rollback_of_nothing_does_nothing(leaf: Node) -> None:
    running = leaf.running()
    with leaf.session() as session:
        session.rollback()
        session.commit(text(SLOWER), confirm_within_s=300)
        session.rollback()
        session.rollback()
        assert session.load() == running


def test_an_unconfirmed_change_is_rolled_back_by_the_switch(leaf: Node) -> None:
    running = leaf.running()
    with leaf.session() as session:
        session.commit(text(SLOWER), confirm_within_s=8)
        assert without_version(leaf.running()) == text(SLOWER)
    assert within(40, lambda: leaf.running() == running)
    assert within(20, lambda: leaf.left_behind() == set())


def test_confirm_cancels_the_rollback_and_saves(leaf: Node) -> None:
    with leaf.session() as session:
        session.commit(text(SLOWER), confirm_within_s=300)
        assert leaf.counts_down()
        session.confirm()
    assert within(10, lambda: not leaf.counts_down())
    assert without_version(leaf.running()) == text(SLOWER)
    assert platform("frr").parse((leaf.root / "etc" / "frr.conf").read_text()) == SLOWER
    assert leaf.left_behind() == set()


def test_a_confirmation_that_holds_the_lock_when_the_time_is_over_wins(leaf: Node) -> None:
    """The job that rolls back waits for the lock, and looks then whether the change is still unconfirmed."""
    confirm_within_s = 6
    with leaf.session() as session:
        session.commit(text(SLOWER), confirm_within_s=confirm_within_s)
        leaf.inside("sh", "-c", f"cd {FOLDER} && exec 9>lock && flock 9 && sleep {confirm_within_s + 1} && rm armed")
    assert within(10, lambda: not leaf.counts_down())
    assert without_version(leaf.running()) == text(SLOWER)


def test_a_confirmation_that_comes_too_late_is_refused(leaf: Node) -> None:
    running = leaf.running()
    with leaf.session() as session:
        session.commit(text(SLOWER), confirm_within_s=8)
        assert within(40, lambda: leaf.running() == running and not leaf.left_behind())
        with pytest.raises(CommitRefused) as refused:
            session.confirm()
    problem = "was not confirmed in time and has restored its former configuration"
    assert str(refused.value) == f"rft-leaf: {problem}. Deploy again."


def test_two_changes_at_once_are_not_made(leaf: Node) -> None:
    with leaf.session() as first, leaf.session() as second:
        first.commit(text(SLOWER), confirm_within_s=300)
        with pytest.raises(CommitRefused) as refused:
            second.commit(text(LEAF), confirm_within_s=300)
        first.rollback()
        second.commit(text(SLOWER), confirm_within_s=300)
        second.rollback()
    message = "rft-leaf: has an unconfirmed change of another session. Wait until it is confirmed or rolled back."
    assert str(refused.value) == message
    assert without_version(leaf.running()) == text(LEAF)


def test_a_change_whose_job_has_died_does_not_block_the_next(leaf: Node) -> None:
    with leaf.session() as session:
        session.commit(text(SLOWER), confirm_within_s=300)
    job = (leaf.root / "run" / "railfab" / "job").read_text().strip()
    leaf.inside("kill", "-9", job)
    push(leaf, LEAF)
    assert without_version(leaf.running()) == text(LEAF)


def test_a_truncated_configuration_is_not_applied(leaf: Node) -> None:
    from railfab.platforms.frr import transaction

    running = leaf.running()
    with leaf.session() as session:
        length = str(len(text(SLOWER)))
        answer = session._run(transaction.arm_script(session._verbs), length, "cut", "300", stdin=text(SLOWER)[:900])
        assert answer.status == transaction.CHANGED_IN_TRANSIT
    assert leaf.running() == running


def test_confirming_nothing_is_a_device_error(leaf: Node) -> None:
    with leaf.session() as session, pytest.raises(DeviceError) as refused:
        session.confirm()
    assert str(refused.value) == "rft-leaf: has no change to confirm. Commit first."


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
        assert session.load() == leaf.running()


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
        assert session.load() == leaf.running()


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
        session.load()
    problem = "FRR does not answer (Exiting: failed to connect to any daemons.)"
    assert str(refused.value) == f"rft-spine: {problem}. Check that it is running."


def test_a_switch_without_frr_s_tools_is_a_one_line_error(switches: Switches, hidden: Callable[[str], None]) -> None:
    hidden("/usr/lib/frr")
    with switches[1].session() as session, pytest.raises(DeviceError) as refused:
        session.diff(text(SPINE))
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
        assert session.diff(text(SPINE)) == ""
        session.commit(text(slower), confirm_within_s=300)
        session.rollback()
        assert without_version(session.load()) == text(SPINE)

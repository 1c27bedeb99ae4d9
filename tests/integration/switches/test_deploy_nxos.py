"""Deploys to virtual NX-OS switches over SSH: by sessions, and by netmiko; test_deploys has the commands of a user."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration.switches.racks import (
    LEAF,
    REVERTED_WITHIN_S,
    SPINE,
    WITHIN_S,
    Railfab,
    deployed,
    left_behind,
    name,
    opened,
    rendered,
)
from tests.pasted import type_session
from tests.twin.twins import netmiko_login

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint
from railfab.errors import CommitRefused, RailfabError
from railfab.fabric.design import Design
from railfab.platforms import platform
from railfab.platforms.nxos import bootflash, replace_limits
from railfab.platforms.nxos.session import NxosSession

NAME = "nxos"
NXOS = platform("nxos")


@contextmanager
def typing(endpoint: Endpoint) -> Iterator[Any]:
    """A switch in netmiko."""
    with netmiko_login(endpoint, "cisco_nxos") as connection:
        yield connection


def typed(endpoint: Endpoint, *lines: str) -> str:
    """What a switch answers to netmiko."""
    with typing(endpoint) as connection:
        return "\n".join(str(connection.send_command(line, expect_string="# ?$")) for line in lines)


def running(endpoint: Endpoint) -> str:
    with opened(endpoint) as session:
        return session.running().text


def test_a_changed_threshold_is_one_line(leaf: Endpoint, model: DeviceModel) -> None:
    configuration = rendered(model)
    deployed(leaf, configuration, "begin")
    line = next(line for line in configuration.splitlines() if line.strip().startswith("random-detect"))
    words = line.split()
    changed = configuration.replace(line, line.replace(f" {words[2]} ", f" {int(words[2]) - 1000} ", 1), 1)
    diff = deployed(leaf, changed, "threshold")
    assert [each[0] for each in diff.splitlines() if each[:3] not in ("---", "+++") and each[0] in "+-"] == ["-", "+"]
    assert deployed(leaf, configuration, "back") != ""


def test_what_the_operator_has_configured_stays_and_a_snapshot_has_no_secret_of_it(
    leaf: Endpoint, model: DeviceModel, railfab: Railfab, state: Path
) -> None:
    deployed(leaf, rendered(model), "begin")
    operator = ("feature tacacs+", "tacacs-server host 192.0.2.9 key 7 secret-of-aaa", "snmp-server contact noc")
    typed(leaf, "configure terminal", *operator, "end")
    assert deployed(leaf, rendered(model), "none") == ""
    diff = deployed(leaf, rendered(model, description="changed"), "changed")
    assert "secret-of-aaa" not in diff
    assert all(line in running(leaf) for line in (*operator, "username admin", "interface mgmt0", "line vty"))
    deployed(leaf, rendered(model), "back")
    for place in ("one.json", "folder"):
        assert railfab("snapshot", "-o", str(state / place), "--limit", LEAF).returncode == 0
    documents = [(state / "one.json").read_text(), (state / "folder" / "snapshot.json").read_text()]
    assert [("tacacs-server host 192.0.2.9 key 7 ..." in text, "secret-of" in text) for text in documents] == [
        (True, False)
    ] * 2
    assert "secret-of-aaa" in (state / "folder" / "configurations" / LEAF).read_text()


@pytest.mark.parametrize("line", ["nonsense of somebody", "hostname pod1-seg1-leaf1 b"])
def test_a_candidate_that_the_switch_refuses_is_refused_in_its_words_and_changes_nothing(
    line: str, leaf: Endpoint, model: DeviceModel
) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    with opened(leaf) as session, pytest.raises(CommitRefused, match="Syntax error while parsing"):
        session.stage(f"{rendered(model)}\n{line}\n")
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_lines_that_need_a_reload_are_refused_before_anything_is_sent(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    carved = f"{rendered(model)}\nhardware access-list tcam region ing-racl 512\n"
    with opened(leaf) as session, pytest.raises(CommitRefused, match="would need a reload for `hardware access-list"):
        session.stage(carved)


def test_the_configuration_of_another_switch_is_refused(leaf: Endpoint, fabric: Design) -> None:
    with (
        opened(leaf) as session,
        pytest.raises(CommitRefused, match=f"has hostname {LEAF}, but the configuration is for {SPINE}"),
    ):
        session.stage(NXOS.text(NXOS.render(fabric.models[SPINE])))


def test_a_change_whose_session_is_lost_is_reverted_by_the_switch(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replace_limits, "LEAST_S", 1)
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    with opened(leaf) as session:
        session.commit(session.stage(rendered(model, description="lost")), name("lost"), 2)
        pending = session.running().pending
    assert pending is not None
    assert pending.change == name("lost")
    assert "lost of tester@here is reverted in" in pending.description
    until_s = time.monotonic() + REVERTED_WITHIN_S
    while pending is not None:
        assert time.monotonic() < until_s
        time.sleep(0.2)
        with opened(leaf) as session:
            pending = session.running().pending
    assert running(leaf) == before
    with opened(leaf) as session, pytest.raises(CommitRefused, match="has reverted the change"):
        session.confirm(name("lost"))
    assert "lost" in left_behind(leaf)
    deployed(leaf, rendered(model, description="next"), "next")
    assert left_behind(leaf) == ""
    deployed(leaf, rendered(model), "back")


def test_a_time_below_the_minimum_of_the_switch_is_the_minimum(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with opened(leaf) as session:
        session.commit(session.stage(rendered(model, description="short")), name("short"), 1)
        pending = session.running().pending
        assert pending is not None
        assert pending.reverts_in_s is not None
        assert pending.reverts_in_s > 20
        session.revert(name("short"))
    assert left_behind(leaf) == ""


def test_a_change_that_the_switch_cannot_abort_returns_by_its_checkpoint(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No source of Cisco has `configure replace abort`."""
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    with opened(leaf) as session:
        session.commit(session.stage(rendered(model, description="kept")), name("kept"), WITHIN_S)
    with opened(leaf) as session:
        assert isinstance(session, NxosSession)
        monkeypatch.setitem(session._verbs, "abort", "configure replace nonsense of a release")  # type: ignore[arg-type]
        session.revert(name("kept"))
    assert running(leaf) == before
    assert left_behind(leaf) == ""


def test_another_thread_ends_a_session_at_once(leaf: Endpoint, model: DeviceModel) -> None:
    deployed(leaf, rendered(model), "begin")
    with opened(leaf) as session:
        session.stage(rendered(model, description="ended"))
        began_s = time.monotonic()
        ending = threading.Thread(target=session.__exit__, args=(None, None, None))
        ending.start()
        ending.join(10)
        assert time.monotonic() - began_s < 2
        with pytest.raises(RailfabError):
            session.running()
    assert left_behind(leaf) == ""


def test_a_full_bootflash_is_named_and_nothing_has_changed(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed(leaf, rendered(model), "begin")
    before = running(leaf)
    monkeypatch.setattr(bootflash, "FREE_BYTES", 100)
    with opened(leaf) as session, pytest.raises(CommitRefused, match="no space left on device"):
        session.stage(rendered(model, description="large"))
    assert running(leaf) == before


def test_a_stranger_rolls_a_port_back_as_the_page_of_the_twin_shows(leaf: Endpoint) -> None:
    before = running(leaf)
    with typing(leaf) as connection:
        type_session(connection, "NX-OS", rf"{LEAF}(?:\(.*?\))?# ")
    assert running(leaf) == before

"""The CLI of a virtual Junos switch, as a recorded session and an operator with OpenSSH or netmiko meet it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.pasted import type_session
from tests.twin.twins import netmiko_login, until

from railfab.endpoints import read_credentials
from railfab.errors import CommitRefused, DeviceError, Unreachable
from railfab.fabric import Design, design
from railfab.platforms import Session, Verb, platform
from railfab.platforms.junos.cli import cli
from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.statements import read
from railfab.ssh import Cli, CliUser
from railfab.testing.sessions import _intent
from railfab.twin import Twin

RECORDED = (
    ("", "\n\nboxen> "),
    ("set cli screen-length 0", " \nScreen length set to 0\n\nboxen> "),
    ("set cli screen-width 511", " \nScreen width set to 511\n\nboxen> "),
    ("set cli complete-on-space off", " \nDisabling complete-on-space\n\nboxen> "),
    ("show version | grep Junos:", " \nJunos: VERSION\n\nboxen> "),
    ("configure", " \nEntering configuration mode\n\n[edit]\nboxen# "),
    ("", "\n\n[edit]\nboxen# "),
    ("set interfaces et-0/0/0 unit 0 description RACECAR", " \n\n[edit]\nboxen# "),
    ("show | compare", " \n[edit interfaces et-0/0/0 unit 0]\n+    description RACECAR;\n\n[edit]\nboxen# "),
    ("rollback 0", " \nload complete\n\n[edit]\nboxen# "),
    ("show | compare", " \n\n[edit]\nboxen# "),
    ("exit configuration-mode", " \nExiting configuration mode\n\nboxen> "),
)
"""Input, and output from the break of its line on, as vSRX 17.3R2.10 gave it (channel log of a replay session of
scrapli_cfg); with `set` in place of a file for `load merge`."""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("intent") / "intent.yml"
    path.write_text(yaml.safe_dump(_intent(platform("junos"))))
    return design(path)


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0, boot_s=0.5) as running:
        yield running


@pytest.fixture
def leaf(fabric: Design) -> str:
    return next(iter(fabric.models))


@pytest.fixture
def session(twin: Twin, leaf: str) -> Iterator[Cli]:
    opened = cli(twin._switches[leaf])(CliUser(name="boxen"))
    yield opened
    opened.closed()


def client(twin: Twin, leaf: str, user: str = "admin") -> Session:
    """A session of ours with a switch, not opened."""
    endpoint = twin.endpoints.by_name()[leaf]
    return platform("junos").session_factory(leaf)(endpoint, replace(read_credentials(endpoint), username=user))


def answers(twin: Twin, leaf: str) -> bool:
    """Whether the switch takes a login, as it does some time after its boot."""
    try:
        with client(twin, leaf):
            return True
    except Unreachable:
        return False


def login(twin: Twin, leaf: str) -> Any:
    """A login of netmiko, as an operator's."""
    return netmiko_login(twin.endpoints.by_name()[leaf], "juniper_junos")


def said(opened: Cli, *lines: str) -> str:
    """The output of the last of these lines."""
    return [opened.answer(line).output for line in lines][-1]


def masked(text: str) -> str:
    """A text without what differs from switch to switch: its name, the user and versions."""
    return re.sub(r"\d+\.\dR\d\S*", "VERSION", re.sub(r"(?:\S+@)?[\w-]+([>#] )$", r"boxen\1", text))


def test_a_recorded_session_is_answered_as_the_switch_did(session: Cli) -> None:
    reply = session.greeting()
    for typed, recorded in RECORDED:
        breaks = reply.line_break if typed else "\n"
        reply = session.answer(typed)
        assert masked(breaks + reply.output + reply.prompt) == recorded, typed


def test_netmiko_configures_and_commits(twin: Twin, leaf: str) -> None:
    with login(twin, leaf) as connection:
        connection.send_config_set(["set interfaces et-0/0/0 description by-netmiko"], exit_config_mode=False)
        assert "commit complete" in connection.commit(and_quit=True)
        assert "set interfaces et-0/0/0 description by-netmiko" in connection.send_command(
            "show configuration | display set"
        )
        connection.send_config_set(["delete interfaces et-0/0/0 description"], exit_config_mode=False)
        connection.commit(confirm=True, confirm_delay=1, and_quit=True)
        assert "rollback pending" in connection.send_command("show system commit")
        connection.send_config_set(["rollback 1"], exit_config_mode=False)
        connection.commit(and_quit=True)


def test_edits_of_the_shared_candidate_stay_and_keep_others_from_exclusive_mode(twin: Twin, leaf: str) -> None:
    new = cli(twin._switches[leaf])
    first, second = new(CliUser(name="eva")), new(CliUser(name="bob"))
    said(first, "configure", "set interfaces et-0/0/1 mtu 9000")
    first.closed()
    assert "error: configuration database modified" in said(second, "configure exclusive")
    assert "+    mtu 9000;" in said(second, "configure", "show | compare")
    said(second, "rollback 0", "exit")
    assert "error" not in said(first, "configure exclusive")


def test_exclusive_mode_names_its_holder_and_discards_what_is_not_committed(twin: Twin, leaf: str) -> None:
    new = cli(twin._switches[leaf])
    first, second = new(CliUser(name="eva")), new(CliUser(name="bob"))
    said(first, "configure exclusive", "set interfaces et-0/0/1 mtu 9000")
    refused = said(second, "configure")
    assert "error: configuration database locked by:" in refused
    assert "eva terminal" in refused
    first.closed()
    assert said(second, "configure", "show | compare").strip() == ""
    second.closed()


@pytest.mark.parametrize("mode", ["configure exclusive", "configure"])
def test_a_session_that_cannot_configure_names_who_does(twin: Twin, leaf: str, mode: str) -> None:
    """An exclusive session keeps all others from it; a shared one does with what it has not committed."""
    with login(twin, leaf) as holder, client(twin, leaf) as session:
        holder.config_mode(config_command=mode)
        holder.send_command("set interfaces et-0/0/1 mtu 9000", expect_string="#")
        with pytest.raises(CommitRefused, match=r"is being configured by admin since \d+-\d+-\d+ [\d:]+ UTC\. Wait"):
            session.operate(Verb.DRAIN)
        holder.send_command("rollback 0", expect_string="#")


def test_a_reload_boots_the_configuration_that_is_committed(twin: Twin, leaf: str) -> None:
    switch = twin._switches[leaf]
    boots, running = switch.boots, switch.running()
    with client(twin, leaf, "viewer") as session, pytest.raises(DeviceError, match="permission denied"):
        session.operate(Verb.RELOAD)
    assert switch.boots == boots
    with client(twin, leaf) as session:
        session.operate(Verb.RELOAD)
    until(lambda: switch.boots > boots and answers(twin, leaf))
    assert switch.running() == running


def test_a_user_who_may_only_read_does_not_configure(twin: Twin, leaf: str) -> None:
    viewer = cli(twin._switches[leaf])(CliUser(name="viewer", writes=False))
    assert said(viewer, "configure").strip() == "permission denied."
    assert "host-name" in said(viewer, "show configuration")


def test_a_candidate_without_the_login_of_root_is_refused(session: Cli) -> None:
    refused = said(session, "configure private", "delete system root-authentication", "commit check")
    assert "Missing mandatory statement: 'root-authentication'" in refused


def test_a_rendered_configuration_is_the_same_typed_in_set_commands_and_in_braces() -> None:
    intent = design(Path(__file__).parents[3] / "inventory" / "fabrics" / "mixed-junos-spine.yml")
    junos = platform("junos")
    models = [model for model in intent.models.values() if model.platform == "junos"]
    assert models
    for model in models:
        text = junos.text(junos.render(model))
        typed = Hierarchy()
        for statement in read(text):
            typed.set(statement)
        assert set(read(typed.text())) == set(read(text))
        assert read(Hierarchy.read(text).text()) == read(text)


def test_a_stranger_disables_a_port_as_the_page_of_the_twin_shows(twin: Twin, leaf: str) -> None:
    with login(twin, leaf) as connection:
        type_session(connection, "Junos", rf"admin@{leaf}[>#] ")
        assert "et-0/0/0:0 {\n        disable;\n" in twin._switches[leaf].running()
        for line in ("delete interfaces et-0/0/0:0", "commit and-quit"):
            connection.send_command(line, expect_string=r"[>#] $")

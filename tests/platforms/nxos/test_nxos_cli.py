"""The CLI of a virtual switch with NX-OS, as recorded sessions and an operator with netmiko meet it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.twin.twins import netmiko_login

from railfab.fabric import Design, design
from railfab.platforms import platform
from railfab.platforms.nxos import bootflash
from railfab.platforms.nxos.cli import cli
from railfab.platforms.nxos.tcl_text import written
from railfab.ssh import Cli, CliUser, NewCli
from railfab.testing.sessions import _intent
from railfab.twin import Twin

RECORDED = (
    ("", "switch# "),
    ("terminal length 0", "switch# "),
    ("terminal width 511", "switch# "),
    ('show version | i "NXOS: version"', "  NXOS: version 9.2(4)\nswitch# "),
    ("dir bootflash: | i 'bytes free'", " 1950945280 bytes free\nswitch# "),
    ("tclsh", "switch-tcl# "),
    ("", "switch-tcl# "),
    ('set fl [open "/bootflash/SESSION" wb+]', "file32\nswitch-tcl# "),
    ("puts -nonewline $fl {interface loopback1", "> "),
    ("}", "switch-tcl# "),
    ("puts -nonewline $fl {description tacocat", "> "),
    ("}", "switch-tcl# "),
    ("close $fl", "switch-tcl# "),
    ("tclquit", "Exiting Tcl\nswitch# "),
    ("terminal dont-ask", "switch# "),
    ("delete bootflash:SESSION", "switch# "),
    ("", "switch# "),
)
"""Input and output of a Nexus 9000v 9.2(4) (channel log of a replay session of scrapli_cfg)."""

CHECKED = """
Version match between user file and running configuration.
Pre-check for User config PASSED
Collecting Running-Config
Converting to checkpoint file
Generating Rollback Patch
Validating Patch
========================================================
`config t `
`interface Ethernet1/2`
`no description here`
`exit`
`exit`
========================================================
Patch validation completed successful
"""
REPLACED = """
Version match between user file and running configuration.
Pre-check for User config PASSED
ADVISORY: Config Replace operation started...
Modifying running configuration from another VSH terminal in parallel
is not recommended, as this may lead to Config Replace failure.

Collecting Running-Config
Generating Rollback patch for switch profile
Rollback Patch is Empty
Collecting Running-Config
Generating Rollback Patch
Executing Rollback Patch
During CR operation,will retain L3 configuration
when vrf member change on interface
Generating Running-config for verification
Generating Rollback Patch

Configure replace completed successfully. Please run 'show config-replace log exec' to see if there is \
any configuration that requires reload to take effect.
"""
RETURNED = """\
ADVISORY: Rollback operation started...
Modifying running configuration from another VSH terminal in parallel
is not recommended, as this may lead to Rollback failure.

Collecting Running-Config
Generating Rollback patch for switch profile
Rollback Patch is Empty
Collecting Running-Config
Generating Rollback Patch
Executing Rollback Patch
During CR operation,will retain L3 configuration
when vrf member change on interface
Generating Running-config for verification
Generating Rollback Patch

Rollback completed successfully.
"""
"""Texts of 9.3(1) and 10.2(2), recorded by third parties."""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("intent") / "intent.yml"
    path.write_text(yaml.safe_dump(_intent(platform("nxos"))))
    return design(path)


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0) as running:
        yield running


@pytest.fixture
def leaf(fabric: Design) -> str:
    return next(iter(fabric.models))


@pytest.fixture
def new(twin: Twin, leaf: str) -> NewCli:
    return cli(twin._switches[leaf])


@pytest.fixture
def session(new: NewCli) -> Cli:
    return new(CliUser(name="admin"))


def said(session: Cli, *lines: str) -> str:
    """The output of the last of these lines."""
    return [session.answer(line).output for line in lines][-1]


def stored(session: Cli, file: str, text: str) -> None:
    """Write a file as a client does."""
    for command in ("tclsh", *written(file, text), "tclquit"):
        for line in command.split("\n"):
            session.answer(line)


def described(session: Cli, text: str) -> None:
    said(session, "configure terminal", "interface Ethernet1/2", f"description {text}", "end")


def test_a_recorded_session_is_answered_as_the_switch_did(session: Cli, leaf: str) -> None:
    for typed, recorded in RECORDED:
        reply = session.answer(typed)
        answer = re.sub(r"\d+\.\d\(\d\)", "9.2(4)", f"{reply.output}{reply.prompt}".replace(leaf, "switch"))
        assert answer == recorded, typed


def test_a_file_is_checked_and_replaces_the_configuration_in_the_recorded_words(session: Cli) -> None:
    stored(session, "former", said(session, "show running-config"))
    said(session, "checkpoint file bootflash:kept")
    described(session, "here")
    assert said(session, "configure replace bootflash:former verify-only") == CHECKED
    assert said(session, "configure replace bootflash:///former") == REPLACED
    assert "description here" not in said(session, "show running-config")
    described(session, "there")
    assert said(session, "rollback running-config file bootflash:kept") == RETURNED
    assert "description there" not in said(session, "show running-config")


def test_the_session_of_the_manual_is_what_a_switch_answers(session: Cli, leaf: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "twin.md").read_text()
    shown = page.partition("## NX-OS\n")[2].partition("```text\n")[2].partition("```")[0]
    login, *_ = shown.splitlines()
    lines = re.findall(rf"^{leaf}[^#]*# (.*)$", shown, re.MULTILINE)
    reply, answered = session.greeting(), f"{login}\n"
    for line in lines:
        answered += f"{reply.prompt}{line}\n"
        reply = session.answer(line)
        answered += reply.output
    assert answered == shown
    assert len(lines) == 9


def test_a_file_of_another_origin_is_no_checkpoint(session: Cli) -> None:
    stored(session, "own", "hostname a\n")
    refused = said(session, "rollback running-config file bootflash:own")
    assert refused.endswith("The checkpoint file was not created using checkpoint CLI\n")


@pytest.mark.parametrize(("seconds", "is_taken"), [("29", False), ("30", True), ("3600", True), ("3601", False)])
def test_a_commit_timeout_has_the_documented_range(session: Cli, seconds: str, is_taken: bool) -> None:
    stored(session, "same", said(session, "show running-config"))
    answer = said(session, f"configure replace bootflash:same commit-timeout {seconds}")
    assert ("completed successfully" in answer) is is_taken
    assert said(session, "configure replace commit").startswith("" if is_taken else "ERROR: ")


def test_a_second_change_is_refused_while_one_waits(session: Cli) -> None:
    stored(session, "same", said(session, "show running-config"))
    said(session, "configure replace bootflash:same commit-timeout 30")
    assert "ERROR" in said(session, "configure replace bootflash:same")
    assert said(session, "configure replace abort") == ""
    assert "ERROR" in said(session, "configure replace abort")


@pytest.mark.parametrize("line", ["interface Ethernet1/2\n  mtu 1", "nonsense of somebody", "hostname a b"])
def test_a_file_with_a_line_that_the_switch_does_not_take_changes_nothing(session: Cli, line: str) -> None:
    before = said(session, "show running-config")
    stored(session, "bad", f"{before}\n{line}\n")
    assert "successful" not in said(session, "configure replace bootflash:bad verify-only")
    assert "Rolling back to previous configuration is successful" in said(session, "configure replace bootflash:bad")
    times = re.compile("^!Time.*$", re.MULTILINE)
    assert times.sub("", said(session, "show running-config")) == times.sub("", before)


def test_a_file_of_another_release_is_refused(session: Cli) -> None:
    stored(session, "old", said(session, "show running-config").replace("version 10.5(3)", "version 9.3(1)"))
    assert said(session, "configure replace bootflash:old verify-only").startswith("ERROR: Version mismatch")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("show nonsense", "{place}^\n% Invalid command at '^' marker.\n"),
        ("show", "{end}^\n% Incomplete command at '^' marker.\n"),
        ("show file bootflash:nothing", "No such file or directory\n"),
        ("dir nothing", "No such file or directory\n"),
    ],
)
def test_a_wrong_command_has_a_caret_below_it(session: Cli, line: str, answer: str) -> None:
    begin = len(session.greeting().prompt)
    marks = {"place": " " * (begin + len("show ")), "end": " " * (begin + len("show"))}
    assert said(session, line) == answer.format(**marks)


def test_a_wrong_line_of_configuration_leaves_the_mode_as_it_is(session: Cli, leaf: str) -> None:
    said(session, "configure terminal", "interface Ethernet1/2")
    assert said(session, "mtu 100000").endswith("Invalid range at '^' marker.\n")
    reply = session.answer("nonsense")
    assert "% Invalid command" in reply.output
    assert reply.prompt == f"{leaf}(config-if)# "
    assert session.answer("show hostname").output == f"{leaf} \n"
    said(session, "end")


def test_a_full_bootflash_stores_nothing(session: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootflash, "FREE_BYTES", 100)
    for line in ("tclsh", 'set fl [open "/bootflash/large" wb+]', f"puts $fl {{{'x' * 200}}}"):
        session.answer(line)
    assert said(session, "close $fl") == 'error writing "file32": no space left on device\n'
    said(session, "tclquit")
    assert said(session, "show file bootflash:large") == "No such file or directory\n"


def test_what_a_client_writes_is_what_the_file_has(session: Cli) -> None:
    text = 'hostname a\n  description {x} \\ ? "y" [z] $q\n\nbanner motd ^ä\ttab^\nplain "q" [a] $b # x\n'
    stored(session, "signs", text)
    assert said(session, "show file bootflash:signs") == text


def test_tcl_that_a_switch_does_not_run_here_is_refused(session: Cli) -> None:
    assert said(session, "tclsh", 'exec "rm"') == 'invalid command name "exec"\n'
    assert said(session, "puts $nothing {x}") == 'can\'t read "nothing": no such variable\n'
    said(session, "tclquit")


def test_a_user_who_may_only_read_is_refused_by_his_role(new: NewCli) -> None:
    viewer = new(CliUser(name="viewer", writes=False))
    for line in ("configure terminal", "tclsh", "copy running-config startup-config", "delete bootflash:x", "reload"):
        assert said(viewer, line) == "% Permission denied for the role\n", line
    assert "hostname" in said(viewer, "show running-config")


def test_an_exec_request_is_answered_with_a_status(new: NewCli) -> None:
    reply = new(CliUser(name="admin")).execute("show nonsense", str)
    assert (reply.output, reply.status) == ("Syntax error while parsing 'show nonsense'\n", 16)


def test_netmiko_configures_reads_and_saves(twin: Twin, leaf: str) -> None:
    endpoint = twin.endpoints.by_name()[leaf]
    with netmiko_login(endpoint, "cisco_nxos") as opened:
        connection: Any = opened
        connection.send_config_set(["interface Ethernet1/1", "description by-netmiko"])
        assert "description by-netmiko" in connection.send_command("show running-config")
        assert "description by-netmiko" not in connection.send_command("show startup-config")
        assert "Copy complete." in connection.save_config()
        assert "description by-netmiko" in connection.send_command("show startup-config")
        assert connection.find_prompt() == f"{leaf}#"

"""What every platform says on a bad day: one clear line and exit code 2, and nothing on the switch has changed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from tests import commands
from tests.integration.switches.racks import LEAF, OVER_SSH, SYSTEMS, left_behind, opened
from tests.integration.switches.steps import served_by
from tests.sampled import sampled

from railfab.errors import RailfabError
from railfab.platforms import Verb
from railfab.platforms.shared.login import ANSWER_WITHIN_S
from railfab.ssh import Cli
from railfab.twin import SwitchOperation, Twin, operations

Deploy = Callable[..., tuple[int, str]]
BANNER = "Unauthorized access # is > prohibited %\n% Invalid input of somebody else is no error of ours:\n----->\n"

READ_ONLY: Mapping[str, str] = {
    "eos": r"refuses 'enable' \(% Authorization denied for command 'enable'\)",
    "nxos": r"refuses 'tclsh' \(% Permission denied for the role\)",
    "junos": r"refuses 'configure exclusive' \(permission denied\.\)",
    "cumulus": "user 'viewer' is not root and sudo asks for a password",
    "sonic": "user 'viewer' is not root and sudo asks for a password",
}
"""What a switch tells a user who may only read, and so the deploy."""

on_each = pytest.mark.parametrize("system", OVER_SSH, indirect=True)


@pytest.fixture
def deploy(twin: Twin, state: Path, repository: Path, tmp_path: Path) -> Deploy:
    """Preview a deploy to the leaf as its endpoint is written with these changes; exit code, and the line of an error.

    password, username: of a file of credentials. platform: for which the switch is taken.
    """

    def run(*options: str, password: str = "", username: str = "", **changes: Any) -> tuple[int, str]:
        login = {"username": username or twin.credentials.username, "password": password or twin.credentials.password}
        (tmp_path / "login.yml").write_text(json.dumps(login))
        endpoints = json.loads((state / "rack.twin.json").read_text())
        endpoints["nodes"] = [
            {**node, "credentials": str(tmp_path / "login.yml"), **changes}
            for node in endpoints["nodes"]
            if node["name"] == LEAF
        ]
        (tmp_path / "endpoints.json").write_text(json.dumps(endpoints))
        intent = repository / "tests" / "deploy" / f"rack_{endpoints['nodes'][0]['platform']}.yml"
        on = ("--on", tmp_path / "endpoints.json", "--limit", LEAF, "--state", tmp_path)
        at_once = ("--waves", "off") if "--yes" in options else ()
        done = commands.run("deploy", intent, *on, *(options or ("--plan", "--stat")), *at_once, timeout_s=800)
        assert len(done.stderr.splitlines()) <= 1, done.stderr
        return done.returncode, done.stderr.removeprefix(f"railfab: {LEAF}: ").rstrip("\n")

    return run


@pytest.mark.parametrize("system", sampled(SYSTEMS, few=["srlinux", "eos", "sonic"]), indirect=True)
def test_a_wrong_password(deploy: Deploy) -> None:
    code, line = deploy(password="not-this-secret")
    assert (code, "not-this-secret" in line) == (2, False)
    ssh = r"rejects user 'admin' or the password\. Check \S+login\.yml\."
    gnmi = rf"rejects the login of admin \({LEAF}: wrong user or password\)\. Check the user name and password\."
    assert re.fullmatch(f"{ssh}|{gnmi}", line), line


@on_each
def test_a_user_who_may_only_read(deploy: Deploy, system: str, twin: Twin) -> None:
    before = twin._switches[LEAF].running()
    code, line = deploy("--yes", username="viewer")
    assert code == 2
    assert re.match(READ_ONLY[system], line), line
    assert twin._switches[LEAF].running() == before


@on_each
def test_a_host_key_that_has_changed(deploy: Deploy, twin: Twin, tmp_path: Path) -> None:
    port = twin.endpoints.by_name()[LEAF].ssh_port
    key = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    known = tmp_path / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {key}")
    line = f"has a host key that is not in {known}. Check the key, then add it."
    assert deploy(known_hosts=str(known)) == (2, line)


MISTAKEN = [(real, taken) for real in OVER_SSH for taken in OVER_SSH if real != taken]
FEW = [("eos", "nxos"), ("nxos", "junos"), ("junos", "eos"), ("cumulus", "eos"), ("sonic", "cumulus"), ("eos", "sonic")]


@pytest.mark.parametrize(("system", "taken"), sampled(MISTAKEN, few=FEW), indirect=["system"])
def test_a_platform_that_is_not_that_of_the_switch(deploy: Deploy, taken: str) -> None:
    began_s = time.monotonic()
    code, line = deploy(platform=taken)
    assert code == 2
    assert time.monotonic() - began_s < ANSWER_WITHIN_S
    cli = rf"does not answer as {taken} does after the login\. Check its platform in the intent and in the inventory\."
    shell = r"answers `id -u` with .+, so it is no Linux shell\. Check its platform and its address\."
    command = r"has no command '\S+'\. Check that it runs .+\."
    assert re.fullmatch(f"{cli}|{shell}|{command}", line), line


def greeting(cli: Cli) -> Cli:
    """A CLI with a banner before its first prompt."""
    reply = cli.greeting()
    cli.greeting = lambda: replace(reply, output=BANNER + reply.output)  # type: ignore[method-assign]
    return cli


@pytest.mark.parametrize("system", ["eos", "nxos", "junos"], indirect=True)
def test_a_banner_before_the_prompt_is_no_answer(deploy: Deploy, twin: Twin) -> None:
    ssh = twin._servers[LEAF].ssh
    assert ssh is not None
    with served_by(ssh, greeting):
        assert deploy() == (0, "")


SLOW = [*((system, operations.SLOW_S) for system in SYSTEMS), ("sonic", 0.5)]


@pytest.mark.parametrize(("system", "slow_s"), sampled(SLOW, few=SLOW[-1:]), indirect=["system"])
@pytest.mark.timeout(900)
def test_a_switch_that_takes_long_for_every_answer_is_waited_for(
    deploy: Deploy, twin: Twin, slow_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "SLOW_S", slow_s)
    twin.operate(LEAF, SwitchOperation.SLOW)
    assert [fault.undo for fault in twin.status().fault_details] == [f"switch {LEAF} quick"]
    try:
        began_s = time.monotonic()
        assert deploy("--yes", "--output", "json") == (0, "")
        assert time.monotonic() - began_s > 3 * slow_s
    finally:
        twin.operate(LEAF, SwitchOperation.QUICK)
    assert twin.status().fault_details == ()
    assert deploy("--yes") == (0, "")


@pytest.mark.parametrize("system", sampled(["eos", "nxos", "cumulus", "sonic"], few=["eos", "sonic"]), indirect=True)
def test_a_switch_that_cannot_save_what_was_confirmed(
    deploy: Deploy, twin: Twin, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It returns to what it ran before, but for EOS, which cannot undo what is confirmed."""
    assert deploy("--yes") == (0, "")
    switch = twin._switches[LEAF]
    wanted = switch.running(), switch.startup()
    switch.replace(switch.running().replace("1560000", "1560001"))
    switch.save()
    present = switch.running(), switch.startup()

    def save() -> None:
        raise RailfabError(LEAF, "no space left on device", "Remove files")

    with monkeypatch.context() as full:
        full.setattr(switch, "save", save)
        code, line = deploy("--yes")
    assert code == 2
    assert "no space left on device" in line
    assert (switch.running(), switch.startup()) == ((wanted[0], present[1]) if system == "eos" else present)
    assert deploy("--yes") == (0, "")
    with opened(twin.endpoints.by_name()[LEAF]) as session:
        session.operate(Verb.SAVE)
    assert (switch.running(), switch.startup()) == wanted
    assert left_behind(twin.endpoints.by_name()[LEAF]) == ""

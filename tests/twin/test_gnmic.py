"""gnmic, as operators use it, on a switch of the twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.gnmi.gnmic import Gnmic
from tests.twin.twins import LEAF, RECEIVER_PORT, Switch, endpoint, started, switch

from railfab.endpoints import read_credentials
from railfab.gnmi.certificates import Authority
from railfab.twin import Twin

pytestmark = pytest.mark.gnmic

PORT = f"/interface[name={RECEIVER_PORT}]"
DESCRIPTION, OCTETS, STATE = f"{PORT}/description", f"{PORT}/statistics/in-octets", f"{PORT}/oper-state"


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with started(tmp_path_factory.mktemp("gnmic")) as running:
        yield running


@pytest.fixture(scope="module")
def theirs(twin: Twin) -> Iterator[Switch]:
    """pygnmi on the same switch."""
    with switch(twin) as client:
        yield client


@pytest.fixture
def gnmic(twin: Twin) -> Gnmic:
    node = endpoint(twin, LEAF)
    return Gnmic(f"{node.host}:{node.gnmi_port}", str(node.ca), read_credentials(node))


def test_it_reads_the_capabilities(gnmic: Gnmic, theirs: Switch) -> None:
    said, known = gnmic.run("capabilities"), theirs.client.capabilities()
    assert f"gNMI version: {known['gnmi_version']}" in said
    encodings = [word.strip(" -") for word in said.split("supported encodings:\n")[1].split("\n") if word]
    assert encodings == [encoding.upper() for encoding in known["supported_encodings"]]
    assert all(model["name"] in said for model in known["supported_models"])


@pytest.mark.parametrize("arguments", [("get",), ("subscribe", "--mode", "once")], ids=["get", "once"])
@pytest.mark.parametrize("path", ["/interface[name=*]/oper-state", f"{PORT}/admin-state"])
def test_it_reads_what_is_served(gnmic: Gnmic, theirs: Switch, arguments: tuple[str, ...], path: str) -> None:
    events = gnmic.run(*arguments, "--path", path, "--format", "flat")
    found = dict(line.split(": ", 1) for line in events.splitlines() if ": " in line)
    assert {name.lstrip("/"): value for name, value in found.items()} == {
        name.lstrip("/"): str(value) for name, value in theirs.values(path).items()
    }


def test_it_updates_replaces_and_deletes(gnmic: Gnmic, theirs: Switch) -> None:
    for verb in ("update", "replace"):
        gnmic.run("set", f"--{verb}", f"{DESCRIPTION}:::string:::{verb}d by gnmic")
        assert theirs.value(DESCRIPTION, "config") == f"{verb}d by gnmic"
    gnmic.run("set", "--delete", DESCRIPTION)
    failed = gnmic.attempt("get", "--path", DESCRIPTION)
    assert (failed.returncode, f"NotFound desc = {LEAF}: nothing at {DESCRIPTION}" in failed.stderr) == (1, True)


def test_it_samples(gnmic: Gnmic) -> None:
    with gnmic.subscribed("--stream-mode", "sample", "-i", "500ms", "--path", OCTETS, "--format", "flat") as running:
        said = running.wait(lambda said: sum("in-octets: " in line for line in said) >= 4)
    counts = [int(line.split(": ")[1]) for line in said if "in-octets: " in line]
    assert counts == sorted(counts)


def test_it_follows_changes(gnmic: Gnmic, theirs: Switch) -> None:
    theirs.set(update=[(DESCRIPTION, '"as before"')])
    with gnmic.subscribed("--stream-mode", "on-change", "--path", DESCRIPTION, "--format", "flat") as running:
        running.wait(lambda said: any("as before" in line for line in said))
        theirs.set(update=[(DESCRIPTION, '"a change"')])
        running.wait(lambda said: any("a change" in line for line in said))


def test_the_target_defines_what_is_sampled_and_what_is_sent_on_change(gnmic: Gnmic) -> None:
    arguments = ("--stream-mode", "target-defined", "-i", "500ms", "--path", PORT, "--format", "flat")
    with gnmic.subscribed(*arguments) as running:
        said = running.wait(lambda said: sum("/statistics/in-octets: " in line for line in said) >= 3)
    assert sum(f"{RECEIVER_PORT}]/oper-state: " in line for line in said) == 1


def test_it_polls(gnmic: Gnmic, theirs: Switch) -> None:
    with gnmic.subscribed("--mode", "poll", "--path", DESCRIPTION, "--format", "flat") as running:
        running.wait(lambda said: any("sync" in line for line in said))
        theirs.set(update=[(DESCRIPTION, '"seen by a poll"')])
        running.answer("\n")  # its menu of targets
        running.wait(lambda said: any("select subscription to poll" in line for line in said))
        running.answer("\n")
        running.wait(lambda said: any("seen by a poll" in line for line in said))


@pytest.mark.parametrize("wrong", ["password", "ca"])
def test_it_is_refused_without_the_login_or_the_ca(gnmic: Gnmic, tmp_path: Path, wrong: str) -> None:
    (tmp_path / "other.pem").write_bytes(Authority("other").certificate)
    changed = {
        "password": replace(gnmic, login=replace(gnmic.login, password="another")),
        "ca": replace(gnmic, ca=str(tmp_path / "other.pem")),
    }[wrong]
    failed = changed.attempt("capabilities")
    said = {"password": f"Unauthenticated desc = {LEAF}: wrong user or password", "ca": "unknown authority"}
    assert failed.returncode == 1
    assert said[wrong] in failed.stderr

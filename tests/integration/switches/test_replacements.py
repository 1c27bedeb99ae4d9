"""`railfab replace` on virtual switches: a new device in the place of a switch, as it leaves the factory."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.switches.racks import LEAF, SPINE, SYSTEMS, Railfab, opened
from tests.sampled import sampled

from railfab.deploy.replace import wrong_device
from railfab.endpoints import Endpoint
from railfab.fabric.design import Design, design
from railfab.platforms import Identity
from railfab.twin import SwitchOperation, Twin

RELEASE = "9.9.9"
KEY = "has a host key that is not in "


@pytest.fixture(scope="module")
def twin(system: str, repository: Path, state: Path) -> Iterator[Twin]:
    fabric = design(repository / "tests" / "deploy" / f"rack_{system}.yml")
    with Twin(fabric, state=state, base_port=0, configured=True, boot_s=0.5) as running:
        yield running


def accepted(said: str) -> None:
    """Accept the host key of a new device by the commands that the error has."""
    match = re.search(r"then accept it: (.*)\.$", said.strip())
    assert match is not None, said
    subprocess.run(["sh", "-c", match[1]], check=True, capture_output=True)


@pytest.mark.parametrize("system", sampled(SYSTEMS, few=["eos", "sonic", "srlinux"]), indirect=True)
def test_a_new_device_gets_the_configuration_and_its_host_key_is_never_accepted_silently(
    twin: Twin, railfab: Railfab, leaf: Endpoint, system: str, rack: Path
) -> None:
    fabric = design(rack)
    with opened(leaf) as session:
        before = session.running()
    twin.replace_device(LEAF, RELEASE)
    if system != "srlinux":
        refused = railfab("replace", LEAF, "--yes")
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 2), refused.stderr
        assert f"railfab: {LEAF}: {KEY}" in refused.stderr
        accepted(refused.stderr)
    done = railfab("replace", LEAF, "--yes", "--output", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["result"], report["changed"], report["drained"], report["error"]) == ("replaced", True, False, None)
    if system != "srlinux":
        assert RELEASE in report["version"]
    with opened(leaf) as session:
        after = session.running()
        assert session.stage(fabric.texts[LEAF]).diff == ""
    assert after.identity.hostname == before.identity.hostname
    assert railfab("verify").returncode == 0
    again = railfab("replace", LEAF, "--yes", "--output", "json")
    assert (again.returncode, json.loads(again.stdout)["result"]) == (0, "no change"), again.stderr


@pytest.mark.parametrize("system", ["eos"], indirect=True)
def test_a_device_without_its_uplink_stays_drained_until_it_is_there(
    twin: Twin, railfab: Railfab, leaf: Endpoint
) -> None:
    """The ports of the factory are down, so that a cable is seen only after the configuration."""
    twin.replace_device(LEAF)
    accepted(railfab("replace", LEAF, "--yes").stderr)
    twin.set_link(LEAF, "Ethernet64/1", up=False)
    stopped = railfab("replace", LEAF, "--yes", "--verified-within", "3", "--output", "json")
    assert stopped.returncode == 3, stopped.stderr
    report = json.loads(stopped.stdout)
    assert (report["result"], report["changed"], report["drained"]) == ("failed", True, True)
    assert report["error"].startswith(f"{LEAF} Ethernet64/1: is down, its link to {SPINE} does not work.")
    with opened(leaf) as session:
        assert "maintenance" in session.running().text
    twin.set_link(LEAF, "Ethernet64/1", up=True)
    for operation in (SwitchOperation.OFF, SwitchOperation.ON):  # a switch that boots connects at once
        twin.operate(LEAF, operation)
    done = railfab("replace", LEAF, "--yes")
    assert done.returncode == 0, done.stderr
    with opened(leaf) as session:
        assert "maintenance" not in session.running().text


@pytest.fixture(scope="module")
def eos(repository: Path) -> Design:
    return design(repository / "tests" / "deploy" / "rack_eos.yml")


def test_another_model_and_a_missing_port_are_named(eos: Design) -> None:
    from railfab.device import Observed, ObservedInterface

    ports = [port.name for port, _, _ in eos.topology.ports_of(LEAF) if port.cage]
    observed = Observed(interfaces=tuple(ObservedInterface(name=name, oper_up=False) for name in ports), sessions=())
    right = Identity(hostname="localhost", version="4.34.2F", model="DCS-7060DX5-64S-F")
    assert list(wrong_device(eos, LEAF, right, observed)) == []
    assert list(wrong_device(eos, LEAF, replace(right, model="a model that no catalogue has"), observed)) == []
    wrong = replace(right, model="7220 IXR-D5")
    (error,) = wrong_device(eos, LEAF, wrong, observed)
    assert str(error).startswith(f"{LEAF}: is a 7220 IXR-D5, and the intent has a 7060dx5-64s in its place.")
    (missing,) = wrong_device(eos, LEAF, right, Observed(interfaces=observed.interfaces[1:], sessions=()))
    assert str(missing).startswith(f"{LEAF}: has no port {ports[0]} of the plan.")
    miscabled = replace(observed.interfaces[-1], oper_up=True, neighbor_device=SPINE, neighbor_interface="Ethernet9/1")
    (cable,) = wrong_device(eos, LEAF, right, Observed(interfaces=(*observed.interfaces[:-1], miscabled), sessions=()))
    assert str(cable).startswith(f"{LEAF} Ethernet64/1: is cabled to {SPINE} Ethernet9/1, the intent says {SPINE} ")

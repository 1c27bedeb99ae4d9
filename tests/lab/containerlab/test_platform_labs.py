"""A lab of containers of each platform: its topology, its startup files, and what its image does not enforce."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import yaml
from tests.lab.containerlab.test_topology import validator
from tests.platforms.small_fabrics import design_of, switch_model
from tests.topology.fabric_intents import fabric
from typer.testing import CliRunner

from railfab.cli import app
from railfab.errors import LabError
from railfab.lab import LabPlace, LabPlan, unenforced, unenforced_requirements
from railfab.lab.containerlab import ContainerlabFiles, Settings, check, lab_files
from railfab.lab.containerlab.generate import startup_file
from railfab.lab.containerlab.names import INTERFACES, interface_error
from railfab.lab.containerlab.ports import port_errors
from railfab.platforms import platform, platform_names
from railfab.platforms.sonic.virtual_switch import FIRST_LANES
from railfab.topology import wire

ROOT = Path(__file__).parents[3]
LABS, FABRICS = ROOT / "labs", ROOT / "inventory" / "fabrics"


@cache
def plan(name: str) -> LabPlan:
    design = design_of(name, name, virtual=True)
    return LabPlan(
        place=LabPlace(fabric="small", folder=Path("x"), state=Path("x")),
        topology=design.topology,
        models=design.planned_models,
        configurations=design.texts,
    )


@cache
def files(name: str) -> ContainerlabFiles:
    return lab_files(plan(name), Settings())


@pytest.fixture(params=platform_names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_topology_has_no_errors_and_its_kind_is_known(name: str) -> None:
    found = files(name)
    assert platform(name).lab.kind in INTERFACES
    assert list(check(found.topology.document(), found.name, exists=found.files.__contains__)) == []


def test_every_switch_has_its_configuration_where_the_kind_reads_it(name: str) -> None:
    lab, found = platform(name).lab, files(name)
    for node in plan(name).topology.switches():
        text, entry = found.files[startup_file(node)], found.topology.nodes[node.name]
        if lab.mount is None:
            assert entry.startup_config == startup_file(node)
        else:
            assert (entry.startup_config, entry.binds) == (None, (f"{startup_file(node)}:{lab.mount}:ro",))
        assert text.startswith(lab.preface), node.name
        assert plan(name).configurations[node.name] in text or platform(name).startup is not None


def test_ports_of_a_switch_have_names_of_the_kind_and_each_its_own(name: str) -> None:
    kind, found = platform(name).lab.kind, files(name)
    for node in plan(name).topology.switches():
        ends = [end for link in found.topology.links for end in (link.a, link.z) if end.node == node.name]
        ports = [port for port, _, _ in plan(name).topology.ports_of(node.name) if port.cage]
        assert len({end.interface for end in ends}) == len(ends) == len(ports)
        assert [interface_error(kind, end.interface) for end in ends] == [None] * len(ends)


def test_the_environment_of_a_kind_is_that_of_its_group(name: str) -> None:
    group = files(name).topology.document()["topology"]["groups"][name]
    assert group.get("env", {}) == dict(platform(name).lab.env)


@pytest.mark.oracle
def test_containerlabs_schema_accepts_it(name: str, oracles: Path) -> None:
    schema = validator(json.loads((oracles / "containerlab.schema.json").read_text()))
    assert [error.message for error in schema.iter_errors(yaml.safe_load(files(name).topology.dump()))] == []


def test_a_platform_says_what_its_image_does_not_enforce(name: str) -> None:
    said = unenforced(plan(name))
    assert said[name] == tuple(line.rstrip(".") for line in platform(name).capabilities.virtual)
    lines = [str(one) for one in unenforced_requirements(plan(name))]
    where = "on a switch" if platform(name).twin is None else "on a switch, or in the twin"
    assert lines == [f"{name} ({platform(name).lab.kind}): {line}. Test it {where}." for line in said[name]]
    assert not any(one.fatal for one in unenforced_requirements(plan(name)))


def test_render_and_doctor_say_it(tmp_path: Path) -> None:
    intent = LABS / "frr-pod" / "intent.yml"
    said = "a veth always reports a speed of 10 Gb/s"
    done = CliRunner().invoke(app, ["lab", "render", str(intent), "-o", str(tmp_path)])
    assert f"frr in a lab: {said}." in " ".join(done.output.split())
    done = CliRunner().invoke(app, ["lab", "render", str(intent), "-o", str(tmp_path), "--output", "json"])
    assert json.loads(done.stdout)["not_enforced"] == {"frr": [said]}
    done = CliRunner().invoke(app, ["lab", "doctor", str(intent), "--state", str(tmp_path)])
    assert f"frr (linux): {said}. Test it on a switch." in done.output.splitlines()


def test_rail_blocks_has_no_lab_on_nx_os_and_one_line_says_why(tmp_path: Path) -> None:
    """One line, whatever the number of cables."""
    assert refusal("rail-blocks", tmp_path) == (
        "pod1-seg1-leaf1: Ethernet1/1 and 31 more are split, and cisco_n9kv (nxos) splits no cage. "
        "Use a design without breakout."
    )


def test_more_ports_than_the_image_has_are_refused_in_one_line(tmp_path: Path) -> None:
    remedy = "Use a switch model that has only these ports, under `switches` of the intent, or another platform."
    assert refusal("dual-rail", tmp_path) == (
        "pod1-seg[1-2]-leaf[1-4], pod1-spine[1-8]: et-0/0/63 is no port of juniper_cjunosevolved (junos), "
        f"which has 12, et-0/0/0 to et-0/0/11. {remedy}"
    )
    assert refusal("mixed-sonic-leaf", tmp_path) == (
        "pod1-seg[1-2]-leaf[1-2]: Ethernet504 is no port of sonic-vm (sonic), "
        f"which has 32, Ethernet0 to Ethernet124. {remedy}"
    )


def test_split_cages_of_junos_are_refused_in_one_line_beside_the_ports_that_it_has_not() -> None:
    model = {"model": switch_model("junos"), "platform": "junos"}
    segments, spines = {"count": 2, "hosts": 4, "rail_switches": 2}, {"count": 4, "rate_gbps": 400}
    split, beyond = port_errors(wire(fabric(backend__segments=segments | model, backend__spines=spines | model)))
    assert str(split) == (
        "pod1-seg[1-2]-leaf[1-2]: et-0/0/[0-7] are split, and juniper_cjunosevolved (junos) splits no cage. "
        "Use a design without breakout."
    )
    assert "juniper_cjunosevolved (junos), which has 12" in beyond.problem


@pytest.mark.parametrize("name", platform_names())
def test_a_port_has_a_name_that_its_kind_takes_or_none(name: str) -> None:
    lab = platform(name).lab
    named = [lab.interfaces.lab(port) for cage in (1, 2) for port in lab.interfaces.lanes(cage, 2) if port]
    assert [error for port in named if port if (error := interface_error(lab.kind, port))] == []


def test_sonics_limit_is_that_of_its_lanes() -> None:
    assert platform("sonic").lab.ports == len(FIRST_LANES)


def refusal(design: str, folder: Path) -> str:
    """What `lab render` says of a design."""
    intent = FABRICS / f"{design}.yml"
    done = CliRunner().invoke(app, ["lab", "render", str(intent), "-o", str(folder)])
    assert isinstance(done.exception, LabError)
    return str(done.exception)

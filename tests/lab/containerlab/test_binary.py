"""The wrapper of the containerlab binary, with recorded output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.lab.containerlab.conftest import RECORDED, StandIn

from railfab.errors import LabError
from railfab.lab.containerlab.binary import Containerlab, containers, error_text, executed

NAMES = ["h1", "h2", "h3", "h4", "leaf1", "leaf2", "spine1", "spine2"]


def topology(folder: Path, name: str = "pair") -> Path:
    path = folder / f"{name}.clab.yml"
    node = {"group": "host"}
    groups = {"host": {"kind": "linux", "image": "railfab/frr:local"}}
    document = {"name": name, "topology": {"groups": groups, "nodes": {"a": node, "z": node}, "links": []}}
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize("file", ["inspect.json", "inspect-all.json", "details.json"])
def test_every_recorded_shape_of_inspect_gives_the_same_containers(file: str) -> None:
    found = containers(json.loads((RECORDED / file).read_text()))
    assert [container.node for container in found] == NAMES
    assert {container.state for container in found} == {"running"}
    assert found[0].ipv4 == "172.31.255.2"
    assert found[0].lab == "rail"


def test_older_versions_list_containers_without_their_labs() -> None:
    entries = json.loads((RECORDED / "inspect.json").read_text())["rail"]
    grouped = containers({"rail": entries})
    assert containers(entries) == grouped
    assert containers({"containers": entries}) == grouped


def test_details_contain_the_pid_of_a_container() -> None:
    found = containers(json.loads((RECORDED / "details.json").read_text()))
    assert found[0].pid == 28537


def test_no_address_is_none_and_not_a_text() -> None:
    entries = json.loads((RECORDED / "inspect.json").read_text())["rail"]
    assert containers([entries[0] | {"ipv4_address": "N/A"}])[0].ipv4 is None


def test_nothing_running_is_no_error(standin: StandIn) -> None:
    assert standin.binary().inspect("rail") == ()


def test_a_lab_runs_from_deploy_to_destroy(standin: StandIn, tmp_path: Path) -> None:
    binary, path = standin.binary(), topology(tmp_path)
    binary.deploy(path)
    binary.deploy(path)
    assert [container.node for container in binary.inspect("pair")] == ["a", "z"]
    assert binary.inspect("other") == ()
    binary.save(path)
    binary.destroy(path)
    assert binary.inspect("pair") == ()
    binary.destroy(path)


def test_every_call_disables_the_version_check(standin: StandIn) -> None:
    standin.binary().inspect("rail")
    assert standin.calls == ["inspect --all --details version_check=disable"]


def test_a_failed_deploy_is_removed_and_raises_containerlabs_error(standin: StandIn, tmp_path: Path) -> None:
    binary = standin.binary(STANDIN_FAIL=str(RECORDED / "invalid/unknown-node.out"))
    with pytest.raises(LabError) as raised:
        binary.deploy(topology(tmp_path))
    assert str(raised.value) == (
        "containerlab deploy: Unable to find node nope. Run `railfab lab doctor --backend containerlab`."
    )
    assert binary.inspect("pair") == ()


def test_a_failed_exec_command_is_a_failed_deploy(standin: StandIn, tmp_path: Path) -> None:
    """containerlab logs an error and exits with 0."""
    binary = standin.binary(STANDIN_WARN=str(RECORDED / "exec-failed.err"))
    with pytest.raises(LabError) as raised:
        binary.deploy(topology(tmp_path))
    assert str(raised.value) == (
        'node a: `ip addr add 10.0.0.1/31 dev nope` failed with code 1 (Cannot find device "nope"). '
        "Use an image that has this command and may run it."
    )
    assert binary.inspect("pair") == ()


def test_a_failed_command_in_a_container_returns_its_exit_code(standin: StandIn, tmp_path: Path) -> None:
    binary, path = standin.binary(), topology(tmp_path)
    binary.deploy(path)
    good, bad = (binary.exec(path, "a", f"sh -c 'echo output; exit {code}'")[0] for code in (0, 3))
    assert (good.container, good.return_code, good.stdout) == ("clab-pair-a", 0, "output\n")
    assert bad.return_code == 3


def test_exec_of_older_versions_gives_json_output_as_json() -> None:
    answer = {"clab-srl02-srl1": {"stderr": "", "stdout": {"basic system info": {"Architecture": "x86_64"}}}}
    assert executed(answer)[0].stdout == '{"basic system info": {"Architecture": "x86_64"}}'


def test_the_version_is_read_through_colours(standin: StandIn) -> None:
    assert standin.binary().version() == "0.79.0"


def test_a_missing_binary_is_a_one_line_error() -> None:
    with pytest.raises(LabError) as raised:
        Containerlab("/nowhere/containerlab").inspect("rail")
    assert str(raised.value) == (
        "containerlab inspect: /nowhere/containerlab is not installed. "
        "Install it from containerlab.dev, or use --backend netns."
    )


def test_no_daemon_is_a_one_line_error(standin: StandIn) -> None:
    with pytest.raises(
        LabError, match=r"^containerlab inspect: Cannot connect to the Docker daemon at .+running\?\. Run"
    ):
        standin.binary(STANDIN_DAEMON="no").inspect("rail")


def test_output_that_is_not_json_is_a_one_line_error(tmp_path: Path) -> None:
    program = tmp_path / "containerlab"
    program.write_text("#!/bin/sh\necho '+---+---+'\n")
    program.chmod(0o755)
    with pytest.raises(LabError) as raised:
        Containerlab(str(program)).inspect("rail")
    assert str(raised.value) == (
        "containerlab inspect: does not print JSON (+---+---+). Install containerlab 0.78 or newer."
    )


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ((RECORDED / "invalid/unknown-node.out").read_text(), "Unable to find node nope"),
        (
            "12:19:19 INFO Parsing\n\x1b[31m12:19:20 ERROR\x1b[0m failed deploy stage for node h1\n",
            "failed deploy stage for node h1",
        ),
        ("INFO[0000] Parsing & checking\nError: no such image ceos:4.32.0F.\n", "no such image ceos:4.32.0F"),
        (
            "12:19:19 INFO Parsing & checking topology file=rail.clab.yml\n",
            "Parsing & checking topology file=rail.clab.yml",
        ),
        ("", ""),
    ],
)
def test_an_error_text_is_one_line_without_times_and_colours(message: str, line: str) -> None:
    assert error_text(message) == line

"""The command `railfab compare`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.commands import run
from tests.docs.schemas import conforming
from tests.imports.netbox_server import TOKEN, served, world_of

from railfab.intent import load_intent
from railfab.topology import wire

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "labs" / "srl-pod" / "srl-pod.clab.yml"
INTENT = LAB.with_name("intent.yml")


def compare(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with no token in the environment except the given one."""
    clean = {name: value for name, value in os.environ.items() if name != "NETBOX_TOKEN"}
    return run(
        "compare", INTENT, *arguments, cwd=cwd, environment={**clean, "NO_COLOR": "1", "COLUMNS": "80", **environment}
    )


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A lab with one cable in a wrong port, and no hosts."""
    path = tmp_path / "lab.clab.yml"
    path.write_text(LAB.read_text().replace("interface: ethernet-1/32}", "interface: e1-20}", 1))
    return path


def test_a_lab_of_a_fabric_with_a_prefix_of_names_has_no_difference(tmp_path: Path) -> None:
    intent = tmp_path / "intent.yml"
    intent.write_text(INTENT.read_text().replace("fabric: srl-pod\n", "fabric: east\nnames: {prefix: dc1-}\n"))
    assert run("lab", "render", intent, "-o", "lab", cwd=tmp_path).returncode == 0
    assert "dc1-pod1-seg1-leaf1" in {path.name for path in (tmp_path / "lab" / "configs").iterdir()}
    done = run("compare", intent, "--with", "lab/east.clab.yml", cwd=tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stdout
    assert done.stdout.endswith("compared with east: no difference\n")


def test_a_lab_without_difference_is_one_line_and_exit_code_0(tmp_path: Path) -> None:
    done = compare("--with", LAB, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "6 nodes and 20 links of srl-pod.clab.yml compared with srl-pod: no difference\n"


def test_a_difference_is_one_line_and_exit_code_1(tmp_path: Path, lab: Path) -> None:
    done = compare("--with", lab, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "error pod1-spine1 ethernet-1/1: is cabled to pod1-seg1-leaf1 e1-20, not to pod1-seg1-leaf1 ethernet-1/32. "
        "Move the cable. [miscabled]",
        "6 nodes and 20 links of lab.clab.yml compared with srl-pod: 1 finding",
    ]


def test_json_output_has_the_same_findings(tmp_path: Path, lab: Path) -> None:
    done = compare("--with", lab, "--output", "json", cwd=tmp_path)
    assert done.returncode == 1
    document = conforming("compare", done.stdout)
    assert document == {
        "fabric": "srl-pod",
        "with": "lab.clab.yml",
        "nodes": 6,
        "links": 20,
        "not_compared": [],
        "findings": [
            {
                "severity": "error",
                "code": "miscabled",
                "where": "pod1-spine1 ethernet-1/1",
                "problem": "is cabled to pod1-seg1-leaf1 e1-20, not to pod1-seg1-leaf1 ethernet-1/32",
                "remedy": "Move the cable",
                "more": [],
            }
        ],
    }


def test_groups_that_a_source_lacks_are_reported(tmp_path: Path) -> None:
    lab = tmp_path / "switches.clab.yml"
    lab.write_text(
        """
name: switches
topology:
  defaults: {kind: nokia_srlinux}
  nodes: {pod1-seg1-leaf1: , pod1-seg1-leaf2: , pod1-spine1: , pod1-spine2: }
  links:
"""
        + "".join(
            f'  - endpoints: ["{link.a.node}:{link.a.name}", "{link.z.node}:{link.z.name}"]\n'
            for link in wire(load_intent(INTENT)).links
            if "host" not in link.a.node
        )
    )
    done = compare("--with", lab, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "not compared: hosts\n" in done.stdout


def test_variables_come_from_the_environment(tmp_path: Path) -> None:
    lab = tmp_path / "lab.clab.yml"
    lab.write_text(LAB.read_text().replace("pod1-spine1", "${SPINE:=other}"))
    assert "is named other in lab.clab.yml" in compare("--with", lab, cwd=tmp_path).stdout
    assert compare("--with", lab, cwd=tmp_path, SPINE="pod1-spine1").returncode == 0


def test_the_token_of_netbox_is_from_the_environment_or_a_file(tmp_path: Path) -> None:
    world, file = world_of(wire(load_intent(INTENT))), tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with served(world) as url:
        done = compare("--with", url, cwd=tmp_path, NETBOX_TOKEN=TOKEN)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"6 nodes and 20 links of {url} compared with srl-pod: no difference\n"
        assert compare("--with", url, "--token-file", file, cwd=tmp_path).returncode == 0
        assert refused(compare("--with", url, cwd=tmp_path)) == (
            f"railfab: {url}: refuses to be read without a token (Authentication credentials were not "
            "provided). Set NETBOX_TOKEN, or name its file with --token-file."
        )
        world.device("pod1-spine1")["custom_fields"]["asn"] = 65099
        assert compare("--with", url, cwd=tmp_path, NETBOX_TOKEN=TOKEN).returncode == 1
    assert world.refused == []


def test_a_failed_comparison_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    assert refused(compare("--with", "none.clab.yml", cwd=tmp_path)) == (
        "railfab: none.clab.yml: no such file. Name a containerlab topology, or the URL of a NetBox."
    )
    assert refused(compare("--with", LAB, "--site", "x", cwd=tmp_path)) == (
        f"railfab: {LAB}: is a file, not the URL of a NetBox. Leave out --site, --tag, --token-file, --ca and "
        "--skip-verify."
    )
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for file in (empty, tmp_path / "absent", tmp_path):
        assert refused(compare("--with", "http://x", "--token-file", file, cwd=tmp_path)) == (
            f"railfab: {file}: holds no token. Name a readable file with NetBox's token in it."
        )
    assert "Missing option '--with'" in refused(compare(cwd=tmp_path))


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "pynetbox.py").write_text("raise ModuleNotFoundError('no pynetbox', name='pynetbox')\n")
    done = compare(
        "--with", "http://127.0.0.1:1", cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    )
    assert refused(done) == "railfab: pynetbox is not installed. Install it with: pip install 'railfab[netbox]'"

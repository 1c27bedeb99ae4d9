"""A design with errors: which verbs stop, which only report, and what `--accept` lets through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming

from railfab.deploy import Journal
from railfab.fabric.audit import CABLING_UNCHECKED

ROOT = Path(__file__).parents[2]
LINE = (
    "error pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1). "
    "Set backend.spines.links_per_leaf: 4, backend.spines.count: 4 or backend.oversubscription: 2 (if blocking is "
    "intended). [oversubscription]"
)
ACCEPT = ("--accept", "oversubscription")
STOPPED = {
    "render": ("render", "pod64.yml", "-o", "out"),
    "deploy": ("deploy", "pod64.yml", "--on", "hosts.yml", "--yes"),
    "deploy --plan": ("deploy", "pod64.yml", "--on", "hosts.yml", "--plan"),
    "up": ("up", "pod64.yml", "--job", str(ROOT / "inventory" / "jobs" / "ring.yml")),
    "lab up": ("lab", "up", "pod64.yml", "--backend", "containerlab"),
    "lab render": ("lab", "render", "pod64.yml", "-o", "out"),
}
"""Verbs with --output."""


def railfab(folder: Path, *arguments: str, program: str | Path = "railfab") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "RAILFAB_USERNAME": "a", "RAILFAB_PASSWORD": "b"}
    return commands.run(*arguments, cwd=folder, environment=environment, program=program)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """pod64 with half its spines, stated to be non-blocking; its switches answer nowhere."""
    text = (ROOT / "inventory" / "fabrics" / "pod64.yml").read_text()
    intent = text.replace("  spines:\n    count: 4", "  oversubscription: 1\n  spines:\n    count: 2")
    (tmp_path / "pod64.yml").write_text(intent)
    names = [f"pod1-seg{segment}-leaf{leaf}" for segment in (1, 2) for leaf in (1, 2)] + ["pod1-spine1", "pod1-spine2"]
    host = "{hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}"
    (tmp_path / "hosts.yml").write_text("".join(f"{name}: {host}\n" for name in names))
    return tmp_path


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("verb", STOPPED)
def test_a_verb_stops_at_an_error_prints_it_and_changes_nothing(folder: Path, verb: str) -> None:
    before = files(folder)
    done = railfab(folder, *STOPPED[verb])
    assert (done.returncode, done.stdout) == (1, f"{LINE}\n")
    assert done.stderr == (
        "railfab: pod64.yml: the design has 1 error (oversubscription), and nothing was changed. "
        "Correct the intent, or continue with --accept oversubscription.\n"
    )
    assert files(folder) == before


@pytest.mark.parametrize("verb", STOPPED)
def test_the_same_as_json(folder: Path, verb: str) -> None:
    done = railfab(folder, *STOPPED[verb], "--output", "json")
    assert done.returncode == 1
    (refusal,) = json.loads(done.stderr)["errors"]
    assert refusal["problem"] == "the design has 1 error (oversubscription), and nothing was changed"
    assert conforming("design-errors", done.stdout) == {
        "fabric": "pod64",
        "findings": [
            {
                "severity": "error",
                "code": "oversubscription",
                "where": "pod1-seg1-leaf1 and 3 more",
                "problem": "3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1)",
                "remedy": "Set backend.spines.links_per_leaf: 4, backend.spines.count: 4 or backend.oversubscription: "
                "2 (if blocking is intended)",
                "more": [],
            }
        ],
    }


def test_a_twin_is_not_claimed(folder: Path) -> None:
    before = files(folder)
    done = railfab(folder, "twin", "pod64.yml", "--port", "0")
    assert (done.returncode, done.stdout, files(folder)) == (1, f"{LINE}\n", before)


def test_an_accepted_error_is_named_and_the_verb_goes_on(folder: Path) -> None:
    done = railfab(folder, "render", "pod64.yml", "-o", "out", *ACCEPT)
    assert (done.returncode, done.stderr) == (0, f"accepted: {LINE}\n")
    assert len(list((folder / "out").iterdir())) == 6
    deployed = railfab(folder, "deploy", "pod64.yml", "--on", "hosts.yml", "--yes", *ACCEPT)
    assert deployed.returncode == 2
    assert "pod1-spine[1-2]: no answer" in deployed.stderr  # it got as far as the switches, which do not answer
    rendered = railfab(folder, "lab", "render", "pod64.yml", "-o", "lab", *ACCEPT)
    assert (rendered.returncode, rendered.stderr.splitlines()[0]) == (0, f"accepted: {LINE}")


def test_another_code_does_not_accept_it(folder: Path) -> None:
    assert railfab(folder, "render", "pod64.yml", "-o", "out", "--accept", "port-budget").returncode == 1


@pytest.mark.parametrize("verb", [*STOPPED.values(), ("twin", "pod64.yml"), ("audit", "pod64.yml")])
def test_an_unknown_code_is_bad_input_and_the_nearest_one_is_named(folder: Path, verb: tuple[str, ...]) -> None:
    done = railfab(folder, *verb, "--accept", "oversubscribed")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr == (
        "railfab: --accept oversubscribed: is no code that can be accepted. "
        "Write oversubscription, which is the nearest one.\n"
    )


def test_plan_writes_the_documents_with_the_error_in_them(folder: Path) -> None:
    done = railfab(folder, "plan", "pod64.yml", "-o", "docs")
    assert done.returncode == 1
    assert LINE in done.stdout
    summary = (folder / "docs" / "summary.md").read_text()
    assert "**The design has 1 error: see [Findings](#findings).**" in summary
    assert "`oversubscription`" in summary
    assert ">1 error<title>error pod1-seg1-leaf1 and 3 more: " in (folder / "docs" / "topology.svg").read_text()
    document = json.loads(railfab(folder, "plan", "pod64.yml", "--output", "json").stdout)
    assert [finding["code"] for finding in document["findings"]] == ["oversubscription"]


def test_draw_writes_the_picture_with_the_error_in_it(folder: Path) -> None:
    done = railfab(folder, "draw", "pod64.yml", "-o", "a.svg")
    assert (done.returncode, done.stderr) == (1, f"wrote a.svg\n{LINE}\n")
    printed = railfab(folder, "draw", "pod64.yml")
    assert (printed.returncode, printed.stderr) == (1, f"{LINE}\n")
    assert printed.stdout == (folder / "a.svg").read_text()
    assert "[oversubscription]</title>" in printed.stdout


def test_audit_reports_the_error_and_accepts_it(folder: Path) -> None:
    done = railfab(folder, "audit", "pod64.yml")
    assert (done.returncode, done.stdout) == (1, f"{LINE}\n6 of 6 switches checked, 1 error\n{CABLING_UNCHECKED}\n")
    found = json.loads(railfab(folder, "audit", "pod64.yml", "--output", "json").stdout)["findings"]
    assert [finding["code"] for finding in found] == ["oversubscription"]
    accepted = railfab(folder, "audit", "pod64.yml", *ACCEPT)
    assert (accepted.returncode, accepted.stdout) == (
        0,
        f"6 of 6 switches checked, no finding, 1 accepted\n{CABLING_UNCHECKED}\n",
    )


def test_rollback_and_lab_down_do_not_stop_at_an_error(folder: Path) -> None:
    with Journal(folder / ".railfab", "pod64").open("deploy") as entry:
        entry.keep("pod1-spine1", "{}")
    done = railfab(folder, "rollback", "pod64.yml", "--on", "hosts.yml", "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("railfab: pod1-spine1: ")
    assert "oversubscription" not in done.stderr
    down = railfab(folder, "lab", "down", "pod64.yml", "--backend", "containerlab")
    assert "oversubscription" not in down.stdout + down.stderr


@pytest.mark.parametrize("output", ["table", "json"])
def test_verify_and_collect_do_not_stop_at_an_error(folder: Path, output: str) -> None:
    done = railfab(folder, "verify", "pod64.yml", "--on", "hosts.yml", "--output", output)
    assert done.returncode == 2
    if output == "json":
        assert "pod1-spine1" in [error["where"] for error in json.loads(done.stderr)["errors"]]
    else:
        assert "pod1-spine[1-2]: no answer" in done.stderr
    listening = railfab(folder, "collect", "pod64.yml", "--on", "hosts.yml", "--listen", "")
    assert listening.stderr == "railfab: --listen: names no address. Write 127.0.0.1, or 0.0.0.0 for every network.\n"


def test_the_deploy_playbook_stops_at_an_error_and_the_audit_playbook_reports_it(folder: Path) -> None:
    play = partial(railfab, folder, "pod64.yml", "--on", "hosts.yml")
    deploy, audit = (ROOT / "playbooks" / f"{name}.py" for name in ("deploy", "audit"))
    done = play("--yes", program=deploy)
    assert (done.returncode, done.stdout) == (1, f"{LINE}\n")
    assert done.stderr.startswith("deploy.py: pod64.yml: the design has 1 error (oversubscription)")
    accepted = play("--yes", "--limit", "pod1-spine1", *ACCEPT, program=deploy)
    assert accepted.returncode == 2
    assert accepted.stdout.startswith("pod1-spine1: failed (pod1-spine1: ")
    unknown = play("--yes", "--accept", "x", program=deploy)
    assert (unknown.returncode, "invalid choice: 'x' (choose from 'oversubscription'," in unknown.stderr) == (2, True)
    printed = play("--limit", "pod1-spine1", program=audit).stdout
    assert LINE in printed
    assert printed.endswith(f"\n{CABLING_UNCHECKED}\n")


def test_collect_works_for_a_design_that_cannot_be_rendered(tmp_path: Path) -> None:
    fabric = tmp_path / "pod64.yml"
    text = (ROOT / "inventory" / "fabrics" / "pod64.yml").read_text()
    fabric.write_text(text.replace("control_plane: ebgp", "control_plane: ibgp"))
    plan = json.loads(railfab(tmp_path, "plan", str(fabric), "--output", "json").stdout)
    switches = [node["name"] for node in plan["nodes"] if node["platform"]]
    host = "{hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}"
    (tmp_path / "hosts.yml").write_text("".join(f"{name}: {host}\n" for name in switches))
    assert railfab(tmp_path, "render", str(fabric), "-o", "out").returncode == 2
    command = (sys.executable, "-m", "railfab", "collect", str(fabric), "--on", "hosts.yml", "--port", "0")
    environment = {**os.environ, "RAILFAB_USERNAME": "a", "RAILFAB_PASSWORD": "b"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            started = next((line for line in process.stderr if "/metrics" in line), "")
        finally:
            process.terminate()
    assert f"{len(switches)} of {len(switches)} switches of pod64: http://127.0.0.1:" in started

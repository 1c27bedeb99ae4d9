"""A twin of two rail switches and two spines for tests of the verbs of day two, and its bad days."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from lxml import etree
from tests import commands
from tests.ports import free_port
from tests.twin.small_fabric import INTENT, SPINE

Railfab = Callable[..., subprocess.CompletedProcess[str]]
WRONG_MTU = INTENT.replace("profile:\n", "profile:\n  mtu: 9000\n")


def runner(folder: Path) -> Railfab:
    """Runs a command on the twin whose state is in this folder, as a user would."""

    def run(verb: str, *arguments: str | Path, intent: str = "intent.yml") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        on = () if "--on" in arguments or "--list" in arguments else ("--on", "twin", "--state", str(folder))
        return commands.run(verb, intent, *arguments, *on, cwd=folder, environment=environment, timeout_s=120)

    return run


def half_unreachable(folder: Path, *names: str) -> Path:
    """An endpoints file of the twin in which nothing listens on the ports of these switches."""
    document = json.loads((folder / "small.twin.json").read_text())
    for node in document["nodes"]:
        if node["name"] in names:
            node["gnmi_port"], node["ssh_port"] = free_port(), free_port()
    path = folder / "half.json"
    path.write_text(json.dumps(document))
    return path


def drifted(railfab: Railfab, folder: Path, *names: str) -> None:
    """Give these switches another MTU than the intent says."""
    (folder / "wrong.yml").write_text(WRONG_MTU)
    done = railfab("deploy", "--limit", ",".join(names or (SPINE,)), "--yes", "--waves", "off", intent="wrong.yml")
    assert done.returncode == 0, done.stderr


def cases(path: Path) -> dict[str, str]:
    """The outcome of each case of a JUnit file: `passed`, `failure`, `error` or `skipped`."""
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in etree.parse(path).getroot()}

"""A twin of two rail switches and two spines for tests of the verbs of day two, and its bad days."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from tests import commands
from tests.ports import free_port
from tests.twin.small_fabric import INTENT
from tests.twin.twins import configurations, configure

from railfab.twin import Twin

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


@dataclass(frozen=True, slots=True)
class Configurations:
    """What the switches run with the intent, and with another MTU on every port than the intent says."""

    twin: Twin
    intended: Mapping[str, str]
    drifted: Mapping[str, str]

    def drift(self, *names: str) -> None:
        """Give these switches the other MTU."""
        configure(self.twin, {name: self.drifted[name] for name in names})

    def restore(self) -> None:
        """Give every switch the intent."""
        configure(self.twin, self.intended)


def configurations_of(twin: Twin, folder: Path) -> Configurations:
    """Deploy another MTU to the switches of a twin and read them, then give them the intent again."""
    intended = configurations(twin)
    (folder / "wrong.yml").write_text(WRONG_MTU)
    done = runner(folder)("deploy", "--yes", "--waves", "off", intent="wrong.yml")
    assert done.returncode == 0, done.stderr
    drifted = configurations(twin)
    assert all(drifted[name] != text for name, text in intended.items())
    configure(twin, intended)
    return Configurations(twin, intended, drifted)


def cases(path: Path) -> dict[str, str]:
    """The outcome of each case of a JUnit file: `passed`, `failure`, `error` or `skipped`."""
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in etree.parse(path).getroot()}

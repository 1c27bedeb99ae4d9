"""The collector and the simulator run where only their own extras are installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROLOGUE = """
import sys
from pathlib import Path
absent = set({absent!r})

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""
DEPLOY = ("nornir", "pygnmi", "nornir_netmiko", "netmiko", "paramiko", "asyncssh")
DASHBOARDS = ("grafana_foundation_sdk", "grafana_api")
COMPILER = ("numba", "llvmlite")
NUMERICS = ("numpy", *COMPILER)
COLLECT = ("grpc", "hpack", "google.protobuf", "prometheus_client")


@pytest.mark.parametrize(
    ("what", "absent"),
    [
        ("import railfab.telemetry", (*DEPLOY, *DASHBOARDS, *COMPILER, "isal", "fastapi")),
        ("from railfab.sim import Engine", (*DEPLOY, *DASHBOARDS, *COLLECT, "cryptography", "matplotlib")),
        (
            "from railfab.sim import warm\nsaid = []\nwarm.prepare(said.append)\nwarm.compile_kernel()\n"
            "assert 'numba is not installed' in said[0], said",
            (*DEPLOY, *DASHBOARDS, *COLLECT, "cryptography", "matplotlib", *COMPILER),
        ),
        (
            "import railfab.cli.collect, railfab.fabric, railfab.telemetry\n"
            "from railfab.platforms import platform, platform_names\n"
            "assert all(platform(name).telemetry.rules for name in platform_names())",
            (*DEPLOY, *DASHBOARDS, *COMPILER),
        ),
        ("from railfab.twin import connect, found_twins, require_served, stop", (*DEPLOY, *COLLECT, *NUMERICS)),
        (
            "from railfab.cli.commands import Commands\nassert dict(Commands())",
            (*DEPLOY, *DASHBOARDS, *COLLECT, *NUMERICS, "cryptography"),
        ),
    ],
    ids=["telemetry", "sim", "sim-with-numpy-alone", "collect", "twin-control", "cli"],
)
def test_it_imports_without(what: str, absent: tuple[str, ...]) -> None:
    program = PROLOGUE.format(absent=absent) + what
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_absent_is_really_absent() -> None:
    program = PROLOGUE.format(absent=("grpc",)) + "import railfab.telemetry"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "No module named 'grpc'" in done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("twin", "twin"),
        ("deploy --limit pod1-spine1", "deploy"),
        ("collect", "collect"),
        ("up", "all"),
        ("lab status", "lab"),
        ("dashboards build", "dashboards"),
        ("dashboards push --url http://127.0.0.1:1", "dashboards,grafana"),
    ],
)
def test_a_command_names_the_one_extra_that_brings_all_it_needs(
    command: str, extra: str, repository: Path, tmp_path: Path
) -> None:
    words = command.split()
    if words[0] != "dashboards":
        intent = tmp_path / "intent.yml"
        own = "inventory/fabrics/pod64.yml" if words[0] == "twin" else "labs/frr-pod/intent.yml"
        intent.write_text(f"{(repository / own).read_text()}inventory: {{pod1-spine1: {{host: 192.0.2.1}}}}\n")
        words.append(str(intent))
    everything = (*DEPLOY, *DASHBOARDS, *COLLECT, *NUMERICS, "cryptography")
    program = PROLOGUE.format(absent=everything) + f"sys.argv[1:] = {words!r}\nfrom railfab.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f" is not installed. Install it with: pip install 'railfab[{extra}]'\n")
    assert len(done.stderr.splitlines()) == 1

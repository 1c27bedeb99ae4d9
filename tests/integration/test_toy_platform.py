"""A platform of somebody else: built and installed outside the tree, and used by every verb, with no change of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.signals import interruptible

SWITCHES = ("pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-spine1", "pod1-spine2")
Railfab = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def project(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the platform, outside our tree."""
    return Path(shutil.copytree(repository / "tests" / "toy_platform", tmp_path_factory.mktemp("toy") / "project"))


@pytest.fixture(scope="module")
def environment(project: Path) -> dict[str, str]:
    """The environment of processes that have the platform's wheel installed; built and installed without network."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheels, site = project.parent / "wheels", project.parent / "site"
    subprocess.run(
        [*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(wheels), str(project)],
        check=True,
        timeout=300,
    )
    (wheel,) = wheels.glob("railfab_toy-*.whl")
    subprocess.run(
        [*pip, "install", "--no-index", "--no-deps", "--target", str(site), str(wheel)], check=True, timeout=300
    )
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    few = os.environ.get("RAILFAB_EXAMPLES", "5")
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "NO_COLOR": "1", "RAILFAB_EXAMPLES": few}


@pytest.fixture(scope="module")
def railfab(project: Path, environment: dict[str, str]) -> Railfab:
    """Runs a command on the intent of the project, from its folder."""

    def run(verb: str, *arguments: str, intent: str = "intent.yml") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "railfab", verb, intent, *arguments]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, env=environment, timeout=170)

    return run


@contextmanager
def started(project: Path, environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until it is stopped."""
    command = interruptible([sys.executable, "-m", "railfab", *arguments])
    with subprocess.Popen(command, cwd=project, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def twin(project: Path, environment: dict[str, str]) -> Iterator[Path]:
    """A running twin of the fabric with factory switches; its endpoints file."""
    with started(project, environment, "twin", "intent.yml", "--port", "0") as process:
        endpoints = project / ".railfab" / "toys.twin.json"
        until_s = time.monotonic() + 120
        while not endpoints.exists():
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() < until_s, "the twin did not start in time"
            time.sleep(0.1)
        yield endpoints


def test_nothing_of_ours_knows_the_platform(repository: Path) -> None:
    sources = (path for path in (repository / "src").rglob("*") if path.suffix in (".py", ".yml"))
    assert not [path for path in sources if "railfab_toy" in path.read_text() and "testing" not in path.parts]


def test_its_configuration_is_written_and_read_by_less_than_300_lines(repository: Path) -> None:
    sources = (repository / "tests" / "toy_platform").rglob("*.py")
    lines = {path.name: path.read_text().count("\n") for path in sources}
    assert sum(lines.values()) - lines["session.py"] - lines["twin.py"] < 300


BROKEN = """

class TestBroken(PlatformLaws):
    name = "toy"

    @property
    def platform(self):
        from dataclasses import replace

        toy = super().platform
        return replace(toy, parse=lambda text: toy.parse(text.replace("mtu", "speed")))
"""


@pytest.mark.timeout(900)
def test_it_passes_the_laws_of_every_platform_and_one_that_breaks_a_law_fails_it(
    project: Path, environment: dict[str, str]
) -> None:
    laws = project / "tests" / "test_toy.py"
    broken = project.parent / "broken" / "test_broken.py"
    broken.parent.mkdir()
    broken.write_text(laws.read_text() + BROKEN)
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "--import-mode=importlib"]
    chosen = [str(laws), f"{broken}::TestBroken", "-k", "not Broken or parses"]
    done = subprocess.run(
        [*command, *chosen], cwd=project, capture_output=True, text=True, env=environment, timeout=870
    )
    assert done.returncode == 1, done.stdout
    failed = re.findall(r"^FAILED \S*::(\w+::\w+)", done.stdout, re.MULTILINE)
    assert failed == ["TestBroken::test_a_rendered_model_parses_to_the_admitted_model_that_renders_to_equal_text"]
    assert re.search(r"^1 failed, \d\d passed, 3 skipped, \d+ deselected in ", done.stdout, re.MULTILINE), done.stdout


def test_a_fabric_of_it_is_planned_and_rendered(railfab: Railfab, tmp_path: Path) -> None:
    planned = railfab("plan")
    assert planned.returncode == 0, planned.stderr
    assert sum(map(int, re.findall(r"(\d+)  toy-16 +toy ", planned.stdout))) == 4
    rendered = railfab("render", "-o", str(tmp_path))
    assert rendered.returncode == 0, rendered.stderr
    assert sorted(path.name for path in tmp_path.glob("*.toy")) == [f"{name}.toy" for name in SWITCHES]
    assert "port port1\n  description " in (tmp_path / "pod1-seg1-leaf1.toy").read_text()


def test_a_feature_that_it_lacks_is_refused_by_name(railfab: Railfab, project: Path) -> None:
    lossless = (project / "intent.yml").read_text().replace("lossless: off", "lossless: {dscp: 26}")
    (project / "lossless.yml").write_text(lossless)
    refused = railfab("plan", intent="lossless.yml")
    assert refused.returncode == 2
    assert "pod1-seg1-leaf1: platform toy does not support pfc. " in refused.stderr


def test_its_virtual_switches_are_deployed_to_over_its_own_cli(railfab: Railfab, twin: Path) -> None:
    nodes = json.loads(twin.read_text())["nodes"]
    assert all(node["ssh_port"] and node["known_hosts"] for node in nodes)
    first = railfab("deploy", "--on", "twin", "--yes", "--output", "json")
    assert first.returncode == 0, first.stderr
    assert [(each["name"], each["changed"], each["failed"]) for each in json.loads(first.stdout)] == [
        (name, True, False) for name in SWITCHES
    ]
    second = railfab("deploy", "--on", "twin", "--yes", "--output", "json")
    assert [(each["changed"], each["diff"]) for each in json.loads(second.stdout)] == [(False, "")] * 4
    verified = railfab("verify", "--on", "twin")
    assert (verified.returncode, verified.stdout.splitlines()[0]) == (
        0,
        "4 of 4 switches checked: all 32 BGP session ends are as the intent says",
    )


def test_its_metrics_are_collected(railfab: Railfab, twin: Path, project: Path, environment: dict[str, str]) -> None:
    assert railfab("deploy", "--on", "twin", "--yes").returncode == 0
    wanted = (
        'fabric_bgp_session_up{device="pod1-spine1",fabric="toys",peer="port1"} 1',
        'fabric_bgp_prefixes{device="pod1-spine1",fabric="toys",peer="port1",afi_safi="ipv4-unicast",direction="received"}',
        'fabric_interface_receive_bytes_total{device="pod1-seg1-leaf1",fabric="toys",interface="port1"}',
        'fabric_interface_oper_up{device="pod1-seg1-leaf1",fabric="toys",interface="port1"} 1',
    )
    with started(project, environment, "collect", "intent.yml", "--on", "twin", "--port", "0") as process:
        assert process.stderr is not None
        url = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+/metrics", line)))
        until_s = time.monotonic() + 60
        metrics = ""
        while missing := [line for line in wanted if line not in metrics]:
            assert time.monotonic() < until_s, missing
            time.sleep(0.5)
            metrics = urllib.request.urlopen(url, timeout=10).read().decode()
    assert not re.search(r"^fabric_collector_unmapped_updates_total", metrics, re.MULTILINE)

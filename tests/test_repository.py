"""What a fresh clone promises: pins without addresses, targets that say what they do, and skips that CI refuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

PINS = (
    "requirements.txt",
    "requirements-build.txt",
    "requirements-dev.txt",
    "requirements-oracles.txt",
    "requirements-fuzz.txt",
)
AT_THE_TOP = {
    *PINS,
    *(".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("SECURITY.md", "pyproject.toml"),
}
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.]*( ; .+)?")


def pinned(path: Path) -> set[str]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("-r ")]
    return {re.split("==", line)[0].lower().replace("_", "-") for line in lines}


def asked(requirements: list[str]) -> set[str]:
    names = {re.split(r"[<>=\[; ]", requirement)[0].lower().replace("_", "-") for requirement in requirements}
    return names - {"railfab"}


@pytest.mark.parametrize("name", PINS)
def test_pins_are_exact_versions_and_name_no_address(repository: Path, name: str) -> None:
    lines = (repository / name).read_text().splitlines()
    assert lines
    assert [line for line in lines if line != "-r requirements.txt" and not PIN.fullmatch(line)] == []


def test_every_dependency_is_pinned(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    extras = dict(project["project"]["optional-dependencies"])
    testing, oracle = extras.pop("testing"), extras.pop("eos-oracle")
    del extras["ray"]  # of 80 MB, without which the tests skip one of theirs
    runtime = pinned(repository / "requirements.txt")
    assert asked(project["project"]["dependencies"] + [each for extra in extras.values() for each in extra]) <= runtime
    assert asked(project["dependency-groups"]["dev"] + testing) <= runtime | pinned(repository / "requirements-dev.txt")
    assert asked(project["dependency-groups"]["fuzz"]) <= pinned(repository / "requirements-fuzz.txt")
    assert asked(oracle) <= pinned(repository / "requirements-oracles.txt")
    assert asked(project["build-system"]["requires"]) <= pinned(repository / "requirements-build.txt")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_no_output_of_a_trial_is_in_the_repository(repository: Path) -> None:
    names = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True, check=True).stdout
    assert {name for name in names.splitlines() if "/" not in name} - AT_THE_TOP == set()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_alone_lists_what_there_is(repository: Path) -> None:
    said = subprocess.run(["make"], cwd=repository, capture_output=True, text=True, check=True).stdout
    for target in ("demo", "test", "check", "bench", "lab-deps", "clean"):
        assert re.search(rf"^  make {target} +\S", said, re.MULTILINE)


def run_copied(
    folder: Path, repository: Path, *options: str, files: Mapping[str, str], **environment: str
) -> subprocess.CompletedProcess[str]:
    """A run of these tests with our conftest.py."""
    shutil.copy(repository / "tests/conftest.py", folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\nmarkers =\n    prometheus\n")
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def run_marked(folder: Path, repository: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One test marked `prometheus`, on a machine without it."""
    marked = "import pytest\n\n@pytest.mark.prometheus\ndef test_it():\n    pass\n"
    return run_copied(folder, repository, "-rs", files={"test_it.py": marked}, PATH="/nowhere", **environment)


def test_what_the_machine_lacks_is_skipped_with_one_line(tmp_path: Path, repository: Path) -> None:
    done = run_marked(tmp_path, repository, RAILFAB_REQUIRE="")
    assert done.returncode == 0
    assert "needs prometheus and promtool; run: sudo make lab-deps" in done.stdout
    assert "1 skipped" in done.stdout


def test_four_workers_begin_with_what_waits_and_a_further_one_with_what_computes_and_gives_way(
    tmp_path: Path, repository: Path
) -> None:
    for name in ("nice", "collected"):
        (tmp_path / name).mkdir()
    said = f"""
import os
from pathlib import Path

Path("{tmp_path / "collected"}", f"{{Path(__file__).parent.name}} {{os.environ['PYTEST_XDIST_WORKER']}}").touch()

def test_it(worker_id):
    with open(f"{tmp_path / "nice"}/{{worker_id}}", "w") as file:
        file.write(str(os.getpriority(os.PRIO_PROCESS, 0)))
"""
    files = {f"{folder}/test_{n}.py": said for folder, count in (("faults", 10), ("sim", 2)) for n in range(count)}
    done = run_copied(tmp_path, repository, "-v", "-n", "5", files=files, RAILFAB_REQUIRE="")
    assert done.returncode == 0, done.stdout
    runs = re.findall(r"\[(gw\d)\] .*PASSED (?:.*/)?(faults|sim)/test_", done.stdout)
    assert {worker for worker, folder in runs if folder == "sim"} == {"gw4"}
    assert {worker for worker, folder in runs if folder == "faults"} == {f"gw{number}" for number in range(4)}
    collected = {path.name for path in (tmp_path / "collected").iterdir()}
    assert collected == {"sim gw4", *(f"faults gw{number}" for number in range(5))}
    priority = {path.name: int(path.read_text()) for path in (tmp_path / "nice").iterdir()}
    assert priority["gw4"] == min(19, priority["gw0"] + 3)


def test_what_ci_requires_is_never_skipped(tmp_path: Path, repository: Path) -> None:
    done = run_marked(tmp_path, repository, RAILFAB_REQUIRE="lab,prometheus")
    assert done.returncode == 1
    assert "RAILFAB_REQUIRE demands prometheus, but this was skipped" in done.stdout


APT_GET = """#!/bin/sh
# Installs the units of what it is asked for as Debian's maintainer scripts do: with links that start them at boot.
for package in "$@"; do
    [ -e "$DPKG_ROOT/lib/systemd/system/$package.service" ] || continue
    systemctl --root="$DPKG_ROOT" --quiet enable "$package"
done
"""
SERVICES = ("frr", "nats-server", "prometheus")


def machine(root: Path, *, installed: Collection[str], enabled: Collection[str]) -> dict[str, str]:
    """A Debian system of three services without systemd at work: the environment in which lab-deps installs."""
    for folder in ("bin", "usr/sbin", "lib/systemd/system", "etc/systemd/system/multi-user.target.wants"):
        (root / folder).mkdir(parents=True)
    states = "".join(f"        {name}) echo installed ;;\n" for name in installed)
    query = f'#!/bin/sh\nfor last; do :; done\ncase "$last" in\n{states}        *) exit 1 ;;\nesac\n'
    for name, text in (("apt-get", APT_GET), ("apt-cache", "#!/bin/sh\n"), ("dpkg-query", query)):
        (root / "bin" / name).write_text(text)
        (root / "bin" / name).chmod(0o755)
    for service in SERVICES:
        (root / "lib/systemd/system" / f"{service}.service").write_text("[Install]\nWantedBy=multi-user.target\n")
        if service in enabled:
            link = root / "etc/systemd/system/multi-user.target.wants" / f"{service}.service"
            link.symlink_to(f"/lib/systemd/system/{service}.service")
    return os.environ | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}", "DPKG_ROOT": str(root)}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(shutil.which("systemctl") is None, reason="needs Debian")
def test_lab_deps_leaves_at_boot_what_started_there_before_and_nothing_else(tmp_path: Path, repository: Path) -> None:
    environment = machine(tmp_path, installed=("prometheus",), enabled=("nats-server", "prometheus"))
    done = subprocess.run([repository / ".ci/lab-deps"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    wanted = tmp_path / "etc/systemd/system/multi-user.target.wants"
    assert {path.name for path in wanted.iterdir()} == {"nats-server.service", "prometheus.service"}
    assert not (tmp_path / "usr/sbin/policy-rc.d").exists()

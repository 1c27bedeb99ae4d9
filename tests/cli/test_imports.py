"""What a command imports: the modules that it uses, because each start pays for all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from railfab.cli.commands import PLACES, Commands, summary
from railfab.import_on_use import imported_on_use

ROOT = Path(__file__).parents[2]
EOS = ROOT / "tests" / "deploy" / "rack_eos.yml"
PROGRAM = """
import contextlib, io, json, sys
scanned = []
sys.addaudithook(lambda event, found: scanned.append(found[0]) if event == "open" else None)
from railfab.__main__ import main
sys.argv = ["railfab", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
assert not [path for path in scanned if str(path).endswith("entry_points.txt")], "it reads each installed package"
print(json.dumps(sorted(sys.modules)))
"""
LAZY = ("device", "endpoints", "fabric", "intent", "lab", "lab.containerlab", "lab.netns", "platforms")
"""Packages that import some of their modules on use."""


def imported(*arguments: str | Path) -> set[str]:
    """The modules that a command has imported when it ends, without having searched all installed packages."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == "" or done.stderr.startswith("wrote ")
    return set(json.loads(done.stdout))


def packages(modules: Collection[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_the_version_needs_no_package_but_that_of_the_command_line() -> None:
    found = imported("--version")
    assert found.isdisjoint({"asyncio", "pydantic", "rich", "ssl", "yaml"})
    own = {module.split(".")[1] for module in found if module.startswith("railfab.")}
    assert own == {
        "__main__",
        "cli",
        "endpoints",
        "errors",
        "findings",
        "import_on_use",
        "process",
        "startup_cache",
        "text",
    }


def test_the_help_needs_no_module_of_a_command_after_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    assert "railfab.cli.plan" in imported("--help")
    modules = imported("--help")
    assert modules.isdisjoint({"pydantic", "yaml"})
    assert not modules & {f"railfab.cli.{module}" for module, _ in PLACES.values()}


@pytest.mark.parametrize("name", PLACES)
def test_the_list_of_commands_has_the_help_of_each(name: str) -> None:
    assert summary(name) == Commands()[name].help != ""


def test_a_rendering_needs_the_design_and_the_renderer_of_its_platform(tmp_path: Path) -> None:
    found = imported("render", EOS, "-o", tmp_path)
    assert len([*tmp_path.iterdir()]) == 3
    assert packages(found).isdisjoint({"asyncio", "grpc", "nornir", "numpy", "prometheus_client", "rich", "ssl"})
    own = {module.removeprefix("railfab.") for module in found if module.startswith("railfab.")}
    assert own & {f"cli.{module}" for module, _ in PLACES.values()} == {"cli.design"}
    assert {name.split(".")[1] for name in own if name.startswith("platforms.")}.isdisjoint(
        {"cumulus", "frr", "junos", "nxos", "sonic", "srlinux", "session", "twin_face", "hazards"}
    )
    assert own.isdisjoint({"device.agreement", "device.observed", "fabric.endpoints", "intent.job", "intent.telemetry"})
    assert own.isdisjoint({"endpoints.document", "endpoints.model", "endpoints.nornir_hosts"})
    assert own.isdisjoint({"metrics", "platforms.telemetry_map"})


@pytest.mark.parametrize("command", ["plan", "render"])
def test_a_design_in_files_needs_no_terminal_no_network_and_no_list_of_packages(command: str, tmp_path: Path) -> None:
    modules = imported(command, EOS, "-o", tmp_path)
    assert modules.isdisjoint({"email", "http", "importlib.metadata", "rich", "socket", "ssl", "urllib3", "xml"})


def test_a_run_that_is_kept_needs_no_numbers_and_no_compiler() -> None:
    program = """
import sys
from railfab.simulate.kept_runs import KeptRuns
assert {"llvmlite", "numba", "numpy"}.isdisjoint(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], timeout=120, check=True)


def test_each_command_is_found_by_its_name() -> None:
    found = Commands()
    assert {name: found[name].name for name in found} == {name: name for name in PLACES}
    assert len(found) == len(PLACES)
    with pytest.raises(KeyError):
        found["rendr"]


@pytest.mark.parametrize("package", LAZY)
def test_each_exported_name_is_there(package: str) -> None:
    module: ModuleType = import_module(f"railfab.{package}")
    for name in module.__all__:
        assert getattr(module, name) is not None


AT_ONCE = {"fabric": {"design"}}
"""Exported names that are imported with the package."""


@pytest.mark.parametrize("package", LAZY)
def test_no_name_that_is_imported_on_use_is_that_of_a_module(package: str) -> None:
    """Who imports such a module would find it in place of the name."""
    folder = ROOT / "src" / "railfab" / package.replace(".", "/")
    modules = {path.stem for path in folder.iterdir()}
    assert modules & {*import_module(f"railfab.{package}").__all__} == AT_ONCE.get(package, set())


def test_a_name_that_a_package_does_not_export_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'railfab\.device' has no attribute 'Devices'$"):
        imported_on_use("railfab.device", {"model": ("DeviceModel",)})("Devices")


def test_a_change_whose_progress_nobody_sees_needs_no_rich() -> None:
    program = """
import sys
from railfab.cli.common import ticking_bar
with ticking_bar("reading", 1) as on_done:
    on_done("leaf1")
assert "rich" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, timeout=120, check=True)

"""A platform without sessions: every command that connects says so before it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from railfab.app.configuration_check import ConfigurationCheck
from railfab.cli import app
from railfab.deploy import nornir_of
from railfab.endpoints import Endpoint, Endpoints
from railfab.errors import Problems, RailfabError, UnsupportedFeature, each
from railfab.fabric import design
from railfab.platforms import cumulus, nxos, platform, platform_names

ROOT = Path(__file__).parents[2]
RACK = ROOT / "tests" / "deploy" / "rack_eos.yml"
NAME = "nxos"
MODELS = {"nxos": "n9364e-sg2-o", "cumulus": "sn5600"}


@pytest.fixture(autouse=True)
def without_sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two platforms as those of other packages are that have neither sessions nor a twin."""
    for module in (nxos, cumulus):
        monkeypatch.setattr(module, "PLATFORM", replace(module.PLATFORM, session=None, dialect=None, twin=None))
    platform.cache_clear()
    yield
    monkeypatch.undo()
    platform.cache_clear()


@pytest.fixture
def rack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The intent of a rack of a platform without sessions."""
    path = tmp_path_factory.mktemp("rack") / "rack.yml"
    path.write_text(RACK.read_text().replace("7060dx5-64s", "n9364e-sg2-o").replace("eos", NAME))
    return path


def test_a_run_over_switches_without_sessions_is_refused_in_one_line_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "admin")
    monkeypatch.setenv("RAILFAB_PASSWORD", "of a test")
    fabric = design(ROOT / "inventory" / "fabrics" / "dual-rail.yml")
    switches = fabric.topology.switches()
    nodes = tuple(Endpoint(name=node.name, platform=NAME, host="192.0.2.1") for node in switches)
    with pytest.raises(UnsupportedFeature) as refused:
        nornir_of(fabric, Endpoints(fabric="dual-rail", backend="file", nodes=nodes))
    assert str(refused.value) == (
        f"pod1-seg1-leaf1 and 15 more: railfab cannot connect to switches of platform {NAME} yet. "
        "Write their files with `railfab render INTENT -o DIR`, and load them with the tools of the vendor."
    )


@pytest.mark.parametrize(
    "command",
    ["deploy", "deploy --plan --on twin", "verify --on lab", "audit --on hosts.yml", "rollback", "rollback --plan"],
)
def test_a_command_that_logs_in_is_refused_before_it_looks_for_addresses(
    command: str, rack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would ask for a twin, a lab or a file first, with which it fails all the same."""
    monkeypatch.chdir(tmp_path)
    verb, *options = command.split()
    with pytest.raises(RailfabError) as refused:
        CliRunner().invoke(app, [verb, str(rack), *options], catch_exceptions=False)
    assert str(refused.value) == (
        f"pod1-seg1-leaf1 and 2 more: railfab cannot connect to switches of platform {NAME} yet. "
        "Write their files with `railfab render INTENT -o DIR`, and load them with the tools of the vendor."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_two_vendors_is_refused_in_a_line_for_each(rack: Path) -> None:
    text, second = rack.read_text(), "cumulus"
    leaves, spines = text.split("  spines:")
    mixed = spines.replace("n9364e-sg2-o", MODELS[second]).replace(NAME, second)
    rack.write_text(f"{leaves}  spines:{mixed}")
    with pytest.raises(Problems) as refused:
        CliRunner().invoke(app, ["verify", str(rack)], catch_exceptions=False)
    assert [error.where for error in each(refused.value)] == ["pod1-seg1-leaf1 and 1 more", "pod1-spine1"]


def test_up_is_refused_before_the_simulator_is_compiled(
    rack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("railfab.cli.up.prepare_simulator", lambda: pytest.fail("compiled the simulator"))
    with pytest.raises(UnsupportedFeature, match=r"railfab cannot connect|the twin does not support"):
        CliRunner().invoke(app, ["up", str(rack), "--state", str(tmp_path)], catch_exceptions=False)


def test_the_collector_compares_no_configuration_that_it_cannot_read(
    rack: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A switch that is never read would raise FabricConfigurationUnchecked for as long as the collector runs."""
    fabric = design(rack)
    switches = fabric.topology.switches()
    nodes = tuple(Endpoint(name=node.name, platform=NAME, host="192.0.2.1") for node in switches)
    endpoints = Endpoints(fabric="rack", backend="inventory", nodes=nodes)
    check = ConfigurationCheck(fabric, endpoints, state=tmp_path, interval_s=60)
    check.check()
    checked = next(one for one in check.collect() if "checked_timestamp" in one.name)
    assert checked.samples == []
    assert [record.message for record in caplog.records] == [
        "configurations are not compared with the intent: pod1-seg1-leaf1 and 2 more: railfab cannot connect to "
        f"switches of platform {NAME} yet"
    ]


def test_a_platform_has_a_session_and_a_dialect_or_neither() -> None:
    for name in platform_names():
        system = platform(name)
        assert (system.session is None) == (system.dialect is None)

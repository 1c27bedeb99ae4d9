"""The files in the top-level directory `dashboards/` equal the built ones; options change addresses and interval."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from railfab.cli.dashboards import app
from railfab.dashboards import Datasource, DeliveryError, Scrape, grafana_files, prometheus_files, write
from railfab.dashboards.monitoring import BOARDS_PATH

FILES = {**grafana_files(Datasource()), **prometheus_files(Scrape())}


@pytest.mark.parametrize("name", FILES)
def test_the_committed_file_is_the_built_one(name: str, repository: Path) -> None:
    assert (repository / "dashboards" / name).read_text() == FILES[name], "run `railfab dashboards build` and commit"


def test_nothing_else_generated_is_committed(repository: Path) -> None:
    folder = repository / "dashboards"
    committed = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert committed - {"README.md", "kustomization.yml"} == FILES.keys()


def test_building_twice_gives_the_same() -> None:
    assert {**grafana_files(Datasource()), **prometheus_files(Scrape())} == FILES


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    assert all(write(FILES, tmp_path / "new").values())
    assert not any(write(FILES, tmp_path / "new").values())
    (tmp_path / "new" / "prometheus.yml").write_text("edited")
    assert [name for name, changed in write(FILES, tmp_path / "new").items() if changed] == ["prometheus.yml"]


def test_grafana_finds_the_datasource_by_the_uid_and_the_boards_in_their_folder() -> None:
    (datasource,) = yaml.safe_load(FILES["provisioning/datasources/railfab.yml"])["datasources"]
    assert (datasource["uid"], datasource["type"]) == ("railfab-prometheus", "prometheus")
    (provider,) = yaml.safe_load(FILES["provisioning/dashboards/railfab.yml"])["providers"]
    assert (provider["type"], provider["options"]["path"]) == ("file", BOARDS_PATH)


def _build(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["build", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_options_set_addresses_and_interval(tmp_path: Path) -> None:
    addresses = ("--collector", "[::1]:1234", "--jobs", "twin:99", "--prometheus", "http://prometheus:1")
    _build("-o", str(tmp_path), *addresses, "--interval", "2")
    config = yaml.safe_load((tmp_path / "prometheus.yml").read_text())
    assert config["global"] == {"scrape_interval": "2s", "evaluation_interval": "2s"}
    targets = {scrape["job_name"]: scrape["static_configs"][0]["targets"] for scrape in config["scrape_configs"]}
    assert targets == {"railfab-collector": ["[::1]:1234"], "railfab-jobs": ["twin:99"]}
    (datasource,) = yaml.safe_load((tmp_path / "provisioning/datasources/railfab.yml").read_text())["datasources"]
    assert datasource["url"] == "http://prometheus:1"
    assert datasource["jsonData"]["timeInterval"] == "2s"


def test_several_collectors_and_the_lists_of_their_processes_are_one_job(tmp_path: Path) -> None:
    lists = "https://one:9804/http_sd", "http://two:9804/http_sd"
    named = [word for one in ("three:1", *lists) for word in ("--collector", one)]
    _build("-o", str(tmp_path), *named, "--interval", "5")
    (scrape,) = yaml.safe_load((tmp_path / "prometheus.yml").read_text())["scrape_configs"]
    assert scrape == {
        "job_name": "railfab-collector",
        "static_configs": [{"targets": ["three:1"]}],
        "http_sd_configs": [{"url": url, "refresh_interval": "5s"} for url in lists],
    }


@pytest.mark.parametrize("wrong", ["one", "ftp://one:9804/http_sd", "http:///http_sd", "one:9804/http_sd"])
def test_an_address_that_prometheus_cannot_ask_is_one_line(tmp_path: Path, wrong: str) -> None:
    done = CliRunner().invoke(app, ["build", "-o", str(tmp_path), "--collector", wrong])
    assert str(done.exception).startswith(f"--collector: {wrong!r} is not ")
    assert not (tmp_path / "prometheus.yml").exists()


def test_the_command_prints_the_written_files(tmp_path: Path) -> None:
    written = json.loads(_build("-o", str(tmp_path), "--output", "json"))
    assert {Path(entry["path"]).relative_to(tmp_path).as_posix() for entry in written} == FILES.keys()
    assert all(entry["changed"] for entry in written)
    assert _build("-o", str(tmp_path)).count("unchanged") == len(FILES)


def test_a_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeliveryError) as caught:
        write(FILES, tmp_path / "file")
    assert str(caught.value) == (
        f"{tmp_path}/file/boards/fabric.json: cannot be written: Not a directory. Use a writable directory."
    )


def test_an_interval_that_would_leave_rules_without_data_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["build", "-o", str(tmp_path), "--interval", "60"])
    assert done.exit_code == 2
    assert "less than or equal to 20" in " ".join(done.output.split())
    assert not list(tmp_path.iterdir())


def _without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line where a package is not installed."""
    program = f"import sys; sys.modules[{package!r}] = None; from railfab.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    build = _without("grafana_foundation_sdk", "dashboards", "build", "-o", str(tmp_path))
    assert build.returncode == 2
    assert build.stderr.endswith("is not installed. Install it with: pip install 'railfab[dashboards]'\n")
    push = _without("grafana_api", "dashboards", "push", "--url", "http://127.0.0.1:1")
    assert push.returncode == 2
    assert push.stderr.endswith("is not installed. Install it with: pip install 'railfab[dashboards,grafana]'\n")


def test_prometheus_needs_no_extra(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['grafana_foundation_sdk'] = sys.modules['grafana_api'] = None\n"
        "from railfab.dashboards import Scrape, prometheus_files; print(*prometheus_files(Scrape()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [
        "alertmanager.yml",
        "prometheus.yml",
        "rules/recording.yml",
        "rules/adopted.yml",
        "rules/alerts.yml",
    ]

"""What lies in the top-level folder `dashboards/` is what the builders give, and can be given to other addresses."""

from __future__ import annotations

import json
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
    assert committed - {"README.md"} == FILES.keys()


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


def test_addresses_and_the_interval_are_the_callers(tmp_path: Path) -> None:
    addresses = ("--collector", "[::1]:1234", "--jobs", "twin:99", "--prometheus", "http://prometheus:1")
    _build("-o", str(tmp_path), *addresses, "--interval", "2")
    config = yaml.safe_load((tmp_path / "prometheus.yml").read_text())
    assert config["global"] == {"scrape_interval": "2s", "evaluation_interval": "2s"}
    targets = {scrape["job_name"]: scrape["static_configs"][0]["targets"] for scrape in config["scrape_configs"]}
    assert targets == {"railfab-collector": ["[::1]:1234"], "railfab-jobs": ["twin:99"]}
    (datasource,) = yaml.safe_load((tmp_path / "provisioning/datasources/railfab.yml").read_text())["datasources"]
    assert datasource["url"] == "http://prometheus:1"
    assert datasource["jsonData"]["timeInterval"] == "2s"


def test_the_command_says_what_it_wrote(tmp_path: Path) -> None:
    written = json.loads(_build("-o", str(tmp_path), "--output", "json"))
    assert {Path(entry["path"]).relative_to(tmp_path).as_posix() for entry in written} == FILES.keys()
    assert all(entry["changed"] for entry in written)
    assert _build("-o", str(tmp_path)).count("unchanged") == len(FILES)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeliveryError) as caught:
        write(FILES, tmp_path / "file")
    assert str(caught.value) == (
        f"{tmp_path}/file/overview.json: cannot be written: File exists. Choose a directory that you may write."
    )

"""Prometheus accepts the rules and the configuration, and every alert fires under its condition only."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from railfab.dashboards import ALERTS, Scrape, prometheus_files, write

pytestmark = pytest.mark.prometheus
CASES = {
    f"{path.stem}: {case['name']}": case
    for path in sorted((Path(__file__).parent / "rules").glob("*.yml"))
    for case in yaml.safe_load(path.read_text())["tests"]
}
DESCRIPTIONS = {alert.alert: alert.description for alert in ALERTS}


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with prometheus.yml and its rules."""
    directory = tmp_path_factory.mktemp("prometheus")
    write(prometheus_files(Scrape()), directory)
    return directory


def _promtool(*arguments: str, cwd: Path) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_accepts_the_rules(prometheus: Path) -> None:
    _promtool("check", "rules", "rules/recording.yml", "rules/alerts.yml", cwd=prometheus)


def test_promtool_accepts_the_configuration_and_finds_the_rules_beside_it(prometheus: Path) -> None:
    _promtool("check", "config", "prometheus.yml", cwd=prometheus)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_alerts_fire_as_written(case: dict[str, Any], prometheus: Path, tmp_path: Path) -> None:
    """The files contain labels and summary; the constant description comes from the rule."""
    for check in case["alert_rule_test"]:
        for alert in check["exp_alerts"]:
            alert["exp_annotations"]["description"] = DESCRIPTIONS[check["alertname"]]
    rules = [str(prometheus / "rules" / name) for name in ("recording.yml", "alerts.yml")]
    order = ["fabric.recording", "fabric.alerts"]
    document = {"rule_files": rules, "evaluation_interval": "15s", "group_eval_order": order, "tests": [case]}
    (tmp_path / "case.yml").write_text(yaml.safe_dump(document))
    _promtool("test", "rules", "case.yml", cwd=tmp_path)


@pytest.mark.parametrize("alert", sorted(DESCRIPTIONS))
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(alert: str) -> None:
    """Not firing: at another time, or for another series of the same case."""
    checks = [
        (case, check) for case in CASES.values() for check in case["alert_rule_test"] if check["alertname"] == alert
    ]
    assert any(check["exp_alerts"] for _, check in checks), "never fires in rules/*.yml"
    devices = {
        label for case, _ in checks for series in case["input_series"] for label in series["series"].split('"')[1::2]
    }
    fired = {value for _, check in checks for one in check["exp_alerts"] for value in one["exp_labels"].values()}
    assert any(not check["exp_alerts"] for _, check in checks) or devices - fired, "never stays quiet in rules/*.yml"

"""Prometheus accepts the rules and the configuration, and every alert fires under its condition only."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from railfab.dashboards import ALERTS, Scrape, prometheus_files, write

pytestmark = pytest.mark.prometheus
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CASES = {
    f"{path.stem}: {case['name']}": case
    for path in sorted((Path(__file__).parent / "rules").glob("*.yml"))
    for case in yaml.load(path.read_text(), LOADER)["tests"]
}
FABRICS = ("", "east", "west")
"""A case without the label is tried for each of these at once, whose switches have the same names; "" is no fabric."""
NAMES = sorted(alert.alert for alert in ALERTS)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with prometheus.yml and its rules."""
    directory = tmp_path_factory.mktemp("prometheus")
    write(prometheus_files(Scrape()), directory)
    return directory


@pytest.fixture(scope="module")
def rules(prometheus: Path) -> dict[str, dict[str, Any]]:
    """The rule of each alert, whose only annotation is the summary."""
    (group,) = yaml.load((prometheus / "rules" / "alerts.yml").read_text(), LOADER)["groups"]
    return {
        rule["alert"]: {**rule, "annotations": {"summary": rule["annotations"]["summary"]}} for rule in group["rules"]
    }


BRIEF = {"GOGC": "off", "GOMAXPROCS": "1"}
"""Environment of a Go program that runs for a tenth of a second, of which a third went into garbage collection."""


def _promtool(*arguments: str, cwd: Path) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=cwd, env=os.environ | BRIEF, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_accepts_the_rules(prometheus: Path) -> None:
    _promtool("check", "rules", "rules/recording.yml", "rules/adopted.yml", "rules/alerts.yml", cwd=prometheus)


def test_promtool_accepts_the_configuration_and_finds_the_rules_beside_it(prometheus: Path) -> None:
    _promtool("check", "config", "prometheus.yml", cwd=prometheus)


JAIN, MAX_TO_MEAN = (f"device_peer_device:fabric_ecmp_transmit:{name}_rate1m" for name in ("jain", "max_to_mean"))


@pytest.mark.parametrize(
    ("loads", "jain", "max_to_mean"),
    [((6, 6, 6, 6), 1.0, 1.0), ((24, 0, 0, 0), 0.25, 4.0), ((18, 6, 0, 0), 576 / (4 * 360), 3.0)],
)
def test_evenness_of_links_is_jains_index(
    prometheus: Path, tmp_path: Path, loads: tuple[int, ...], jain: float, max_to_mean: float
) -> None:
    """Uplinks of a leaf carry these loads, in 100 MB/s."""
    series = []
    for number, load in enumerate(loads):
        port = f'fabric="a", device="leaf1", interface="ethernet-1/{number}"'
        step = load * 1_500_000_000
        series += [
            {"series": f'fabric_interface_info{{{port}, link="uplink"}}', "values": "1x20"},
            {"series": f"fabric_interface_transmit_bytes_total{{{port}}}", "values": f"0+{step}x20"},
        ]
    checks = [
        {
            "expr": f"round({name}, 0.001)",
            "eval_time": "4m",
            "exp_samples": [{"labels": '{fabric="a", device="leaf1", link="uplink"}', "value": round(value, 3)}],
        }
        for name, value in ((JAIN, jain), (MAX_TO_MEAN, max_to_mean))
    ]
    case = {"interval": "15s", "input_series": series, "promql_expr_test": checks}
    rules = [str(prometheus / "rules" / "recording.yml")]
    (tmp_path / "case.yml").write_text(
        yaml.safe_dump({"rule_files": rules, "evaluation_interval": "15s", "tests": [case]})
    )
    _promtool("test", "rules", "case.yml", cwd=tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_alerts_fire_as_written(
    case: dict[str, Any], prometheus: Path, rules: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """The files contain labels and summary; the alerts of a case are tried without their other annotations, each 15 s
    as in Prometheus, or each minute in a case of hours, whose series have a value a minute."""
    tried = [rules[name] for name in sorted({check["alertname"] for check in case["alert_rule_test"]})]
    order = ["fabric.recording", "fabric.alerts"]
    alerts = {"groups": [{"name": order[1], "rules": tried}]}
    (tmp_path / "alerts.yml").write_text(yaml.safe_dump(alerts))
    document = {
        "rule_files": [str(prometheus / "rules" / "recording.yml"), "alerts.yml"],
        "evaluation_interval": "1m" if case["interval"] == "1m" else "15s",
        "group_eval_order": order,
        "tests": [_in_every_fabric(case)],
    }
    (tmp_path / "case.yml").write_text(yaml.safe_dump(document))
    _promtool("test", "rules", "case.yml", cwd=tmp_path)


def _in_every_fabric(case: dict[str, Any]) -> dict[str, Any]:
    """The case in several fabrics at once, unless it states the fabrics of its series."""
    if any("fabric=" in one["series"] for one in case["input_series"]):
        return case
    return {
        **case,
        "input_series": [
            {**one, "series": _labelled(one["series"], fabric)} for one in case["input_series"] for fabric in FABRICS
        ],
        "alert_rule_test": [
            {**check, "exp_alerts": [_alert_of(one, fabric) for one in check["exp_alerts"] for fabric in FABRICS]}
            for check in case["alert_rule_test"]
        ],
        "promql_expr_test": [
            {
                **check,
                "exp_samples": [
                    {**one, "labels": _labelled(one["labels"], fabric)}
                    for one in check["exp_samples"]
                    for fabric in FABRICS
                ],
            }
            for check in case.get("promql_expr_test", ())
        ],
    }


def _labelled(series: str, fabric: str) -> str:
    """A series with the label of a fabric."""
    name, _, labels = series.rstrip("}").partition("{")
    return f'{name}{{fabric="{fabric}", {labels}}}' if fabric else series


def _alert_of(alert: dict[str, Any], fabric: str) -> dict[str, Any]:
    """An alert with the label of a fabric, whose summary begins with it."""
    if not fabric:
        return alert
    summary = f"{fabric}: {alert['exp_annotations']['summary']}"
    return {"exp_labels": {"fabric": fabric, **alert["exp_labels"]}, "exp_annotations": {"summary": summary}}


def test_an_alert_says_its_value_with_unit_and_where_its_runbook_is(prometheus: Path, tmp_path: Path) -> None:
    dropped = 'fabric_pfc_dropped_packets_total{device="leaf1", interface="ethernet-1/9"}'
    (alert,) = (alert for alert in ALERTS if alert.alert == "FabricLosslessDrops")
    annotations = {
        "summary": "leaf1 ethernet-1/9 dropped 5 packets of a lossless class",
        "description": alert.description.replace("{{ $value | humanize }}", "5"),
        "runbook_url": "https://example.net/runbooks/FabricLosslessDrops.md",
    }
    assert "5 packets within a minute" in annotations["description"]
    (tmp_path / "alerts.yml").write_text(prometheus_files(Scrape(), "https://example.net/runbooks")["rules/alerts.yml"])
    expected = {
        "exp_labels": {"device": "leaf1", "interface": "ethernet-1/9", "severity": "critical"},
        "exp_annotations": annotations,
    }
    case = {
        "interval": "15s",
        "input_series": [{"series": dropped, "values": "0+0x4 5x40"}],
        "alert_rule_test": [{"alertname": alert.alert, "eval_time": "90s", "exp_alerts": [expected]}],
    }
    document = {"rule_files": ["alerts.yml"], "evaluation_interval": "15s", "tests": [case]}
    (tmp_path / "case.yml").write_text(yaml.safe_dump(document))
    _promtool("test", "rules", "case.yml", cwd=tmp_path)


@pytest.mark.parametrize("alert", NAMES)
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

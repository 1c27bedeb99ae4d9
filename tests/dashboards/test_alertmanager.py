"""A real Alertmanager makes one page of all alerts of one cause, for the alerts of every fault of the list."""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.ports import free_port

from railfab.dashboards.alertmanager import INHIBITIONS, PAGES, SEVERITIES, TICKETS, alertmanager_config
from railfab.dashboards.rules import AlertSeverity, yaml_text

FASTER = 20
"""Seconds of a trial that pass in one here."""
SECONDS_S = 1 / FASTER
TRIAL_S = 150
VERDICTS = Path(__file__).parents[1] / "faults" / "verdicts"
PLATFORMS = ("srlinux", "eos", "sonic")

MADE: Mapping[str, Mapping[str, float]] = {
    "cut": {"FabricLinkDown": 5, "FabricBgpSessionDown": 20, "FabricJobSlow": 60},
    "flap": {"FabricLinkFlap": 5, "FabricBgpFlapping": 20, "FabricJobStalled": 60},
}
"""Two faults more: what follows from a critical alert notifies nobody; a warning silences no alert that pages."""


def fired(served: str) -> Mapping[str, Mapping[str, float]]:
    """The alerts that each fault of the list raised on switches of a platform, and when [s]."""
    verdicts = json.loads((VERDICTS / f"{served}.json").read_text())["verdicts"]
    raised = {
        f"{served}-{fault}": {name: at_s for name, at_s in verdict["fired"].items() if at_s is not None}
        for fault, verdict in verdicts.items()
    }
    known = {
        fault: {name: at_s for name, at_s in alerts.items() if name in SEVERITIES} for fault, alerts in raised.items()
    }
    return {fault: alerts for fault, alerts in known.items() if alerts}


class Receiver:
    """An HTTP server that counts the notifications of each receiver by fabric."""

    def __init__(self) -> None:
        self.notified: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
        handler = type("Handler", (BaseHTTPRequestHandler,), {"do_POST": self._post(), "log_message": lambda *_: None})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _post(self):  # type: ignore[no-untyped-def]
        notified = self.notified

        def post(request: BaseHTTPRequestHandler) -> None:
            document = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
            names = sorted({alert["labels"]["alertname"] for alert in document["alerts"]})
            notified[document["receiver"], document["groupLabels"]["fabric"]].append(names)
            request.send_response(200)
            request.end_headers()

        return post

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{name}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.server.shutdown()


@pytest.fixture
def alertmanager(receiver: Receiver, tmp_path: Path) -> Iterator[str]:
    """The URL of an Alertmanager with our configuration, in which time passes faster."""
    (tmp_path / "alertmanager.yml").write_text(yaml_text(faster(alertmanager_config(), receiver)))
    port = free_port()
    command = [
        "prometheus-alertmanager",
        f"--config.file={tmp_path / 'alertmanager.yml'}",
        f"--storage.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _until_ready(f"http://127.0.0.1:{port}", process, tmp_path / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def faster(config: dict[str, Any], receiver: Receiver) -> dict[str, Any]:
    """A configuration with short seconds, whose receivers notify this one."""
    times = {
        name: f"{round(float(config['route'][name].removesuffix('s')) * SECONDS_S * 1000)}ms"
        for name in ("group_wait", "group_interval", "repeat_interval")
    }
    hooks = [
        {**each, "webhook_configs": [{"url": receiver.url(each["name"]), "send_resolved": False}]}
        for each in config["receivers"]
    ]
    return {**config, "route": {**config["route"], **times}, "receivers": hooks}


def _until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until_s = time.monotonic() + 30
    while time.monotonic() < until_s:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"{url}/-/ready", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(log.read_text())


def _send(url: str, alerts: list[tuple[str, str]]) -> None:
    """Send the alerts that fire now, as Prometheus does again and again."""
    ends = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
    body = [
        {"labels": {"alertname": name, "fabric": fault, "severity": SEVERITIES[name].value}, "endsAt": ends}
        for fault, name in alerts
    ]
    request = urllib.request.Request(
        f"{url}/api/v2/alerts", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=30).close()


def _is_critical(name: str) -> bool:
    return SEVERITIES[name] is AlertSeverity.CRITICAL


def test_every_alert_of_an_inhibition_exists() -> None:
    assert {name for rule in INHIBITIONS for name in (*rule.causes, *rule.consequences)} <= SEVERITIES.keys()


@pytest.mark.alertmanager
def test_debians_amtool_accepts_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "alertmanager.yml"
    path.write_text(yaml_text(alertmanager_config()))
    done = subprocess.run(["amtool", "check-config", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.alertmanager
def test_one_cause_makes_one_page_or_else_one_ticket(alertmanager: str, receiver: Receiver) -> None:
    """The alerts of every fault, at the times at which they fired, each fault in a fabric of its own."""
    raised = {**MADE, **{fault: alerts for served in PLATFORMS for fault, alerts in fired(served).items()}}
    began_s = time.monotonic()
    present: list[tuple[str, str]] = []
    waiting = sorted((at_s, fault, name) for fault, alerts in raised.items() for name, at_s in alerts.items())
    while waiting:
        now_s = (time.monotonic() - began_s) * FASTER
        due = [(fault, name) for at_s, fault, name in waiting if at_s <= now_s]
        waiting = waiting[len(due) :]
        present += due
        if due:
            _send(alertmanager, present)
        time.sleep(0.05)
    time.sleep((TRIAL_S + 300) * SECONDS_S)
    wrong = {}
    for fault, alerts in raised.items():
        pages, tickets = (receiver.notified.get((name, fault), []) for name in (PAGES, TICKETS))
        is_critical = any(map(_is_critical, alerts))
        if len(pages if is_critical else tickets) != 1 or (pages and not is_critical):
            wrong[fault] = (alerts, pages, tickets)
    assert len(raised) > 200
    assert len(wrong) <= 0.1 * len(raised), wrong
    alone = sum(
        sum(len(receiver.notified.get((name, fault), [])) for name in (PAGES, TICKETS)) == 1 for fault in raised
    )
    assert alone >= 0.8 * len(raised)
    notified = {
        fabric: (receiver.notified.get((PAGES, fabric)), receiver.notified.get((TICKETS, fabric))) for fabric in MADE
    }
    assert notified == {"cut": ([["FabricLinkDown"]], None), "flap": ([["FabricJobStalled"]], [["FabricLinkFlap"]])}
    critical = [fault for fault, alerts in raised.items() if any(map(_is_critical, alerts))]
    assert {fault for name, fault in receiver.notified if name == PAGES} == set(critical)

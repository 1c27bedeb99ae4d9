"""gnmic and railfab, each with the same configuration of gnmic, read one switch: all that gnmic exposes is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.ports import free_port
from tests.twin.twins import INCAST, LEAF, endpoint, made_job, ran, started

from railfab.endpoints import Endpoint, read_credentials
from railfab.imports.gnmic import convert, read_gnmic
from railfab.imports.gnmic.conversion import Renamed
from railfab.platforms import SubscriptionMode, platform

pytestmark = [pytest.mark.gnmic, pytest.mark.timeout(300)]

WITHIN_S = 60.0
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A switch whose counters a job has moved, and stay as they are."""
    with started(tmp_path_factory.mktemp("twin")) as twin:
        ran(twin, made_job(**INCAST))
        yield endpoint(twin, LEAF)


@pytest.fixture(scope="module")
def environment(node: Endpoint) -> dict[str, str]:
    login = read_credentials(node)
    given = {"USERNAME": login.username, "PASSWORD": login.password}
    return {**os.environ, **{f"{tool}_{name}": text for tool in ("GNMIC", "RAILFAB") for name, text in given.items()}}


@pytest.fixture(scope="module")
def configuration(node: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of gnmic with all that is sampled of SR Linux."""
    sampled = [
        one.path
        for one in platform("srlinux").telemetry.subscriptions
        if one.mode is SubscriptionMode.SAMPLE and not one.optional
    ]
    listen = f"127.0.0.1:{free_port()}"
    path = tmp_path_factory.mktemp("gnmic") / "gnmic.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "encoding": "json_ietf",
                "targets": {LEAF: {"address": f"{node.host}:{node.gnmi_port}", "tls-ca": str(node.ca)}},
                "subscriptions": {"all": {"paths": sampled, "stream-mode": "sample", "sample-interval": "1s"}},
                "outputs": {"prom": {"type": "prometheus", "listen": listen}},
            }
        )
    )
    return path


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("w") as said, subprocess.Popen(command, env=environment, stdout=said, stderr=said) as process:
        try:
            yield
        except AssertionError as failure:
            failure.add_note(log.read_text())
            raise
        finally:
            process.terminate()


def settled(url: str) -> Samples:
    """The samples of an endpoint, once it serves the same ones for 3 s."""
    found, since_s, end_s = Samples(), time.monotonic(), time.monotonic() + WITHIN_S
    while not found or time.monotonic() < since_s + 3:
        assert time.monotonic() < end_s, url
        time.sleep(0.5)
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                now = samples(answer.read().decode())
        except OSError:
            continue
        if now.keys() != found.keys():
            found, since_s = now, time.monotonic()
    return now


def samples(text: str) -> Samples:
    return {
        (one.name, frozenset(one.labels.items())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


@contextmanager
def gnmic(configuration: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of what gnmic exposes."""
    listen = yaml.safe_load(configuration.read_text())["outputs"]["prom"]["listen"]
    command = ["gnmic", "--config", str(configuration), "subscribe"]
    with running(command, environment, configuration.with_name("gnmic.log")):
        yield f"http://{listen}/metrics"


@contextmanager
def moved(configuration: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of what railfab exposes with the files that gnmic's become."""
    folder, railfab = configuration.with_name("moved"), [sys.executable, "-m", "railfab"]
    written = [*railfab, "import", "gnmic", str(configuration), "--write", str(folder)]
    done = subprocess.run(written, env=environment, capture_output=True, text=True, timeout=WITHIN_S)
    assert done.returncode == 0, done.stderr
    log = configuration.with_name("railfab.log")
    given = ["--targets", str(folder / "hosts.yml"), "--map", str(folder / "mappings.yml"), "--interval", "1"]
    with running([*railfab, "collect", *given, "--port", "0"], environment, log):
        end_s = time.monotonic() + WITHIN_S
        while not (found := re.search(r"http://\S+/metrics", log.read_text())):
            assert time.monotonic() < end_s, log.read_text()
            time.sleep(0.1)
        yield found[0]


def test_every_value_of_gnmic_is_between_those_of_railfab_before_and_after(
    configuration: Path, environment: dict[str, str]
) -> None:
    """LLDP and BGP move some counters meanwhile, and most stay as the job has left them."""
    with moved(configuration, environment) as url:
        before = settled(url)
        with gnmic(configuration, environment) as other:
            theirs = settled(other)
        after = settled(url)
    renamed = convert(read_gnmic(configuration, environment)).renamed
    rows = {row.gnmic: row for row in renamed}
    assert len(rows) == len(renamed)
    exact = 0
    for (name, labels), value in theirs.items():
        low, high = (value_in(read, rows[name], dict(labels)) for read in (before, after))
        assert min(low, high) <= value <= max(low, high), (name, labels, low, value, high)
        exact += low == high != 0
    assert {name for name, _ in theirs} == rows.keys()
    assert exact > 100


def value_in(ours: Samples, row: Renamed, labels: dict[str, str]) -> float:
    """The value of railfab for a sample of gnmic."""
    wanted = {row.labels[name]: text for name, text in labels.items() if name in row.labels} | dict(row.fixed)
    assert row.change in ("", "peer is a part of neighbor_peer_address")
    if row.change:
        wanted["peer"] = labels["neighbor_peer_address"].partition("%")[2].removesuffix(".0")
    (value,) = [
        value for (name, found), value in ours.items() if name == row.railfab and wanted.items() <= dict(found).items()
    ]
    return value

"""What one target is given in place of what holds for all: interval, mode, encoding, heartbeat; from every source."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pygnmi.spec.v080 import gnmi_pb2
from tests.signals import interruptible
from tests.telemetry.odd import Odd, serving
from tests.telemetry.rack import QUICK, eventually
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Endpoint, Endpoints, save_endpoints
from railfab.platforms import SubscriptionMode, TelemetryMap, TelemetrySubscription
from railfab.telemetry import Collector
from railfab.telemetry.subscriptions import SUBSCRIBE_MODES, SubscribeMode, modes_of, of_target, subscribe_rpcs
from railfab.telemetry.targets import (
    Discovery,
    LoadFailed,
    TargetSpec,
    mapped_telemetry,
    parse_targets,
    source_of,
    telemetry_of,
)

SETTINGS: dict[str, Any] = {
    "gnmi_interval_s": 30,
    "gnmi_mode": "sample",
    "gnmi_encoding": "json",
    "gnmi_heartbeat_s": 90.5,
    "gnmi_suppress_redundant": True,
}
OCTETS = "fabric_interface_receive_bytes_total"
NODE = Endpoint(name="leaf1", platform="srlinux", host="192.0.2.1", gnmi_port=1)


def settings_of(endpoint: Endpoint | None) -> dict[str, Any]:
    return {key: getattr(endpoint, key) for key in SETTINGS}


def listed(path: Path) -> Endpoint | None:
    """The only target of a file, as the collector reads it."""
    (found,) = asyncio.run(source_of(str(path)).poll()) or ()
    return found.endpoint


def test_a_hosts_file_its_groups_and_its_defaults_state_them(tmp_path: Path) -> None:
    whole = dict(SETTINGS)
    parts = [{key: whole.pop(key) for key in keys} for keys in (("gnmi_mode",), ("gnmi_interval_s", "gnmi_encoding"))]
    host = {"hostname": "192.0.2.1", "platform": "srlinux", "groups": ["slow"], "data": whole}
    (tmp_path / "hosts.yml").write_text(json.dumps({"leaf1": host}))
    (tmp_path / "groups.yml").write_text(json.dumps({"slow": {"data": parts[0]}}))
    (tmp_path / "defaults.yml").write_text(json.dumps({"data": parts[1]}))
    assert settings_of(listed(tmp_path / "hosts.yml")) == SETTINGS


def test_an_endpoints_file_states_them(tmp_path: Path) -> None:
    node = replace(NODE, **SETTINGS)
    save_endpoints(tmp_path / "lab.json", Endpoints(fabric="lab", backend="inventory", nodes=(node,)))
    assert settings_of(listed(tmp_path / "lab.json")) == SETTINGS


LABELS = {f"__{key}": str(value) for key, value in SETTINGS.items()}
OTHERS = {key: text for key, text in LABELS.items() if key != "__gnmi_interval_s"}
EVERY = "__meta_netbox_custom_field_every"


@pytest.mark.parametrize(
    ("labels", "named"),
    [(LABELS, {}), ({**OTHERS, EVERY: "30"}, {"gnmi_interval_s": EVERY})],
    ids=["by our names", "by a label of the list"],
)
def test_the_labels_of_a_discovered_target_state_them_and_reach_no_metric(
    labels: dict[str, str], named: dict[str, str]
) -> None:
    entry = {"targets": ["192.0.2.1"], "labels": {"platform": "srlinux", **labels}}
    (found,) = parse_targets("list", json.dumps([entry]).encode(), Discovery(subscribed_labels=named))
    assert settings_of(found.endpoint) == SETTINGS
    assert dict(found.labels) == {"platform": "srlinux"}


def test_a_discovered_target_without_labels_has_the_settings_of_the_file(tmp_path: Path) -> None:
    streamed = {"gnmi_interval_s": 30, "gnmi_mode": "sample"}
    text = {"http_sd": {"url": "http://192.0.2.9/"}, "settings": streamed, "labels": {"gnmi_mode": "__mode"}}
    (tmp_path / "sd.yml").write_text(json.dumps(text))
    discovery = source_of(str(tmp_path / "sd.yml")).discovery  # type: ignore[attr-defined]
    entries = [{"targets": ["leaf1"]}, {"targets": ["leaf2"], "labels": {"__mode": "poll", "__gnmi_interval_s": "5"}}]
    text_of = json.dumps(entries).encode()
    first, second = parse_targets("list", text_of, discovery)
    assert [settings_of(found.endpoint)["gnmi_interval_s"] for found in (first, second)] == [30, 5]
    assert [settings_of(found.endpoint)["gnmi_mode"] for found in (first, second)] == ["sample", "poll"]


@pytest.mark.parametrize(
    ("label", "text", "said"),
    [
        ("__gnmi_interval_s", "10s", "list: entry 1: leaf1: gnmi_interval_s '10s' is not 0.1 to 86400 seconds"),
        ("__gnmi_interval_s", "inf", "list: entry 1: leaf1: gnmi_interval_s inf is not 0.1 to 86400 seconds"),
        ("__gnmi_mode", "stream", "list: entry 1: leaf1: gnmi_mode 'stream' is not sample, poll or once"),
        ("__gnmi_suppress_redundant", "yes", "leaf1: gnmi_suppress_redundant 'yes' is not a boolean"),
        ("__gnmi_intervall_s", "10", "unknown key '__gnmi_intervall_s'. Did you mean '__gnmi_interval_s'?"),
    ],
)
def test_a_label_that_cannot_be_used_is_one_line(label: str, text: str, said: str) -> None:
    with pytest.raises(LoadFailed) as caught:
        parse_targets("list", json.dumps([{"targets": ["leaf1"], "labels": {label: text}}]).encode(), Discovery())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


SAMPLE, ON_CHANGE = SubscriptionMode.SAMPLE, SubscriptionMode.ON_CHANGE


@pytest.mark.parametrize(
    ("path", "settings", "becomes"),
    [
        ((SAMPLE, {}), {}, (SAMPLE, None, False)),
        ((SAMPLE, {}), {"gnmi_suppress_redundant": True}, (SAMPLE, None, True)),
        ((SAMPLE, {}), {"gnmi_heartbeat_s": 60.0}, (SAMPLE, None, False)),
        ((SAMPLE, {"suppress_redundant": True, "heartbeat_s": 9.0}), {"gnmi_heartbeat_s": 60.0}, (SAMPLE, 60.0, True)),
        ((ON_CHANGE, {}), {"gnmi_heartbeat_s": 60.0, "gnmi_suppress_redundant": True}, (ON_CHANGE, 60.0, False)),
        ((ON_CHANGE, {"heartbeat_s": 9.0}), {"gnmi_mode": "sample"}, (SAMPLE, None, False)),
        ((ON_CHANGE, {}), {"gnmi_mode": "sample", "gnmi_suppress_redundant": True}, (SAMPLE, None, True)),
        ((SAMPLE, {"suppress_redundant": True}), {"gnmi_mode": "sample"}, (SAMPLE, None, True)),
        ((SAMPLE, {"suppress_redundant": True}), {"gnmi_mode": "once"}, (SubscriptionMode.ONCE, None, False)),
    ],
)
def test_what_a_path_of_the_map_becomes_for_a_target(
    path: tuple[SubscriptionMode, dict[str, Any]], settings: dict[str, Any], becomes: tuple[object, ...]
) -> None:
    telemetry = TelemetryMap(rules=(), subscriptions=(TelemetrySubscription(path="/a", mode=path[0], **path[1]),))
    (one,) = of_target(telemetry, replace(NODE, **settings))
    assert (one.mode, one.heartbeat_s, one.suppress_redundant) == becomes


def test_a_heartbeat_of_the_map_is_no_shorter_than_the_interval_of_a_target() -> None:
    """A server refuses such a request, and values would end between two samples."""
    quiet = TelemetrySubscription(path="/a", mode=SAMPLE, suppress_redundant=True, heartbeat_s=10.0)
    (rpc,) = subscribe_rpcs([quiet], 60.0, SUBSCRIBE_MODES[0])
    assert (rpc.subscription.heartbeat_s, rpc.lasts_s) == (60.0, 180.0)


def test_a_stated_encoding_is_tried_for_all_paths_before_those_that_are_negotiated() -> None:
    tried = modes_of(replace(NODE, gnmi_encoding="bytes"))
    ours = (SubscribeMode(gnmi_pb2.BYTES, True, True), SubscribeMode(gnmi_pb2.BYTES, False, True))
    assert tried == (*ours, *SUBSCRIBE_MODES)
    sonic = TelemetrySubscription(path="/a", mode=SAMPLE, encoding="json_ietf")
    encodings = [subscribe_rpcs([sonic], 2.0, mode)[0].subscription.encoding for mode in tried[1:3]]
    assert encodings == [gnmi_pb2.BYTES, gnmi_pb2.JSON_IETF]
    assert modes_of(NODE) == modes_of(None) == SUBSCRIBE_MODES


def spec(endpoint: Endpoint) -> TargetSpec:
    path = TelemetrySubscription(path="/interface[name=*]/statistics", mode=SAMPLE)
    telemetry = replace(telemetry_of("srlinux"), subscriptions=(path,))
    return TargetSpec(name=endpoint.name, platform="srlinux", endpoint=endpoint, telemetry=telemetry)


@pytest.mark.parametrize(("own_s", "of_all_s", "stalls"), [(0.2, 60.0, True), (60.0, 0.2, False)])
def test_silence_is_measured_in_the_interval_of_the_target(
    tmp_path: Path, own_s: float, of_all_s: float, stalls: bool
) -> None:
    """The target sends its values once, and then nothing for longer than three of the shorter interval."""
    with serving(Odd(ends_after=None, paced=True, stuck=True), tmp_path) as endpoint:
        one = spec(replace(endpoint, gnmi_interval_s=own_s))
        with Collector([one], interval_s=of_all_s, policy=QUICK) as running:
            assert running.wait_until_up(20)
            if stalls:
                eventually(running, lambda now: now.value("fabric_collector_errors_total", reason="stalled"))
                return
            time.sleep(1.5)
            now = running.snapshot()
            assert now.value("fabric_collector_errors_total") == 0
            assert now.value(OCTETS) == 5
            assert now.value("fabric_collector_sample_interval_seconds") == own_s


class Running(NamedTuple):
    """A collector as a command, and its targets."""

    url: str
    log: list[str]
    targets: dict[str, Odd]

    def read(self, path: str) -> str:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def statuses(self) -> dict[str, dict[str, Any]]:
        return {found["name"]: found for found in json.loads(self.read("/targets"))}


SERVED = {
    "ascii": (Odd(encodings=("ASCII",), paced=True), {"gnmi_encoding": "ascii", "gnmi_interval_s": 0.5}),
    "bytes": (Odd(encodings=("BYTES",)), {"gnmi_encoding": "bytes", "gnmi_mode": "sample", "gnmi_interval_s": 2}),
    "other": (Odd(encodings=("JSON_IETF",)), {"gnmi_encoding": "ascii", "gnmi_heartbeat_s": 7}),
}
"""Targets and what hosts.yml says of them."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("targets")
    with ExitStack() as stack:
        hosts = {}
        for name, (target, settings) in SERVED.items():
            node = stack.enter_context(serving(target, folder, name))
            own = {"gnmi_port": node.gnmi_port, "ca": node.ca, "credentials": node.credentials, **settings}
            hosts[name] = {"hostname": node.host, "platform": "srlinux", "data": own}
        (folder / "hosts.yml").write_text(json.dumps(hosts))
        arguments = ("--targets", str(folder / "hosts.yml"), "--port", "0", "--interval", "1")
        command = interruptible([sys.executable, "-m", "railfab", "collect", *arguments])
        process = stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        stack.callback(process.terminate)
        assert process.stderr is not None
        log: list[str] = []
        for line in process.stderr:
            log.append(line)
            if all(f"{name}: streaming" in "".join(log) for name in SERVED) and "refuses ASCII" in "".join(log):
                break
        url = re.search(r"(http://\S+)/metrics", "".join(log))
        assert url
        yield Running(url[1], log, {name: target for name, (target, _) in SERVED.items()})


@pytest.mark.parametrize("name", ["ascii", "bytes", "other"])
def test_every_encoding_brings_the_same_values(running: Running, name: str) -> None:
    text = running.read("/metrics")
    assert f'{OCTETS}{{device="{name}",interface="e1"}} 5\n' in text
    assert f'fabric_interface_oper_up{{device="{name}",interface="e1"}} 1\n' in text
    assert f'fabric_collector_session_up{{device="{name}"}} 1\n' in text
    assert f'fabric_collector_dropped_updates_total{{device="{name}",reason="undecodable"}} 0\n' in text


def test_an_encoding_that_a_target_refuses_is_replaced_and_said(running: Running) -> None:
    found = {name: status["encoding"] for name, status in running.statuses().items()}
    assert found == {"ascii": "ASCII", "bytes": "BYTES", "other": "JSON_IETF"}
    (said,) = [line for line in running.log if "gnmi_encoding" in line]
    assert said.rstrip().endswith("other: refuses ASCII, which gnmi_encoding states; it is received in JSON_IETF")


def test_each_target_is_asked_at_its_own_interval_mode_and_heartbeat(running: Running) -> None:
    every = {name: status["interval_s"] for name, status in running.statuses().items()}
    assert every == {"ascii": 0.5, "bytes": 2.0, "other": 1.0}
    text = running.read("/metrics")
    assert 'fabric_collector_sample_interval_seconds{device="ascii",subscription="sample"} 0.5\n' in text
    assert 'fabric_collector_sample_interval_seconds{device="bytes",subscription="sample"} 2\n' in text
    stream = gnmi_pb2.SubscriptionList().STREAM
    streams = {name: [one for one in found.asked if one.mode == stream] for name, found in running.targets.items()}
    asked = {name: [*chain(*(wish.subscription for wish in found))] for name, found in streams.items()}
    octets = {name: [one for one in found if one.path.elem[-1].name == "statistics"] for name, found in asked.items()}
    every_ns = {name: {one.sample_interval for one in found} for name, found in octets.items()}
    assert every_ns == {"ascii": {500_000_000}, "bytes": {2_000_000_000}, "other": {1_000_000_000}}
    assert {one.mode for one in asked["bytes"]} == {gnmi_pb2.SAMPLE}
    changing = [one for one in asked["other"] if one.mode == gnmi_pb2.ON_CHANGE]
    assert {one.heartbeat_interval for one in changing} == {7_000_000_000}


def test_the_check_names_a_stated_encoding_that_the_target_refuses(tmp_path: Path) -> None:
    """Where the target takes it, there is no such finding."""
    only, listed = tmp_path / "only.yml", tmp_path / "listed.json"
    kept = "/interface[name=*]/statistics"
    dropped = [one.path for one in telemetry_of("srlinux").subscriptions if one.path != kept]
    only.write_text(
        json.dumps(
            {
                "version": 1,
                "platforms": {"srlinux": {"subscriptions": [{"path": path, "drop": True} for path in dropped]}},
            }
        )
    )
    with ExitStack() as stack:
        nodes = [
            replace(stack.enter_context(serving(Odd(encodings=(takes,)), tmp_path, name)), gnmi_encoding="ascii")
            for name, takes in (("leaf1", "ASCII"), ("leaf2", "JSON_IETF"))
        ]
        save_endpoints(listed, Endpoints(fabric="lab", backend="inventory", nodes=tuple(nodes)))
        command = ["targets", "check", "--targets", str(listed), "--map", str(only), "--output", "json"]
        done = CliRunner().invoke(app, command)
    (found,) = json.loads(done.output)["findings"]
    assert (found["target"], done.exit_code) == ("leaf2", 1)
    assert found["problem"].startswith("refuses ASCII, which gnmi_encoding states. It is received in another one")


def test_the_map_of_a_user_comes_before_that_of_the_platform() -> None:
    """Without one the platforms' are used as they are, so that a list of a twin's switches has their simulated time."""
    stated = replace(telemetry_of("srlinux"), subscriptions=())
    assert mapped_telemetry({"srlinux": stated})("srlinux") is stated
    assert mapped_telemetry({"srlinux": stated})("eos") is telemetry_of("eos")
    assert mapped_telemetry({}) is telemetry_of

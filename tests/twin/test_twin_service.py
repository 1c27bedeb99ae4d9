"""A twin as its clients find it: files, logins, refusals, sessions, remote control."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
from pygnmi.client import gNMIException
from tests import commands
from tests.docs.schemas import conforming
from tests.gnmi.stub import Stub
from tests.signals import interruptible
from tests.twin.twins import (
    KEPT,
    LEAF,
    REPOSITORY,
    SPINE,
    endpoint,
    left,
    made_job,
    pod64,
    ring,
    started,
    switch,
    until,
)
from typer.testing import CliRunner

from railfab.cli import app
from railfab.cli.collect import _collector as collector_of
from railfab.cli.collect_options import Wanted
from railfab.endpoints import Credentials, load_endpoints, read_credentials, state_file
from railfab.errors import CommitRefused, DeviceError, EndpointError, LabError, LoginRefused, UnsupportedFeature
from railfab.fabric.design import design
from railfab.gnmi import messages, paths, values
from railfab.gnmi.certificates import Authority
from railfab.intent import Job
from railfab.metrics import CATALOGUE
from railfab.platforms import ChangeName, platform, platform_names
from railfab.process.listeners import in_use
from railfab.sim.fast_forward import FastForward
from railfab.telemetry.targets import parse_share
from railfab.topology import CabledPort
from railfab.twin import Control, Twin, connect, running
from railfab.twin.detached import found_twins
from railfab.twin.files import claimed

SRLINUX = platform("srlinux")
CHANGE = ChangeName(deploy="20261122T093012.345Z-4f2a", user="kim", host="control1")
DESCRIPTION = "/interface[name=ethernet-1/1/1]/description"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def twin(state: Path) -> Iterator[Twin]:
    with started(state) as running_twin:
        yield running_twin


@pytest.fixture
def control(twin: Twin, state: Path) -> Control:
    return connect(state, "pod64")


def test_the_endpoints_file_says_how_each_switch_is_reached(twin: Twin, state: Path) -> None:
    found = load_endpoints(state_file(state, "pod64", "twin"))
    assert found == twin.endpoints
    assert [node.name for node in found.nodes] == [node.name for node in pod64().topology.switches()]
    assert read_credentials(found.nodes[0]).password == twin.credentials.password


def test_private_files_are_the_owners(twin: Twin, state: Path) -> None:
    modes = {path.suffix: path.stat().st_mode & 0o077 for path in state.iterdir() if path.suffix != ".lock"}
    assert set(modes) == {".json", ".yml", ".pem", ".key", ".ssh_host_key", ".known_hosts"}
    assert set(modes.values()) == {0}
    assert twin.credentials.password not in repr(twin.credentials)
    assert {path.suffix for path in state.iterdir() if b"PRIVATE KEY" in path.read_bytes()} == {
        ".key",
        ".ssh_host_key",
    }


def test_a_configured_twin_is_up_and_what_the_intent_says(twin: Twin) -> None:
    status = twin.status()
    assert status.sessions_up == status.sessions == 64
    assert all(found.running and found.configured for found in status.switches)
    for name, model in pod64().models.items():
        node = endpoint(twin, name)
        with SRLINUX.session(node, read_credentials(node)) as session:
            staged = session.stage(SRLINUX.text(SRLINUX.render(model)))
            running_there = session.running()
        assert staged.diff == ""
        assert SRLINUX.parse(staged.former) == model
        assert (running_there.identity.hostname, running_there.identity.version) == (name, "v25.3.1")


def test_observe_sees_sessions_neighbours_and_mtu(twin: Twin) -> None:
    node = endpoint(twin, LEAF)
    with SRLINUX.session(node, read_credentials(node)) as session:
        seen = session.observe()
    assert len(seen.sessions) == 8
    assert all(found.established and found.bfd_up and found.remote_as == 65001 for found in seen.sessions)
    cables = {port.name: _speaking(peer) for port, peer, _ in pod64().topology.ports_of(LEAF)}
    assert {port.name: (port.neighbor_device, port.neighbor_interface) for port in seen.interfaces} == cables
    assert all(port.oper_up and port.mtu_bytes == 9216 for port in seen.interfaces)


def _speaking(peer: CabledPort) -> tuple[str | None, str | None]:
    """What LLDP hears from the far end of a cable: nothing from a host."""
    return (peer.node, peer.name) if peer.node in pod64().models else (None, None)


NUMBERED = """\
version: 1
fabric: numbered
profile: {{underlay: numbered, family: {family}, lossless: off}}
hosts: {{gpus: 2, rate_gbps: 400}}
backend:
  segments: {{hosts: 2, rail_switches: 1, model: 7220-ixr-d5}}
  spines: {{count: 1, links_per_leaf: 1, rate_gbps: 400, model: 7220-ixr-d5}}
"""


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_observe_sees_bfd_of_sessions_between_addresses(tmp_path: Path, family: str) -> None:
    intent = tmp_path / "numbered.yml"
    intent.write_text(NUMBERED.format(family=family))
    with Twin(design(intent), state=tmp_path, base_port=0, configured=True) as numbered:
        node = endpoint(numbered, SPINE)
        with SRLINUX.session(node, read_credentials(node)) as session:
            seen = session.observe()
    assert [(found.established, found.bfd_up) for found in seen.sessions] == [(True, True)]


def test_a_factory_twin_is_staged_committed_reverted_and_committed_for_good(tmp_path: Path) -> None:
    text = SRLINUX.text(SRLINUX.render(pod64().models[LEAF]))
    with started(tmp_path, configured=False) as twin:
        assert twin.status().sessions == 0
        assert not any(found.configured for found in twin.status().switches)
        node = endpoint(twin, LEAF)
        with SRLINUX.session(node, read_credentials(node)) as session:
            factory = session.running().text
            assert session.stage(text).diff != ""
            session.commit(session.stage(text), CHANGE, 60)
            assert session.stage(text).diff == ""
            assert twin.status().sessions == 8
            session.revert(CHANGE)
            assert session.running().text == factory
            assert twin.status().sessions == 0
            session.commit(session.stage(text), CHANGE, 60)
            session.confirm(CHANGE)
            assert session.stage(text).diff == ""
            assert session.running().pending is None


def test_a_commit_that_is_refused_changes_nothing(twin: Twin) -> None:
    model = pod64().models[LEAF]
    tree = SRLINUX.render(replace(model, interfaces=model.interfaces[1:]))
    tree["srl_nokia-network-instance:network-instance"][0]["protocols"]["srl_nokia-bgp:bgp"]["autonomous-system"] = "x"
    node = endpoint(twin, LEAF)
    with SRLINUX.session(node, read_credentials(node)) as session:
        before = session.running()
        with pytest.raises(CommitRefused) as caught:
            session.commit(session.stage(SRLINUX.text(tree)), CHANGE, 60)
        assert session.running() == before
    assert "is x, which is not 1 to 4294967295" in str(caught.value)
    assert twin.status().sessions_up == 64


def test_a_set_that_does_not_parse_is_refused_with_the_reason_and_changes_nothing(twin: Twin) -> None:
    with switch(twin) as leaf:
        before = leaf.client.get(path=["/"], datatype="config", encoding="json_ietf")["notification"][0]["update"]
        with pytest.raises(gNMIException) as caught:
            leaf.set(
                update=[
                    (DESCRIPTION, '"changed"'),
                    ("/network-instance[name=default]/protocols/bgp/router-id", '"not an address"'),
                ]
            )
        after = leaf.client.get(path=["/"], datatype="config", encoding="json_ietf")["notification"][0]["update"]
    error = caught.value.orig_exc
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.details() == (
        "/ network-instance default protocols bgp router-id: "
        "is not an address, which is not an ipv4-address or an ipv6-address. Correct it."
    )
    assert before == after


def test_sets_edit_leaves_containers_and_entries(twin: Twin) -> None:
    with switch(twin) as leaf:
        was = leaf.value(DESCRIPTION, "config")
        leaf.set(update=[(DESCRIPTION, '"changed"')])
        assert leaf.value(DESCRIPTION, "config") == "changed"
        leaf.set(delete=[DESCRIPTION])
        with pytest.raises(gNMIException) as caught:
            leaf.value(DESCRIPTION, "config")
        assert caught.value.orig_exc.code() is grpc.StatusCode.NOT_FOUND
        leaf.set(update=[("/", {"interface": [{"name": "ethernet-1/1/1", "description": was}]})])
        assert leaf.value(DESCRIPTION, "config") == was


def test_a_wrong_password_is_refused(twin: Twin) -> None:
    with (
        pytest.raises(LoginRefused) as caught,
        SRLINUX.session(endpoint(twin, LEAF), Credentials("admin", "wrong")) as session,
    ):
        session.running()
    assert str(caught.value) == (
        f"{LEAF}: rejects the login of admin ({LEAF}: wrong user or password). Check the user name and password."
    )


def test_a_client_that_does_not_know_the_authority_is_told(twin: Twin, tmp_path: Path) -> None:
    stranger = tmp_path / "ca.pem"
    stranger.write_bytes(Authority("other").certificate)
    node = replace(endpoint(twin, LEAF), ca=str(stranger))
    with pytest.raises(LoginRefused) as caught, SRLINUX.session(node, twin.credentials):
        pass
    assert "is not trusted" in str(caught.value)


def test_a_second_twin_is_refused_and_the_first_goes_on(twin: Twin, state: Path, control: Control) -> None:
    with pytest.raises(LabError) as caught, started(state):
        pass
    assert "pod64: a twin is already running" in str(caught.value)
    assert control.status().pid == os.getpid()


def test_a_port_in_use_is_one_clear_line_and_leaves_nothing(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DeviceError) as caught, started(tmp_path, base_port=port):
            pass
        occupied = in_use(port)
    assert f"process {os.getpid()} " in occupied
    assert str(caught.value) == (
        f"{LEAF}: cannot listen on 127.0.0.1:{port}, it is {occupied}. "
        "End what uses the port, or choose another with --port."
    )
    assert left(tmp_path) == [name for name in KEPT if not name.endswith("ssh_host_key")]


def test_a_platform_that_the_twin_does_not_speak_is_named(tmp_path: Path) -> None:
    fabric = design(REPOSITORY / "labs" / "frr-pod" / "intent.yml")
    with pytest.raises(UnsupportedFeature) as caught, Twin(fabric, state=tmp_path, base_port=0):
        pass
    served = " or ".join(name for name in platform_names() if platform(name).twin)
    assert str(caught.value) == (
        "pod1-seg1-leaf1 and 5 more: the twin does not support frr. "
        f"Use a fabric of {served}, or boot it with railfab lab."
    )
    assert list(tmp_path.iterdir()) == []


def test_the_twin_of_hosts_that_send_with_ultra_ethernet_serves_the_switches_and_runs_no_job(tmp_path: Path) -> None:
    path = tmp_path / "uet.yml"
    text = (REPOSITORY / "inventory" / "fabrics" / "pod64.yml").read_text()
    path.write_text(text.replace("transport: rocev2", "transport: uet"))
    with Twin(design(path), state=tmp_path / "state", base_port=0) as twin:
        assert all(switch.running for switch in twin.status().switches)
        with pytest.raises(UnsupportedFeature) as caught:
            twin.switch_job(ring())
    assert str(caught.value).endswith(
        ": profile.transport: the twin runs jobs over RoCEv2, not Ultra Ethernet. "
        "Use transport: rocev2, or a twin without a job."
    )


def test_the_remote_control_switches_jobs_and_counts_steps(twin: Twin, control: Control) -> None:
    control.switch_job(made_job(phases=[{"compute": {"ms": 20}}]))
    until(lambda: control.status().steps >= 3)
    status = control.status()
    assert status.job == "made"
    assert status.last_step_s == pytest.approx(0.02, abs=0.001)
    assert status.last_communication_s == 0
    control.switch_job(None)
    assert (control.status().job, control.status().steps) == (None, 0)


def test_the_flows_of_a_port_are_those_that_it_sends_until_they_end(twin: Twin, control: Control, state: Path) -> None:
    """Every flow leaves its source, enters its target, and between them each switch sends it by one port."""
    target = ("pod1-seg1-host1", "eth0")
    traffic = {"pattern": "incast", "senders": 15, "receivers": 1, "bytes": "100GB"}
    control.switch_job(made_job(phases=[{"traffic": traffic}], background={"default": 1}))
    last = (LEAF, "ethernet-1/1/1")
    until(lambda: any(flow.payload_bytes for flow in control.flows_through(*last)))
    arriving = control.flows_through(*last)
    of_job = [flow for flow in arriving if flow.payload_bytes is not None]
    assert len({flow.source for flow in of_job}) == len(of_job) == 15
    assert {flow.target[0] for flow in arriving} == {target[0]}
    for flow in of_job:
        assert flow in control.flows_through(*flow.source)
    spines = {
        flow
        for node in twin.design.topology.switches()
        if node.role == "spine"
        for port, peer, _ in twin.design.topology.ports_of(node.name)
        if peer.node == LEAF
        for flow in control.flows_through(node.name, port.name)
    }
    far = {flow for flow in of_job if "-seg2-" in flow.source[0]}
    assert far <= spines
    assert not {flow for flow in of_job if "-seg1-" in flow.source[0] and flow.source[1] == target[1]} & spines
    shown = commands.run("twin", "flows", *last, "--state", state, "--output", "json")
    document = conforming("twin-flows", shown.stdout)
    assert [document["fabric"], document["port"], len(document["flows"])] == ["pod64", list(last), len(arriving)]
    control.switch_job(None)
    assert control.flows_through(*last) == ()
    assert "no flow leaves by" in commands.run("twin", "flows", *last, "--state", state).stdout
    wrong = commands.run("twin", "flows", LEAF, "ethernet-9/9", "--state", state)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        f"railfab: link {LEAF} ethernet-9/9: there is no cable. Use a port of the cabling plan.\n",
    )


def test_a_job_that_does_not_fit_is_refused_and_the_former_goes_on(control: Control) -> None:
    control.switch_job(ring())
    with pytest.raises(DeviceError) as caught:
        control.switch_job(made_job(hosts=99, phases=[{"compute": {"ms": 20}}]))
    assert str(caught.value) == "job made: hosts: 99 is more than the 8 hosts of the fabric. Use 8 or less."
    assert control.status().job == "ring"
    control.switch_job(None)


def test_a_cut_cable_takes_its_sessions_down_at_both_ends_on_change(twin: Twin, control: Control) -> None:
    node = endpoint(twin, SPINE)
    secure = grpc.ssl_channel_credentials(Path(node.ca or "").read_bytes())
    wish = messages.SubscriptionList(
        subscription=[
            messages.Subscription(
                path=paths.to_proto("/interface[name=ethernet-1/1]/oper-state"),
                mode=messages.SubscriptionMode.Value("ON_CHANGE"),
            )
        ],
        encoding=values.JSON_IETF,
    )
    metadata = (("username", "admin"), ("password", twin.credentials.password))
    with grpc.secure_channel(f"{node.host}:{node.gnmi_port}", secure) as channel:
        stub = Stub(channel)
        call = stub.Subscribe(iter([messages.SubscribeRequest(subscribe=wish)]), metadata=metadata, timeout=120)
        states = (values.decode(update.val) for response in call for update in response.update.update)
        assert next(states) == "up"
        control.set_link(SPINE, "ethernet-1/1", up=False)
        assert next(states) == "down"
        assert control.status().sessions_up == 62
        control.set_link(SPINE, "ethernet-1/1", up=True)
        assert next(states) == "up"
        call.cancel()
    until(lambda: control.status().sessions_up == 64)


def test_a_switchs_server_ends_and_comes_back_while_the_switch_goes_on(twin: Twin, control: Control) -> None:
    port = endpoint(twin, LEAF).gnmi_port
    control.stop_switch(LEAF)
    assert [found.name for found in control.status().switches if not found.running] == [LEAF]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert control.status().sessions_up == 64
    control.start_switch(LEAF)
    control.start_switch(LEAF)
    with switch(twin) as leaf:
        assert leaf.value("/system/name/host-name", "config") == LEAF


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda control: control.set_link(LEAF, "ethernet-9/9", up=False),
            f"link {LEAF} ethernet-9/9: there is no cable. Use a port of the cabling plan.",
        ),
        (
            lambda control: control.stop_switch("nobody"),
            "nobody: is not a switch of this twin. Use one of " + ", ".join(pod64().models) + ".",
        ),
    ],
)
def test_the_remote_control_names_what_is_wrong(control: Control, act: object, message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        act(control)  # type: ignore[operator]
    assert str(caught.value) == message


def test_the_remote_control_needs_the_token(control: Control) -> None:
    assert control.token not in repr(control)
    with pytest.raises(DeviceError) as caught:
        replace(control, token="guess").status()
    assert str(caught.value) == "/status: needs the token. Read it from the control file."


def test_what_the_remote_control_does_not_understand_is_refused(control: Control) -> None:
    for path, body, problem in (
        ("/nowhere", b"", "is not a path of the control server"),
        ("/job", b"{", "the request is not valid"),
        ("/job", b'{"job": "x"}', "the request is not valid"),
        ("/link", b"{}", "the request is not valid"),
    ):
        request = urllib.request.Request(
            control.url + path, method="POST", data=body, headers={"Authorization": f"Bearer {control.token}"}
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=10)
        assert problem in json.load(caught.value)["problem"]


def test_no_twin_is_said_in_one_line_whatever_a_dead_one_left(tmp_path: Path) -> None:
    (tmp_path / "pod64.twin.control.json").write_text('{"url": "http://127.0.0.1:9", "token": "x"}')
    with pytest.raises(EndpointError) as caught:
        connect(tmp_path, "pod64")
    assert str(caught.value) == f"pod64: no twin is running. Start it with railfab twin FILE --state {tmp_path}."
    assert running(tmp_path, "pod64") is None


def test_a_twin_of_another_release_is_named_with_the_command_that_ends_it(tmp_path: Path) -> None:
    class Earlier(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"fabric": "pod64", "pid": 1, "switches": []}')

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Earlier) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        (tmp_path / "pod64.twin.control.json").write_text(json.dumps({"url": url, "token": "x"}))
        with pytest.raises(EndpointError) as caught:
            connect(tmp_path, "pod64")
        with claimed(tmp_path, "pod64"):
            (tmp_path / "pod64.twin.control.json").write_text(json.dumps({"url": url, "token": "x"}))
            (listed,) = found_twins(tmp_path)
        server.shutdown()
    assert (listed.status, listed.problem) == (None, "of another release")
    assert str(caught.value) == (
        "pod64: its twin was started by another release of railfab. "
        f"Stop it with railfab twin stop --state {tmp_path}, and start it again."
    )


def test_job_metrics_are_of_the_catalogue_and_follow_the_job(twin: Twin, control: Control) -> None:
    control.switch_job(ring())
    until(lambda: control.status().steps >= 2)
    with urllib.request.urlopen(control.metrics_url, timeout=10) as response:
        lines = response.read().decode().splitlines()
    assert 'training_job_running{fabric="pod64",job_id="ring"} 1.0' in lines
    control.switch_job(None)
    assert 'training_job_running{fabric="pod64",job_id="ring"} 0.0' in metrics_of(control)
    exposed = {name for metric in CATALOGUE.values() for name in metric.exposed_names()}
    samples = [line for line in lines if not line.startswith("#")]
    assert {line.split("{")[0] for line in samples} <= exposed
    counts = [line for line in samples if line.startswith("training_step_duration_seconds_count{") and '"ring"' in line]
    assert len(counts) == 8
    assert all(float(line.rsplit(" ", 1)[1]) >= 2 for line in counts)
    assert any(line.startswith("fabric_twin_simulated_seconds_total") for line in samples)
    bandwidth = next(line for line in samples if line.startswith("training_collective_bus_bandwidth"))
    assert 10e9 < float(bandwidth.rsplit(" ", 1)[1]) < 25e9  # below a NIC's 2 x 100 Gb/s


def test_a_job_with_a_model_runs_on_the_twin_beside_its_ideal(twin: Twin, control: Control) -> None:
    shape = {"layers": 4, "hidden": 1024, "heads": 8, "ffn": 2816, "vocabulary": 8192, "sequence": 512}
    fields = {"version": 1, "job": "trained", "model": shape, "parallelism": {"tp": 8, "pp": 4, "micro_batches": 4}}
    control.switch_job(Job.model_validate(fields))
    until(lambda: control.status().steps >= 1)
    values = dict(line.rsplit(" ", 1) for line in metrics_of(control))
    ideal_s = float(values['training_step_ideal_seconds_total{fabric="pod64",job_id="trained"}'])
    steps, seconds = (
        float(
            values[f'training_step_duration_seconds_{part}{{fabric="pod64",host="pod1-seg1-host1",job_id="trained"}}']
        )
        for part in ("count", "sum")
    )
    control.switch_job(None)
    assert steps >= 1
    assert seconds == pytest.approx(ideal_s, rel=0.05), "the fabric is as it is designed"


def test_the_collector_of_a_twin_exposes_the_metrics_of_its_job_once(twin: Twin, control: Control, state: Path) -> None:
    """Prometheus scrapes the collector alone: the port of the control server is another one each time."""
    control.switch_job(ring())
    until(lambda: control.status().steps >= 1)
    wanted = Wanted(twin.design.path, "twin", None, state, lists=(), mappings=())
    shards = [
        collector_of(wanted, 0.0, {"interval_s": 2.0, "share": parse_share(shard, None)})[0] for shard in ("0/2", "1/2")
    ]
    pages = [shard.exposition.render(openmetrics=False).decode().splitlines() for shard in shards]
    assert sum(page.count('training_job_running{fabric="pod64",job_id="ring"} 1.0') for page in pages) == 1
    counted = [line for page in pages for line in page if line.startswith("training_step_duration_seconds_count{")]
    assert [line for line in counted if 'job_id="ring"' in line]
    for page in pages:
        headers = [line for line in page if line.startswith("# TYPE")]
        assert sorted(set(headers)) == sorted(headers)
    openmetrics = [shard.exposition.render(openmetrics=True).decode() for shard in shards]
    assert sum("\ntraining_job_running{" in text and text.endswith("# EOF\n") for text in openmetrics) == 1


def metrics_of(control: Control) -> list[str]:
    with urllib.request.urlopen(control.metrics_url, timeout=10) as response:
        return response.read().decode().splitlines()  # type: ignore[no-any-return]


def test_a_failure_of_the_simulation_stops_its_job_and_not_the_switches(
    twin: Twin, control: Control, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    works, failed = FastForward.run, threading.Event()

    def fail_once(engine: FastForward, *arguments: Any, **options: Any) -> bool:
        if not failed.is_set():
            failed.set()
            raise FloatingPointError("a queue is negative")
        return works(engine, *arguments, **options)

    said = "FloatingPointError: a queue is negative"
    control.switch_job(ring())
    until(lambda: control.status().steps >= 1)
    monkeypatch.setattr(FastForward, "run", fail_once)
    until(lambda: control.status().failure != "")
    until(lambda: control.status().job is None)
    assert control.status().failure == said
    assert f'fabric_twin_failure_info{{error="{said}",fabric="pod64"}} 1.0' in metrics_of(control)
    assert any("the simulation failed" in record.getMessage() for record in caplog.records)
    with switch(twin) as leaf:
        assert leaf.value("/system/name/host-name", "config") == LEAF
        leaf.set(update=[(DESCRIPTION, '"after the failure"')])
    control.switch_job(ring())
    until(lambda: control.status().steps >= 1)
    assert control.status().failure == ""
    assert not any(line.startswith("fabric_twin_failure_info{") for line in metrics_of(control))
    control.switch_job(None)


def test_the_command_serves_switches_its_job_and_ends_clean_on_ctrl_c(tmp_path: Path) -> None:
    intent, jobs = str(REPOSITORY / "inventory/fabrics/pod64.yml"), REPOSITORY / "inventory" / "jobs"
    command = [sys.executable, "-m", "railfab", "twin", intent, "--state", str(tmp_path), "--port", "0"]
    with subprocess.Popen(
        interruptible([*command, "--job", str(jobs / "ring.yml")]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        try:
            until(lambda: served.poll() is not None or running(tmp_path, "pod64") is not None)
            assert connect(tmp_path, "pod64").status().job == "ring"
            again = command[3:-2]
            switched = CliRunner().invoke(app, [*again, "--job", str(jobs / "incast.yml")])
            assert switched.exit_code == 0, switched.output
            assert connect(tmp_path, "pod64").status().job == "incast"
            with pytest.raises(LabError):
                CliRunner().invoke(app, again, catch_exceptions=False)
        finally:
            served.send_signal(signal.SIGINT)
            out, err = served.communicate(timeout=30)
    assert served.returncode == 0
    assert LEAF in out
    assert "Ctrl-C ends it" in err
    assert left(tmp_path) == KEPT


def test_a_killed_twin_is_replaced(tmp_path: Path) -> None:
    intent = str(REPOSITORY / "inventory/fabrics/pod64.yml")
    command = [sys.executable, "-m", "railfab", "twin", intent, "--state", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as served:
        until(lambda: running(tmp_path, "pod64") is not None)
        served.kill()
    assert state_file(tmp_path, "pod64", "twin").exists()
    with started(tmp_path) as twin:
        assert connect(tmp_path, "pod64").status().pid == os.getpid()
        assert load_endpoints(state_file(tmp_path, "pod64", "twin")) == twin.endpoints
    assert left(tmp_path) == KEPT

"""Kubernetes as a gate, against a server that holds each request to the published description of the API server."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.schedulers.kubernetes_server import TOKEN, ApiMemory, serve_api
from tests.gnmi.client_certificates import client_files
from tests.ports import free_port

from railfab.deploy.schedulers import SchedulerError
from railfab.deploy.schedulers.kubeconfig import server_of_kubeconfig, server_of_pod
from railfab.deploy.schedulers.kubernetes import MAINTENANCE, Kubernetes
from railfab.fabric.host_names import HostNames
from railfab.gnmi.certificates import Authority

HOSTS = ("pod1-seg1-host1", "pod1-seg1-host2", "pod1-seg1-host3")
NAMES = HostNames({host: f"gpu{number}" for number, host in enumerate(HOSTS, start=1)})
DEPLOY, LATER = "20261122T093012.345Z-4f2a", "20261122T101500.000Z-77aa"
AUTHORITY = Authority("CA of the test")
TAINT = {"key": "example.com/reserved", "value": "team-a", "effect": "NoSchedule"}
OURS = {"key": MAINTENANCE, "value": DEPLOY, "effect": "NoSchedule"}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiMemory]:
    memory = ApiMemory()
    memory.add_node("gpu1", taints=[TAINT])
    memory.add_node("gpu2")
    memory.add_node("gpu3", unschedulable=True)
    with serve_api(memory, AUTHORITY, tmp_path, "127.0.0.1"):
        yield memory
    assert memory.problems == []


def kubeconfig(folder: Path, api: ApiMemory, *, cluster: dict[str, Any] | None = None, **user: Any) -> Path:
    path = folder / "kubeconfig"
    authority = base64.b64encode(AUTHORITY.certificate).decode()
    server = {"server": f"https://127.0.0.1:{api.port}", "certificate-authority-data": authority}
    document = {
        **{"apiVersion": "v1", "kind": "Config", "current-context": "lab"},
        "clusters": [{"name": "fabric", "cluster": {**server, **(cluster or {})}}],
        "contexts": [{"name": "lab", "context": {"cluster": "fabric", "user": "railfab"}}],
        "users": [{"name": "railfab", "user": user or {"token": TOKEN}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def scheduler(folder: Path, api: ApiMemory, **user: Any) -> Kubernetes:
    return Kubernetes(server_of_kubeconfig(kubeconfig(folder, api, **user)), NAMES)


def test_a_hold_cordons_and_its_release_uncordons_only_what_is_ours(tmp_path: Path, api: ApiMemory) -> None:
    before = json.loads(json.dumps(api.nodes))
    kubernetes = scheduler(tmp_path, api)
    for _ in range(2):
        assert kubernetes.hold(HOSTS, DEPLOY) == {HOSTS[2]: "cordoned"}
    assert api.nodes["gpu1"]["spec"] == {"unschedulable": True, "taints": [TAINT, OURS]}
    assert api.nodes["gpu2"]["spec"] == {"unschedulable": True, "taints": [OURS]}
    assert api.nodes["gpu3"] == before["gpu3"]
    assert [request for request in api.requests if request.startswith("PATCH")] == [
        "PATCH /api/v1/nodes/gpu1",
        "PATCH /api/v1/nodes/gpu2",
    ]
    later = scheduler(tmp_path, api)
    assert later.held(HOSTS) == dict.fromkeys(HOSTS[:2], DEPLOY)
    assert later.hold(HOSTS[:1], LATER) == {HOSTS[0]: f"railfab {DEPLOY}"}
    assert later.release(HOSTS, LATER) == ()
    assert later.release(HOSTS, DEPLOY) == HOSTS[:2]
    for name, node in api.nodes.items():
        assert node["spec"] == before[name]["spec"]
        assert not node["metadata"].get("annotations")


def test_a_change_of_somebody_else_in_between_is_kept(tmp_path: Path, api: ApiMemory) -> None:
    kubernetes = scheduler(tmp_path, api)
    added = {"key": "nvidia.com/gpu", "value": "bad", "effect": "NoExecute"}
    api.meddle = [{"spec": {"taints": [TAINT, added]}}]
    assert kubernetes.hold(HOSTS[:1], DEPLOY) == {}
    assert api.nodes["gpu1"]["spec"]["taints"] == [TAINT, added, OURS]
    api.meddle = [{"spec": {"unschedulable": True}}]
    assert kubernetes.hold(HOSTS[1:2], DEPLOY) == {HOSTS[1]: "cordoned"}
    api.meddle = [{"metadata": {"annotations": {"example.com/count": str(number)}}} for number in range(9)]
    with pytest.raises(SchedulerError, match="node gpu1 was changed by others 6 times while railfab changed it"):
        kubernetes.release(HOSTS[:1], DEPLOY)


def test_pods_with_devices_are_busy_until_they_end(tmp_path: Path, api: ApiMemory) -> None:
    gpus = {"limits": {"nvidia.com/gpu": "8", "cpu": "4"}, "requests": {"nvidia.com/gpu": "8"}}
    api.add_pod("gpu1", "exporter", resources=gpus, owner="DaemonSet")
    api.add_pod("gpu1", "ended", resources=gpus, phase="Succeeded")
    api.add_pod("gpu1", "web", resources={"limits": {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi"}})
    api.add_pod("gpu1", "worker-0", resources=gpus)
    api.add_pod("gpu1", "worker-1", resourceClaims=[{"name": "nic", "resourceClaimName": "nic-1"}])
    api.add_pod("gpu2", "prepared", initContainers=[{"name": "first", "resources": {"limits": {"rdma/hca": "1"}}}])
    kubernetes = scheduler(tmp_path, api)
    assert kubernetes.busy(HOSTS) == {
        HOSTS[0]: "pod train/worker-0 (8 nvidia.com/gpu), pod train/worker-1 (claim nic)",
        HOSTS[1]: "pod train/prepared (1 rdma/hca)",
    }
    for pod in api.pods:
        pod["status"]["phase"] = "Failed"
    assert kubernetes.busy(HOSTS) == {}


def test_a_server_that_is_busy_is_asked_again(tmp_path: Path, api: ApiMemory) -> None:
    api.answers = [429, 429]
    assert scheduler(tmp_path, api).held(HOSTS) == {}
    api.answers = [429] * 9
    with pytest.raises(SchedulerError, match=r"answers 429 \(as the test says\)"):
        scheduler(tmp_path, api).held(HOSTS)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (401, r"answers 401 \(as the test says\)\. Check the token or the certificate of .*/kubeconfig\.$"),
        (403, r"answers 403 \(as the test says\)\. Grant its user get and patch of nodes, and list of pods\.$"),
        (500, r"answers 500 \(as the test says\)\. Check the log of the API server\.$"),
    ],
)
def test_what_the_server_refuses_is_one_line(tmp_path: Path, api: ApiMemory, status: int, line: str) -> None:
    api.answers = [status]
    with pytest.raises(SchedulerError, match=f"^Kubernetes 127.0.0.1:{api.port}: {line}"):
        scheduler(tmp_path, api).hold(HOSTS, DEPLOY)


def test_a_node_that_the_cluster_does_not_have_is_named_before_one_is_changed(tmp_path: Path, api: ApiMemory) -> None:
    del api.nodes["gpu2"]
    with pytest.raises(SchedulerError, match=r"knows no node gpu2\. Name the nodes of the hosts"):
        scheduler(tmp_path, api).hold(HOSTS, DEPLOY)
    assert not [request for request in api.requests if request.startswith("PATCH")]


def test_a_server_that_does_not_answer_ends_within_the_limit(tmp_path: Path, api: ApiMemory) -> None:
    server = server_of_kubeconfig(kubeconfig(tmp_path, api))
    silent = dataclasses.replace(server, port=free_port())
    with pytest.raises(SchedulerError, match=r"cannot be asked \(connection refused\)\. Check its address"):
        Kubernetes(silent, NAMES).held(HOSTS)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = dataclasses.replace(server, port=listener.getsockname()[1], answer_s=0.2)
        with pytest.raises(SchedulerError, match=r"has not answered within 0\.2 s\. Check it"):
            Kubernetes(silent, NAMES).held(HOSTS)


def test_a_login_is_a_certificate_a_token_of_a_file_or_that_of_the_pod(tmp_path: Path, api: ApiMemory) -> None:
    client_files(tmp_path, AUTHORITY)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.certificate)
    files = {"client-certificate": "cert.pem", "client-key": "key.pem"}
    inline = {f"{key}-data": base64.b64encode((tmp_path / name).read_bytes()).decode() for key, name in files.items()}
    for user in (files, inline, {"tokenFile": "token"}):
        named = {
            "certificate-authority": "ca.crt",
            "certificate-authority-data": None,
            "tls-server-name": "api.example",
        }
        assert scheduler(tmp_path, api, cluster=named, **user).held(HOSTS) == {}
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(api.port)}
    assert Kubernetes(server_of_pod(environment, tmp_path), NAMES).held(HOSTS) == {}


@pytest.mark.parametrize(
    ("cluster", "user", "line"),
    [
        ({"server": "http://127.0.0.1:1"}, {}, "its server has no https address"),
        ({"insecure-skip-tls-verify": True}, {}, "sets insecure-skip-tls-verify, which railfab does not take"),
        ({"proxy-url": "http://proxy"}, {}, "sets proxy-url, which railfab does not take"),
        ({"certificate-authority-data": "%"}, {}, "certificate-authority-data is no base64"),
        ({"certificate-authority-data": "AAAA"}, {}, "has a certificate or key that cannot be read"),
        ({"certificate-authority": "ca", "certificate-authority-data": None}, {}, "cannot be read [(]no such file"),
        ({}, {"exec": {"command": "aws"}}, "logs in by a plugin"),
        ({}, {"username": "kim", "password": "secret"}, "logs in with a password, which Kubernetes removed in 1.19"),
    ],
)
def test_a_kubeconfig_that_is_not_taken_is_one_line(
    tmp_path: Path, api: ApiMemory, cluster: dict[str, Any], user: dict[str, Any], line: str
) -> None:
    with pytest.raises(SchedulerError, match=line) as error:
        server_of_kubeconfig(kubeconfig(tmp_path, api, cluster=cluster, **user))
    assert "secret" not in str(error.value)


def test_faults_of_the_file_do_not_show_what_is_in_it(tmp_path: Path, api: ApiMemory) -> None:
    path = kubeconfig(tmp_path, api)
    with pytest.raises(SchedulerError, match=r"has no context 'production'\. Name one of it in change\.scheduler\."):
        server_of_kubeconfig(path, "production")
    path.write_text(f"users:\n  - token: {{{TOKEN}\n")
    with pytest.raises(SchedulerError, match=rf"^{re.escape(str(path))}:[23]: invalid YAML\. Correct its syntax\.$"):
        server_of_kubeconfig(path)
    with pytest.raises(SchedulerError, match="no kubeconfig is named, and railfab runs in no pod"):
        server_of_pod({})


def test_a_certificate_of_another_ca_is_refused(tmp_path: Path, api: ApiMemory) -> None:
    stranger = base64.b64encode(Authority("another CA").certificate).decode()
    with pytest.raises(SchedulerError, match=r"its certificate is not trusted \("):
        scheduler(tmp_path, api, cluster={"certificate-authority-data": stranger}, token=TOKEN).held(HOSTS)
    assert TOKEN not in repr(server_of_kubeconfig(kubeconfig(tmp_path, api)))


def test_a_certificate_may_have_the_name_that_the_kubeconfig_says(tmp_path: Path) -> None:
    memory = ApiMemory()
    memory.add_node("gpu1")
    with serve_api(memory, AUTHORITY, tmp_path):
        named = {"tls-server-name": "api.example"}
        assert scheduler(tmp_path, memory, cluster=named, token=TOKEN).held(HOSTS[:1]) == {}
        with pytest.raises(SchedulerError, match=r"its certificate is not trusted \(IP address mismatch"):
            scheduler(tmp_path, memory).held(HOSTS[:1])
    assert memory.problems == []

"""The files in collectors/ that run the collector as a service: systemd, compose and Kubernetes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import Result
from prometheus_client import CollectorRegistry
from typer.testing import CliRunner

from railfab.cli import app
from railfab.dashboards import Datasource, Scrape, grafana_files, prometheus_files
from railfab.telemetry import MetricsServer
from railfab.telemetry.exposition import RegistryExposition
from railfab.telemetry.targets import parse_shard
from railfab.units import COLLECTOR_PORT, LONGEST_SCRAPE_INTERVAL_S

CACHE = "/var/cache/railfab"
INDEX_LABEL = "metadata.labels['apps.kubernetes.io/pod-index']"
LARGEST_APPLIED_BYTES = 262_144
"""Of all annotations of an object, in one of which `kubectl apply` stores the whole object."""

METADATA = {"name", "labels"}
KEYS = {
    "StatefulSet": {"replicas", "serviceName", "podManagementPolicy", "selector", "template"},
    "Service": {"clusterIP", "publishNotReadyAddresses", "selector", "ports"},
    "PodMonitor": {"selector", "podMetricsEndpoints"},
}
"""Keys of `spec` that are used, all of which the API has; a cluster would refuse or drop a misspelt one."""
POD_KEYS = {"automountServiceAccountToken", "terminationGracePeriodSeconds", "securityContext", "containers", "volumes"}
CONTAINER_KEYS = {
    *("name", "image", "args", "env", "ports", "resources", "securityContext", "volumeMounts"),
    *("startupProbe", "livenessProbe", "readinessProbe"),
}
PROBE_KEYS = {"httpGet", "periodSeconds", "timeoutSeconds", "failureThreshold"}
ENDPOINT_KEYS = {"port", "path", "interval", "scrapeTimeout", "honorLabels", "relabelings"}


@pytest.fixture(scope="module")
def folder(repository: Path) -> Path:
    return repository / "collectors"


@pytest.fixture(scope="module")
def unit(folder: Path) -> list[tuple[str, str]]:
    """The settings of the systemd unit, in their order."""
    lines = (folder / "railfab-collect@.service").read_text().splitlines()
    return [(key, value) for key, equals, value in (line.partition("=") for line in lines) if equals and key[0] != "#"]


@pytest.fixture(scope="module")
def compose(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "compose.yml").read_text())
    return found


@pytest.fixture(scope="module")
def objects(folder: Path) -> dict[str, Any]:
    """The objects of Kubernetes, by kind."""
    found = list(yaml.safe_load_all((folder / "k8s.yml").read_text()))
    return {one["kind"]: one for one in found}


@pytest.fixture(scope="module")
def pod(objects: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = objects["StatefulSet"]["spec"]["template"]["spec"]
    return found


@pytest.fixture(scope="module")
def container(pod: dict[str, Any]) -> dict[str, Any]:
    (found,) = pod["containers"]
    return dict(found)


def parsed(arguments: list[str]) -> Result:
    """Have the command line parse these arguments, without running them."""
    return CliRunner().invoke(app, [*arguments, "--help"])


def assert_called(arguments: list[str]) -> None:
    assert arguments[0] == "collect"
    assert parsed(arguments).exit_code == 0, arguments
    assert parsed([*arguments, "--no-such-option"]).exit_code == 2
    assert arguments[arguments.index("--port") + 1] == str(COLLECTOR_PORT)


def started(unit: list[tuple[str, str]]) -> list[str]:
    """The arguments that systemd starts railfab with, where the environment file does not state COLLECT."""
    environment = dict(value.strip('"').partition("=")[::2] for key, value in unit if key == "Environment")
    command = dict(unit)["ExecStart"]
    for name, value in environment.items():
        command = command.replace(f"${name}", value)
    return shlex.split(command)[1:]


def test_systemd_calls_a_command_that_there_is(unit: list[tuple[str, str]]) -> None:
    assert_called(started(unit))


def test_what_the_environment_file_may_state_is_a_command_that_there_is(folder: Path) -> None:
    texts = [(folder / name).read_text() for name in ("README.md", "railfab-collect@.service")]
    stated = [found for text in texts for found in re.findall(r'COLLECT="(--targets.*?|/etc/railfab/pod64.*?)"', text)]
    assert len(stated) == 3
    assert sum("--processes auto" in text for text in stated) == 2
    for text in stated:
        assert_called(["collect", *shlex.split(text), "--port", str(COLLECTOR_PORT)])


def test_compose_calls_a_command_that_there_is(compose: dict[str, Any]) -> None:
    assert_called(compose["services"]["collector"]["command"])


def test_each_pod_calls_a_command_that_there_is_with_its_own_shard(
    objects: dict[str, Any], container: dict[str, Any]
) -> None:
    environment = {one["name"]: one for one in container["env"]}
    replicas = objects["StatefulSet"]["spec"]["replicas"]
    assert environment["SHARD"]["valueFrom"]["fieldRef"]["fieldPath"] == INDEX_LABEL
    assert environment["SHARDS"]["value"] == str(replicas)
    assert {name for text in container["args"] for name in re.findall(r"\$\((\w+)\)", text)} == {"SHARD", "SHARDS"}
    for index in range(replicas):
        expanded = {"$(SHARD)/$(SHARDS)": f"{index}/{environment['SHARDS']['value']}"}
        arguments = [expanded.get(text, text) for text in container["args"]]
        assert_called(arguments)
        assert parse_shard(arguments[arguments.index("--shard") + 1]).index == index


def test_what_compose_mounts_is_in_the_repository(repository: Path, compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert ":latest" not in service["image"]
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (repository / "collectors" / source).exists(), source
    assert (repository / compose["services"]["collector"]["build"]["dockerfile"]).is_file()


def test_the_image_copies_what_there_is_and_calls_what_is_installed(repository: Path) -> None:
    text = (repository / "collectors" / "Dockerfile").read_text()
    lines = text.splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((repository / name).exists() for name in copied)
    assert 'ENTRYPOINT ["railfab"]' in lines
    assert f"EXPOSE {COLLECTOR_PORT}" in lines
    extras = re.search(r'"/src\[([\w,]+)\]"', text)
    known = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras is not None
    assert set(extras[1].split(",")) == {"collect", "kafka", "nats"} <= known.keys()


def test_compiled_code_is_kept_where_the_collector_can_write(
    folder: Path, unit: list[tuple[str, str]], compose: dict[str, Any], pod: dict[str, Any], container: dict[str, Any]
) -> None:
    settings = dict(unit)
    assert ("Environment", f"XDG_CACHE_HOME=/var/cache/{settings['CacheDirectory']}") in unit
    assert "MemoryDenyWriteExecute" not in settings, "numba compiles when the collector runs"
    lines = (folder / "Dockerfile").read_text().splitlines()
    assert f"ENV XDG_CACHE_HOME={CACHE}" in lines
    user = next(line for line in lines if line.startswith("USER ")).removeprefix("USER ").split(":")
    assert f"RUN install -d -o {user[0]} -g {user[1]} {CACHE}" in lines
    assert f"cache:{CACHE}" in compose["services"]["collector"]["volumes"]
    assert {"name": "XDG_CACHE_HOME", "value": CACHE} in container["env"]
    (name,) = (mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == CACHE)
    assert "emptyDir" in next(volume for volume in pod["volumes"] if volume["name"] == name)
    assert user == [str(pod["securityContext"][key]) for key in ("runAsUser", "runAsGroup")]


def test_systemd_finds_nothing_wrong_with_the_unit(repository: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze; run: apt install systemd")
    name = "railfab-collect@.service"
    text = (repository / "collectors" / name).read_text()
    file = tmp_path / name.replace("@", "@pod64")
    file.write_text(text.replace("/opt/railfab/bin/railfab", shutil.which("true") or ""))
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert "railfab-collect" not in done.stdout + done.stderr


def test_objects_of_kubernetes_have_no_misspelt_key(
    objects: dict[str, Any], pod: dict[str, Any], container: dict[str, Any]
) -> None:
    versions = {kind: one["apiVersion"] for kind, one in objects.items()}
    assert versions == {"StatefulSet": "apps/v1", "Service": "v1", "PodMonitor": "monitoring.coreos.com/v1"}
    for kind, one in objects.items():
        assert one.keys() == {"apiVersion", "kind", "metadata", "spec"}
        assert (one["metadata"].keys(), one["spec"].keys()) == (METADATA, KEYS[kind])
    assert (pod.keys(), container.keys()) == (POD_KEYS, CONTAINER_KEYS)
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[name].keys() <= PROBE_KEYS
    (endpoint,) = objects["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert endpoint.keys() == ENDPOINT_KEYS


def test_selectors_match_the_labels_of_the_pods(objects: dict[str, Any]) -> None:
    stateful = objects["StatefulSet"]["spec"]
    labels = stateful["template"]["metadata"]["labels"]
    assert stateful["selector"]["matchLabels"] == labels
    assert objects["Service"]["spec"]["selector"] == labels
    assert objects["PodMonitor"]["spec"]["selector"]["matchLabels"] == labels
    assert all(one["metadata"]["labels"] == labels for one in objects.values())
    assert stateful["serviceName"] == objects["Service"]["metadata"]["name"]
    assert objects["Service"]["spec"]["clusterIP"] == "None", "only a headless Service gives each pod a name"


def test_ports_are_those_of_the_collector_and_paths_are_served(
    objects: dict[str, Any], container: dict[str, Any]
) -> None:
    (port,) = container["ports"]
    assert port == {"name": "metrics", "containerPort": COLLECTOR_PORT}
    assert objects["Service"]["spec"]["ports"] == [{"name": "metrics", "port": COLLECTOR_PORT, "targetPort": "metrics"}]
    (endpoint,) = objects["PodMonitor"]["spec"]["podMetricsEndpoints"]
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": "/healthz",
        "liveness": "/healthz",
        "readiness": "/readyz",
    }
    asked = [*probes.values(), endpoint]
    assert {one["port"] for one in asked} == {"metrics"}
    ready = SimpleNamespace(healthy=dict, ready=dict, targets=list)
    with MetricsServer(RegistryExposition(CollectorRegistry()), ready, port=0) as server:
        for path in {one["path"] for one in asked}:
            with urllib.request.urlopen(f"{server.url}{path}", timeout=30) as answer:
                assert answer.status == 200, path


def test_prometheus_keeps_the_labels_of_railfab(objects: dict[str, Any]) -> None:
    (endpoint,) = objects["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert int(endpoint["scrapeTimeout"][:-1]) < int(endpoint["interval"][:-1]) <= LONGEST_SCRAPE_INTERVAL_S
    assert endpoint["honorLabels"] is True
    dropped = next(rule["regex"] for rule in endpoint["relabelings"] if rule.get("action") == "labeldrop")
    assert re.fullmatch(dropped, "pod"), "the label of a fabric's pod would be that of Kubernetes"


def test_pods_have_no_more_rights_than_they_need(pod: dict[str, Any], container: dict[str, Any]) -> None:
    """As the restricted profile of the Pod Security Standards says, with a root file system that is read only."""
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"].keys() == {"requests", "limits"}


def test_what_pods_mount_is_there_and_what_they_read_is_mounted(pod: dict[str, Any], container: dict[str, Any]) -> None:
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert mounts.keys() == volumes.keys()
    files = [text for text in container["args"] if text.startswith("/")]
    assert files
    assert {str(Path(name).parent) for name in files} == {mounts["fabric"]}
    kinds = [kind for source in volumes["fabric"]["projected"]["sources"] for kind in source]
    assert kinds == ["configMap", "secret"]


def kustomizations(repository: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for name in ("collectors", "dashboards"):
        yield repository / name, yaml.safe_load((repository / name / "kustomization.yml").read_text())


def test_kustomizations_name_files_that_there_are(repository: Path) -> None:
    for folder, found in kustomizations(repository):
        assert (found["apiVersion"], found["kind"]) == ("kustomize.config.k8s.io/v1beta1", "Kustomization")
        assert all((folder / name).exists() for name in found.get("resources", ()))


def test_every_board_and_rule_is_in_a_config_map_that_can_be_applied(repository: Path) -> None:
    found = dict(kustomizations(repository))[repository / "dashboards"]
    files = {one["name"]: one["files"] for one in found["configMapGenerator"]}
    boards = [name for name in grafana_files(Datasource()) if name.endswith(".json")]
    rules = [name for name in prometheus_files(Scrape()) if name.startswith("rules/")]
    assert {name: sorted(given) for name, given in files.items()} == {
        **{f"railfab-board-{Path(board).stem}": [board] for board in boards},
        "railfab-rules": sorted(rules),
    }
    for given in files.values():
        texts = {name: (repository / "dashboards" / name).read_text() for name in given}
        assert len(json.dumps(texts)) < LARGEST_APPLIED_BYTES


def test_the_number_of_pods_is_stated_once(repository: Path, objects: dict[str, Any]) -> None:
    found = dict(kustomizations(repository))[repository / "collectors"]
    stateful = objects["StatefulSet"]
    name, replicas = stateful["metadata"]["name"], stateful["spec"]["replicas"]
    assert found["replicas"] == [{"name": name, "count": replicas}]
    (replacement,) = found["replacements"]
    assert replacement["source"] == {"kind": "StatefulSet", "name": name, "fieldPath": "spec.replicas"}


def test_kustomize_tells_every_pod_how_many_there_are(repository: Path, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("needs kubectl, which no package of Debian has")
    for name in ("collectors", "dashboards"):
        shutil.copytree(repository / name, tmp_path / name)
    file = tmp_path / "collectors" / "kustomization.yml"
    file.write_text(file.read_text().replace("count: 2", "count: 5"))
    done = subprocess.run(["kubectl", "kustomize", str(file.parent)], capture_output=True, text=True, check=True)
    made = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(done.stdout)}
    spec = made["StatefulSet", "railfab-pod64"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["replicas"] == 5
    assert {"name": "SHARDS", "value": "5"} in container["env"]
    boards = made["ConfigMap", "railfab-board-fabric"]
    assert boards["metadata"]["labels"] == {"grafana_dashboard": "1"}
    assert json.loads(boards["data"]["fabric.json"])["title"]
    assert made["ConfigMap", "railfab-rules"]["data"].keys() == {"recording.yml", "adopted.yml", "alerts.yml"}

"""The files in collectors/ that run the agent: systemd, and a DaemonSet of Kubernetes with its image."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from railfab.hostagent.options import AgentOptions, parsed
from railfab.units import AGENT_PORT, LONGEST_SCRAPE_INTERVAL_S

UNIT = "railfab-agent.service"
STATE = "/var/lib/railfab"
SPEC_KEYS = {
    "DaemonSet": {"selector", "updateStrategy", "template"},
    "PodMonitor": {"selector", "podMetricsEndpoints"},
}
POD_KEYS = {
    *("automountServiceAccountToken", "hostNetwork", "terminationGracePeriodSeconds", "nodeSelector", "tolerations"),
    *("containers", "volumes"),
}
CONTAINER_KEYS = {
    *("name", "image", "args", "env", "ports", "readinessProbe", "resources", "securityContext", "volumeMounts"),
}
"""Keys that the API has; a cluster would refuse or drop a misspelt one."""


@pytest.fixture(scope="module")
def folder(repository: Path) -> Path:
    return repository / "collectors"


@pytest.fixture(scope="module")
def unit(folder: Path) -> dict[str, str]:
    """The settings of the unit; of one that is there twice, the last."""
    lines = (folder / UNIT).read_text().splitlines()
    return {key: value for key, equals, value in (line.partition("=") for line in lines) if equals and key[0] != "#"}


@pytest.fixture(scope="module")
def objects(folder: Path) -> dict[str, Any]:
    """The objects of Kubernetes, by kind."""
    return {each["kind"]: each for each in yaml.safe_load_all((folder / "agent.yml").read_text())}


@pytest.fixture(scope="module")
def pod(objects: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = objects["DaemonSet"]["spec"]["template"]["spec"]
    return spec


def started(command: str, more: str = "") -> AgentOptions:
    """The options that a command line of systemd gives the agent."""
    program, verb, *words = shlex.split(command.replace("$AGENT", more))
    assert (Path(program).name, verb) == ("railfab", "agent")
    return parsed(words)


def test_systemd_starts_the_agent_with_its_state(unit: dict[str, str]) -> None:
    options = started(unit["ExecStart"])
    assert (str(options.data), str(options.state)) == ("/etc/railfab/nic.json", STATE)
    assert options.port == AGENT_PORT
    assert unit["StateDirectory"] == Path(STATE).name
    assert "ProtectKernelTunables" not in unit, "tools of vendors read sysfs and debugfs"


def test_what_the_environment_file_may_state_is_parsed(folder: Path, unit: dict[str, str]) -> None:
    texts = "".join((folder / name).read_text() for name in (UNIT, "README.md"))
    stated = re.findall(r'AGENT="(.*?)"', texts)
    assert len(stated) == 2
    for words in stated:
        options = started(unit["ExecStart"], words)
        assert (options.listen, options.host) == ("0.0.0.0", "pod1-seg1-host1")


def test_systemd_finds_nothing_wrong_with_the_unit(folder: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze; run: apt install systemd")
    text = (folder / UNIT).read_text().replace("/opt/railfab/bin/railfab", shutil.which("true") or "")
    (tmp_path / UNIT).write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", str(tmp_path / UNIT)], capture_output=True, text=True)
    assert "railfab-agent" not in done.stdout + done.stderr


def test_the_daemon_set_starts_the_agent_with_what_it_mounts(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    (environment,) = container["env"]
    assert environment == {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    options = parsed([word.replace("$(NODE)", "pod1-seg1-host1") for word in container["args"]])
    assert (options.host, options.port, options.once) == ("pod1-seg1-host1", AGENT_PORT, False)
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert mounts.keys() == {
        *(f"{options.root}/{name}" for name in ("sys", "proc")),
        *("/run", str(options.data.parent), str(options.state)),
    }
    assert {mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["volumes"]}
    assert [path for path, mount in mounts.items() if not mount.get("readOnly")] == [str(options.state)]


def test_objects_of_kubernetes_have_no_misspelt_key_and_their_selectors_match(
    objects: dict[str, Any], pod: dict[str, Any]
) -> None:
    versions = {kind: each["apiVersion"] for kind, each in objects.items()}
    assert versions == {"DaemonSet": "apps/v1", "PodMonitor": "monitoring.coreos.com/v1"}
    assert {kind: each["spec"].keys() for kind, each in objects.items()} == SPEC_KEYS
    assert (pod.keys(), pod["containers"][0].keys()) == (POD_KEYS, CONTAINER_KEYS)
    labels = objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    assert [each["spec"]["selector"]["matchLabels"] for each in objects.values()] == [labels, labels]


def test_pods_are_scraped_at_their_port_and_have_no_right_that_they_do_not_need(
    objects: dict[str, Any], pod: dict[str, Any]
) -> None:
    (container,) = pod["containers"]
    assert container["ports"] == [{"name": "metrics", "containerPort": AGENT_PORT, "hostPort": AGENT_PORT}]
    assert container["readinessProbe"]["httpGet"] == {"path": "/metrics", "port": "metrics"}
    (endpoint,) = objects["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["path"], endpoint["honorLabels"]) == ("metrics", "/metrics", True)
    assert int(endpoint["interval"].rstrip("s")) <= LONGEST_SCRAPE_INTERVAL_S
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_the_image_copies_what_there_is_and_starts_the_agent(repository: Path) -> None:
    lines = (repository / "collectors" / "Dockerfile.agent").read_text().splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((repository / name).exists() for name in copied)
    assert 'ENTRYPOINT ["python", "-m", "railfab.hostagent"]' in lines
    assert f"EXPOSE {AGENT_PORT}" in lines

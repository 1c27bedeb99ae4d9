"""The Nornir connection `pygnmi`: users' own gNMI tasks on the switches of an inventory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nornir.core.task import Result, Task
from tests.twin.twins import LEAF, REPOSITORY, SPINE, endpoint, pod64, started

from railfab.deploy import nornir_of
from railfab.endpoints import Endpoint, Endpoints
from railfab.errors import LoginRefused
from railfab.gnmi.certificates import Authority
from railfab.twin import Twin

DESCRIPTION = "/interface[name=ethernet-1/1]/description"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work") / ".railfab"


@pytest.fixture(scope="module")
def twin(state: Path) -> Iterator[Twin]:
    with started(state) as running:
        yield running


def run(node: Endpoint, task: Any) -> Any:
    with nornir_of(pod64(), Endpoints(fabric="pod64", backend="twin", nodes=(node,))) as nornir:
        return nornir.run(task)[node.name][0]


def change(task: Task) -> Result:
    client = task.host.get_connection("pygnmi", task.nornir.config)
    client.set(update=[(DESCRIPTION, '"by a task"')], encoding="json_ietf")
    (notification,) = client.get(path=[DESCRIPTION], encoding="json_ietf")["notification"]
    return Result(host=task.host, result=notification["update"][0]["val"])


def test_a_task_of_a_user_reads_and_changes_a_switch(twin: Twin) -> None:
    assert run(endpoint(twin, LEAF), change).result == "by a task"


def test_an_endpoint_with_skip_verify_is_trusted_as_by_railfab(twin: Twin, caplog: pytest.LogCaptureFixture) -> None:
    node = replace(endpoint(twin, LEAF), ca=None, skip_verify=True)
    assert run(node, change).result == "by a task"
    assert f"{LEAF}: certificate not verified, as the endpoint asks (skip_verify)" in caplog.text


def test_a_switch_that_is_not_trusted_is_refused_as_by_railfab(twin: Twin, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_bytes(Authority("other").certificate)
    failed = run(replace(endpoint(twin, LEAF), ca=str(other)), change)
    assert isinstance(failed.exception, LoginRefused)
    assert "is not trusted" in str(failed.exception)


def test_connecting_leaves_stdout_and_ciphers_alone(twin: Twin, capsys: pytest.CaptureFixture[str]) -> None:
    run(endpoint(twin, LEAF), change)
    assert capsys.readouterr().out == ""
    assert "GRPC_SSL_CIPHER_SUITES" not in os.environ


def test_the_playbook_reads_a_path_of_the_switches(twin: Twin, state: Path) -> None:
    intent = str(REPOSITORY / "inventory" / "fabrics" / "pod64.yml")
    script = str(REPOSITORY / "playbooks" / "gnmi.py")
    words = [sys.executable, script, intent, "/system/name/host-name", "--on", "twin", "--limit", f"{LEAF},{SPINE}"]
    done = subprocess.run(words, cwd=state.parent, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [f'{name}: /system/name/host-name: "{name}"' for name in (LEAF, SPINE)]

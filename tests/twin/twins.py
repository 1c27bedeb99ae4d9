"""A running twin of pod64, and its switches as a pygnmi client sees them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import netmiko
from pygnmi.client import gNMIclient

from railfab.endpoints import Endpoint, read_credentials
from railfab.fabric.design import Design, design
from railfab.intent import Job, load_job
from railfab.twin import Twin

REPOSITORY = Path(__file__).resolve().parents[2]
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
RECEIVER_PORT = "ethernet-1/1/1"
"""On LEAF: where the senders of an incast meet."""
INCAST = {"phases": [{"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "1MB"}}], "repeat": 1}


KEPT = ["pod64.twin.ca.key", "pod64.twin.ca.pem", "pod64.twin.credentials.yml", "pod64.twin.ssh_host_key"]
"""What a twin of pod64 leaves in its state directory."""


def left(state: Path) -> list[str]:
    """Names of the files in a state directory."""
    return sorted(path.name for path in state.iterdir())


@cache
def pod64() -> Design:
    return design(REPOSITORY / "inventory" / "fabrics" / "pod64.yml")


@cache
def srl_pod() -> Design:
    """Two rail switches and two spines."""
    return design(REPOSITORY / "labs" / "srl-pod" / "intent.yml")


def ring() -> Job:
    return load_job(REPOSITORY / "inventory" / "jobs" / "ring.yml")


def made_job(**fields: object) -> Job:
    return Job.model_validate({"version": 1, "job": "made", **fields})


def started(state: Path, **options: Any) -> Twin:
    """A twin, configured, on free ports; a context manager."""
    return Twin(pod64(), **{"state": state, "base_port": 0, "configured": True, **options})


def until(condition: Callable[[], bool], *, within_s: float = 120.0) -> None:
    """Wait for something that a live fabric comes to by itself; on a loaded machine simulated time passes slowly."""
    end_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen in time"
        time.sleep(0.05)


def configurations(twin: Twin) -> dict[str, str]:
    """What each switch runs."""
    return {name: switch.running() for name, switch in twin._switches.items()}


def configure(twin: Twin, texts: Mapping[str, str]) -> None:
    """Let switches that run another configuration run these, without a session, which takes longer than many a test."""
    for name, text in texts.items():
        if twin._switches[name].running() != text:
            twin._switches[name].replace(text)


def ran(twin: Twin, job: Job) -> None:
    """Run a job that ends by itself, and let what it left in the queues go."""
    twin.switch_job(job)
    until(lambda: twin.status().steps >= (job.repeat or 1))
    pass_time(twin, 1.0)


def pass_time(twin: Twin, seconds: float) -> None:
    """Let this much simulated time go by."""
    end_s = twin.status().simulated_s + seconds
    until(lambda: twin.status().simulated_s >= end_s)


def elapsed_s(twin: Twin, began_s: float) -> float:
    """Simulated time since a moment, which is a whole number of nanoseconds."""
    return round(twin.status().simulated_s - began_s, 9)


class Switch:
    """One switch of the twin, over gNMI."""

    def __init__(self, client: gNMIclient) -> None:
        self.client = client

    def values(self, path: str, kind: str = "state") -> dict[str, Any]:
        """Values by path, of a leaf or of a path with wildcards."""
        (notification,) = self.client.get(path=[path], datatype=kind, encoding="json_ietf")["notification"]
        return {f"/{update['path']}": update["val"] for update in notification["update"]}

    def value(self, path: str, kind: str = "state") -> Any:
        (found,) = self.values(path, kind).values()
        return found

    def total(self, path: str) -> int:
        """The sum of counters."""
        return sum(int(value) for value in self.values(path).values())

    def read_at(self) -> int:
        """The time stamp of an answer."""
        (notification,) = self.client.get(path=["/interface[name=*]/statistics/in-octets"])["notification"]
        return int(notification["timestamp"])

    def wait_for_news(self) -> None:
        """Wait until what is read was counted after this call: a Get may be answered with what was read for another."""
        before = self.read_at()
        until(lambda: self.read_at() > before)

    def set(self, **edits: Any) -> None:
        self.client.set(encoding="json_ietf", **edits)


def endpoint(twin: Twin, name: str) -> Endpoint:
    return twin.endpoints.by_name()[name]


@contextmanager
def switch(twin: Twin, name: str = LEAF) -> Iterator[Switch]:
    """A connected client."""
    node = endpoint(twin, name)
    login = read_credentials(node)
    with gNMIclient(
        (node.host, node.gnmi_port),
        username=login.username,
        password=login.password,
        path_root=node.ca,
        no_qos_marking=True,
    ) as client:
        yield Switch(client)


def netmiko_login(node: Endpoint, device_type: str, **others: str) -> Any:
    """A connection of netmiko to a switch, as an operator's; a context manager. others: username, password."""
    credentials = read_credentials(node)
    login = {"username": credentials.username, "password": credentials.password, **others}
    return netmiko.ConnectHandler(device_type=device_type, host=node.host, port=node.ssh_port, conn_timeout=60, **login)


def run_over_ssh(node: Endpoint, *commands: str) -> list[str]:
    """Answers of a Linux shell of a switch to these commands; without any, no connection is made."""
    if not commands:
        return []
    with netmiko_login(node, "linux") as connection:
        return [str(connection.send_command(command)) for command in commands]

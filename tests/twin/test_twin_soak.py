"""No sequence of Sets, faults and jobs ends the twin: random ones, for RAILFAB_SOAK_S seconds (`make soak`)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import grpc
from pygnmi.client import gNMIException
from tests.twin.qos_twin import FAR_LEAF, HOST_PORTS, LEAF, PORT, SPINE, UPLINKS, QosTwin, running
from tests.twin.twins import made_job, pass_time

from railfab.errors import DeviceError
from railfab.intent import Job

SECONDS = float(os.environ.get("RAILFAB_SOAK_S", "5"))
SEED = int(os.environ.get("RAILFAB_SOAK_SEED", "1"))
MAPPING = "/qos/pfc-mapping-profile[name=fabric]"
DEADLOCK = f"{MAPPING}/received-pfc-pause-frames/deadlock"
SLOPE = (
    "/qos/buffer-management/queue-management-profile[name={}]"
    "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
)
BUFFERS = "/qos/buffer-management/buffer-allocation-profile[name={}]/queues"
PROFILES = ("100g-5m", "400g-40m")
ROCE = "pfc-queue[pfc-queue-name=pfc-roce]"
SIZES = (0, 1, 1_500, 20_000, 500_000, 10**9, 2**32 - 1)
SCHEDULER = "/qos/scheduler-policies/scheduler-policy[name=fabric]"

NUMBERS: dict[str, tuple[object, ...]] = {
    **{f"{SLOPE.format(name)}/{leaf}": tuple(map(str, SIZES)) for name in PROFILES for leaf in ("min-threshold",)},
    **{f"{SLOPE.format(name)}/max-threshold": tuple(map(str, SIZES)) for name in PROFILES},
    **{f"{SLOPE.format(name)}/max-drop-probability-percent": (0, 1, 50, 100) for name in PROFILES},
    **{f"{SLOPE.format(name)}/slope-enabled": (True, False) for name in PROFILES},
    **{f"{BUFFERS.format(name)}/queue[queue-name=roce]/maximum-burst-size": SIZES for name in PROFILES},
    **{f"{BUFFERS.format(name)}/queue[queue-name=default]/maximum-burst-size": SIZES for name in PROFILES},
    **{f"{BUFFERS.format(name)}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-burst-size": SIZES for name in PROFILES},
    **{
        f"{BUFFERS.format(name)}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-pfc-reserved-share-percentage": (0, 1, 100)
        for name in PROFILES
    },
    "/qos/linecard[slot=1]/forwarding-complex[name=0]/input/pfc-buffer-reservation": (0, 1, 50, 100),
    f"{MAPPING}/received-traffic/unicast-mapping/pfc-queue[pfc-queue-name=pfc-roce]/pfc-pause-frame-priority": (
        0,
        3,
        7,
    ),
    f"{MAPPING}/received-pfc-pause-frames/queue[queue-name=roce]/pfc-pause-frame-priority": (0, 3, 7),
    f"{DEADLOCK}/enable": (True, False),
    f"{DEADLOCK}/detection-timer": (10, 200, 1500),
    f"{DEADLOCK}/recovery-timer": (100, 1500),
    **{f"{PORT.format(port)}/pfc/pfc-enable": (True, False) for port in (*HOST_PORTS, *UPLINKS)},
    **{f"/interface[name={port}]/admin-state": ("enable", "disable") for port in (*HOST_PORTS, *UPLINKS)},
    **{f"/interface[name={port}]/mtu": (1500, 9232, 9412) for port in UPLINKS},
    "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]/forwarding-class": ("default", "cnp", "roce"),
    f"{SCHEDULER}/scheduler[sequence=1]/input[id=roce]/weight": (1, 90, 127),
    f"{SCHEDULER}/scheduler[sequence=1]/input[id=default]/weight": (1, 10, 127),
    "/network-instance[name=default]/protocols/bgp/admin-state": ("enable", "disable"),
}
"""Leaves, and values that a client may set."""

CONTAINERS = (
    "/qos",
    "/qos/classifiers",
    "/qos/explicit-congestion-notification",
    "/qos/pfc-mapping-profile[name=fabric]/received-traffic",
    "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=0]",
    "/network-instance[name=default]/protocols/bgp",
    "/routing-policy",
)
"""What a client may delete."""


class Soak:
    """Random actions on a running twin. done: their names, for the report of a failure."""

    def __init__(self, found: QosTwin, random: Random) -> None:
        self._found, self._twin, self._random = found, found.twin, random
        self.done: list[str] = []
        self._before = found.counts()

    def act(self) -> None:
        actions: tuple[Callable[[], str], ...] = (
            self._set,
            self._set,
            self._delete,
            self._heal,
            self._link,
            self._host,
        )
        self.done.append(self._random.choice((*actions, self._job))())

    def check(self) -> None:
        """The simulation goes on, and the counters of all switches that keep their queues only grow."""
        assert self._twin.status().failure == "", self.done[-20:]
        now = self._found.counts()
        for name, counts in now.items():
            for key, number in counts.items():
                assert 0 <= number < 1 << 60, (name, key, number, self.done[-20:])
                if key[0] == "p":
                    assert number >= self._before[name][key], (name, key, self.done[-20:])
        self._before = now

    def _edit(self, name: str, **edits: Any) -> str:
        """A Set; a switch may refuse it, but not fail."""
        try:
            self._found.set(name, **edits)
        except gNMIException as error:
            if error.orig_exc.code() is not grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return f"{name} refused {edits}"
        return f"{name} {edits}"

    def _switch(self) -> str:
        return self._random.choice((LEAF, FAR_LEAF, SPINE))

    def _set(self) -> str:
        path = self._random.choice(list(NUMBERS))
        value = self._random.choice(NUMBERS[path])
        return self._edit(self._switch(), update=[(path, f'"{value}"' if isinstance(value, str) else value)])

    def _delete(self) -> str:
        return self._edit(self._switch(), delete=[self._random.choice(CONTAINERS)])

    def _heal(self) -> str:
        name = self._switch()
        self._found.heal(name)
        return f"{name} healed"

    def _link(self) -> str:
        port, up = self._random.choice((*HOST_PORTS, *UPLINKS)), self._random.random() < 0.7
        self._twin.set_link(LEAF, port, up=up)
        return f"{port} {up}"

    def _host(self) -> str:
        host = f"pod1-seg{self._random.choice((1, 2))}-host{self._random.choice((1, 2))}"
        rate = self._random.choice((0.0, 0.001, 10.0, None, None, None))
        self._twin.set_host_rate(host, rate)
        return f"{host} takes {rate}"

    def _job(self) -> str:
        job = self._random.choice((None, *map(self._made, ("incast", "ring"))))
        try:
            self._twin.switch_job(job)
        except DeviceError as error:
            return str(error)
        return str(job)

    def _made(self, kind: str) -> Job:
        size = self._random.choice((1, 4_097, 1_000_000, 50_000_000))
        traffic = {"pattern": "incast", "senders": self._random.choice((1, 14)), "receivers": 1, "bytes": size}
        phase = {"traffic": traffic} if kind == "incast" else {"collective": {"op": "allreduce", "bytes": size}}
        classes = self._random.sample(("default", "cnp", "roce"), self._random.choice((0, 0, 1, 3)))
        background = {name: self._random.choice((0.5, 30.0, 100.0)) for name in classes}
        phases = [{"compute": {"ms": self._random.choice((0.001, 5.0))}}, phase]
        return made_job(phases=phases, **({"background": background} if background else {}))


def test_no_sequence_of_sets_faults_and_jobs_ends_the_twin(tmp_path: Path) -> None:
    end_s = time.monotonic() + SECONDS
    with running(tmp_path) as found:
        soak = Soak(found, Random(SEED))
        while time.monotonic() < end_s:
            for _ in range(10):
                soak.act()
            soak.check()
        pass_time(found.twin, 0.05)

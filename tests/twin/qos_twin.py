"""A small twin under incasts, its QoS as a gNMI client sees it, and deploys that heal it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.twin.twins import Switch, made_job, pass_time, switch, until

from railfab.deploy import apply_all, new_change, nornir_of, preview_all
from railfab.endpoints import Endpoints
from railfab.fabric.design import Design, design
from railfab.intent import Job
from railfab.platforms import platform
from railfab.twin import Twin

INTENT = """\
version: 1
fabric: small
hosts: {gpus: 2, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: 7220-ixr-d5, platform: srlinux, cable_m: 5}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: 7220-ixr-d5, platform: srlinux, cable_m: 40}
"""
LEAF, FAR_LEAF, SPINE = "pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1"
HOST_PORTS = tuple(f"ethernet-1/{cage}/{lane}" for cage in (1, 2) for lane in (1, 2, 3, 4))
RECEIVER_PORT = HOST_PORTS[0]
"""On LEAF: where the senders of an incast meet."""
SENDER_PORT = HOST_PORTS[2]
"""On LEAF: of the second host."""
UPLINKS = ("ethernet-1/31", "ethernet-1/32")
PORT = "/qos/interfaces/interface[interface-id={}]"
PFC = f"{PORT}/pfc/statistics"
QUEUES = f"{PORT}/output/queues/queue[queue-name=*]/queue-statistics/aggregate-statistics"

Counts = Mapping[str, int]
"""Counters of a switch over all its ports: `roce dropped`, `p3 generated`, `discards`, `storms`, ..."""


def bursts(bytes_: str = "1.5MB", senders: int = 14, repeat: int = 5, **background: float) -> Job:
    """Incasts to RECEIVER_PORT."""
    traffic = {"pattern": "incast", "senders": senders, "receivers": 1, "bytes": bytes_}
    phases = [{"compute": {"ms": 1}}, {"traffic": traffic}]
    return made_job(phases=phases, repeat=repeat, **({"background": background} if background else {}))


@cache
def small(folder: Path) -> Design:
    intent = folder / "small.yml"
    intent.write_text(INTENT)
    return design(intent)


@dataclass(frozen=True, slots=True)
class Seen:
    """A job's end: the growth of the counters of each switch, and how long it communicated in its last step [s]."""

    growth: Mapping[str, Counts]
    step_s: float


@dataclass(slots=True)
class QosTwin:
    """A running twin with a client for each switch."""

    design: Design
    twin: Twin
    state: Path
    switches: dict[str, Switch] = field(default_factory=dict)

    def set(self, name: str, **edits: Any) -> None:
        self.switches[name].set(**edits)

    def run(self, job: Job) -> Seen:
        """Run a job to its end, and read what it has left in the counters."""
        before = self.counts()
        self.twin.switch_job(job)
        until(lambda: self.twin.status().steps >= (job.repeat or 1))
        pass_time(self.twin, 0.1)
        after = self.counts()
        assert self.twin.status().failure == ""
        growth = {name: {key: now - before[name][key] for key, now in found.items()} for name, found in after.items()}
        assert all(number >= 0 for found in growth.values() for number in found.values())
        return Seen(growth, self.twin.status().last_communication_s or 0.0)

    def counts(self) -> dict[str, Counter[str]]:
        """The counters of every switch, read after this call; a Get may be answered with what was read for another."""
        before = {name: found.read_at() for name, found in self.switches.items()}
        until(lambda: all(found.read_at() > before[name] for name, found in self.switches.items()))
        return {name: counts(found) for name, found in self.switches.items()}

    def heal(self, name: str) -> None:
        """Deploy the intent to a switch."""
        target = Endpoints(fabric="small", backend="twin", nodes=(self.twin.endpoints.by_name()[name],))
        srlinux = platform("srlinux")
        text = srlinux.text(srlinux.render(self.design.models[name]))
        (shown,) = preview_all(nornir_of(self.design, target), {name: text}, lambda _: None)
        approved = {name: shown.diff}
        (done,) = apply_all(
            nornir_of(self.design, target), {name: text}, new_change(), lambda _: None, approved=approved
        )
        assert done.error is None


def counts(found: Switch) -> Counter[str]:
    """The counters of a switch."""
    total: Counter[str] = Counter()
    for path, value in found.values(QUEUES.format("*")).items():
        queue = path.partition("queue[queue-name=")[2].partition("]")[0]
        for leaf, name in (("transmitted", "sent"), ("dropped", "dropped"), ("ecn-marked", "marked")):
            total[f"{queue} {name}"] += int(value[f"{leaf}-packets"])
    for statistics in found.values(PFC.format("*")).values():
        total["discards"] += int(statistics["total-packet-pfc-discards"])
        for entry in statistics["pfc-priority"]:
            total[f"p{entry['index']} generated"] += int(entry["pfc-pause-frames-generated"])
            total[f"p{entry['index']} received"] += int(entry["pfc-pause-frames-received"])
            total["storms"] += int(entry["deadlock-recovery-occurrences"])
    for statistics in found.values("/interface[name=*]/statistics").values():
        total["in discarded"] += int(statistics["in-discarded-packets"])
        total["out discarded"] += int(statistics["out-discarded-packets"])
    return total


@contextmanager
def running(folder: Path) -> Iterator[QosTwin]:
    with ExitStack() as stack:
        found = small(folder)
        twin = stack.enter_context(Twin(found, state=folder, base_port=0, configured=True))
        switches = {name: stack.enter_context(switch(twin, name)) for name in (LEAF, FAR_LEAF, SPINE)}
        yield QosTwin(found, twin, folder, switches)

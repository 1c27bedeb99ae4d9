"""The committed fabrics, and small changes to what their switches hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from railfab.device import BgpNeighbor, DeviceModel, Interface, PortProfile, PortQos, Qos, plan
from railfab.forwarding import BgpSession
from railfab.intent import Job, load_intent, load_job
from railfab.topology import Topology, wire
from railfab.twin.live import LiveFabric

REPOSITORY = Path(__file__).resolve().parents[2]
MS = 1_000_000
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@cache
def planned(intent: str = "inventory/fabrics/pod64.yml") -> tuple[Topology, dict[str, DeviceModel]]:
    found = load_intent(REPOSITORY / intent)
    topology = wire(found)
    return topology, plan(topology, found)


def deployed(intent: str = "inventory/fabrics/pod64.yml", **options: int) -> LiveFabric:
    """The fabric with every switch configured as planned."""
    topology, models = planned(intent)
    fabric = LiveFabric(topology, started_s=1_700_000_000.0, **options)  # type: ignore[arg-type]
    for name, model in models.items():
        fabric.configure(name, model)
    return fabric


def model(name: str) -> DeviceModel:
    return planned()[1][name]


def job(name: str) -> Job:
    return load_job(REPOSITORY / "inventory" / "jobs" / f"{name}.yml")


def made(**fields: object) -> Job:
    return Job.model_validate({"version": 1, "job": "made", **fields})


def with_interface(found: DeviceModel, name: str, change: Callable[[Interface], Interface]) -> DeviceModel:
    return replace(found, interfaces=tuple(change(port) if port.name == name else port for port in found.interfaces))


def with_neighbors(found: DeviceModel, change: Callable[[BgpNeighbor], BgpNeighbor | None]) -> DeviceModel:
    neighbors = tuple(kept for neighbor in found.bgp.neighbors if (kept := change(neighbor)) is not None)
    return replace(found, bgp=replace(found.bgp, neighbors=neighbors))


def with_qos(found: DeviceModel, change: Callable[[Qos], Qos]) -> DeviceModel:
    assert found.qos is not None
    return replace(found, qos=change(found.qos))


def with_ports(found: DeviceModel, change: Callable[[PortQos], PortQos]) -> DeviceModel:
    return with_qos(found, lambda qos: replace(qos, ports=tuple(change(port) for port in qos.ports)))


def with_profiles(found: DeviceModel, change: Callable[[PortProfile], PortProfile]) -> DeviceModel:
    return with_qos(found, lambda qos: replace(qos, profiles=tuple(change(profile) for profile in qos.profiles)))


def session(fabric: LiveFabric, device: str, interface: str) -> BgpSession:
    return next(found for found in fabric.sessions(device) if found.interface == interface)


def totals(fabric: LiveFabric, *devices: str, interface: str | None = None) -> Counter[str]:
    """Sums of the samples of some switches, or of all, by metric and queue."""
    sums: Counter[str] = Counter()
    for device in devices or planned()[1]:
        for sample in fabric.samples(device):
            if interface is None or sample.labels.get("interface") == interface:
                sums[sample.metric] += sample.value
                if "queue" in sample.labels:
                    sums[f"{sample.metric}:{sample.labels['queue']}"] += sample.value
    return sums

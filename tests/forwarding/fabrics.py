"""The committed fabrics, and small changes to what their switches hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from ipaddress import ip_network
from operator import add
from pathlib import Path

from railfab.device import (
    LOOPBACK,
    Action,
    BgpNeighbor,
    BgpSpeaker,
    ClassThresholds,
    DeviceModel,
    EcnRamp,
    Interface,
    IpInterface,
    Policy,
    PolicyRule,
    Port,
    PortQos,
    PrefixRange,
    Qos,
    plan,
)
from railfab.forwarding import BgpSession, Marking
from railfab.intent import Job, load_intent, load_job
from railfab.platforms import admit, platform
from railfab.topology import Topology, wire
from railfab.twin.live import LiveFabric

REPOSITORY = Path(__file__).resolve().parents[2]
MS = 1_000_000
STARTED_NS = 1_700_000_000_000_000_000
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@cache
def planned(intent: str = "inventory/fabrics/pod64.yml") -> tuple[Topology, dict[str, DeviceModel]]:
    found = load_intent(REPOSITORY / intent)
    topology = wire(found)
    return topology, {name: admit(made, platform(made.platform)) for name, made in plan(topology, found).items()}


def deployed(intent: str = "inventory/fabrics/pod64.yml", **options: Marking) -> LiveFabric:
    """The fabric with every switch configured as planned; it converges at once."""
    topology, models = planned(intent)
    fabric = LiveFabric(topology, stamp=partial(add, STARTED_NS), at_once=True, **options)  # type: ignore[arg-type]
    for name, model in models.items():
        fabric.configure(name, model)
    return fabric


def model(name: str) -> DeviceModel:
    return planned()[1][name]


def job(name: str) -> Job:
    return load_job(REPOSITORY / "inventory" / "jobs" / f"{name}.yml")


def made(**fields: object) -> Job:
    return Job.model_validate({"version": 1, "job": "made", **fields})


def small_ring(*, repeat: int | None = None) -> Job:
    """The job `ring` in small."""
    phases = [{"compute": {"ms": 1}}, {"collective": {"op": "allreduce", "bytes": "36MB"}}]
    return made(phases=phases, repeat=repeat)


def lasting_ring() -> Job:
    """A ring that is still at its first step after a second."""
    return made(phases=[{"collective": {"op": "allreduce", "bytes": "100GB"}}])


def with_interface(found: DeviceModel, name: str, change: Callable[[Interface], Interface]) -> DeviceModel:
    return replace(found, interfaces=tuple(change(port) if port.name == name else port for port in found.interfaces))


def with_port(found: DeviceModel, name: str, change: Callable[[Port], Port]) -> DeviceModel:
    return with_interface(found, name, lambda port: change(port) if isinstance(port, Port) else port)


def with_loopback(found: DeviceModel, *addresses: IpInterface) -> DeviceModel:
    return with_interface(found, LOOPBACK, lambda loopback: replace(loopback, addresses=addresses))


def with_bgp(found: DeviceModel, change: Callable[[BgpSpeaker], BgpSpeaker]) -> DeviceModel:
    assert found.bgp is not None
    return replace(found, bgp=change(found.bgp))


def with_neighbors(found: DeviceModel, change: Callable[[BgpNeighbor], BgpNeighbor | None]) -> DeviceModel:
    neighbors = tuple(kept for neighbor in found.neighbors if (kept := change(neighbor)) is not None)
    return with_bgp(found, lambda bgp: replace(bgp, neighbors=neighbors))


def with_policy(found: DeviceModel, direction: str, *policies: Policy, only: str | None = None) -> DeviceModel:
    """These policies in one direction of all sessions, or of the one with this key, beside those that there are."""
    names = tuple(policy.name for policy in policies)
    changed = with_neighbors(
        found,
        lambda held: replace(held, **{f"{direction}_policies": names}) if only in (None, held.key) else held,  # type: ignore[arg-type]
    )
    kept = tuple(policy for policy in changed.policies if policy.name not in names)
    return replace(changed, policies=(*kept, *policies))


def permitting(*prefixes: str, ge: int = 0, le: int | None = None, **settings: object) -> PolicyRule:
    """A rule that permits what is inside these prefixes, or everything."""
    return PolicyRule(action=Action.PERMIT, prefixes=inside(*prefixes, ge=ge, le=le), **settings)  # type: ignore[arg-type]


def denying(*prefixes: str, ge: int = 0, le: int | None = None, **conditions: object) -> PolicyRule:
    return PolicyRule(action=Action.DENY, prefixes=inside(*prefixes, ge=ge, le=le), **conditions)  # type: ignore[arg-type]


def inside(*prefixes: str, ge: int = 0, le: int | None = None) -> tuple[PrefixRange, ...]:
    networks = [ip_network(prefix) for prefix in prefixes]
    return tuple(
        PrefixRange(prefix=found, ge=max(ge, found.prefixlen), le=found.max_prefixlen if le is None else le)
        for found in networks
    )


def with_qos(found: DeviceModel, change: Callable[[Qos], Qos]) -> DeviceModel:
    assert found.qos is not None
    return replace(found, qos=change(found.qos))


def with_ports(found: DeviceModel, change: Callable[[PortQos], PortQos]) -> DeviceModel:
    return with_qos(found, lambda qos: replace(qos, ports=tuple(change(port) for port in qos.ports)))


def with_thresholds(found: DeviceModel, change: Callable[[ClassThresholds], ClassThresholds]) -> DeviceModel:
    """The thresholds of every class in every profile changed."""

    def changed(qos: Qos) -> Qos:
        profiles = tuple(
            replace(profile, thresholds=tuple(change(thresholds) for thresholds in profile.thresholds))
            for profile in qos.profiles
        )
        return replace(qos, profiles=profiles)

    return with_qos(found, changed)


def with_ramp(found: DeviceModel, **changes: int) -> DeviceModel:
    def changed(thresholds: ClassThresholds) -> ClassThresholds:
        ramp: EcnRamp | None = thresholds.ecn
        return thresholds if ramp is None else replace(thresholds, ecn=replace(ramp, **changes))

    return with_thresholds(found, changed)


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

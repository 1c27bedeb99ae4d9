"""Environment of NCCL and RCCL that fits a fabric: what is the same on all hosts. `nic.py --env` adds device names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from railfab.hosts.catalogue import nic_of
from railfab.hosts.ports import RocePort
from railfab.hosts.settings import tos
from railfab.intent import FabricIntent, Profile
from railfab.topology.model import Net, Topology

USER_GUIDE = "NCCL user guide, Environment Variables"
QUEUE_PAIRS = 4
"""Queue pairs of a connection where ECMP spreads flows: each has a UDP source port of its own, and is a flow."""
TRY_US, RETRIES = 4.096, 7
"""Unit of the timeout [us] and number of retries (NCCL user guide, NCCL_IB_TIMEOUT)."""
LEAST_TIMEOUT, LARGEST_TIMEOUT = 20, 23
"""Exponents: the default of NCCL since 2.23, and 4 minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable, why it has this value, and where that is documented."""

    name: str
    value: str
    reason: str
    source: str = USER_GUIDE


def environment(topology: Topology, intent: FabricIntent, ports: Sequence[RocePort]) -> Iterator[Variable]:
    """The variables that the fabric decides, without the devices of a host. Those of RoCE are not for Ultra Ethernet.

    RCCL reads the same names (RCCL documentation, environment variables).
    """
    if intent.profile.transport == "rocev2":
        yield from _roce(topology, intent)
        yield from _queue_pairs(intent, ports)
        yield _timeout(intent.profile)
        reason = "retries; 7 is the most"
        yield Variable(name="NCCL_IB_RETRY_CNT", value=str(RETRIES), reason=reason)
    yield from _rails(intent, ports)


def devices(intent: FabricIntent, ports: Sequence[RocePort]) -> Iterator[Variable]:
    """The RDMA devices that the intent names, with the rail and the plane of each port.

    NCCL before 2.30.7 and RCCL read the port and leave out what is behind it, so that one list is for all versions.
    """
    backend = [port for port in ports if port.net is Net.BACKEND]
    places = dict.fromkeys((port.rail, port.bond or port.name, port.plane) for port in backend)
    named = intent.hosts.rdma_devices
    if not named or intent.profile.transport != "rocev2":
        return
    entries = (f"{device}:1:{rail}:{plane}" for device, (rail, _, plane) in zip(named, places, strict=True))
    reason = "exact names: device, port, rail and plane"
    yield Variable(name="NCCL_IB_HCA", value="=" + ",".join(entries), reason=reason)
    if intent.hosts.devices_per_nic > 1:
        reason = "the ports of a NIC are one device for a GPU, and those of two rails are not"
        yield Variable(name="NCCL_NET_MERGE_POLICY", value="RAIL", reason=reason, source="NCCL 2.30.7, graph/topo.cc")


def _roce(topology: Topology, intent: FabricIntent) -> Iterator[Variable]:
    """Traffic classes and GIDs."""
    lossless, nic = intent.profile.lossless, nic_of(intent)
    if lossless is not None:
        reason = f"DSCP {lossless.dscp} in the upper six bits; without it, RoCE leaves in the lossy class"
        yield Variable(name="NCCL_IB_TC", value=str(tos(lossless)), reason=reason)
        if nic is not None and nic.family == "ionic":
            reason = f"clear-to-send messages in the class of CNPs, DSCP {lossless.cnp_dscp}, as AMD recommends"
            yield Variable(name="NCCL_IB_FIFO_TC", value=str(lossless.cnp_dscp << 2), reason=reason)
    family = {"ipv4": "AF_INET", "ipv6": "AF_INET6"}[intent.profile.family]
    reason = "address family of the GID that NCCL chooses while NCCL_IB_GID_INDEX is unset"
    yield Variable(name="NCCL_IB_ADDR_FAMILY", value=family, reason=reason)
    yield Variable(name="NCCL_IB_ROCE_VERSION_NUM", value="2", reason="the GID of RoCE v2, which is routed")
    if topology.pools is not None:
        reason = "the GIDs of the backend: the addresses of its hosts"
        yield Variable(name="NCCL_IB_ADDR_RANGE", value=str(topology.pools.hosts), reason=reason)


def _queue_pairs(intent: FabricIntent, ports: Sequence[RocePort]) -> Iterator[Variable]:
    """Queue pairs, and the order of packets."""
    several = intent.backend.spines is not None or any(port.bond for port in ports)
    spread = intent.profile.ecmp in ("flow", "collective") and several
    why = "each queue pair is a flow, which ECMP and LAGs place on one of several paths"
    reason = why if spread else "one: there are no equal paths, or the fabric spreads the packets of a flow itself"
    yield Variable(name="NCCL_IB_QPS_PER_CONNECTION", value=str(QUEUE_PAIRS if spread else 1), reason=reason)
    reason = "a message uses one queue pair, so that a slow path delays only its own messages"
    yield Variable(name="NCCL_IB_SPLIT_DATA_ON_QPS", value="0", reason=reason)
    if intent.profile.ecmp in ("packet", "adaptive"):
        reason = "the fabric sprays packets, and the NICs reorder them"
        yield Variable(name="NCCL_IB_ADAPTIVE_ROUTING", value="1", reason=reason)


def _rails(intent: FabricIntent, ports: Sequence[RocePort]) -> Iterator[Variable]:
    apart = len(_switches_of_rails(ports)) > 1
    reason = "rails are on different switches: rings and trees stay on theirs" if apart else "all rails share switches"
    yield Variable(name="NCCL_CROSS_NIC", value="0" if apart else "1", reason=reason)
    if intent.backend.spines is None and apart:
        reason = "no spine connects the rails: data changes rails over the scale-up network"
        yield Variable(name="NCCL_PXN_DISABLE", value="0", reason=reason)


def _switches_of_rails(ports: Sequence[RocePort]) -> set[frozenset[str]]:
    """The different sets of switches that rails connect to."""
    backend = [port for port in ports if port.net is Net.BACKEND]
    rails = {port.rail for port in backend}
    return {frozenset(port.switch for port in backend if port.rail == rail) for rail in rails}


def _timeout(profile: Profile) -> Variable:
    """The timeout of a try: all tries take at least twice the time until BGP has left a failed path."""
    detection_s = profile.detection_ms / 1000
    watchdog = profile.lossless.watchdog if profile.lossless is not None else None
    outage_s = detection_s + (watchdog.detect_ms + watchdog.recover_ms) / 1000 if watchdog else detection_s
    exponents = range(LEAST_TIMEOUT, LARGEST_TIMEOUT)
    exponent = next((one for one in exponents if _all_tries_s(one) >= 2 * outage_s), LARGEST_TIMEOUT)
    reason = (
        f"all tries take {_all_tries_s(exponent):.0f} s; a failed path is left after {outage_s:.1f} s "
        "(detection and PFC watchdog)"
    )
    return Variable(name="NCCL_IB_TIMEOUT", value=str(exponent), reason=reason)


def _all_tries_s(exponent: int) -> float:
    return RETRIES * TRY_US * (1 << exponent) / 1e6

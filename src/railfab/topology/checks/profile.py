"""Checks of the profile: BFD timers, MTU, transport, and the host model."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error, warning
from railfab.intent import Bfd, FabricIntent
from railfab.text.remedies import SET, Choice, Remedy, remedy, setting
from railfab.topology import equipment
from railfab.units import IP_BYTES, ROCE_BYTES, ROCE_PATH_MTU_BYTES, VXLAN_BYTES

SMALLEST_MTU_BYTES = 1500
"""The MTU that every host expects of an Ethernet."""

FASTEST_BFD_MS = 100
SHORTEST_DETECTION_MS = 300
"""Dell recommends more than 100 ms in OS10 (SmartFabric OS10 User Guide 10.5.0, `bfd all-neighbors`), Huawei more than
100 ms against flapping on occasional congestion (USG administrator guide, adjusting BFD parameters)."""


def host_model(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the host model has as many GPUs as the hosts: its memory and power are used in the plan.

    The default model is also used for smaller servers, whose power it overestimates; not for larger ones.
    """
    hosts, gpus = intent.hosts, equipment.host_model(intent.hosts.model).gpus
    named = "model" in hosts.model_fields_set
    if hosts.power_w is None and gpus != hosts.gpus and (named or gpus < hosts.gpus):
        yield warning(
            DesignCode.HOST_MODEL,
            "hosts.model",
            f"{hosts.model} has {gpus} GPUs, but hosts.gpus is {hosts.gpus}"
            + ("" if named else ", so the power is underestimated"),
            remedy(
                Choice(f"a model with {hosts.gpus} GPUs"),
                setting("hosts.gpus", gpus),
                Choice("power_w, units and gpu_memory_gb", verb=SET),
            ),
        )


def pcie(intent: FabricIntent) -> Iterator[Finding]:
    """Check that the PCIe of a NIC carries what its ports do."""
    hosts = intent.hosts
    ports_gbps = hosts.nic_ports * hosts.rate_gbps
    if hosts.pcie_gbps is not None and hosts.pcie_gbps < ports_gbps:
        yield warning(
            DesignCode.PCIE,
            "hosts.pcie_gbps",
            f"PCIe carries {hosts.pcie_gbps} of the {ports_gbps} Gb/s of a NIC, so that NICs pause the fabric",
            remedy(setting("hosts.pcie_gbps", ports_gbps, "with a wider PCIe"), Choice("slower ports, or fewer")),
        )


def bfd(intent: FabricIntent) -> Iterator[Finding]:
    """Check that BFD does not take sessions down when a switch is busy or a queue is full."""
    if (timers := intent.profile.bfd) is None:
        return
    if timers.interval_ms < FASTEST_BFD_MS or timers.detection_ms < SHORTEST_DETECTION_MS:
        yield warning(
            DesignCode.BFD_TIMERS,
            "profile.bfd",
            f"{timers.interval_ms} ms x {timers.multiplier} takes a session down after {timers.detection_ms} ms, "
            "which short congestion can exceed",
            remedy(_slower(timers)),
        )


def _slower(timers: Bfd) -> Choice:
    """The shortest interval that is long enough."""
    interval_ms = max(FASTEST_BFD_MS, timers.interval_ms, -(-SHORTEST_DETECTION_MS // timers.multiplier))
    return Choice(f"an interval of at least {interval_ms} ms", {"profile.bfd.interval_ms": interval_ms})


def mtu(intent: FabricIntent) -> Iterator[Finding]:
    """Check the MTU that VXLAN leaves: VTEPs must not fragment (RFC 7348 section 4.3), so larger packets are lost."""
    profile, left = intent.profile, host_mtu_bytes(intent)
    after = f"after {profile.mtu - left} bytes of VXLAN" if left < profile.mtu else "for an IP packet"
    if left < SMALLEST_MTU_BYTES:
        problem = f"{profile.mtu} leaves {left} {after}, less than the {SMALLEST_MTU_BYTES} that hosts expect"
        yield error(DesignCode.HOST_MTU, "profile.mtu", problem, _raise(SMALLEST_MTU_BYTES + profile.mtu - left))
    elif (needed := _roce_bytes(intent)) > left:
        yield warning(
            DesignCode.ROCE_MTU,
            "profile.mtu",
            f"{profile.mtu} leaves {left} {after}, too few for RoCE packets of {needed}: NICs send smaller ones",
            _raise(needed + profile.mtu - left),
        )


def _raise(mtu_bytes: int) -> Remedy:
    return remedy(Choice(f"mtu to {mtu_bytes} or more", {"profile.mtu": mtu_bytes}, "raise"))


def host_mtu_bytes(intent: FabricIntent) -> int:
    """The largest IP packet that hosts may send [bytes]."""
    profile = intent.profile
    return profile.mtu - (VXLAN_BYTES[profile.family] if profile.data_plane == "vxlan" else 0)


def _roce_bytes(intent: FabricIntent) -> int:
    """The size of an IP packet of RoCEv2 with the largest payload [bytes]; 0 without RoCE, or where the buffer checks
    compare the stated packets with the MTU.
    """
    profile = intent.profile
    if profile.lossless is None or not _uses_roce(intent):
        return 0
    traffic = profile.lossless.traffic
    if traffic and profile.data_plane == "ethernet":
        return 0
    return IP_BYTES[profile.family] + ROCE_BYTES + (traffic.packet_bytes if traffic else ROCE_PATH_MTU_BYTES)


def _uses_roce(intent: FabricIntent) -> bool:
    """Whether the GPUs, or the storage, use RoCE in the lossless class."""
    return intent.profile.transport == "rocev2" or (intent.storage is not None and intent.storage.protocol == "roce")


def uet_pauses(intent: FabricIntent) -> Iterator[Finding]:
    """Check that Ultra Ethernet is used without PFC.

    Its congestion control does not rely on a lossless network (J. Metz, chair of the consortium, quoted in "Ultra
    Ethernet Consortium publishes 1.0 specification, readies Ethernet for HPC, AI", onmine.io, 2025): PFC is optional,
    and costs headroom.
    """
    profile = intent.profile
    if profile.lossless is not None and profile.lossless.pfc and not _uses_roce(intent):
        yield warning(
            DesignCode.UET_PFC,
            "profile.lossless.pfc",
            "Ultra Ethernet does not need a lossless network, and PFC pauses interfere with its congestion control",
            remedy(setting("profile.lossless.pfc", False)),
        )

"""Short descriptions of a fabric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from railfab.device import SwitchBuffers
from railfab.documents.overview import ROLES, CableKind, SwitchPorts
from railfab.documents.plan import Plan
from railfab.intent import FabricIntent, Profile
from railfab.text.counted import counted
from railfab.topology import FailureDomain, FailureKind, Net, Role
from railfab.topology.spreading import Spread

ATTACHMENTS: Mapping[str, str] = {
    "routed": "every NIC port is routed, with a /{link}",
    "vlan": "the ports of a rail are in one VLAN, whose gateway is the switch",
    "mlag": "the ports of a NIC form one LAG to an MLAG pair",
    "esi": "the ports of a NIC form one LAG to two switches (EVPN ESI)",
}
HOST_ROUTES: Mapping[str, str] = {
    "routed": "addresses, routes and source rules of each host, for `ip -batch`",
    "vlan": "addresses, routes and source rules of each host, for `ip -batch`",
    "mlag": "bonds, addresses, routes and source rules of each host, for `ip -batch`",
    "esi": "bonds, addresses, routes and source rules of each host, for `ip -batch`",
}
CONTROL: Mapping[str, str] = {"ebgp": "eBGP", "ibgp": "iBGP with route reflectors", "evpn": "eBGP with BGP EVPN"}
TRANSPORT: Mapping[str, str] = {"rocev2": "RoCEv2", "uet": "Ultra Ethernet (UET)"}


def _attached(intent: FabricIntent) -> str:
    link = 127 if intent.profile.family == "ipv6" else 31
    return ATTACHMENTS[intent.hosts.attach].format(link=link)


def headline(plan: Plan) -> str:
    """Quantities, such as `64 GPUs on 8 hosts, 8 switches, 160 cables, 8 rails`."""
    topology = plan.topology
    parts = (
        (plan.gpus, "GPU"),
        (len(topology.hosts()), "host"),
        (len(topology.switches()), "switch"),
        (len(topology.links), "cable"),
        (plan.intent.hosts.nics, "rail"),
    )
    gpus, hosts, *others = (counted(count, what) for count, what in parts)
    return ", ".join((f"{gpus} on {hosts}", *others))


SPREAD = {"adaptive": "by packet and load", "collective": "by collective"}
"""How ECMP balances, where the word of the intent alone does not say it."""

STORAGE = {"roce": "RoCE, lossless", "nvme-tcp": "NVMe/TCP, lossy with ECN"}


def description(intent: FabricIntent) -> str:
    """Description of the backend, in two or three sentences."""
    profile = intent.profile
    spray = SPREAD.get(profile.ecmp, f"by {profile.ecmp}")
    family = {"ipv4": "IPv4", "ipv6": "IPv6"}[profile.family]
    return (
        f"{_shape(intent)}; {_attached(intent)}. "
        f"{CONTROL[profile.control_plane]} over {profile.underlay} {family} links, ECMP {spray}; {_transport(profile)}."
    )


def _transport(profile: Profile) -> str:
    name, lossless = TRANSPORT[profile.transport], profile.lossless
    if lossless is None:
        return f"{name} without a lossless class"
    mechanisms = " and ".join(name for name, on in (("PFC", lossless.pfc), ("ECN", lossless.ecn)) if on)
    found = f"{name} in queue {lossless.priority}, with {mechanisms or 'neither PFC nor ECN'}"
    storage = profile.storage_class
    return (
        found if storage is None else f"{found}, and storage ({STORAGE[storage.protocol]}) in queue {storage.priority}"
    )


def _shape(intent: FabricIntent) -> str:
    """Tiers, planes and other networks."""
    backend = intent.backend
    if backend.super_spines:
        shape = f"{counted(backend.pods, 'pod')} under {counted(backend.super_spines.count, 'super-spine')}: 3 tiers"
    elif backend.spines:
        shape = "A pod of 2 tiers" if backend.pods == 1 else f"{counted(backend.pods, 'pod')} of 2 tiers, not connected"
    else:
        shape = "Rail switches without spines"
    if backend.planes > 1:
        shape += f", in {backend.planes} separate planes"
    others = [name for name in ("frontend", "storage", "management") if getattr(intent, name) is not None]
    return shape + (f"; with separate {', '.join(others)} networks" if others else "")


def between(kind: CableKind) -> str:
    """Roles of both ends, such as `leaf to spine`; a managed switch is called switch."""
    managed = kind.net is Net.MANAGEMENT and kind.a not in (Role.HOST, Role.SERVER) and kind.a is kind.z
    return "switch to leaf" if managed else f"{ROLES[kind.a]} to {ROLES[kind.z]}"


def capacity_words(switch: SwitchPorts) -> str:
    """Downlinks, uplinks and ratio, such as `3.2 / 3.2 Tb/s, non-blocking`; only downlinks without uplinks."""
    if not switch.up_gbps:
        return f"{switch.down_gbps / 1000:g} Tb/s"
    ratio = switch.down_gbps / switch.up_gbps
    verdict = "non-blocking" if ratio <= 1 else f"{ratio:.2f}:1"
    return f"{switch.down_gbps / 1000:g} / {switch.up_gbps / 1000:g} Tb/s, {verdict}"


def uneven(domains: Iterable[FailureDomain]) -> Iterator[str]:
    """A sentence for each kind of link whose failure leaves flows at different rates, by the worst of its network."""
    worst: dict[tuple[Net, FailureKind], tuple[FailureDomain, Spread]] = {}
    for domain in domains:
        if (spread := domain.spread) is not None:
            place = domain.net, domain.kind
            known = worst.setdefault(place, (domain, spread))
            if spread.slowest < known[1].slowest:
                worst[place] = domain, spread
    for domain, spread in worst.values():
        yield _uneven(domain, spread)


def _uneven(domain: FailureDomain, spread: Spread) -> str:
    collective = ", and a collective runs at the rate of its slowest flow" if domain.net is Net.BACKEND else ""
    lead, carry = ("leads", "carries") if spread.slowed == 1 else ("lead", "carry")
    rate = "its" if spread.slowed == 1 else "their"
    return (
        f"After the failure of {domain.example}, ECMP without weights keeps {spread.next_hops} next hops: the "
        f"{spread.slowed} of {spread.next_hops} that {lead} over this pair of switches {carry} as many flows as "
        f"before, at {_share(spread.slowest)} of {rate} rate{collective}; with weights (`profile.bgp.weighted_ecmp`)"
        f"{' on single links in place of a port channel' if spread.channel else ''} all flows would run at "
        f"{_share(spread.weighted)}."
    )


def _share(share: float) -> str:
    return f"{100 * share:.4g} %"


def watts(power_w: float) -> str:
    """Power, such as `40.9 kW`; megawatts from 10 MW."""
    return f"{power_w / 1e6:,.1f} MW" if power_w >= 1e7 else f"{power_w / 1e3:,.1f} kW"


def heat(plan: Plan) -> tuple[int, int, str, int]:
    """Total power [W], number of racks, name of the first rack of the largest power, and that power [W]."""
    column = plan.power.columns.index("power_w")
    racks = [(int(row[column] or 0), str(row[0])) for row in plan.power.rows]
    hottest_w, hottest = max(racks, key=lambda rack: rack[0], default=(0, ""))
    return sum(watts for watts, _ in racks), len(racks), hottest, hottest_w


def division(kind: SwitchBuffers) -> str:
    """Division of the buffer, and the savings for the traffic stated in the intent."""
    whole, uncut, cut = kind.plan.buffer_bytes, kind.plan.uncut, kind.plan.cut
    parts = (
        f"{_mb(whole)} of {kind.model.silicon}: {_mb(uncut.headroom_bytes)} headroom, "
        f"{_mb(uncut.lossless_bytes)} lossless, {_mb(uncut.lossy_bytes)} other classes"
    )
    if cut is None:
        return parts
    return (
        f"{parts}; the stated traffic needs {_mb(cut.headroom_bytes)} headroom and "
        f"{_mb(cut.lossless_bytes)} lossless, which saves {_mb(kind.plan.saved_bytes)}"
    )


def _mb(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"

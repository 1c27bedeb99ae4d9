"""Largest number of NIC ports of a folded Clos with two and three tiers, by switch radix.

Source: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
section 3: k^3/4 hosts on three tiers of k-port switches; in the same way k^2/2 on two. Non-blocking, one plane.
"""

from __future__ import annotations

from dataclasses import dataclass

from railfab.topology.dimensions import Dimensions


def two_tiers(radix: int) -> int:
    """Largest number of NIC ports with leaves and spines of this radix."""
    return radix * radix // 2


def three_tiers(radix: int) -> int:
    """Largest number of NIC ports with leaves, spines and super-spines of this radix."""
    return radix**3 // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The size of one plane, and the radix that two tiers need for it.

    ports: NIC ports of a plane. radix: ports of a rail switch at the speed of a NIC port. two_tier_radix: the smallest
    power of two at which two tiers connect all of them.
    """

    ports: int
    rate_gbps: int
    radix: int
    two_tier_radix: int

    @property
    def fits_two_tiers(self) -> bool:
        return self.ports <= two_tiers(self.radix)


def scale(plan: Dimensions) -> Scale:
    """The scale of the backend of a fabric."""
    hosts, backend = plan.intent.hosts, plan.intent.backend
    count = backend.pods * backend.segments.count * backend.segments.hosts
    ports = count * hosts.nics * hosts.nic_ports // backend.planes
    return Scale(
        ports=ports,
        rate_gbps=hosts.rate_gbps,
        radix=plan.leaf_model.cages * plan.host_lanes,
        two_tier_radix=_power_for(ports),
    )


def _power_for(ports: int) -> int:
    radix = 2
    while two_tiers(radix) < ports:
        radix *= 2
    return radix

"""Load balancing of a switch, from the intent."""

from __future__ import annotations

from railfab.device.plan_switch import PlannedSwitch
from railfab.device.system import BalancingMode, HashField, LoadBalancing
from railfab.topology import TIERS, Role


def planned_balancing(switch: PlannedSwitch) -> LoadBalancing | None:
    """Compute how a switch chooses among equal paths; None where everything is the platform's default.

    Each tier has another seed: with equal hashes, a tier uses only some of its links (polarisation).
    """
    profile, chosen = switch.profile, switch.profile.hash
    tier = TIERS[switch.node.role] - TIERS[Role.LEAF]
    balancing = LoadBalancing(
        mode=BalancingMode(profile.ecmp),
        fields=tuple(sorted(map(HashField, chosen.fields), key=list(HashField).index)),
        seed=None if chosen.seed is None else chosen.seed + tier,
        flowlet_gap_us=chosen.flowlet_gap_us,
    )
    return None if balancing == LoadBalancing() else balancing

"""Alerts on congestion and on load that is spread unevenly."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import DEVICE, LIMITS, PERCENT, PORT
from railfab.dashboards.promql import simulated_rate
from railfab.dashboards.recording import ECMP_BYTES, GROUP, HOST_PORTS, RAIL_BYTES
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

LEAST_USED = f"min by (fabric, rail) (device_interface:fabric_transmit_utilization:ratio_rate1m * {HOST_PORTS})"
WHOLE_RAIL = f"max by (fabric) ({LEAST_USED}) > 0.01"
"""A rail of which every host port carries traffic: a collective runs, and not an exchange between a few hosts."""

MOST, LEAST = (f"{function} by (fabric) ({RAIL_BYTES})" for function in ("max", "min"))

ECMP_SHARE = f"{ECMP_BYTES} / on (fabric, device, interface) group_left () fabric_interface_speed_bytes_per_second"
USED, LINKS, FLOWS = (
    f"device_peer_device:fabric_ecmp_{name}" for name in ("links_used:count", "links:count", "flows:min")
)
CHANCE = f"{USED} * ln({LINKS}) + {FLOWS} * ln({USED} / {LINKS})"
"""Logarithm of an upper bound of the chance that n flows take u of k links: k^u (u/k)^n."""
RARE = -7
"""One in a thousand."""

LOAD = (
    Alert(
        alert="FabricEcnMarkRatioHigh",
        condition=(
            f"device_interface_queue:fabric_ecn_marked:ratio_rate1m > {LIMITS.ecn_marked:g}"
            f" and {simulated_rate('fabric_queue_transmit_packets_total', '1m')} > 1000\n"
            "and on (fabric, device, interface) device_interface:fabric_transmit_utilization:ratio_rate1m > 0.1"
        ),
        silence=Silence.PORT,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} queue {{{{ $labels.queue }}}} marks {PERCENT} of its packets",
        description=(
            f"Sustained congestion of a queue, which marks {PERCENT} of its packets. First check whether the uplinks of"
            " the device share the load evenly, then whether many senders send to one receiver."
        ),
    ),
    Alert(
        alert="FabricRailAsymmetry",
        condition=(f"({MOST} - {LEAST}) / ({MOST} > 1e8) > {LIMITS.rail_asymmetry:g}\nand on (fabric) {WHOLE_RAIL}"),
        silence=Silence.FABRIC,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=f"The least loaded rail carries {PERCENT} less traffic than the most loaded rail",
        description=(
            f"A job loads all rails equally, so a rail with {PERCENT} less traffic has a broken or miscabled NIC, or"
            " the rings of the job do not span all rails. Compare the rails by host in the logs of the job and check"
            " the cabling."
        ),
    ),
    Alert(
        alert="FabricEcmpImbalance",
        condition=(
            "device_peer_device:fabric_ecmp_transmit:cov_rate1m > 0.3\n"
            f"and on ({GROUP}) max by ({GROUP}) ({ECMP_SHARE}) > 0.8"
        ),
        silence=Silence.NEIGHBOR,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=(
            f"{DEVICE}: {{{{ $labels.link }}}} load{{{{ with $labels.peer_device }}}} to {{{{ . }}}}{{{{ end }}}}"
            ' has a coefficient of variation of {{ printf "%.2f" $value }}'
        ),
        description=(
            "One of several links is more than four fifths full while others have capacity (coefficient of variation"
            ' {{ printf "%.2f" $value }}): few large flows, or a hash over too few header fields. Check the number of'
            " queue pairs per connection, the hash fields, the maximum number of paths, and whether a link is drained."
        ),
    ),
    Alert(
        alert="FabricEcmpPolarisation",
        condition=(
            f"1 - sum by (fabric, device, link) ({USED})\n"
            f"  / sum by (fabric, device, link) ({LINKS} and {USED})\n"
            f"and sum by (fabric, device, link) ({CHANCE}) < {RARE}\n"
            f"and on (fabric, device, link) max by (fabric, device, link) ({ECMP_SHARE}) > 0.05"
        ),
        silence=Silence.NEIGHBOR,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: {PERCENT} of its {{{{ $labels.link }}}}s are nearly idle while others are loaded",
        description=(
            f"{PERCENT} of the links carry next to nothing, and the flows are so many that this is no chance: two tiers"
            " hash flows in the same way, or multipath is off or limited. Check the maximum number of paths, then"
            " configure different hash seeds on neighbouring tiers."
        ),
    ),
    Alert(
        alert="FabricUplinkOversubscribed",
        condition=(
            f"sum by (fabric, device) ({simulated_rate('fabric_interface_receive_bytes_total', '1m')}\n"
            '  * on (fabric, device, interface) group_left () fabric_interface_info{link="host"})\n'
            "/ on (fabric, device) sum by (fabric, device) (\n"
            "  (fabric_interface_speed_bytes_per_second and fabric_interface_oper_up == 1)\n"
            '  * on (fabric, device, interface) group_left () fabric_interface_info{link="uplink"}) > 0.9'
        ),
        silence=Silence.NEIGHBOR,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: its hosts send {PERCENT} of the capacity of its working uplinks",
        description=(
            f"The hosts send {PERCENT} of what the working uplinks can carry. Usually uplinks are down, and the others"
            " are too few for the hosts. Check the links of this device before the job."
        ),
    ),
)

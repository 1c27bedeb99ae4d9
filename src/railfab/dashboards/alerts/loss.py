"""Alerts on lost packets, and on packets in a class in which they may be lost."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS, NUMBER, PERCENT, PORT
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

LOST_SHARE = 0.001
"""Share of the packets of a queue above which its drops are not those of a short burst."""

LOSSLESS, LOSSY = (
    "sum by (fabric, device, interface) (rate(fabric_queue_transmit_bytes_total[1m])\n"
    f"  {choice} on (fabric, device, queue) fabric_roce_queue_info)"
    for choice in ("and", "unless")
)

GROWTH = "last_over_time({0}[1m]) - last_over_time({0}[1m] offset 1m)"
"""Growth of a counter that began at zero too: `increase` extrapolates such a one less than any other."""


def _uncounted(discards: str, counted: str) -> str:
    """Discards of a port that another counter does not explain.

    A switch may sample the two some seconds apart, so that a burst shows in one of them first: hence the quarter.
    """
    return (
        f"(increase({discards}[1m]) > 10 and last_over_time({discards}[1m] offset 1m)\n"
        "unless on (fabric, device, interface) (\n"
        f"  10 + 1.25 * sum by (fabric, device, interface) ({GROWTH.format(counted)})\n"
        f"  > on (fabric, device, interface) {GROWTH.format(discards)}))"
    )


DISCARDED = (
    _uncounted("fabric_interface_receive_discards_total", "fabric_pfc_dropped_packets_total"),
    _uncounted("fabric_interface_transmit_discards_total", "fabric_queue_dropped_packets_total"),
    "increase(fabric_interface_transmit_errors_total[1m]) > 10",
)
"""Packets that a port drops for other reasons than load. Some chips count those beyond an MTU as transmit errors."""

DROP_REASONS = (
    '{{ with printf `increase(fabric_device_dropped_packets_total{fabric="%s", device="%s"}[1m]) > 0`'
    " $labels.fabric $labels.device | query }}"
    "; reasons on {{ $labels.device }}:"
    '{{ range . | sortByLabel "reason" }} {{ .Labels.reason }} {{ .Value | humanize }}{{ end }}'
    "{{ end }}"
)
"""The reasons that a switch counts, in the text of an alert on one of its ports."""

LOSS = (
    Alert(
        alert="FabricLosslessDrops",
        condition="increase(fabric_pfc_dropped_packets_total[1m]) > 0",
        silence=Silence.PORT,
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT} dropped {NUMBER} packets of a lossless class",
        description=(
            f"A lossless class dropped {NUMBER} packets within a minute: the headroom is too small for speed, cable"
            " length or MTU, PFC is off at one end, or a watchdog acted. Compare the settings of both ends with"
            " `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricQueueDrops",
        condition=(
            f"device_interface_queue:fabric_queue_dropped:ratio_rate1m > {LOST_SHARE}"
            " and increase(fabric_queue_dropped_packets_total[1m]) > 10"
        ),
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} queue {{{{ $labels.queue }}}} drops {PERCENT} of its packets",
        description=(
            f"An egress queue drops {PERCENT} of its packets; RoCE senders send all packets after a lost one again. In"
            " the lossless class its limit is too small; in another class RoCE may be in it by mistake: compare the"
            " DSCP map and the queues with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricRoceOutsideItsClass",
        condition=(
            f"({LOSSY}\n  > on (fabric, device, interface) 0.01 * fabric_interface_speed_bytes_per_second)\n"
            f"unless on (fabric, device, interface) (10 * {LOSSLESS}\n  > on (fabric, device, interface) {LOSSY})\n"
            "and on (fabric, device) fabric_roce_queue_info"
        ),
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=(
            f"{PORT} sends {{{{ $value | humanize1024 }}}}B/s in lossy classes and next to nothing in the lossless one"
        ),
        description=(
            "A network of RoCE carries {{ $value | humanize1024 }}B/s outside its lossless class, where packets are"
            " dropped instead of paused. Compare the DSCP map and the classifiers of this switch with `railfab verify`,"
            " then the DSCP that the hosts send."
        ),
    ),
    Alert(
        alert="FabricInterfaceDiscards",
        condition="\nor\n".join(DISCARDED),
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} discarded {NUMBER} packets within a minute{DROP_REASONS}",
        description=(
            f"The port discards packets that are not damaged ({NUMBER} a minute) and that no queue counts. Reason"
            " `no_route`: look for missing prefixes. `packet_processing` without it: they exceed the MTU of the"
            " egress port, or a filter drops them; compare MTUs with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricReceiveErrors",
        condition=f"increase(fabric_interface_receive_errors_total[1m]) > {LIMITS.errors:g}",
        silence=Silence.PORT,
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} received {NUMBER} packets with errors within a minute",
        description=(
            f"Packets arrive damaged ({NUMBER} a minute) and are discarded. The cable, the optics of either end or a"
            " dirty connector damage them; a switch that forwards before it has read the whole packet passes damage on,"
            " so begin at the port whose peer receives no errors. Frames above the port's MTU count as well: compare"
            " MTUs with `railfab verify`."
        ),
    ),
)

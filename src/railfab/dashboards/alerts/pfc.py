"""Alerts on priority flow control."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import DEVICE, LIMITS, NUMBER, PERCENT, PORT
from railfab.dashboards.promql import simulated_rate
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

PFC = (
    Alert(
        alert="FabricPfcStormEstimated",
        condition=f"device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m > {LIMITS.paused:g}",
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} priority {{{{ $labels.priority }}}} was paused for up to {PERCENT} of the time",
        description=(
            f"The peer may pause this port more than half of the time ({PERCENT}, an upper bound: this platform counts"
            " pause frames, not time), and pauses spread upstream. Find the peer that sends them and follow the paused"
            " ports downstream; the cause is usually one NIC."
        ),
    ),
    Alert(
        alert="FabricPfcWatchdogTriggered",
        condition="increase(fabric_pfc_watchdog_storms_detected_total[5m]) > 0",
        silence=Silence.PORT,
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT}: the PFC watchdog detected a stuck lossless queue",
        description=(
            "The switch stopped honouring pause frames of a lossless queue because the pause did not end"
            f" ({NUMBER} storms in 5 minutes): depending on its platform it transmits in spite of them, or drops the"
            " queue's packets. Check the peer of this port: a hung NIC or host is the usual cause."
        ),
    ),
    Alert(
        alert="FabricPfcPauseImbalance",
        condition=(
            "(device:fabric_pfc_transmit_frames:rate1m > 200)"
            " and (device:fabric_pfc_transmit_frames:rate1m > 10 * (device:fabric_pfc_receive_frames:rate1m + 1))"
        ),
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE} sends {NUMBER} pause frames/s and receives few",
        description=(
            f"The congestion starts at this device, which sends {NUMBER} pause frames/s: many senders share one of its"
            " ports, or one of its peers is slow. Look for its deepest egress queue."
        ),
    ),
    Alert(
        alert="FabricPfcWithoutEcn",
        condition=(
            f"(device:fabric_pfc_transmit_frames:rate1m > {LIMITS.unmarked_pauses:g})"
            " and on (fabric, device) sum by (fabric, device) (rate(fabric_queue_ecn_marked_packets_total[1m])) == 0"
        ),
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE} sends pause frames but marks no packets",
        description=(
            f"PFC acts before ECN or without it ({NUMBER} pause frames/s, no marks), so senders do not slow down."
            " Compare kmin and kmax with xoff, and the DSCP map with the class of RoCE; `railfab verify` checks both."
        ),
    ),
    Alert(  # a NIC that receives what it is sent asks for no pause
        alert="FabricHostPauses",
        condition=(
            f"sum by (fabric, device, interface) ({simulated_rate('fabric_pfc_receive_frames_total', '1m')})\n"
            '* on (fabric, device, interface) group_left (peer_device) fabric_interface_info{link="host"} > 10'
        ),
        silence=Silence.PORT,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT}: {{{{ $labels.peer_device }}}} sends {NUMBER} pause frames/s",
        description=(
            f"The NIC of a host pauses its switch {NUMBER} times/s: it receives more slowly than the network sends, and"
            " the pauses spread to the senders. Check the host: PCIe width, memory, NUMA, NIC firmware."
        ),
    ),
    Alert(
        alert="FabricHeadroomNearlyExhausted",
        condition=(
            "max_over_time(fabric_buffer_headroom_peak_bytes[5m]) / (fabric_buffer_headroom_size_bytes > 0) > 0.8"
        ),
        silence=Silence.PORT,
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} used {PERCENT} of its PFC headroom",
        description=(
            f"Without headroom, packets of the lossless class are dropped; {PERCENT} of it was in use. Compare cable"
            " length, MTU and response time of the peer with the headroom in `railfab plan`."
        ),
    ),
)

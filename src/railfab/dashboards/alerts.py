"""Alerts, with meaning and first step. Thresholds are starting points.

Every alert uses metrics that a platform, the collector or a job provides; others could never fire.
"""

from __future__ import annotations

from railfab.dashboards.promql import pace, simulated_rate
from railfab.dashboards.rules import Alert, AlertSeverity

UPLINK_BYTES = "device_interface:fabric_uplink_transmit_bytes:rate5m"
RAIL_BYTES = "rail:fabric_transmit_bytes:rate1m"
PORT = "{{ $labels.device }} {{ $labels.interface }}"
SLOW_PACE = 0.25
"""A twin that simulates less than this share of real time takes minutes for what takes seconds."""
PERCENT = "{{ $value | humanizePercentage }}"

PFC = (
    Alert(
        alert="FabricPfcStormEstimated",
        expr="device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m > 0.5",
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} priority {{{{ $labels.priority }}}} was paused for up to {PERCENT} of the time",
        description=(
            "The peer may pause this port more than half of the time (an upper bound: this platform counts pause"
            " frames, not time), and pauses spread upstream. Find the peer that sends them and follow the paused ports"
            " downstream; the cause is usually one NIC."
        ),
    ),
    Alert(
        alert="FabricPfcWatchdogTriggered",
        expr="increase(fabric_pfc_watchdog_storms_detected_total[5m]) > 0",
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT}: the PFC watchdog detected a stuck lossless queue",
        description=(
            "The switch stopped honouring pause frames of a lossless queue because the pause did not end; packets were"
            " dropped. Check the peer of this port: a hung NIC or host is the usual cause."
        ),
    ),
    Alert(
        alert="FabricPfcPauseImbalance",
        expr=(
            "(device:fabric_pfc_transmit_frames:rate1m > 100)"
            " and (device:fabric_pfc_transmit_frames:rate1m > 10 * (device:fabric_pfc_receive_frames:rate1m + 1))"
        ),
        lasting="2m",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }} sends {{ $value | humanize }} pause frames/s and receives few",
        description=(
            "The congestion starts at this device: many senders share one of its ports, or one of its peers is slow."
            " Look for its deepest egress queue."
        ),
    ),
    Alert(
        alert="FabricPfcWithoutEcn",
        expr=(
            "(device:fabric_pfc_transmit_frames:rate1m > 10)"
            " unless on (device) (sum by (device) (rate(fabric_queue_ecn_marked_packets_total[5m])) > 0)"
        ),
        lasting="5m",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }} sends pause frames but marks no packets",
        description=(
            "PFC acts before ECN or without it, so senders do not slow down. Compare kmin and kmax with xoff, and the"
            " DSCP map with the class of RoCE; `railfab verify` checks both."
        ),
    ),
    Alert(
        alert="FabricLosslessDrops",
        expr="increase(fabric_pfc_dropped_packets_total[1m]) > 0",
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT} dropped {{{{ $value | humanize }}}} packets of a lossless class",
        description=(
            "A lossless class dropped packets: the headroom is too small for speed, cable length or MTU, PFC is off at"
            " one end, or the watchdog acted. Compare the settings of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricHeadroomNearlyExhausted",
        expr="max_over_time(fabric_buffer_headroom_peak_bytes[5m]) / (fabric_buffer_headroom_size_bytes > 0) > 0.8",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} used {PERCENT} of its PFC headroom",
        description=(
            "Without headroom, packets of the lossless class are dropped. Compare cable length, MTU and response time"
            " of the peer with the headroom in `railfab plan`."
        ),
    ),
)

LOAD = (
    Alert(
        alert="FabricEcnMarkRatioHigh",
        expr=(
            "device_interface_queue:fabric_ecn_marked:ratio_rate1m > 0.05"
            " and rate(fabric_queue_transmit_packets_total[1m]) > 1000"
        ),
        lasting="2m",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} queue {{{{ $labels.queue }}}} marks {PERCENT} of its packets",
        description=(
            "Sustained congestion of a queue. First check whether the uplinks of the device share the load evenly, then"
            " whether many senders send to one receiver."
        ),
    ),
    Alert(
        alert="FabricRailAsymmetry",
        expr=f"(max({RAIL_BYTES}) - min({RAIL_BYTES})) / (max({RAIL_BYTES}) > 1e8) > 0.25",
        lasting="2m",
        severity=AlertSeverity.WARNING,
        summary=f"The least loaded rail carries {PERCENT} less traffic than the most loaded rail",
        description=(
            "A job loads all rails equally, so a rail with less traffic has a broken or miscabled NIC, or the rings of"
            " the job do not span all rails. Compare the rails by host in the logs of the job and check the cabling."
        ),
    ),
    Alert(
        alert="FabricEcmpImbalance",
        expr=(
            "device:fabric_uplink_transmit:cov_rate5m > 0.3\n"
            "and on (device) max by (device)"
            f" ({UPLINK_BYTES} / on (device, interface) fabric_interface_speed_bytes_per_second) > 0.5"
        ),
        lasting="5m",
        severity=AlertSeverity.WARNING,
        summary='{{ $labels.device }}: uplink load has a coefficient of variation of {{ printf "%.2f" $value }}',
        description=(
            "One uplink is more than half full while others have capacity: few large flows, or a hash over too few"
            " header fields. Check the number of queue pairs per connection, the hash fields, and whether an uplink is"
            " down or drained."
        ),
    ),
    Alert(
        alert="FabricEcmpPolarisation",
        expr=(
            f"count by (device) ({UPLINK_BYTES}\n"
            f"  < on (device) group_left () (0.05 * avg by (device) ({UPLINK_BYTES}) > 5e4))\n"
            f"/ on (device) count by (device) ({UPLINK_BYTES}) >= 0.25"
        ),
        lasting="5m",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }}: " + f"{PERCENT} of its uplinks are nearly idle while others are loaded",
        description=(
            "Two tiers hash flows in the same way, so some links are never used. Configure different hash seeds on"
            " neighbouring tiers."
        ),
    ),
    Alert(
        alert="FabricUplinkOversubscribed",
        expr=(
            f"sum by (device) ({simulated_rate('fabric_interface_receive_bytes_total', '5m')}\n"
            '  * on (device, interface) group_left () fabric_interface_info{link="host"})\n'
            "/ on (device) sum by (device) (\n"
            "  (fabric_interface_speed_bytes_per_second and fabric_interface_oper_up == 1)\n"
            '  * on (device, interface) group_left () fabric_interface_info{link="uplink"}) > 0.9'
        ),
        lasting="5m",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }}: its hosts send " + f"{PERCENT} of the capacity of its working uplinks",
        description=(
            "Usually uplinks are down, and the others are too few for the hosts. Check the links of this device before"
            " the job."
        ),
    ),
)

LINKS = (
    Alert(
        alert="FabricLinkDown",
        expr=(
            "fabric_interface_oper_up == 0 and fabric_interface_admin_up == 1\n"
            "and on (device, interface) fabric_interface_info"
        ),
        lasting="1m",
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT} is enabled but down",
        description=(
            "The port has no link. Check the other end, then optics and cable; the cabling plan of `railfab plan` names"
            " the peer."
        ),
    ),
    Alert(
        alert="FabricLinkFlap",
        expr="increase(fabric_interface_carrier_transitions_total[10m]) >= 4",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} changed state {{{{ $value | humanize }}}} times in 10 minutes",
        description=(
            "The link went down and up at least twice; sessions and flows move every time. Drain the link, then check"
            " optics, cable and the log of the peer."
        ),
    ),
    Alert(  # ports that are down, without LLDP neighbour or towards a host are not compared
        alert="FabricCablingMismatch",
        expr=(
            'fabric_link_intended_info{link!="host"}\n'
            "unless on (device, interface, peer_device, peer_interface) fabric_lldp_neighbor_info\n"
            "and on (device) fabric_lldp_neighbor_info\n"
            "and on (device, interface) fabric_interface_oper_up == 1"
        ),
        lasting="5m",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} is not cabled to {{{{ $labels.peer_device }}}} {{{{ $labels.peer_interface }}}}",
        description=(
            "LLDP reports another neighbour than the design, or none on this port. Compare the cabling plan of"
            " `railfab plan` with the LLDP neighbours of the switch, and correct the cable, not the configuration."
        ),
    ),
    Alert(
        alert="FabricDaemonDown",
        expr="fabric_daemon_up == 0",
        lasting="30s",
        severity=AlertSeverity.CRITICAL,
        summary="{{ $labels.device }}: {{ $labels.daemon }} does not run or does not answer",
        description=(
            "A routing daemon of this switch has ended or is stuck, and its sessions have no series any more. Read its"
            " log, then restart it; in a lab with `railfab lab restart`."
        ),
    ),
    Alert(
        alert="FabricBgpSessionDown",
        expr="fabric_bgp_session_up == 0",
        lasting="30s",
        severity=AlertSeverity.CRITICAL,
        summary="{{ $labels.device }}: the BGP session with {{ $labels.peer }} is down",
        description=(
            "Paths over this neighbour are lost, and others carry its traffic. If the link is up, compare AS number,"
            " address family and BFD of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricBgpFlapping",
        expr="increase(fabric_bgp_established_transitions_total[15m]) > 3",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }}: the BGP session with {{ $labels.peer }} came up {{ $value | humanize }} times"
        " in 15 minutes",
        description=(
            "The session is unstable. First check for link flaps and BFD failures on the same port, then for a busy"
            " control plane or a policy that resets the session."
        ),
    ),
)

OBSERVATION = (
    Alert(
        alert="FabricTelemetryStale",
        expr="time() - (fabric_collector_last_update_timestamp_seconds > 0) > 60",
        severity=AlertSeverity.WARNING,
        summary="{{ $labels.device }}: no update of {{ $labels.subscription }} for {{ $value | humanizeDuration }}",
        description=(
            "The telemetry of this device is stale. Check fabric_collector_errors_total for the reason, then whether"
            " the gNMI server of the device answers."
        ),
    ),
    Alert(
        alert="FabricCollectorSessionDown",
        expr="fabric_collector_session_up == 0",
        lasting="1m",
        severity=AlertSeverity.CRITICAL,
        summary="{{ $labels.device }} has no telemetry session",
        description=(
            "The collector receives no data from this device, so its other alerts cannot fire. The reason is in"
            " fabric_collector_errors_total: unreachable, login refused, TLS, and so on."
        ),
    ),
)

TWIN = (
    Alert(
        alert="FabricTwinSlow",
        expr=f"avg({pace('1m')}) < {SLOW_PACE}",
        lasting="2m",
        severity=AlertSeverity.WARNING,
        summary=f"the twin simulates {PERCENT} of real time",
        description=(
            "Rates are those of a simulated second and remain right, but what happens in the twin takes longer, and"
            " alerts that wait count real time. Use a smaller fabric or job, raise --cpu of `railfab twin` or"
            " `railfab up`, or end other programs on this machine."
        ),
    ),
)

ALERTS: tuple[Alert, ...] = (*PFC, *LOAD, *LINKS, *OBSERVATION, *TWIN)
"""Every alert."""

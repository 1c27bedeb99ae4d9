"""Alerts: what is wrong, what it means, where to look first. Thresholds are starting points.

Only what some platform's map, the collector or a job feeds is here: an alert that cannot fire is a false comfort.
"""

from __future__ import annotations

from railfab.dashboards.rules import Alert, Severity

UPLINK_BYTES = "device_interface:fabric_uplink_transmit_bytes:rate5m"
RAIL_BYTES = "rail:fabric_transmit_bytes:rate1m"
PORT = "{{ $labels.device }} {{ $labels.interface }}"
PERCENT = "{{ $value | humanizePercentage }}"

PFC = (
    Alert(
        alert="FabricPfcStormEstimated",
        expr="device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m > 0.5",
        lasting="30s",
        severity=Severity.WARNING,
        summary=f"{PORT} priority {{{{ $labels.priority }}}} was paused for up to {PERCENT} of the time",
        description=(
            "The peer may be stopping this port more than half of the time (an upper bound: this platform counts pause"
            " frames, not time), and pauses spread backwards. Find the peer that sends them and walk on downstream from"
            " paused port to paused port; the root is usually one NIC."
        ),
    ),
    Alert(
        alert="FabricPfcWatchdogTriggered",
        expr="increase(fabric_pfc_watchdog_storms_detected_total[5m]) > 0",
        severity=Severity.CRITICAL,
        summary=f"{PORT}: the PFC watchdog found a stuck lossless queue",
        description=(
            "The switch itself took a lossless queue out of service because its pause never ended; packets were lost."
            " Look at the peer of this port: a hung NIC or host is the usual cause."
        ),
    ),
    Alert(
        alert="FabricPfcPauseImbalance",
        expr=(
            "(device:fabric_pfc_transmit_frames:rate1m > 100)"
            " and (device:fabric_pfc_transmit_frames:rate1m > 10 * (device:fabric_pfc_receive_frames:rate1m + 1))"
        ),
        lasting="2m",
        severity=Severity.WARNING,
        summary="{{ $labels.device }} sends {{ $value | humanize }} pause frames a second and is hardly paused itself",
        description=(
            "The device is where a pause begins, not where it passes: many senders meet at one of its ports, or a port"
            " below it drains slowly. Look for the deepest egress queue on it."
        ),
    ),
    Alert(
        alert="FabricPfcWithoutEcn",
        expr=(
            "(device:fabric_pfc_transmit_frames:rate1m > 10)"
            " unless on (device) (sum by (device) (rate(fabric_queue_ecn_marked_packets_total[5m])) > 0)"
        ),
        lasting="5m",
        severity=Severity.WARNING,
        summary="{{ $labels.device }} pauses its peers but marks no packet",
        description=(
            "PFC acts before ECN, or without it, so senders never slow down. Compare kmin and kmax with xoff, and the"
            " DSCP-to-queue map with the class that carries RoCE; `railfab verify` checks both."
        ),
    ),
    Alert(
        alert="FabricLosslessDrops",
        expr="increase(fabric_pfc_dropped_packets_total[1m]) > 0",
        severity=Severity.CRITICAL,
        summary=f"{PORT} dropped {{{{ $value | humanize }}}} packets of a lossless class",
        description=(
            "A class that must not drop dropped: the headroom is too small for speed, cable length or MTU, PFC is off"
            " at one end, or the watchdog acted. Compare the settings of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricHeadroomNearlyExhausted",
        expr="max_over_time(fabric_buffer_headroom_peak_bytes[5m]) / (fabric_buffer_headroom_size_bytes > 0) > 0.8",
        severity=Severity.WARNING,
        summary=f"{PORT} used {PERCENT} of its PFC headroom",
        description=(
            "A little more and packets of the lossless class are dropped. Check cable length, MTU and the peer's"
            " response time against the headroom that the intent computes."
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
        severity=Severity.WARNING,
        summary=f"{PORT} queue {{{{ $labels.queue }}}} marks {PERCENT} of its packets",
        description=(
            "Sustained congestion on a busy queue. Look first whether the uplinks of the device share the load evenly,"
            " then whether one receiver is the target of many senders."
        ),
    ),
    Alert(
        alert="FabricRailAsymmetry",
        expr=f"(max({RAIL_BYTES}) - min({RAIL_BYTES})) / (max({RAIL_BYTES}) > 1e8) > 0.25",
        lasting="2m",
        severity=Severity.WARNING,
        summary=f"The least loaded rail carries {PERCENT} less than the most loaded one",
        description=(
            "A job loads all rails alike, so a rail that lags has a broken or wrongly cabled NIC, or the job's rings do"
            " not span all rails. Compare the rails by host in the job's logs and in the cabling check."
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
        severity=Severity.WARNING,
        summary='{{ $labels.device }}: its uplinks differ by a coefficient of variation of {{ printf "%.2f" $value }}',
        description=(
            "One uplink is more than half full while others have room: few large flows, or a hash that sees too little"
            " of the header. Check the number of queue pairs a connection uses, the fields that are hashed, and whether"
            " an uplink is down or drained."
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
        severity=Severity.WARNING,
        summary="{{ $labels.device }}: " + f"{PERCENT} of its uplinks are nearly idle while others work",
        description=(
            "Flows that one tier has hashed are hashed alike by the next, so part of the links is never chosen. Give"
            " neighbouring tiers different hash seeds."
        ),
    ),
    Alert(
        alert="FabricUplinkOversubscribed",
        expr=(
            "sum by (device) (rate(fabric_interface_receive_bytes_total[5m])\n"
            '  * on (device, interface) group_left () fabric_interface_info{link="host"})\n'
            "/ on (device) sum by (device) (\n"
            "  (fabric_interface_speed_bytes_per_second and fabric_interface_oper_up == 1)\n"
            '  * on (device, interface) group_left () fabric_interface_info{link="uplink"}) > 0.9'
        ),
        lasting="5m",
        severity=Severity.WARNING,
        summary="{{ $labels.device }}: its hosts send " + f"{PERCENT} of what its working uplinks can carry",
        description=(
            "Usually uplinks were lost, and those that are left do not suffice for the hosts below. Look for links that"
            " are down on this device before looking at the job."
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
        severity=Severity.CRITICAL,
        summary=f"{PORT} is enabled and down",
        description=(
            "No link, though both ends should have one. Look at the other end, then at optics and cable; the cabling"
            " plan of `railfab plan` names the peer."
        ),
    ),
    Alert(
        alert="FabricLinkFlap",
        expr="increase(fabric_interface_carrier_transitions_total[10m]) >= 4",
        severity=Severity.WARNING,
        summary=f"{PORT} changed its state {{{{ $value | humanize }}}} times in ten minutes",
        description=(
            "Twice down and up again, or more: every time sessions and flows move. Drain the link, then look at optics,"
            " cable and the peer's log."
        ),
    ),
    Alert(  # a port that is down, silent or towards a host has no neighbour to compare
        alert="FabricCablingMismatch",
        expr=(
            'fabric_link_intended_info{link!="host"}\n'
            "unless on (device, interface, peer_device, peer_interface) fabric_lldp_neighbor_info\n"
            "and on (device) fabric_lldp_neighbor_info\n"
            "and on (device, interface) fabric_interface_oper_up == 1"
        ),
        lasting="5m",
        severity=Severity.WARNING,
        summary=f"{PORT} does not meet {{{{ $labels.peer_device }}}} {{{{ $labels.peer_interface }}}}",
        description=(
            "LLDP sees another neighbour than the design, or none here while it sees others. Compare the cabling plan"
            " of `railfab plan` with what the switch shows, and move the cable, not the configuration."
        ),
    ),
    Alert(
        alert="FabricBgpSessionDown",
        expr="fabric_bgp_session_up == 0",
        lasting="30s",
        severity=Severity.CRITICAL,
        summary="{{ $labels.device }}: the BGP session with {{ $labels.peer }} is down",
        description=(
            "Paths over this neighbour are gone and the others carry its load. If the link is up, compare AS number,"
            " address family and BFD of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricBgpFlapping",
        expr="increase(fabric_bgp_established_transitions_total[15m]) > 3",
        severity=Severity.WARNING,
        summary="{{ $labels.device }}: the BGP session with {{ $labels.peer }} came up {{ $value | humanize }} times"
        " in 15 minutes",
        description=(
            "The session does not hold. Look for link flaps and BFD failures on the same port first, then for a busy"
            " control plane or a policy that resets the session."
        ),
    ),
)

OBSERVATION = (
    Alert(
        alert="FabricTelemetryStale",
        expr="time() - (fabric_collector_last_update_timestamp_seconds > 0) > 60",
        severity=Severity.WARNING,
        summary="{{ $labels.device }}: no update of {{ $labels.subscription }} for {{ $value | humanizeDuration }}",
        description=(
            "The graphs of this device no longer move. Check the collector's error counter for the reason, then"
            " whether the device's gNMI server answers."
        ),
    ),
    Alert(
        alert="FabricCollectorSessionDown",
        expr="fabric_collector_session_up == 0",
        lasting="1m",
        severity=Severity.CRITICAL,
        summary="{{ $labels.device }} does not stream",
        description=(
            "Nothing is known of this device at the moment; silence of its other alerts means nothing. The reason is in"
            " fabric_collector_errors_total: unreachable, login refused, TLS, and so on."
        ),
    ),
)

ALERTS: tuple[Alert, ...] = (*PFC, *LOAD, *LINKS, *OBSERVATION)
"""Every alert."""

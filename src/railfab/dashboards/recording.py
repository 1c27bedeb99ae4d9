"""Recording rules for expressions that boards and alerts use often. Named level:metric:operations.

Topology labels are joined from the info metric of the design by device and interface. Rates of a twin are those of a
simulated second.
"""

from __future__ import annotations

from railfab.dashboards.promql import held, simulated_rate
from railfab.dashboards.rules import RecordingRule
from railfab.metrics import DEVICE, FABRIC, PEER, PORT, RUN

ECMP = (*DEVICE, "link", "peer_device")

INFO_OF_PORT = "on (fabric, device, interface) group_left ({}) fabric_interface_info"
GROUP = "fabric, device, link, peer_device"
"""Labels of the links among which ECMP spreads flows: the uplinks of a switch, or its downlinks to one neighbour."""
ECMP_BYTES = "device_interface:fabric_ecmp_transmit_bytes:rate1m"
TRANSMIT_1M = simulated_rate("fabric_interface_transmit_bytes_total", "1m")
RECEIVE_1M = simulated_rate("fabric_interface_receive_bytes_total", "1m")
PREFIXES = f"""(
  {held('fabric_bgp_prefixes{direction="installed"}')}
  or on (fabric, device) {held('fabric_bgp_prefixes{direction="accepted"}')}
)"""
"""Prefixes of a session that its switch uses; those it accepts, where no path of its gNMI has that number."""
LOADED = f"avg by ({GROUP}) ({ECMP_BYTES}) > 1e6"
"""Mean of the links of a group, where it is more than almost no traffic."""
RAIL_BYTES = "rail:fabric_transmit_bytes:rate1m"
HOST_PORTS = 'on (fabric, device, interface) group_left (rail) fabric_interface_info{link="host"}'

RECORDING: tuple[RecordingRule, ...] = (
    RecordingRule(
        record="device_interface:fabric_transmit_utilization:ratio_rate1m",
        expr=f"{TRANSMIT_1M} / fabric_interface_speed_bytes_per_second",
        labels=PORT,
    ),
    RecordingRule(
        record="device_interface:fabric_receive_utilization:ratio_rate1m",
        expr=(f"{RECEIVE_1M} / fabric_interface_speed_bytes_per_second"),
        labels=PORT,
    ),
    RecordingRule(
        record="device_interface_queue:fabric_ecn_marked:ratio_rate1m",
        expr="rate(fabric_queue_ecn_marked_packets_total[1m]) / (rate(fabric_queue_transmit_packets_total[1m]) > 0)",
        labels=(*PORT, "queue"),
    ),
    RecordingRule(
        record="device_interface_queue:fabric_queue_dropped:ratio_rate1m",
        expr=(
            "rate(fabric_queue_dropped_packets_total[1m]) / (rate(fabric_queue_dropped_packets_total[1m])"
            " + rate(fabric_queue_transmit_packets_total[1m]) > 0)"
        ),
        labels=(*PORT, "queue"),
    ),
    RecordingRule(  # the estimate is an upper bound and may exceed 1
        record="device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m",
        expr=f"clamp_max({simulated_rate('fabric_pfc_receive_pause_estimated_seconds_total', '1m')}, 1)",
        labels=(*PORT, "priority"),
    ),
    RecordingRule(
        record="device:fabric_pfc_transmit_frames:rate1m",
        expr=f"sum by (fabric, device) ({simulated_rate('fabric_pfc_transmit_frames_total', '1m')})",
        labels=DEVICE,
    ),
    RecordingRule(
        record="device:fabric_pfc_receive_frames:rate1m",
        expr=f"sum by (fabric, device) ({simulated_rate('fabric_pfc_receive_frames_total', '1m')})",
        labels=DEVICE,
    ),
    RecordingRule(
        record=RAIL_BYTES,
        expr=f"sum by (fabric, rail) ({TRANSMIT_1M} * {HOST_PORTS})",
        labels=(*FABRIC, "rail"),
    ),
    RecordingRule(  # of each link that ECMP may choose; one that is down is none
        record=ECMP_BYTES,
        expr=(
            f'({TRANSMIT_1M} * {INFO_OF_PORT.format("link")}{{link="uplink"}}\n'
            f'  or {TRANSMIT_1M} * {INFO_OF_PORT.format("link, peer_device")}{{link="downlink"}})\n'
            "unless on (fabric, device, interface) fabric_interface_oper_up == 0"
        ),
        labels=(*PORT, "link", "peer_device"),
    ),
    RecordingRule(  # coefficient of variation; no value for links with almost no traffic
        record="device_peer_device:fabric_ecmp_transmit:cov_rate1m",
        expr=f"stddev by ({GROUP}) ({ECMP_BYTES}) / ({LOADED})",
        labels=ECMP,
    ),
    RecordingRule(  # Jain's index: 1 where all links carry the same, one part in n where one of n links carries all
        record="device_peer_device:fabric_ecmp_transmit:jain_rate1m",
        expr=(
            f"sum by ({GROUP}) ({ECMP_BYTES}) ^ 2\n"
            f"/ (count by ({GROUP}) ({ECMP_BYTES}) * sum by ({GROUP}) ({ECMP_BYTES} ^ 2))\n"
            f"and {LOADED}"
        ),
        labels=ECMP,
    ),
    RecordingRule(
        record="device_peer_device:fabric_ecmp_transmit:max_to_mean_rate1m",
        expr=f"max by ({GROUP}) ({ECMP_BYTES}) / ({LOADED})",
        labels=ECMP,
    ),
    RecordingRule(
        record="fabric:fabric_rail_transmit:jain_rate1m",
        expr=(
            f"sum by (fabric) ({RAIL_BYTES}) ^ 2\n"
            f"/ (count by (fabric) ({RAIL_BYTES}) * sum by (fabric) ({RAIL_BYTES} ^ 2))\n"
            f"and sum by (fabric) ({RAIL_BYTES}) > 1e6"
        ),
        labels=FABRIC,
    ),
    RecordingRule(  # light that the other end of the link sends, less what the weakest lane receives, in dB
        record="device_interface:fabric_optic_attenuation:difference",
        expr=(
            "max by (fabric, device, interface) (label_replace(label_replace(\n"
            "  avg by (fabric, device, interface) (fabric_optic_transmit_power_dbm)\n"
            f'  * {INFO_OF_PORT.format("peer_device, peer_interface")}{{peer_device!=""}},\n'
            '  "device", "$1", "peer_device", "(.+)"), "interface", "$1", "peer_interface", "(.+)"))\n'
            "- on (fabric, device, interface) min by (fabric, device, interface) (fabric_optic_receive_power_dbm)"
        ),
        labels=PORT,
    ),
    RecordingRule(
        record="device_peer_device:fabric_ecmp_links:count",
        expr=f"count by ({GROUP}) ({ECMP_BYTES})",
        labels=ECMP,
    ),
    RecordingRule(  # links with a twentieth of the mean of all or more; no value for links with almost no traffic
        record="device_peer_device:fabric_ecmp_links_used:count",
        expr=(
            f"count by ({GROUP}) ({ECMP_BYTES}\n"
            f"  >= on ({GROUP}) group_left () (0.05 * avg by ({GROUP}) ({ECMP_BYTES}) > 5e4))"
        ),
        labels=ECMP,
    ),
    RecordingRule(  # each flow comes from one host port: there are at least as many as the busiest one would need
        record="device_peer_device:fabric_ecmp_flows:min",
        expr=(
            f"sum by ({GROUP}) ({ECMP_BYTES})\n"
            f"/ on (fabric) group_left () (max by (fabric) ({RECEIVE_1M} * {HOST_PORTS}) > 1e6)"
        ),
        labels=ECMP,
    ),
    RecordingRule(  # over the session with the most of them: what one lacks, another may have
        record="device:fabric_bgp_prefixes:max",
        expr=(
            f"max by (fabric, device) ({PREFIXES}\n"
            f"  and on (fabric, device, peer) {held('fabric_bgp_session_up')} == 1)"
        ),
        labels=DEVICE,
    ),
    RecordingRule(
        record="job_id:training_step_duration_seconds:mean1m",
        expr=(
            "max by (fabric, job_id) (rate(training_step_duration_seconds_sum[1m]))"
            " / on (fabric, job_id) (max by (fabric, job_id) (rate(training_step_duration_seconds_count[1m])) > 0)"
        ),
        labels=RUN,
    ),
    RecordingRule(  # ports of a switch in maintenance, and those at the other ends of their links
        record="device_interface:fabric_maintenance:count",
        expr=(
            "count by (fabric, device, interface) (\n"
            "  fabric_interface_info and on (fabric, device) fabric_maintenance_info\n"
            "  or fabric_interface_info and on (fabric, peer_device)"
            ' label_replace(fabric_maintenance_info, "peer_device", "$1", "device", "(.*)"))'
        ),
        labels=PORT,
    ),
    RecordingRule(  # an unnumbered session has the name of its interface; of numbered ones those of the switch itself
        record="device_peer:fabric_maintenance:count",
        expr=(
            "count by (fabric, device, peer) (\n"
            '  label_replace(device_interface:fabric_maintenance:count, "peer", "$1", "interface", "(.*)")\n'
            "  or fabric_bgp_session_up and on (fabric, device) fabric_maintenance_info)"
        ),
        labels=PEER,
    ),
)
"""Every recording rule; a rule may use those before it."""

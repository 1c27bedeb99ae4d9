"""Recording rules for expressions that boards and alerts use often. Named level:metric:operations.

Topology labels are joined from the info metric of the design by device and interface. Rates of a twin are those of a
simulated second.
"""

from __future__ import annotations

from railfab.dashboards.promql import simulated_rate
from railfab.dashboards.rules import RecordingRule

PORT = ("device", "interface")
UPLINKS = 'on (device, interface) group_left () fabric_interface_info{link="uplink"}'
TRANSMIT_1M = simulated_rate("fabric_interface_transmit_bytes_total", "1m")
HOST_PORTS = 'on (device, interface) group_left (rail) fabric_interface_info{link="host"}'

RECORDING: tuple[RecordingRule, ...] = (
    RecordingRule(
        record="device_interface:fabric_transmit_utilization:ratio_rate1m",
        expr=f"{TRANSMIT_1M} / fabric_interface_speed_bytes_per_second",
        labels=PORT,
    ),
    RecordingRule(
        record="device_interface:fabric_receive_utilization:ratio_rate1m",
        expr=(
            f"{simulated_rate('fabric_interface_receive_bytes_total', '1m')} / fabric_interface_speed_bytes_per_second"
        ),
        labels=PORT,
    ),
    RecordingRule(
        record="device_interface_queue:fabric_ecn_marked:ratio_rate1m",
        expr="rate(fabric_queue_ecn_marked_packets_total[1m]) / (rate(fabric_queue_transmit_packets_total[1m]) > 0)",
        labels=(*PORT, "queue"),
    ),
    RecordingRule(  # the estimate is an upper bound and may exceed 1
        record="device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m",
        expr=f"clamp_max({simulated_rate('fabric_pfc_receive_pause_estimated_seconds_total', '1m')}, 1)",
        labels=(*PORT, "priority"),
    ),
    RecordingRule(
        record="device:fabric_pfc_transmit_frames:rate1m",
        expr=f"sum by (device) ({simulated_rate('fabric_pfc_transmit_frames_total', '1m')})",
        labels=("device",),
    ),
    RecordingRule(
        record="device:fabric_pfc_receive_frames:rate1m",
        expr=f"sum by (device) ({simulated_rate('fabric_pfc_receive_frames_total', '1m')})",
        labels=("device",),
    ),
    RecordingRule(
        record="rail:fabric_transmit_bytes:rate1m",
        expr=f"sum by (rail) ({TRANSMIT_1M} * {HOST_PORTS})",
        labels=("rail",),
    ),
    RecordingRule(
        record="device_interface:fabric_uplink_transmit_bytes:rate5m",
        expr=f"{simulated_rate('fabric_interface_transmit_bytes_total', '5m')} * {UPLINKS}",
        labels=PORT,
    ),
    RecordingRule(  # coefficient of variation; no value for a device with almost no traffic
        record="device:fabric_uplink_transmit:cov_rate5m",
        expr=(
            "stddev by (device) (device_interface:fabric_uplink_transmit_bytes:rate5m)"
            " / (avg by (device) (device_interface:fabric_uplink_transmit_bytes:rate5m) > 1e6)"
        ),
        labels=("device",),
    ),
)
"""Every recording rule; a rule may use those before it."""

"""RoCE arithmetic: PFC headroom, ECN thresholds and buffer shares from speed, cable and frame size, with sources."""

from railfab.qos.buffers import BufferPlan, Division, PortBuffers, PortLoad, buffer_plan
from railfab.qos.checks import buffer_findings
from railfab.qos.thresholds import Thresholds, lossless_thresholds, percent_of, pfc_headroom_bytes, profile_name
from railfab.qos.traffic import QueueBound, queue_bound

__all__ = [
    "BufferPlan",
    "Division",
    "PortBuffers",
    "PortLoad",
    "QueueBound",
    "Thresholds",
    "buffer_findings",
    "buffer_plan",
    "lossless_thresholds",
    "percent_of",
    "pfc_headroom_bytes",
    "profile_name",
    "queue_bound",
]

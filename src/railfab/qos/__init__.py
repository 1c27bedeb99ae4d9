"""RoCE arithmetic: PFC headroom, ECN thresholds and buffer shares from speed, cable, chip and path, with sources."""

from railfab.qos.buffers import ALPHA, BufferPlan, Division, PortBuffers, PortLoad, SwitchTraits, buffer_plan
from railfab.qos.checks import buffer_findings
from railfab.qos.chip import Chip, chip_of, chips
from railfab.qos.frames import ETHERNET_HEADER_BYTES
from railfab.qos.headroom import PortHeadroom, headroom_terms, port_headroom
from railfab.qos.path import FabricPath, PathLink
from railfab.qos.thresholds import QueueThresholds, lossless_thresholds, percent_of, profile_name
from railfab.qos.traffic import QueueBound, queue_bound

__all__ = [
    "ALPHA",
    "ETHERNET_HEADER_BYTES",
    "BufferPlan",
    "Chip",
    "Division",
    "FabricPath",
    "PathLink",
    "PortBuffers",
    "PortHeadroom",
    "PortLoad",
    "QueueBound",
    "QueueThresholds",
    "SwitchTraits",
    "buffer_findings",
    "buffer_plan",
    "chip_of",
    "chips",
    "headroom_terms",
    "lossless_thresholds",
    "percent_of",
    "port_headroom",
    "profile_name",
    "queue_bound",
]

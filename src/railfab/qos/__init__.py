"""RoCE arithmetic: PFC headroom, ECN thresholds and buffer shares from speed, cable and frame size, with sources."""

from railfab.qos.thresholds import Thresholds, lossless_thresholds, pfc_headroom_bytes

__all__ = ["Thresholds", "lossless_thresholds", "pfc_headroom_bytes"]

"""Sizes of frames on the wire."""

from railfab.units import ETHERNET_OVERHEAD_BYTES

ETHERNET_HEADER_BYTES = 18
"""Destination, source, type and frame check sequence: the difference between a frame and its IP packet."""

PAUSE_FRAME_BYTES = 64 + ETHERNET_OVERHEAD_BYTES

"""Constants and unit conversions; railfab converts units only with these functions."""

FIBRE_NS_PER_M = 5.0
"""Propagation in optical fibre, refractive index about 1.5 [ns/m]."""

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
BITS_PER_BYTE = 8
ETHERNET_OVERHEAD_BYTES = 20
"""Preamble, start delimiter and inter-frame gap: sent on the wire, but not counted by octet counters (IEEE 802.3)."""

PAUSE_QUANTUM_BITS = 512
"""One pause quantum is the time of 512 bits at the port's speed (IEEE 802.1Qbb)."""
PAUSE_MAX_QUANTA = 65535

VXLAN_BYTES = {"ipv4": 14 + 20 + 8 + 8, "ipv6": 14 + 40 + 8 + 8}
"""Bytes that VXLAN adds to an IP packet, by address family of the underlay: Ethernet, outer IP, UDP and VXLAN headers
(RFC 7348; sizes from general knowledge)."""

IP_BYTES = {"ipv4": 20, "ipv6": 40}
"""Header by address family."""
ROCE_BYTES = 8 + 12 + 16 + 4
"""UDP, BTH, RETH and ICRC around a payload (general knowledge)."""
ROCE_PATH_MTU_BYTES = 4096
"""The largest payload of a RoCE packet (general knowledge)."""

COLLECTOR_PORT = 9804
"""Port of the collector's metrics, unless another is stated."""
AGENT_PORT = 9806
"""Port of the metrics of a host's agent, likewise."""
PROMETHEUS_PORT = 9090
"""Port of Prometheus, likewise (its own default)."""
LONGEST_SCRAPE_INTERVAL_S = 20
"""Longest scrape interval [s]: three samples within the shortest window of the rules, one minute."""


def bytes_per_ns(rate_gbps: float) -> float:
    """Convert a rate in Gb/s to bytes per nanosecond."""
    return rate_gbps / BITS_PER_BYTE


def bytes_per_s(rate_gbps: float) -> float:
    """Convert a rate in Gb/s to bytes per second."""
    return rate_gbps * 1e9 / BITS_PER_BYTE


def gbps(rate_bytes_per_s: float) -> float:
    """Convert a rate in bytes per second to Gb/s."""
    return rate_bytes_per_s * BITS_PER_BYTE / 1e9


def pause_frame_seconds(rate_gbps: float) -> float:
    """The longest time one pause frame can stop a port of this speed [s]."""
    return PAUSE_MAX_QUANTA * PAUSE_QUANTUM_BITS / (rate_gbps * 1e9)

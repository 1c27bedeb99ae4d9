"""The address and AS plan. Every number follows from a node's own place, so adding another changes none.

Rail r, pod p, leaf l, spine s: host links 10.(16+r).(16(p-1)+l-1).0/24 in /31s; loopbacks 10.255.p.l (leaf) and
10.254.p.s (spine); numbered fabric links from 100.64.0.0/10. AS numbers after RFC 7938 section 5.2: one for the spines
of a pod, one for each leaf.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from railfab.errors import TopologyError

LEAVES_PER_POD = 16
PODS = 16
HOST_LINKS_PER_RAIL_AND_LEAF = 128
LOOPBACKS = IPv4Network("10.254.0.0/15")
HOST_LINKS = IPv4Network("10.16.0.0/12")
FABRIC_LINKS = IPv4Network("100.64.0.0/10")
UPLINKS_PER_LEAF = 64


def leaf_asn(pod: int, leaf: int) -> int:
    """A private 4-byte AS number (RFC 6996) for each leaf, from 1 in its pod."""
    return 4_200_000_000 + pod * 1000 + leaf


def spine_asn(pod: int) -> int:
    """All spines of a pod share one: what came from a spine is never sent to another spine by a leaf."""
    return 65_000 + pod


def leaf_loopback(pod: int, leaf: int) -> IPv4Address:
    return IPv4Address(f"10.255.{pod}.{leaf}")


def spine_loopback(pod: int, spine: int) -> IPv4Address:
    return IPv4Address(f"10.254.{pod}.{spine}")


def host_link(*, rail: int, pod: int, leaf: int, index: int) -> tuple[IPv4Interface, IPv4Interface]:
    """Host's and switch's address on the index-th (from 0) link of a rail on a leaf: a /31 (RFC 3021), switch even."""
    if leaf > LEAVES_PER_POD or pod > PODS or index >= HOST_LINKS_PER_RAIL_AND_LEAF:
        raise TopologyError(
            f"address plan: pod {pod} leaf {leaf} rail {rail}",
            f"holds {PODS} pods of {LEAVES_PER_POD} leaves with {HOST_LINKS_PER_RAIL_AND_LEAF} host links a rail",
            "Use fewer rail switches or hosts in a pod",
        )
    base = IPv4Address(f"10.{16 + rail}.{16 * (pod - 1) + leaf - 1}.0") + 2 * index
    return IPv4Interface((base + 1, 31)), IPv4Interface((base, 31))


def fabric_link(*, pod: int, leaf: int, uplink: int) -> tuple[IPv4Interface, IPv4Interface]:
    """Leaf's and spine's address on the uplink-th (from 0) uplink of a leaf: a /31, the spine even."""
    offset = (((pod - 1) * 256 + leaf - 1) * UPLINKS_PER_LEAF + uplink) * 2
    base = FABRIC_LINKS.network_address + offset
    return IPv4Interface((base + 1, 31)), IPv4Interface((base, 31))

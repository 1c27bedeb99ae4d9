"""A fabric of two rail switches and two spines, for what needs no larger one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from railfab.fabric.design import Design, design

LEAF, OTHER_LEAF, SPINE, OTHER_SPINE = "pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1", "pod1-spine2"
UPLINK, OTHER_UPLINK, DOWNLINK = "ethernet-1/32", "ethernet-1/31", "ethernet-1/1"
"""UPLINK of LEAF leads to DOWNLINK of SPINE, OTHER_UPLINK to DOWNLINK of OTHER_SPINE."""
HOST_PORT = "ethernet-1/1/1"

INTENT = """
version: 1
fabric: small
profile:
  underlay: unnumbered
  bfd: {interval_ms: 300, multiplier: 3}
  lossless: {dscp: 26, priority: 3, cnp_dscp: 48}
hosts: {gpus: 2, nic_per: gpu, rate_gbps: 100, attach: routed}
backend:
  segments: {count: 2, hosts: 2, rail_switches: 1, model: 7220-ixr-d5, platform: srlinux, cable_m: 5}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: 7220-ixr-d5, platform: srlinux, cable_m: 40}
"""


def _design_of(intent: str) -> Design:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "small.yml"
        file.write_text(intent)
        return design(file)


@cache
def small() -> Design:
    return _design_of(INTENT)


BUNDLED = INTENT.replace("fabric: small", "fabric: bundled").replace(
    "links_per_leaf: 1,", "links_per_leaf: 2, bundle: true,"
)
UNBUNDLED = BUNDLED.replace("fabric: bundled", "fabric: unbundled").replace(" bundle: true,", "")


@cache
def bundled() -> Design:
    """With two links from each rail switch to each spine, which are one LAG."""
    return _design_of(BUNDLED)


@cache
def unbundled() -> Design:
    """With the same links and no LAGs."""
    return _design_of(UNBUNDLED)


OVERSUBSCRIBED = INTENT.replace("fabric: small", "fabric: narrow").replace("rate_gbps: 400", "rate_gbps: 100")


@cache
def oversubscribed() -> Design:
    """With uplinks that have half of the rate of the NICs."""
    return _design_of(OVERSUBSCRIBED)


STORAGE = """
storage:
  protocol: PROTOCOL
  nic_ports: 2
  rate_gbps: 100
  servers: 2
  server_ports: 2
  leaves: {count: 2, model: 7220-ixr-d5, platform: srlinux, cable_m: 5}
  spines: {count: 1, rate_gbps: 100, model: 7220-ixr-d5, platform: srlinux, cable_m: 40}
"""


@cache
def stored(protocol: str) -> Design:
    """With a storage network of two servers."""
    room = INTENT.replace("fabric: small", "fabric: stored").replace(
        "backend:\n", "backend:\n  growth: {hosts: 2, segments: 2, pods: 1}\n"
    )
    return _design_of(room + STORAGE.replace("PROTOCOL", protocol).lstrip())

"""Lab plans for tests: a fabric of two rail switches, one spine and one host, and the committed FRR pod."""

from __future__ import annotations

from pathlib import Path

from railfab import lab
from railfab.fabric import design
from railfab.lab import LabPlan

SMALL = """\
version: 1
fabric: small
profile: {mtu: 9000, lossless: off}
hosts: {gpus: 1, nic_ports: 2, rate_gbps: 100}
backend:
  segments: {count: 1, hosts: 1, rail_switches: 2, model: linux-16, platform: frr}
  spines: {count: 1, links_per_leaf: 1, rate_gbps: 100, model: linux-16, platform: frr}
"""
TWO_SEGMENTS = """\
version: 1
fabric: two-segments
profile: {mtu: 9000, lossless: off}
hosts: {gpus: 1, nic_ports: 1, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 1, rail_switches: 1, model: linux-16, platform: frr}
  spines: {count: 1, links_per_leaf: 1, rate_gbps: 100, model: linux-16, platform: frr}
"""
VLANS = """\
version: 1
fabric: vlans
profile: {mtu: 9000, lossless: off}
hosts: {gpus: 2, nic_ports: 1, rate_gbps: 100, attach: vlan}
backend:
  segments: {count: 2, hosts: 2, rail_switches: 1, model: linux-16, platform: frr}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 200, model: linux-16, platform: frr}
  subnets: {pool: 10.0.0.0/16, switch_prefix: 24, first_vlan: 101}
"""
ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "inventory" / "fabrics" / "cluster.yml"
FRR_POD = ROOT / "labs" / "frr-pod" / "intent.yml"


def written(folder: Path, intent: str) -> Path:
    """An intent file in a folder."""
    path = folder / "intent.yml"
    path.write_text(intent)
    return path


def small_intent(folder: Path) -> Path:
    """An intent file of the smallest fabric with a spine."""
    path = folder / "small.yml"
    path.write_text(SMALL)
    return path


def lab_plan(intent_path: Path, state: Path) -> LabPlan:
    """The plan that `railfab lab up` boots for an intent."""
    return lab.lab_plan(design(intent_path), state, configured=False)

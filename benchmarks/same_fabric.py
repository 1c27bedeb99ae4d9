"""One fabric in the words of each tool that is measured on it: the same switches, links, addresses a link and sessions.

A pod has `leaves` rail switches (8 rails, so an eighth of them a segment) and `spines` spines; each rail switch meets
each spine of its pod once, each spine each super-spine of its group once. A rail switch has `hosts` GPU ports, each
routed with a /31 of its own. Links between switches are numbered with a /31 and carry an eBGP session: one AS number a
rail switch, one for the spines of a pod, one for all super-spines. `pyavd_bench.py` has the same for PyAVD.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

RAILS = 8
SUPER_AS, SPINE_AS, LEAF_AS = 65_000, 65_001, 4_200_001_001


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """leaves and spines: of a pod. hosts: GPU ports of a rail switch.

    groups: of super-spines; spine s of every pod meets those of its group, and the spines of a group follow each other.
    """

    pods: int
    leaves: int
    spines: int
    supers: int
    hosts: int
    groups: int = 1

    @property
    def uplinks(self) -> int:
        """Super-spines that a spine meets."""
        return self.supers // self.groups

    def tops_of(self, spine: int) -> range:
        """Numbers of the super-spines of the group of a spine."""
        group = spine * self.groups // self.spines
        return range(group * self.uplinks, (group + 1) * self.uplinks)

    @property
    def switches(self) -> int:
        return self.pods * (self.leaves + self.spines) + self.supers

    @property
    def sessions(self) -> int:
        """Links between switches: a session each."""
        return self.pods * self.spines * (self.leaves + self.uplinks)

    @property
    def links(self) -> int:
        return self.sessions + self.pods * self.leaves * self.hosts


SMALL = Shape(pods=1, leaves=8, spines=2, supers=0, hosts=1)
"""What a command costs on this one is what it costs at all: interpreter, imports, its own data."""
LARGE = Shape(pods=4, leaves=40, spines=16, supers=32, hosts=16)
SHAPES = {
    10: SMALL,
    16: Shape(pods=1, leaves=8, spines=8, supers=0, hosts=16),
    64: Shape(pods=1, leaves=48, spines=16, supers=0, hosts=16),
    256: LARGE,
    1024: Shape(pods=16, leaves=40, spines=20, supers=64, hosts=16, groups=4),
}
"""By switches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """Switch models of the tiers, and what goes with them."""

    platform: str
    leaf: str
    spine: str
    top: str
    breakout: bool
    profile: str


def _ethernet(platform: str, model: str) -> Hardware:
    """64 ports of 800G, of which the spines split theirs, with a lossless class for RoCE."""
    return Hardware(platform=platform, leaf=model, spine=model, top=model, breakout=True, profile="bfd: off")


FRR = Hardware(
    platform="frr",
    leaf="linux-64",
    spine="linux-128",
    top="linux-64",
    breakout=False,
    profile="bfd: off, lossless: off",
)
"""As netlab does it: routing, without BFD and QoS."""
EOS = _ethernet("eos", "7060x6-64pe")
"""As PyAVD's inputs have it: Arista's 7060X6, with a lossless class for RoCE."""


HARDWARE = {
    "eos": EOS,
    "nxos": _ethernet("nxos", "n9364e-sg2-o"),
    "junos": _ethernet("junos", "qfx5240-64od"),
    "cumulus": _ethernet("cumulus", "sn5600"),
    "sonic": _ethernet("sonic", "ais800-64o"),
    "srlinux": _ethernet("srlinux", "7220-ixr-h5-64d"),
    "frr": replace(FRR, leaf="linux-128", top="linux-128"),
}
"""By platform; all but FRR's have the lossless class, which software ports lack."""


def railfab_intent(shape: Shape, hardware: Hardware) -> str:
    breakout = ", breakout: true" if hardware.breakout else ""
    link = f"rate_gbps: 400{breakout}"
    spine = f"count: {shape.spines}, links_per_leaf: 1, {link}, model: {hardware.spine}"
    top = f"count: {shape.supers}, groups: {shape.groups}, links_per_spine: 1, {link}, model: {hardware.top}"
    ratio = max(1.0, shape.leaves / shape.uplinks if shape.supers else 1.0, shape.hosts / shape.spines)
    segments = f"count: {shape.leaves // RAILS}, hosts: {shape.hosts}, rail_switches: {RAILS}, model: {hardware.leaf}"
    lines = (
        "version: 1",
        "fabric: measured",
        f"profile: {{underlay: numbered, {hardware.profile}}}",
        f"hosts: {{gpus: {RAILS}, rate_gbps: 400}}",
        "backend:",
        f"  oversubscription: {ratio:g}",
        f"  pods: {shape.pods}",
        f"  segments: {{{segments}}}",
        f"  spines: {{{spine}}}",
        *((f"  super_spines: {{{top}}}",) if shape.supers else ()),
    )
    return "\n".join(lines) + "\n"


def netlab_topology(shape: Shape) -> str:
    """Its pools and its limit of node numbers are widened: each ends a run of this size otherwise. GPU ports are stub
    links, which spares it the hosts as nodes; sessions are external only, as it would join switches of one AS."""
    lines = (
        "provider: clab",
        "defaults.device: frr",
        "defaults.const.MAX_NODE_ID: 1000",
        "module: [ bgp ]",
        "bgp.sessions.ipv4: [ ebgp ]",
        "addressing:",
        "  loopback: { ipv4: 10.128.0.0/16 }",
        "  p2p: { ipv4: 100.64.0.0/16, prefix: 31 }",
        "  lan: { ipv4: 10.0.0.0/9, prefix: 31, allocation: sequential }",
        "  mgmt: { ipv4: 172.16.0.0/16, start: 10 }",
        "nodes:",
        *(f"  {name}: {{ bgp.as: {asn} }}" for name, asn in _switches(shape)),
        "links:",
        *(f"- {link}" for link in _links(shape)),
    )
    return "\n".join(lines) + "\n"


def _switches(shape: Shape) -> Iterator[tuple[str, int]]:
    for pod in range(shape.pods):
        yield from ((f"p{pod}l{leaf}", LEAF_AS + 1000 * pod + leaf) for leaf in range(shape.leaves))
        yield from ((f"p{pod}s{spine}", SPINE_AS + pod) for spine in range(shape.spines))
    yield from ((f"top{top}", SUPER_AS) for top in range(shape.supers))


def _links(shape: Shape) -> Iterator[str]:
    """`a-z`, or a stub by the name of its switch."""
    pods, leaves, spines = range(shape.pods), range(shape.leaves), range(shape.spines)
    yield from (f"p{pod}l{leaf}" for pod, leaf, _ in product(pods, leaves, range(shape.hosts)))
    yield from (f"p{pod}l{leaf}-p{pod}s{spine}" for pod, leaf, spine in product(pods, leaves, spines))
    yield from (f"p{pod}s{spine}-top{top}" for pod, spine in product(pods, spines) for top in shape.tops_of(spine))

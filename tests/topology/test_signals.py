"""Whether link ends can be joined: speed, lanes, error correction and length."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from railfab.findings import Severity
from railfab.intent import Backend, FabricIntent, Hosts, Segments, load_intent
from railfab.topology import wire
from railfab.topology.catalogue import catalogue, switch_model
from railfab.topology.checks.signals import signal_findings
from railfab.topology.equipment import Media, media
from railfab.topology.model import CabledPort, Link, Net, Node, Role, Topology
from railfab.topology.signals import (
    LinkMatch,
    LinkMatcher,
    LinkMismatch,
    Signal,
    SignalFec,
    match_ends,
    mismatch_reason,
    nic_signals,
    signals,
    switch_signals,
)

PAM4_4 = Signal(rate_gbps=400, lanes=4, fec=SignalFec.RS544)
PAM4_8 = Signal(rate_gbps=400, lanes=8, fec=SignalFec.RS544)
NRZ_4 = Signal(rate_gbps=100, lanes=4, fec=SignalFec.RS528)
PAM4_2 = Signal(rate_gbps=100, lanes=2, fec=SignalFec.RS544)
ANY = st.sampled_from([400, 200, 100, 50, 40, 25, 10]).flatmap(
    lambda rate: st.builds(
        lambda lane, lanes: signals(rate, lane_gbps=lane, lanes=lanes),
        st.sampled_from([10, 25, 50, 100]),
        st.sampled_from([1, 2, 4, 8]),
    )
)


def named(name: str) -> Media:
    return next(medium for medium in media() if medium.name == name)


def fabric(
    leaf: str, *, nic_lane_gbps: int | None = None, rate_gbps: int = 100, cable_m: float = 3, hosts: int = 4
) -> tuple[Topology, FabricIntent]:
    """Hosts of one NIC port on one switch."""
    segments = Segments(hosts=hosts, rail_switches=1, model=leaf, cable_m=cable_m)
    nics = Hosts(gpus=1, rate_gbps=rate_gbps, lane_gbps=nic_lane_gbps)
    intent = FabricIntent(version=1, fabric="f", hosts=nics, backend=Backend(segments=segments))
    return wire(intent), intent


def switch(name: str, model: str, net: Net = Net.BACKEND) -> Node:
    return Node(name=name, role=Role.LEAF, pod=0, segment=None, index=1, platform="p", model=model, net=net)


def end(node: str, name: str, cage: int, rate_gbps: int) -> CabledPort:
    return CabledPort(node=node, name=name, cage=cage, lane=None, rate_gbps=rate_gbps, rail=None, address=None)


def test_error_correction_follows_the_modulation_of_a_lane() -> None:
    assert [signals(rate, lane_gbps=100, lanes=1)[0].fec for rate in (1, 10, 25, 50, 100)] == [
        SignalFec.NONE,
        SignalFec.NONE,
        SignalFec.RS528,
        SignalFec.RS544,
        SignalFec.RS544,
    ]


def test_a_port_of_a_broken_out_cage_has_its_share_of_the_lanes() -> None:
    d5, sn5600 = switch_model("7220-ixr-d5"), switch_model("sn5600")
    assert switch_signals(d5, 100, 4) == (PAM4_2,)
    assert switch_signals(d5, 400, 1) == (PAM4_8,)
    assert switch_signals(sn5600, 400, 2) == (PAM4_4,)
    assert switch_signals(sn5600, 400, 1) == (PAM4_4, PAM4_8)
    assert switch_signals(d5, 800, 1) == ()
    assert nic_signals(400, 100) == (PAM4_4,)
    assert nic_signals(400, 10) == ()


def test_a_model_has_the_lanes_for_the_speeds_it_is_said_to_have() -> None:
    bare = replace(switch_model("linux-16"), speeds_gbps=(40,))
    assert [str(signal) for signal in switch_signals(bare, 40, 1)] == ["4 x 10 Gb/s"]


def test_copper_joins_equal_lanes_and_equal_error_correction() -> None:
    assert mismatch_reason(PAM4_4, PAM4_4, named("400G-CR4 DAC")) is None
    assert mismatch_reason(PAM4_4, PAM4_8, named("400G-CR4 DAC")) == (
        "400G-CR4 DAC does not connect 4 x 100 Gb/s with RS(544,514) to 8 x 50 Gb/s with RS(544,514)"
    )
    plain = Signal(rate_gbps=100, lanes=4, fec=SignalFec.NONE)
    assert mismatch_reason(NRZ_4, plain, named("100G-CR4 DAC")) == (
        "100G-CR4 DAC does not connect 4 x 25 Gb/s with RS(528,514) to 4 x 25 Gb/s with no FEC"
    )


def test_optics_join_what_their_gearboxes_take() -> None:
    assert mismatch_reason(PAM4_4, PAM4_8, named("400GBASE-DR4")) is None
    assert mismatch_reason(NRZ_4, PAM4_2, named("100GBASE-DR")) is None
    assert mismatch_reason(PAM4_4, PAM4_8, named("400GBASE-SR8")) == "400GBASE-SR8 does not support lanes of 100 Gb/s"


def test_speeds_must_be_equal() -> None:
    assert mismatch_reason(PAM4_4, NRZ_4, named("400GBASE-DR4")) == "the ends run at 400 Gb/s and 100 Gb/s"
    assert mismatch_reason(PAM4_4, PAM4_4, named("100GBASE-DR")) == "100GBASE-DR does not run at 400 Gb/s"
    assert match_ends((PAM4_4,), (NRZ_4,), 1) == LinkMismatch(
        "the ends run at 400 Gb/s and 100 Gb/s", "Use the same speed at both ends"
    )


@given(ANY, ANY, st.floats(0.5, 2000))
def test_it_does_not_matter_which_end_is_named_first(
    a: tuple[Signal, ...], z: tuple[Signal, ...], cable_m: float
) -> None:
    there, back = match_ends(a, z, cable_m), match_ends(z, a, cable_m)
    assert isinstance(there, LinkMatch) == isinstance(back, LinkMatch)
    if isinstance(there, LinkMatch) and isinstance(back, LinkMatch):
        assert (there.media, there.optics_only) == (back.media, back.optics_only)
        assert mismatch_reason(there.a, there.z, there.media) is None
        assert there.a in a
        assert there.z in z


@given(ANY, st.floats(0.5, 100))
def test_an_end_is_joined_to_its_like_without_a_warning(a: tuple[Signal, ...], cable_m: float) -> None:
    found = match_ends(a, a, cable_m)
    assert not isinstance(found, LinkMatch) or not found.optics_only


def test_a_cable_may_be_too_long_for_all_that_joins_its_ends() -> None:
    ends = nic_signals(200, 100)
    assert match_ends(ends, ends, 900) == LinkMismatch(
        "900 m exceeds the 500 m of 200G-DR2, the longest medium for these ends", "Shorten the cable"
    )


def test_ends_may_have_nothing_that_joins_them() -> None:
    assert match_ends(nic_signals(50, 25), nic_signals(50, 10), 1) == LinkMismatch(
        "one end has no lanes for its speed", "Use a speed that both ends support"
    )
    slow = (Signal(rate_gbps=40, lanes=1, fec=SignalFec.NONE),)
    assert match_ends(nic_signals(40, 10), slow, 1) == LinkMismatch(
        "no cable or optic connects 4 x 10 Gb/s with no FEC to 1 x 40 Gb/s with no FEC",
        "Use ports with equal lanes",
    )


def test_nics_whose_lanes_are_not_stated_have_those_of_their_switch() -> None:
    topology, intent = fabric("7220-ixr-d5")
    assert list(signal_findings(topology, intent)) == []
    assert LinkMatcher(topology, intent).of(topology.links[0]) == LinkMatch(
        a=PAM4_2, z=PAM4_2, media=named("100G-CR2 DAC"), optics_only=False
    )


def test_nics_of_other_lanes_are_warned_of_once() -> None:
    (finding,) = signal_findings(*fabric("7220-ixr-d5", nic_lane_gbps=25))
    assert finding.severity is Severity.WARNING
    assert str(finding) == (
        "pod1-seg1-host1 rail1-p0 to pod1-seg1-leaf1 ethernet-1/1/1 and 3 more: no DAC, AEC or AOC connects 4 x "
        "25 Gb/s to 2 x 50 Gb/s; optics such as 100GBASE-DR are needed. Use ports with equal lanes to avoid optics."
    )


def test_a_link_that_nothing_joins_is_an_error() -> None:
    (finding,) = signal_findings(*fabric("sn5600", nic_lane_gbps=10, rate_gbps=400, hosts=1))
    assert finding.severity is Severity.ERROR
    assert str(finding) == (
        "pod1-seg1-host1 rail1-p0 to pod1-seg1-leaf1 swp1s0: one end has no lanes for its speed. Use a speed "
        "that both ends support."
    )


def test_a_link_that_is_too_long_is_an_error() -> None:
    (finding,) = signal_findings(*fabric("sn5600", nic_lane_gbps=100, rate_gbps=200, cable_m=900, hosts=2))
    assert finding.severity is Severity.ERROR
    assert str(finding) == (
        "pod1-seg1-host1 rail1-p0 to pod1-seg1-leaf1 swp1s0 and 1 more: 900 m exceeds the 500 m of 200G-DR2, "
        "the longest medium for these ends. Shorten the cable."
    )


def test_lanes_of_nics_are_stated_for_the_backend_only() -> None:
    topology, intent = fabric("7220-ixr-d5", nic_lane_gbps=25)
    nodes = tuple(replace(node, net=Net.FRONTEND) for node in topology.nodes)
    frontend = Topology(fabric="f", nodes=nodes, links=topology.links, models=topology.models)
    assert list(signal_findings(frontend, intent)) == []


def test_the_management_port_of_a_switch_is_no_cage_of_it() -> None:
    _, intent = fabric("sn5600")
    nodes = switch("leaf1", "sn5600"), switch("mgmt-leaf1", "7215-ixs-a1", Net.MANAGEMENT)
    link = Link(
        a=end("leaf1", "mgmt0", 0, 1),
        z=end("mgmt-leaf1", "ethernet-1/1", 1, 1),
        rate_gbps=1,
        cable_m=20,
    )
    topology = Topology(fabric="f", nodes=nodes, links=(link,), models=catalogue())
    assert list(signal_findings(topology, intent)) == []
    found = LinkMatcher(topology, intent).of(link)
    assert isinstance(found, LinkMatch)
    assert found.media.name == "1000BASE-T"


def test_uplinks_of_two_makes_are_joined_over_what_both_can_send() -> None:
    leaf, spine = switch_model("7060x6-64pe"), switch_model("7060dx5-64s")
    found = match_ends(switch_signals(leaf, 400, 1), switch_signals(spine, 400, 1), 3)
    assert isinstance(found, LinkMatch)
    assert (found.a, found.media.name) == (PAM4_8, "400G-CR8 DAC")
    broken = match_ends(switch_signals(leaf, 400, 2), switch_signals(spine, 400, 1), 3)
    assert isinstance(broken, LinkMatch)
    assert (broken.optics_only, broken.media.name) == (True, "400GBASE-DR4")


def test_the_links_of_pod64_can_be_joined() -> None:
    intent = load_intent(Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml")
    assert list(signal_findings(wire(intent), intent)) == []

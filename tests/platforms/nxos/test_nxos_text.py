"""NX-OS configuration as a switch prints it: what it adds, leaves out and writes otherwise is the same model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from tests.platforms.nxos.configurations import FABRICS, NXOS, leaf, paths, texts, with_line, without_line
from tests.sampled import sampled

from railfab.device import (
    BreakoutPort,
    DeviceModel,
    Family,
    Lag,
    LoadBalancing,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    NextHop,
    Policy,
    Port,
    Svi,
    Vlan,
    VlanMembership,
)
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.platforms.nxos.lines import BRIDGED_DEFAULTS, FORMAT, SWITCH_DEFAULTS, effective

HEADER = """
!Command: show running-config
!Running configuration last done at: Thu Dec 16 14:30:59 2021
!Time: Thu Dec 16 14:33:56 2021

version 10.5(3) Bios:version 01.12

"""


def parsed(text: str) -> DeviceModel:
    return NXOS.parse(text)


def test_a_header_and_another_order_of_sections_make_no_difference() -> None:
    model, text = leaf()
    shuffled = FORMAT.text(tuple(reversed(FORMAT.tree(text))))
    assert parsed(HEADER + text) == model
    assert parsed(shuffled) == model
    assert NXOS.differences(HEADER + shuffled, text) == ()


def test_defaults_that_are_shown_are_no_difference() -> None:
    model, text = leaf()
    shown = text
    for place in [
        ("interface Ethernet1/9",),
        ("vlan 1",),
        ("interface Vlan1", "shutdown"),
        ("interface loopback0", "no shutdown"),
    ]:
        shown = with_line(shown, *place)
    assert parsed(shown) == model
    assert NXOS.differences(shown, text) == ()


def test_a_routed_port_without_a_line_is_down_and_a_bridged_one_is_up() -> None:
    text = "interface Ethernet1/1\n  no switchport\ninterface Ethernet1/2\n  description host\n"
    routed, bridged = parsed(text).interfaces
    assert (routed.enabled, bridged.enabled) == (False, True)
    assert isinstance(bridged, Port)
    assert bridged.vlans == VlanMembership(untagged=1)


def test_what_releases_write_differently_is_the_same() -> None:
    _, text = leaf()
    both = text.replace("send-community\n      send-community extended", "send-community both")
    assert both != text
    assert NXOS.differences(both, text) == ()
    server = "ntp server 10.0.0.1"
    assert parsed(f"{server} use-vrf default\n") == parsed(f"{server}\n")


def test_ranges_and_continued_lists_are_single_ones() -> None:
    text = (
        "vlan 1,10-12\nvlan 11\n  name eleven\n"
        "interface breakout module 1 port 1-2,5 map 100g-4x\n"
        "interface Ethernet1/9\n  switchport mode trunk\n"
        "  switchport trunk allowed vlan 10-11\n  switchport trunk allowed vlan add 12\n"
    )
    model = parsed(text)
    assert model.vlans == (
        Vlan(vlan_id=10, name="VLAN0010"),
        Vlan(vlan_id=11, name="eleven"),
        Vlan(vlan_id=12, name="VLAN0012"),
    )
    assert model.breakouts == tuple(BreakoutPort(cage=f"Ethernet1/{n}", lanes=4, rate_gbps=100) for n in (1, 2, 5))
    (port,) = model.interfaces
    assert isinstance(port, Port)
    assert port.vlans == VlanMembership(untagged=None, tagged=(10, 11, 12))
    assert model.unmodelled == ("interface Ethernet1/9: no spanning-tree port type edge trunk",)


@pytest.mark.parametrize(
    ("lines", "untagged", "tagged"),
    [
        ((), 1, (10, 11, 12)),
        (("allowed vlan 10,12",), None, (10, 12)),
        (("native vlan 11", "allowed vlan 10-11"), 11, (10,)),
        (("allowed vlan none",), None, ()),
    ],
)
def test_a_trunk_carries_every_vlan_but_where_it_has_a_list(
    lines: tuple[str, ...], untagged: int | None, tagged: tuple[int, ...]
) -> None:
    trunk = "".join(f"  switchport trunk {line}\n" for line in lines)
    (port,) = parsed(f"vlan 1,10-12\ninterface Ethernet1/9\n  switchport mode trunk\n{trunk}").interfaces
    assert isinstance(port, Port)
    assert port.vlans == VlanMembership(untagged=untagged, tagged=tagged)


def test_a_banner_keeps_its_line_breaks() -> None:
    text = "banner motd ^Authorised use only.\n\n  ! call 4711\n^\n"
    found = parsed(text)
    assert found.management is not None
    assert found.management.banner == "Authorised use only.\n\n  ! call 4711\n"
    assert FORMAT.tree(NXOS.text(NXOS.render(found)))[-1] == FORMAT.tree(text)[0]


def test_a_pair_is_read_with_its_links() -> None:
    mlag = Mlag(
        domain="7",
        peer_link="lag1000",
        keepalive=MlagKeepalive(
            peer=leaf()[0].neighbors[0].peer,  # type: ignore[arg-type]
            network_instance="mgmt",
        ),
        system_mac="02:00:01:01:00:01",
    )
    ports = tuple(Port(name=f"Ethernet1/{n}", network_instance=None) for n in (1, 2))
    vlans = VlanMembership(untagged=None, tagged=(10,))
    lags = (
        Lag(name="lag5", members=("Ethernet1/1",), network_instance=None, vlans=vlans, mlag_id=5),
        Lag(name="lag1000", members=("Ethernet1/2",), network_instance=None, vlans=vlans),
    )
    model = replace(leaf()[0], interfaces=(*ports, *lags), bgp=None, qos=None, policies=(), mlag=mlag)
    model = replace(model, vlans=(Vlan(vlan_id=10, name="hosts"),))
    text = NXOS.text(NXOS.render(model))
    assert parsed(text) == model
    assert "vpc domain 7" in text
    assert "  vpc peer-link" in text
    assert "  vpc 5" in text
    assert "vrf management" in text


def test_both_switches_of_an_ethernet_segment_state_its_mac_and_number(tmp_path: Path) -> None:
    """NX-OS makes the identifier of both; the planned one is of a type that it does not take."""
    path = tmp_path / "intent.yml"
    text = (FABRICS / "dual-esi.yml").read_text()
    path.write_text(text.replace("model: 7060dx5-64s ", "model: n9k-c9364d-gx2a "))
    first, second = design(path).models.values()
    sections = []
    for model in (first, second):
        text = NXOS.text(NXOS.render(model))
        assert parsed(text) == model
        assert "\nevpn multihoming\n" in text
        assert "core-tracking" not in text
        assert "  address-family l2vpn evpn\n    maximum-paths 64\n" in text
        sections.append(re.findall(r"  ethernet-segment\n    esi system-mac (\S+) (\d+)\n", text))
    assert sections[0] == sections[1]
    assert sections[0][0] == ("0200.0101.0001", "201")
    lag = first.interface("lag201")
    assert isinstance(lag, Lag)
    assert lag.esi == "03:02:00:01:01:00:01:00:00:c9"


def test_uplinks_of_a_switch_with_segments_are_tracked() -> None:
    model, plain = leaf()
    assert "core-tracking" not in plain
    lag = Lag(name="lag5", members=(), network_instance=None, vlans=VlanMembership(untagged=1), mlag_id=None)
    lag = replace(lag, esi="03:02:00:01:01:00:01:00:00:05", system_mac="02:00:01:01:00:01")
    text = NXOS.text(NXOS.render(replace(model, interfaces=(*model.interfaces, lag))))
    assert text.count("  evpn multihoming core-tracking\n") == len(model.neighbors) == 8
    assert NXOS.refusals is not None
    assert NXOS.refusals(text) == ()
    lost = without_line(text, "interface Ethernet1/41", "evpn multihoming core-tracking")
    assert parsed(lost).unmodelled == ("interface Ethernet1/41: no evpn multihoming core-tracking",)


def test_a_trunk_of_a_host_is_an_edge_port_and_the_peer_link_is_not() -> None:
    vlans = VlanMembership(untagged=None, tagged=(10,))
    ports = tuple(Port(name=f"Ethernet1/{n}", network_instance=None) for n in (61, 62))
    host = Port(name="Ethernet1/60", network_instance=None, vlans=vlans)
    lags = (
        Lag(name="lag5", members=("Ethernet1/61",), network_instance=None, vlans=vlans, mlag_id=5),
        Lag(name="lag1000", members=("Ethernet1/62",), network_instance=None, vlans=vlans),
    )
    mlag = Mlag(domain="7", peer_link="lag1000", keepalive=MlagKeepalive(peer=leaf()[0].neighbors[0].peer))  # type: ignore[arg-type]
    model = replace(leaf()[0], interfaces=(host, *ports, *lags), bgp=None, qos=None, policies=(), mlag=mlag)
    text = NXOS.text(NXOS.render(replace(model, vlans=(Vlan(vlan_id=10, name="hosts"),))))
    types = re.findall(r"interface (\S+)\n(?:  .*\n)*?  spanning-tree port type (.*)\n", text)
    assert sorted(types) == [
        ("Ethernet1/60", "edge trunk"),
        ("Ethernet1/61", "edge trunk"),
        ("port-channel1000", "network"),
        ("port-channel5", "edge trunk"),
    ]


def test_what_a_line_needs_comes_before_it() -> None:
    """A switch that loads the text from the top refuses a line whose feature, port, list or domain is not there yet."""
    rail, _ = leaf()
    ports = tuple(Port(name=f"Ethernet1/{n}", network_instance=None) for n in (62, 63))
    split = Port(name="Ethernet1/64/1", network_instance="tenant")
    vlans = VlanMembership(untagged=None, tagged=(10,))
    lags = (
        Lag(name="lag5", members=("Ethernet1/62",), network_instance=None, vlans=vlans, mlag_id=5),
        Lag(name="lag1000", members=("Ethernet1/63",), network_instance=None, vlans=vlans),
    )
    peer = rail.loopback
    assert peer is not None
    model = replace(
        rail,
        breakouts=(BreakoutPort(cage="Ethernet1/64", lanes=4, rate_gbps=100),),
        interfaces=(*rail.interfaces, *ports, split, *lags, Svi(name="vlan10", vlan=10)),
        network_instances=(NetworkInstance(name="tenant"),),
        vlans=(Vlan(vlan_id=10, name="hosts"),),
        mlag=Mlag(domain="7", peer_link="lag1000", keepalive=MlagKeepalive(peer=peer)),
    )
    text = NXOS.text(NXOS.render(model))
    for first, then in (
        ("feature vpc", "vpc domain 7"),
        ("feature lacp", "mode active"),
        ("feature interface-vlan", "interface Vlan10"),
        ("feature bgp", "router bgp"),
        ("interface breakout module 1 port 64", "interface Ethernet1/64/1"),
        ("vpc domain 7", "vpc peer-link"),
        ("interface port-channel1000", "channel-group 1000"),
        ("vrf context tenant", "vrf member tenant"),
        ("class-map type qos", "policy-map type qos"),
        ("policy-map type queuing RAILFAB", "service-policy type queuing output RAILFAB"),
        ("policy-map type network-qos RAILFAB", "service-policy type network-qos RAILFAB"),
        ("policy-map type qos fabric", "service-policy type qos input fabric"),
        ("ip prefix-list fabric-import", "match ip address prefix-list fabric-import"),
        ("route-map fabric-import permit", "route-map fabric-import in"),
        ("\nvlan 10\n", "interface Vlan10"),
    ):
        assert 0 <= text.index(first) < text.index(then), then


def test_a_lag_states_the_speed_of_its_members_before_they_join_it() -> None:
    ports = tuple(Port(name=f"Ethernet1/{n}", network_instance=None, rate_gbps=400) for n in (1, 2))
    lag = Lag(name="lag5", members=("Ethernet1/1", "Ethernet1/2"), vlans=VlanMembership(untagged=10))
    model = replace(
        leaf()[0], interfaces=(*ports, replace(lag, network_instance=None)), bgp=None, qos=None, policies=()
    )
    model = replace(model, vlans=(Vlan(vlan_id=10, name="hosts"),))
    text = NXOS.text(NXOS.render(model))
    group, first = text.index("interface port-channel5"), text.index("interface Ethernet1/1")
    assert "  speed 400000\n" in text[group:first]
    assert text.index("channel-group 5 mode active") > first > group
    assert parsed(text) == model
    assert parsed(text.replace("  speed 400000\n", "", 1)).unmodelled


def test_the_vni_of_a_vrf_in_a_vlan_belongs_to_the_vrf() -> None:
    text = "vlan 777\n  vn-segment 100777\nvrf context TENANT\n  vni 100777\ninterface Vlan777\n  ip forward\n"
    model = parsed(text)
    assert model.vlans[0].vni is None
    assert model.network_instances[0].vni == 100777
    assert "vlan 777: vn-segment 100777" in model.unmodelled
    assert isinstance(model.interfaces[0], Svi)


def test_a_kept_next_hop_is_a_route_map_of_the_policy() -> None:
    model, _ = leaf()
    assert model.bgp is not None
    first, *others = model.neighbors
    keeping = replace(first, next_hop=NextHop.UNCHANGED)
    changed = replace(model, bgp=replace(model.bgp, neighbors=(keeping, *others)))
    text = NXOS.text(NXOS.render(changed))
    assert "route-map fabric-export-NEXT-HOP-UNCHANGED out" in text
    assert "  set ip next-hop unchanged" in text
    assert parsed(text) == changed


def test_a_session_without_policy_is_closed_where_the_model_says_so() -> None:
    model, _ = leaf()
    assert model.bgp is not None
    first, *others = model.neighbors
    bare = replace(first, import_policies=(), export_policies=(), families=(Family.IPV4,))
    closed = replace(model, bgp=replace(model.bgp, neighbors=(bare, *others)))
    text = NXOS.text(NXOS.render(closed))
    assert "route-map RAILFAB-DENY deny 10" in text
    assert parsed(text) == closed
    opened = without_line(
        text, f"router bgp {model.bgp.asn}", f"neighbor {first.peer}", "address-family ipv4 unicast",
        "route-map RAILFAB-DENY in",
    )  # fmt: skip
    found = parsed(opened).bgp
    assert found is not None
    assert not found.requires_policy


def test_a_policy_of_another_writer_is_read_and_its_names_are_unmodelled() -> None:
    text = (
        "ip prefix-list HOSTS seq 10 permit 10.16.0.0/12 le 32\n"
        "ip community-list standard OLD permit 65000:1\n"
        "route-map IN permit 10\n  match ip address prefix-list HOSTS\n  set local-preference 200\n"
        "route-map IN deny 20\n  match community OLD\n"
    )
    (policy,) = parsed(text).policies
    assert isinstance(policy, Policy)
    first, second = policy.rules
    assert (first.prefixes[0].ge, first.prefixes[0].le, first.set_local_preference) == (12, 32, 200)
    assert second.communities == ("65000:1",)
    assert "ip prefix-list HOSTS seq 5 permit 10.16.0.0/12 le 32" in parsed(text).unmodelled


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("interface Ethernet1/1\n  mtu 99999\n", "99999 is not within 576 to 9216"),
        ("interface Ethernet1/1\n  switchport trunk allowed vlan 1,,3\n", "'' is not a number"),
        ("interface Ethernet1/1\n  switchport trunk allowed vlan 5-3\n", "3 is not within 5 to 4094"),
        ("router bgp 65001\n  router-id 10.0.0\n", "Expected 4 octets"),
        ("interface Ethernet1/1\n  no switchport\n  ip address 10.0.0.1/33\n", "not appear to be"),
    ],
)
def test_an_impossible_value_is_an_error_with_its_line_and_section(line: str, problem: str) -> None:
    with pytest.raises(RailfabError) as error:
        parsed(line)
    assert problem in str(error.value)
    assert f"line {line.count(chr(10))}, in {line.partition(chr(10))[0]}" in str(error.value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("vlan 1-99999999", "99999999 is not within 1 to 4094"),
        ("vlan 7-", "'' is not a number"),
        ("fabric forwarding anycast-gateway-mac 0200.5e00", "0200.5e00 is not a MAC address"),
    ],
)
def test_an_impossible_value_outside_sections_is_an_error_with_its_line(line: str, problem: str) -> None:
    with pytest.raises(RailfabError, match=problem) as error:
        parsed(f"{line}\n")
    assert str(error.value).startswith("line 1: ")


def test_only_the_hash_with_a_seed_states_its_fields() -> None:
    seeded = parsed("ip load-sharing address source-destination port source-destination universal-id 7\n")
    assert seeded.load_balancing is not None
    assert (seeded.load_balancing.seed, len(seeded.load_balancing.fields)) == (7, 5)
    plain = parsed("ip load-sharing address source-destination\n").load_balancing
    assert plain == LoadBalancing(fields=plain.fields if plain else ())


@pytest.mark.parametrize("line", ["switchport", "no shutdown"])
def test_bridged_ports_state_what_running_configurations_leave_out(line: str) -> None:
    """The setup's `system default switchport [shutdown]` would decide it else."""
    ports = (
        Port(name="Ethernet1/1", network_instance=None, vlans=VlanMembership(untagged=10)),
        Port(name="Ethernet1/2", network_instance=None),
    )
    vlans = VlanMembership(untagged=None, tagged=(10,))
    lag = Lag(name="lag5", members=("Ethernet1/2",), network_instance=None, vlans=vlans)
    model = replace(leaf()[0], interfaces=(*ports, lag), bgp=None, qos=None, policies=())
    model = replace(model, vlans=(Vlan(vlan_id=10, name="hosts"),))
    text = NXOS.text(NXOS.render(model))
    shown = [place[0] for place in paths(FORMAT.tree(text)) if place[1:] == (line,)]
    assert sorted(shown) == ["interface Ethernet1/1", "interface Ethernet1/2", "interface port-channel5"]
    running = text
    for name in shown:
        running = without_line(running, name, line)
    assert parsed(text) == parsed(running) == model
    assert NXOS.differences(running, text) == NXOS.differences(text, running) == ()
    assert NXOS.refusals is not None
    assert NXOS.refusals(text) == ()


@pytest.mark.parametrize("every", sampled([4, 1], few=[4]))
def test_the_loss_of_any_line_of_a_design_is_another_model(every: int) -> None:
    """Also of one that only repeats another, such as the MTU of a class; but not of one that a switch leaves out."""
    (text,) = texts("rail-blocks").values()
    whole, shown = parsed(text), effective(FORMAT.tree(text))
    assert whole.unmodelled == ()
    for place in islice(filter(_is_first_of_its_kind, paths(FORMAT.tree(text))), None, None, every):
        lost = without_line(text, *place)
        if effective(FORMAT.tree(lost)) == shown:
            assert place[-1] in BRIDGED_DEFAULTS | SWITCH_DEFAULTS, place
            continue
        try:
            found = parsed(lost)
        except RailfabError:
            continue
        assert found != whole, place


def _is_first_of_its_kind(place: tuple[str, ...]) -> bool:
    """Whether no other port, SVI, VLAN or split cage has the same lines."""
    repeated = ("interface Ethernet", "interface Vlan", "interface breakout module 1 port ", "vlan 1")
    first = ("interface Ethernet1/1/1", "interface Vlan101", "interface breakout module 1 port 1 ", "vlan 101")
    return not place[0].startswith(repeated) or place[0].startswith(first)


CONFIGURATIONS = Path(os.environ.get("RAILFAB_LAB_VALIDATION", "")) / "snapshots"
"""Running configurations of batfish/lab-validation, which this repository does not carry."""


def running_configurations() -> Iterator[Path]:
    """Those of NX-OS, by the line that only it writes."""
    for path in sorted(CONFIGURATIONS.glob("*/configs/*/show_running-config.txt")):
        if "\nvdc " in path.read_text(errors="replace"):
            yield path


@pytest.mark.skipif(
    not CONFIGURATIONS.is_dir(), reason="set RAILFAB_LAB_VALIDATION to a clone of batfish/lab-validation"
)
def test_real_configurations_are_read_without_losing_a_line() -> None:
    """Every line is one that the model renders, one that is unmodelled, or a default; and none is refused."""
    found = list(running_configurations())
    assert len(found) > 30
    for path in found:
        text = path.read_text(errors="replace")
        model = parsed(text)
        assert NXOS.refusals is not None
        assert NXOS.refusals(text) == (), path
        kept = {": ".join(place) for place in paths(effective(NXOS.render(model)))} | set(model.unmodelled)
        for place in paths(effective(FORMAT.tree(text))):
            assert ": ".join(place) in kept, (path, place)

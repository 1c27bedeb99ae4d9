"""EOS's configuration as a switch shows it: other forms of a setting, defaults, order, and what is the operator's."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from ipaddress import ip_address, ip_interface
from pathlib import Path

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import (
    AaaServer,
    BalancingMode,
    BfdTimers,
    BreakoutPort,
    DeviceModel,
    Family,
    HashField,
    Lag,
    Lldp,
    LoadBalancing,
    ManagementAccess,
    Mlag,
    MlagKeepalive,
    PfcWatchdog,
    Port,
    Remote,
)
from railfab.errors import ConfigError, UnsupportedFeature
from railfab.fabric import Design, design
from railfab.intent.document import Document
from railfab.platforms import admit, platform
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.topology import wire

EOS = platform("eos")
QUEUE_PAIR = tuple(field for field in HashField if field in QUEUE_PAIR_FIELDS)
FABRICS = Path(__file__).parents[3] / "inventory" / "fabrics"


@cache
def models(fabric: str) -> dict[str, DeviceModel]:
    return design(FABRICS / f"{fabric}.yml").models


def leaf(fabric: str = "multi-rail") -> DeviceModel:
    return models(fabric)["pod1-seg1-leaf1"]


def text(model: DeviceModel) -> str:
    return EOS.text(EOS.render(model))


@pytest.mark.parametrize("fabric", ["dual-esi", "dual-mlag", "dual-vlan", "multi-rail", "multi-rail-own", "shared-nic"])
def test_every_switch_of_a_design_is_parsed_back(fabric: str) -> None:
    for model in models(fabric).values():
        assert EOS.parse(text(model)) == model


def shown(configuration: str) -> str:
    """The configuration as another release shows it: with a header, defaults, empty ports, other forms of values."""
    lines = ["! Command: show running-config", "! device: leaf (DCS-7060DX5-64S, EOS-4.33.1F)", "!"]
    for line in configuration.splitlines():
        if entries := re.fullmatch(r"(ip|ipv6) prefix-list (\S+)", line):
            lines.append("!")
            listed = entries[0]
            continue
        if line.startswith("   seq "):
            lines.append(f"{listed} {line.strip()}")
            continue
        if points := re.fullmatch(r"qos map dscp ([\d ]+) to traffic-class (\d)", line):
            lines += [f"qos map dscp {point} to traffic-class {points[2]}" for point in points[1].split()]
            continue
        lines.append(line.replace("timeout 0.2", "timeout 0.20"))
        if line.startswith("interface Ethernet"):
            lines.append("   no shutdown")
        if line.startswith("router bgp"):
            lines.append("   bgp bestpath as-path multipath-relax")
    return "\n".join([*lines[:-1], "interface Ethernet64/2", "spanning-tree mode mstp", "no aaa root", "end", ""])


@pytest.mark.parametrize("fabric", ["multi-rail", "dual-mlag"])
def test_other_forms_and_shown_defaults_make_no_difference(fabric: str) -> None:
    model = leaf(fabric)
    other = shown(text(model))
    assert other != text(model)
    assert EOS.parse(other) == model
    assert EOS.differences(other, text(model)) == ()


def test_the_order_of_sections_makes_no_difference() -> None:
    model = leaf("dual-esi")
    sections = text(model).removesuffix("!\nend\n").split("!\n")
    joined = [found for found in re.split(r"(?m)^!\n", text(model).removesuffix("!\nend\n")) if found]
    assert sections
    assert EOS.parse("!\n".join(reversed(joined)) + "end\n") == model


def test_thresholds_in_kilobytes_are_those_in_bytes() -> None:
    model = leaf()
    in_kilobytes = re.sub(r"(\d+)000 bytes", r"\1 kbytes", text(model))
    assert "kbytes" in in_kilobytes
    assert EOS.parse(in_kilobytes) == model


@pytest.mark.parametrize("unit", ["segments", "milliseconds", "microseconds"])
def test_thresholds_in_another_unit_are_marks_without_bytes(unit: str) -> None:
    """They are rendered as they were read, and their ports mark the same classes."""
    model = leaf()
    assert model.qos is not None
    stated = re.sub(r"(\d+)000 bytes (?=max|weight)", rf"\1 {unit} ", text(model))
    read = EOS.parse(stated)
    assert read.qos is not None
    assert [port.ecn for port in read.qos.ports] == [port.ecn for port in model.qos.ports]
    ramps = [thresholds for profile in read.qos.profiles for thresholds in profile.thresholds if thresholds.marks]
    assert {(ramp.ecn, unit in (ramp.native_ecn or "")) for ramp in ramps} == {(None, True)}
    assert not read.unmodelled
    assert EOS.parse(text(read)) == read


def test_a_split_cage_has_the_names_of_first_lanes() -> None:
    """A cage of eight lanes, of which two 200G ports have four each; the second may be unused."""
    model = leaf("dual-esi")
    assert BreakoutPort(cage="Ethernet1/1", lanes=2, rate_gbps=200) in model.breakouts
    lines = text(model)
    assert "interface Ethernet1/5\n" in lines
    without = replace(model, interfaces=tuple(x for x in model.interfaces if x.name != "Ethernet1/5"), qos=None)
    lags = tuple(
        replace(x, members=tuple(name for name in x.members if name != "Ethernet1/5")) if isinstance(x, Lag) else x
        for x in without.interfaces
    )
    unused = replace(without, interfaces=lags)
    assert "interface Ethernet1/5\n   speed 200g-4\n!" in text(unused)
    assert EOS.parse(text(unused)) == unused


def test_half_a_split_is_no_split() -> None:
    parsed = EOS.parse("interface Ethernet1/1\n   speed 200g-4\n   no switchport\n")
    assert parsed.breakouts == ()
    assert [port.rate_gbps for port in parsed.interfaces if isinstance(port, Port)] == [200]


def test_both_switches_of_a_pair_have_an_address_on_the_peer_link() -> None:
    first, second = (text(models("dual-mlag")[f"pod1-seg1-leaf{number}"]) for number in (1, 2))
    assert "   ip address 169.254.255.0/31\n" in first
    assert "   peer-address 169.254.255.1\n" in first
    assert "   ip address 169.254.255.1/31\n" in second
    assert "   peer-address 169.254.255.0\n" in second


def test_addresses_of_a_peer_link_that_a_model_states_are_kept() -> None:
    model = leaf("dual-mlag")
    assert model.mlag is not None
    found = EOS.parse(text(model).replace("169.254.255.0/31", "10.9.9.0/31").replace("169.254.255.1", "10.9.9.1"))
    own, peer = ip_interface("10.9.9.0/31"), ip_address("10.9.9.1")
    assert found.mlag == replace(model.mlag, address=own, peer=peer)
    assert EOS.parse(text(found)) == found


def test_a_pair_may_have_its_keepalive_in_a_vrf() -> None:
    model = leaf("dual-mlag")
    keepalive = MlagKeepalive(peer=ip_address("10.128.4.2"), network_instance="mgmt")
    changed = replace(
        model, mlag=Mlag(domain="pair1", peer_link=model.mlag.peer_link if model.mlag else "", keepalive=keepalive)
    )
    assert "   peer-address heartbeat 10.128.4.2 vrf mgmt\n" in text(changed)
    assert "   dual-primary detection delay 10 action errdisable all-interfaces\n" in text(changed)
    assert EOS.parse(text(changed)) == changed


def test_lldp_settings_are_parsed_back() -> None:
    lldp = Lldp(silent=("Ethernet1/1",), hello_s=10, hold_multiplier=3)
    model = replace(leaf(), lldp=lldp)
    assert EOS.parse(text(model)) == model
    assert EOS.parse(text(replace(model, lldp=Lldp(enabled=False)))).lldp == Lldp(enabled=False)


def test_a_drained_switch_is_in_maintenance() -> None:
    model = replace(leaf(), drain=True)
    assert "maintenance\n   !\n   unit System\n      quiesce\n" in text(model)
    assert EOS.parse(text(model)) == model


def test_a_server_is_the_same_with_its_key() -> None:
    model = replace(leaf(), management=ManagementAccess(network_instance="mgmt", aaa=(AaaServer(address="10.0.0.5"),)))
    server = "tacacs-server host 10.0.0.5 vrf mgmt"
    configuration = text(model).replace(f"{server}\n", f"{server} key 7 0123abcdef\n")
    assert configuration != text(model)
    assert EOS.parse(configuration) == model
    assert EOS.differences(configuration, text(model)) == ()


def test_another_password_is_another_configuration() -> None:
    login = "username admin privilege 15 role network-admin secret sha512 $6$abcdef"
    assert EOS.parse(f"{login}\n") != EOS.parse(f"{login}x\n")


OPERATORS = """\
vrf instance MGMT
interface Management1
   vrf MGMT
   ip address 10.1.1.1/24
ip route vrf MGMT 0.0.0.0/0 10.1.1.254
management api http-commands
   no shutdown
ntp server vrf MGMT 10.0.0.1
"""


def test_what_the_intent_does_not_state_is_the_operators() -> None:
    model = leaf()
    configuration = text(model).replace("!\nend\n", f"{OPERATORS}end\n")
    assert EOS.scoped is not None
    assert EOS.parse(EOS.scoped(configuration, text(model))) == model
    assert EOS.parse(configuration).unmodelled
    stated = text(replace(model, management=ManagementAccess(network_instance="MGMT", ntp=("10.0.0.2",))))
    kept = EOS.scoped(configuration, stated)
    assert "ntp server vrf MGMT 10.0.0.1\n" in kept
    assert "vrf instance MGMT\n" in kept
    assert "http-commands" not in kept


def test_ssh_is_served_in_the_vrf_of_the_servers() -> None:
    served = "management ssh\n   !\n   vrf MGMT\n      no shutdown\n"
    model = replace(leaf(), management=ManagementAccess(network_instance="MGMT", ntp=("10.0.0.2",)))
    assert served in text(model)
    assert EOS.parse(text(model)) == model
    assert "management ssh" not in text(replace(leaf(), management=ManagementAccess(ntp=("10.0.0.2",))))
    assert EOS.scoped is not None
    assert served not in EOS.scoped(text(leaf()).replace("!\nend\n", f"{served}end\n"), text(leaf()))


def test_a_startup_file_has_a_login_and_a_gnmi_server() -> None:
    assert EOS.startup is not None
    file = EOS.startup(EOS.render(leaf()))
    assert EOS.lab.preface
    assert file.startswith(EOS.lab.preface)
    assert "management api gnmi\n   transport grpc default\n" in file
    assert EOS.scoped is not None
    assert EOS.parse(EOS.scoped(file, text(leaf()))) == leaf()


@pytest.mark.parametrize(
    ("section", "line", "problem"),
    [
        ("interface Ethernet1/1", "mtu 70000", "70000 is not within 68 to 65535"),
        ("interface Ethernet1/1", "ip address fd00::1/64", "fd00::1/64 is not an IPv4 address"),
        ("interface Ethernet1/1", "switchport trunk allowed vlan 4095", "4095 is not within 1 to 4094"),
        ("router bgp 65001", "maximum-paths 601", "601 is not within 1 to 600"),
        ("qos profile A", "uc-tx-queue 9", "9 is not within 0 to 7"),
    ],
)
def test_an_impossible_value_is_an_error_with_its_line_and_section(section: str, line: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        EOS.parse(f"{section}\n   {line}\n")
    assert str(refused.value) == f"line 2, in {section}: {line!r} has a bad value ({problem}). Correct the value."


def test_a_weighted_queue_without_a_share_differs_in_its_share_and_in_no_line() -> None:
    model = EOS.parse("qos profile A\n   uc-tx-queue 3\n      no priority\n")
    assert model.qos is not None
    assert [queue.weight for queue in model.qos.classes if queue.queue == 3] == [None]
    assert not [line for line in model.unmodelled if "None" in line]


def test_a_section_that_stands_twice_is_one() -> None:
    text = "router bgp 65001\n   router-id 192.0.2.1\nrouter bgp 65001\n   maximum-paths 8\n"
    bgp = EOS.parse(text).bgp
    assert bgp is not None
    assert (str(bgp.router_id), bgp.max_paths) == ("192.0.2.1", 8)


def test_code_points_that_eos_maps_so_by_itself_may_be_hidden() -> None:
    """24 to 31 are of class 3 by default, and 48 to 55 of class 6."""
    model = leaf()
    hidden = re.sub(r"qos map dscp (?:26|48) to .*\n", "", text(model))
    assert hidden.count("qos map dscp") == 1
    assert EOS.parse(hidden) == model
    assert EOS.differences(hidden, text(model)) == ()


def test_ports_that_are_no_first_lanes_of_a_split_split_nothing() -> None:
    lanes = "".join(f"interface Ethernet1/{lane}\n   speed 200g-4\n   no switchport\n" for lane in (1, 2))
    parsed = EOS.parse(lanes)
    assert parsed.breakouts == ()
    assert [port.rate_gbps for port in parsed.interfaces if isinstance(port, Port)] == [200, 200]


def test_a_vrf_in_which_packets_are_routed_is_not_the_operators() -> None:
    model = leaf()
    configuration = text(model).replace("!\nend\n", "vrf instance tenant\nip routing vrf tenant\nend\n")
    assert EOS.scoped is not None
    kept = EOS.scoped(configuration, text(model))
    assert "vrf instance tenant\n" in kept
    assert [found.name for found in EOS.parse(kept).network_instances] == ["tenant"]


NEIGHBORS = """\
router bgp 65001
   neighbor SPINES peer group
   neighbor SPINES timers 3 9
   neighbor SPINES bfd
   neighbor SPINES remote-as 65002
   neighbor 10.0.0.1 peer group SPINES
   neighbor 10.0.0.3 peer group SPINES
   neighbor 10.0.0.3 timers 1 3
   neighbor 10.0.0.3 shutdown
   neighbor 10.0.0.3 remote-as 65001
   neighbor 10.0.0.5 route-map IN in
   vrf tenant
      neighbor 10.0.1.1 peer group SPINES
   address-family ipv4
      neighbor SPINES activate
      neighbor 10.0.0.5 activate
"""


def test_a_session_has_the_settings_of_its_peer_group_and_its_own() -> None:
    first, second, third, inside = EOS.parse(NEIGHBORS).neighbors
    assert (first.remote_as, first.timers.hold_s, first.enabled) == (65002, 9, True)
    assert first.bfd == BfdTimers(interval_ms=300, multiplier=3)
    assert (second.remote_as, second.timers.hold_s, second.enabled) == (Remote.INTERNAL, 3, False)
    assert (third.remote_as, third.timers.hold_s, third.bfd) == (0, 180, None)
    assert third.import_policies == ("IN",)
    assert (inside.network_instance, inside.remote_as) == ("tenant", 65002)
    assert all(found.families == (Family.IPV4,) for found in (first, second, third, inside))
    disabled = EOS.parse(NEIGHBORS + "   neighbor SPINES shutdown\n").neighbors
    assert [found.enabled for found in disabled] == [False, False, True, False]


def test_a_member_has_the_description_of_its_peer_group_unless_it_states_its_own() -> None:
    """A session over an interface cannot state its own."""
    router = """vrf instance RED
ip routing vrf RED
router bgp 65001
   neighbor FABRIC-2 peer group
   neighbor FABRIC-2 description all spines
   neighbor FABRIC peer group
   neighbor FABRIC description over ports
   neighbor 10.0.0.1 peer group FABRIC-2
   neighbor 10.0.0.1 remote-as 65100
   neighbor 10.0.0.3 peer group FABRIC-2
   neighbor 10.0.0.3 remote-as 65100
   neighbor 10.0.0.3 description spine 2
   neighbor interface Ethernet3/1 peer-group FABRIC remote-as 65100
   vrf RED
      neighbor 10.1.0.1 peer group FABRIC-2
      neighbor 10.1.0.1 remote-as 65100
"""
    model = EOS.parse(router)
    assert {str(neighbor.peer): neighbor.description for neighbor in model.neighbors} == {
        "10.0.0.1": "all spines",
        "10.0.0.3": "spine 2",
        "Ethernet3/1": "over ports",
        "10.1.0.1": "all spines",
    }
    assert not [line for line in model.unmodelled if "description" in line]
    assert replace(EOS.parse(text(model)), unmodelled=()) == replace(model, unmodelled=())


def test_each_ethernet_segment_has_a_route_target_of_its_own() -> None:
    targets = re.findall(r"route-target import (\S+)\n", text(leaf("dual-esi")))
    assert len(targets) > 1
    assert len({*targets}) == len(targets)


def test_a_leaf_deals_out_the_flows_of_each_host_port() -> None:
    """Of a leaf with bridged ports; its uplinks have a session each."""
    model = replace(leaf(), load_balancing=LoadBalancing(mode=BalancingMode.COLLECTIVE))
    lines = text(model)
    assert "load-balance cluster\n   forwarding type routed ipv4\n   destination grouping prefix length 32\n" in lines
    hosts = re.findall(r"   port group host (\S+)\n      interface (\S+)\n", lines)
    bridged = [port.name for port in model.interfaces if isinstance(port, Port) and port.vlans is not None]
    assert hosts == [(name.replace("/", "-"), name) for name in bridged]
    assert EOS.parse(lines) == model


def test_the_queue_pair_in_the_hash_is_three_bytes_of_the_payload_of_udp() -> None:
    model = admit(replace(leaf(), load_balancing=LoadBalancing(fields=QUEUE_PAIR), silicon="Jericho 2"), EOS)
    lines = text(model)
    section = "load-balance policies\n   load-balance sand profile default\n      fields udp dst-port 4791\n"
    assert f"{section}         payload bytes 5-7\n" in lines
    assert EOS.parse(lines) == model
    others = EOS.parse(lines.replace("payload bytes 5-7", "payload bytes 5"))
    assert others.load_balancing is None


@pytest.mark.parametrize(
    ("silicon", "load_balancing", "feature", "key"),
    [
        ("Tomahawk 5", LoadBalancing(fields=QUEUE_PAIR), "hash_queue_pair", "profile.hash.fields"),
        ("Trident 4", LoadBalancing(fields=QUEUE_PAIR), "hash_queue_pair", "profile.hash.fields"),
        ("Jericho 2", LoadBalancing(mode=BalancingMode.FLOWLET), "load_balancing_flowlet", "profile.ecmp"),
        ("Trident 3 X2", LoadBalancing(mode=BalancingMode.FLOWLET), "load_balancing_flowlet", "profile.ecmp"),
        ("Trident 4", LoadBalancing(mode=BalancingMode.COLLECTIVE), "load_balancing_collective", "profile.ecmp"),
    ],
)
def test_what_a_chip_lacks_is_refused_by_name(
    silicon: str, load_balancing: LoadBalancing, feature: str, key: str
) -> None:
    with pytest.raises(UnsupportedFeature) as refused:
        admit(replace(leaf(), load_balancing=load_balancing, silicon=silicon), EOS)
    assert str(refused.value) == (
        f"pod1-seg1-leaf1: platform eos does not support {feature} on {silicon}. "
        f"Choose a switch model with another chip, or change {key} in the intent."
    )


def test_the_chip_of_a_switch_is_that_of_its_model_in_the_catalogue() -> None:
    assert {found.silicon for found in models("multi-rail").values()} == {"Tomahawk 4"}


@pytest.mark.parametrize(
    ("model", "has", "lacks"),
    [
        ("7280dr3-24", ["   tx-queue 3\n", "load-balance sand profile default\n"], ["uc-tx-queue", "platform trident"]),
        ("7060dx5-64s", ["   uc-tx-queue 3\n", "platform trident mmu queue profile FABRIC apply\n"], ["\n   tx-queue"]),
    ],
)
def test_the_lines_of_an_intent_depend_on_its_switch_model(model: str, has: list[str], lacks: list[str]) -> None:
    hashed = {"profile__hash": {"fields": [field.value for field in QUEUE_PAIR]}} if "sand" in str(has) else {}
    intent = fabric(
        hosts={"gpus": 4, "rate_gbps": 400},
        backend__segments={"count": 1, "hosts": 2, "rail_switches": 1, "model": model},
        backend__spines={"count": 2, "rate_gbps": 400, "model": model},
        **hashed,
    )
    designed = Design(document=Document(Path("intent.yml"), {}), intent=intent, topology=wire(intent))
    lines = designed.texts["pod1-seg1-leaf1"]
    assert all(line in lines for line in has)
    assert not any(line in lines for line in lacks)


def test_a_jericho_chip_has_queues_of_all_packets_and_divides_its_buffer_by_itself() -> None:
    model = admit(replace(leaf(), silicon="Jericho 2"), EOS)
    lines = text(model)
    assert "   tx-queue 3\n      no priority\n" in lines
    assert "uc-tx-queue" not in lines
    assert "platform trident" not in lines
    assert "random-detect ecn minimum-threshold" in lines
    assert EOS.parse(lines) == model
    assert EOS.parse(lines).unmodelled == ()
    mixed = EOS.parse(lines.replace("   tx-queue 3", "   uc-tx-queue 3", 1))
    assert mixed.unmodelled


@pytest.mark.parametrize(("paths", "line"), [(1, ""), (2, "   maximum-paths 2 ecmp 2\n")])
def test_one_path_is_the_default(paths: int, line: str) -> None:
    model = leaf()
    assert model.bgp is not None
    changed = replace(model, bgp=replace(model.bgp, max_paths=paths))
    assert re.findall(r"   maximum-paths .*\n", text(changed)) == [line] * bool(line)
    assert EOS.parse(text(changed)) == changed


def test_a_switch_that_trusts_dscp_without_a_map_has_the_classes_of_eos() -> None:
    qos = EOS.parse("qos profile A\n   qos trust dscp\ninterface Ethernet1/1\n   service-profile A\n").qos
    assert qos is not None
    assert [found.queue for found in qos.classes] == list(range(8))
    assert dict(qos.classifiers[0].dscp)[26] == "queue3"
    assert qos.default_class == "queue1"


def test_a_trunk_without_a_list_carries_what_the_model_cannot_say() -> None:
    parsed = EOS.parse("interface Ethernet1/1\n   switchport mode trunk\n")
    assert "interface Ethernet1/1: no switchport trunk allowed vlan none" in parsed.unmodelled
    assert EOS.parse(text(parsed)).interfaces == parsed.interfaces


@pytest.mark.parametrize(
    ("detect_ms", "recover_ms", "polling"),
    [(200, 400, "0.1"), (400, 100, "0.05"), (100, 100, "0.05"), (30, 400, "0.015"), (10, 10, "0.005")],
)
def test_the_watchdog_looks_twice_within_the_shorter_of_its_times(
    detect_ms: int, recover_ms: int, polling: str
) -> None:
    model = leaf()
    assert model.qos is not None
    watchdog = PfcWatchdog(detect_ms=detect_ms, recover_ms=recover_ms)
    text = EOS.text(EOS.render(replace(model, qos=replace(model.qos, watchdog=watchdog))))
    assert re.findall(r"polling-interval (\S+)", text) == [polling]


def test_a_time_that_is_no_number_is_unmodelled() -> None:
    line = "priority-flow-control pause watchdog default timeout 100.64.0.11"
    assert line in EOS.parse(f"hostname leaf1\n{line}\n").unmodelled

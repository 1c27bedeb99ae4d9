"""The forms of a Junos configuration, and what is read of one that railfab has not rendered."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.platforms.junos.switches import with_junos

from railfab.device import (
    MANAGEMENT_VRF,
    Action,
    Aggregate,
    BalancingMode,
    DeviceModel,
    EcnRamp,
    GnmiService,
    HashField,
    LoadBalancing,
    Loopback,
    ManagementAccess,
    NextHop,
    PfcWatchdog,
    Port,
    PortQos,
    Scheduling,
    Svi,
    TrafficClass,
)
from railfab.errors import ConfigError, RailfabError
from railfab.fabric import design
from railfab.platforms import Side, admit, platform
from railfab.platforms.junos.fill_levels import Levels, queue_bytes
from railfab.platforms.junos.names import device_name
from railfab.platforms.junos.render_bgp import path_limit
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import quoted, shown
from railfab.platforms.shared.edit_commands import statements
from railfab.testing.device_models import device_models
from railfab.testing.leaf_models import leaf as small_leaf

JUNOS = platform("junos")

FOREIGN = """
version 24.4R1-EVO;
## Last commit: by an operator
system { host-name leaf1; management-instance; }
interfaces {
    et-0/0/0 { description "Breakout et-0/0/0"; number-of-sub-ports 2; speed 400g; }
    et-0/0/0:0 {
        mtu 9216;
        unit 0 { family inet { mtu 9170; address 10.0.0.1/31; } }
    }
    inactive: et-0/0/5 { unit 0 { family inet; } }
    irb { unit 3 { family inet { address 10.1.3.1/24; } mac 00:1c:73:00:00:01; } }
    lo0 { unit 0 { family inet { address 10.255.0.1/32; } } }
}
forwarding-options {
    /* flowlets
       of the design */
    hash-key { family inet { layer-3; layer-4; } }
    enhanced-hash-key { ecmp-dlb { flowlet { inactivity-interval 128; } sampling-rate 1000000; } }
}
class-of-service {
    classifiers { dscp mydscp { forwarding-class NO-LOSS { loss-priority low code-points 011010; } } }
    drop-profiles { dp1 { interpolate { fill-level [ 55 90 ]; drop-probability [ 0 100 ]; } } }
    forwarding-classes { class CNP queue-num 3; class NO-LOSS queue-num 4 no-loss pfc-priority 3; }
    congestion-notification-profile {
        cnp {
            pfc-watchdog;
            input { dscp { code-point 011010 { pfc; } } }
            output { ieee-802.1 { code-point 011 { flow-control-queue 4; } } }
        }
    }
    interfaces {
        et-* { congestion-notification-profile cnp; scheduler-map sm1; unit * { classifiers { dscp mydscp; } } }
    }
    scheduler-maps { sm1 { forwarding-class CNP scheduler s2; forwarding-class NO-LOSS scheduler s1; } }
    schedulers {
        s1 { drop-profile-map loss-priority any protocol any drop-profile dp1; explicit-congestion-notification; }
        s2 { transmit-rate percent 5; priority strict-high; }
    }
}
security { certificates { local { grpc { "secret"; ## SECRET-DATA
} } } }
policy-options {
    policy-statement OUT {
        term EDGE { from { route-filter 10.0.0.0/8 exact; community RED; } then { community set RED; accept; } }
        term LOCAL { from protocol static; then accept; }
    }
    policy-statement PFE-LB { then { load-balance per-packet; } }
    community RED members 65000:1;
    community BLUE members 65000:1;
}
routing-instances {
    evpn-1 {
        instance-type mac-vrf;
        protocols { evpn { encapsulation vxlan; extended-vni-list all; } }
        vtep-source-interface lo0.0;
        service-type vlan-aware;
        vlans { vn9 { vlan-id 9; vxlan { vni 10009; } } }
    }
}
routing-options {
    forwarding-table { export PFE-LB; }
     router-id 10.255.0.1; autonomous-system 65001; }
protocols {
    bgp {
        group spines {
            type external;
            multipath multiple-as;
            hold-time 30;
            neighbor 10.0.0.0 { export ( OUT && POLICY ); peer-as 65000; }
            neighbor 10.0.0.2 { export OUT; peer-as 65001; }
        }
    }
}
vlans { vn3 { description Storage; vlan-id 3; l3-interface irb.3; } }
"""
"""A configuration as an operator would write it, in the manner of Juniper's validated design."""


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    """A rail switch of `dual-rail`."""
    return admit(design(repository / "inventory" / "fabrics" / "dual-rail.yml").models["pod1-seg1-leaf1"], JUNOS)


def as_set_lines(text: str) -> str:
    return "\n".join(f"set {shown(found)}" for found in read(text))


# Forms


@given(drawn=st.data())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_lines_of_display_set_are_read_as_braces_are(drawn: st.DataObject) -> None:
    model = admit(drawn.draw(device_models("junos")), JUNOS)
    text = JUNOS.text(JUNOS.render(model))
    assert JUNOS.parse(as_set_lines(text)) == model
    assert JUNOS.differences(as_set_lines(text), text) == ()


def test_a_foreign_configuration_is_read_alike_in_both_forms() -> None:
    assert JUNOS.parse("\n".join(f"set {shown(found)}" for found in read(FOREIGN) if found[0] != "inactive:")) == (
        JUNOS.parse(FOREIGN.replace("inactive: et-0/0/5 { unit 0 { family inet; } }", ""))
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a { b c; }", [("a", "b", "c")]),
        ("a b { c; d [ e f ]; }", [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "f")]),
        ("a; b { }", [("a",), ("b",)]),
        ("a [ ];", [("a",)]),
        ('a "b; {c}";', [("a", "b; {c}")]),
        ('a "say \\"no\\"";', [("a", 'say "no"')]),
        ("a { /* b; */ c; # d;\n}", [("a", "c")]),
        ("a { et-0/0/* { b; } /* c */ }", [("a", "et-0/0/*", "b")]),
        ("a { inactive: b { c; } }", [("inactive:", "a", "b", "c")]),
        ("a { protect: b c; }", [("protect:", "a", "b", "c")]),
        ("{master:0}\na b;", [("a", "b")]),
        ("set a b\nset a c d\ndeactivate a c", [("a", "b"), ("inactive:", "a", "c", "d")]),
        ("{master:0}set a b\n\n{master:0}", [("a", "b")]),
        ("set a [ b c ]", [("a", "b"), ("a", "c")]),
        ("set a b\ndeactivate c", [("a", "b"), ("inactive:", "c")]),
        ("set a b\nset a c\nset a d e\ninsert a d before b", [("a", "d", "e"), ("a", "b"), ("a", "c")]),
        ("set a x b 1\nset a x c 1\ninsert a x b after x c", [("a", "x", "c", "1"), ("a", "x", "b", "1")]),
        ("set a b\ninsert a b after c", [("a", "b"), ("insert:", "a", "b", "after", "c")]),
        ("/* a\n comment */\nset a b\n# another\nannotate a text", [("a", "b")]),
        ("set a et-0/0/[0-3] b", [("a", "et-0/0/[0-3]", "b")]),
        ("set a b c\nset a d\ndelete a b", [("a", "d")]),
        ("set a b 1\ndelete a b\nset a b 2", [("a", "b", "2")]),
        ("set a b\ndelete a b\ndelete a b\ndelete a bc", [("delete:", "a", "b"), ("delete:", "a", "bc")]),
        ("set a b\ndeactivate a\nset a c\nactivate a", [("a", "b"), ("a", "c")]),
        ("set a b\ndeactivate a\ndelete a\nset a b", [("a", "b")]),
        ("set a b\ndeactivate a b\nset a c", [("inactive:", "a", "b"), ("a", "c")]),
        ("set a b;\nactivate a\nprotect a", [("a", "b"), ("protect:", "a"), ("activate:", "a")]),
        ("set a b\nprotect a\nunprotect a\nunprotect a", [("a", "b"), ("unprotect:", "a")]),
    ],
)
def test_a_text_has_these_statements(text: str, expected: list[tuple[str, ...]]) -> None:
    assert list(statements(text)) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a { b;", "end of the configuration: a brace or a semicolon is missing. Balance the braces."),
        ("a;\n}", "line 2: '}' is not expected here. Balance the braces."),
        ("a [ b [ c ] ];", "line 1: '[' is not expected here. Balance the braces."),
        ('a "b;', 'line 1: " is not closed. Close it.'),
        (
            "set a b\ncopy a b to c",
            "line 2: 'copy' is not applied, so the configuration is not that of the switch. "
            "Use what `show configuration | display set` prints, with set, delete and deactivate lines.",
        ),
    ],
)
def test_a_text_that_is_no_configuration_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        JUNOS.parse(text)
    assert str(refused.value) == problem


@given(drawn=st.data())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_removed_and_set_again_is_as_if_it_were_set_once(leaf: DeviceModel, drawn: st.DataObject) -> None:
    """Each line takes effect before the next one; what names nothing changes nothing, and is said."""
    lines = as_set_lines(JUNOS.text(JUNOS.render(leaf))).splitlines()
    at = drawn.draw(st.integers(0, len(lines) - 1))
    again = drawn.draw(st.lists(st.sampled_from(lines), max_size=5, unique=True))
    removed = [line.replace("set", "delete", 1) for line in again]
    hidden = [line.replace("set", "deactivate", 1) for line in again]
    shown_again = [line.replace("set", "activate", 1) for line in again]
    text = "\n".join((*again, *removed, *lines[:at], *lines[at:], *hidden, *shown_again))
    assert JUNOS.parse(text) == leaf
    assert JUNOS.refusals is not None
    assert JUNOS.refusals(text) == ()
    assert [refusal.where for refusal in JUNOS.refusals("\n".join((*removed, text)))] == removed


def test_a_word_of_an_object_on_one_line_is_removed_alone(leaf: DeviceModel) -> None:
    lossless = "class-of-service forwarding-classes class roce"
    text = as_set_lines(JUNOS.text(JUNOS.render(leaf))) + f"\ndelete {lossless} no-loss\ndelete {lossless} no-losses"
    model = JUNOS.parse(text)
    assert model.qos is not None
    roce = model.qos.traffic_class("roce")
    assert (roce.queue, roce.lossless) == (3, False)
    assert f"delete: {lossless} no-losses" in model.unmodelled
    assert f"{lossless} no-loss" not in model.unmodelled


@given(word=st.text(min_size=1, max_size=12).filter(lambda word: "\0" not in word))
def test_a_quoted_word_is_read_back(word: str) -> None:
    assert statements(f"a {quoted(word)};") == (("a", word),)


def test_an_impossible_value_is_refused_with_its_path() -> None:
    with pytest.raises(RailfabError) as refused:
        JUNOS.parse("interfaces { et-0/0/0 { mtu big; unit 0 { family inet { address 10.0.0/33; } } } }")
    assert "interfaces et-0/0/0 mtu: 'big' is not a whole number" in str(refused.value)
    assert "address 10.0.0/33: is not an IP address with prefix length" in str(refused.value)


# What is read


def test_a_foreign_configuration_is_read_as_what_it_does() -> None:
    model = JUNOS.parse(FOREIGN)
    port = model.interface("et-0/0/0:0")
    assert isinstance(port, Port)
    assert (port.mtu_bytes, port.addresses) == (9170, (IPv4Interface("10.0.0.1/31"),))
    assert [(found.cage, found.lanes, found.rate_gbps) for found in model.breakouts] == [("et-0/0/0", 2, 400)]
    gateway = model.interface("vlan3")
    assert isinstance(gateway, Svi)
    assert (gateway.addresses, gateway.gateways) == ((), (IPv4Interface("10.1.3.1/24"),))
    assert [(vlan.vlan_id, vlan.name) for vlan in model.vlans] == [(3, "vn3"), (9, "vn9")]
    fields = (HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS, HashField.PROTOCOL)
    five = (*fields, HashField.SOURCE_PORT, HashField.DESTINATION_PORT)
    assert model.load_balancing == LoadBalancing(mode=BalancingMode.FLOWLET, fields=five, flowlet_gap_us=128)


def test_the_settings_of_a_group_are_those_of_its_sessions() -> None:
    neighbor, _ = JUNOS.parse(FOREIGN).neighbors
    assert (neighbor.remote_as, neighbor.timers.hold_s, neighbor.timers.keepalive_s) == (65000, 30, 10)
    assert neighbor.export_policies == ()


def test_of_groups_and_terms_with_other_names_only_the_name_is_unmodelled() -> None:
    model = JUNOS.parse(FOREIGN)
    assert model.bgp is not None
    assert (model.bgp.max_paths, model.bgp.multiple_as) == (16, True)
    ours = [
        "policy-options community BLUE members 65000:1",
        "policy-options policy-statement OUT term EDGE",
        "policy-options policy-statement OUT term LOCAL from protocol static",
        "policy-options policy-statement OUT term LOCAL then accept",
        "protocols bgp group spines neighbor 10.0.0.0 export ( OUT && POLICY )",
        "protocols bgp group spines type external",
    ]
    said = [one for one in model.unmodelled if one.startswith(("policy-options", "protocols bgp"))]
    assert said == ours


def test_what_a_group_brings_in_is_in_the_model_and_a_group_with_a_condition_unmodelled() -> None:
    groups = """
    groups {
        PORTS { interfaces { <et-*> { mtu 9216; } "<et-0/0/[12]>" { speed 400g; } } }
        PEERS { protocols { bgp { group <*> { hold-time 9; } } } }
        LATER { when { time 2:00; } system { ntp { server 10.9.9.9; } } }
    }
    """
    own = """
    system { apply-groups LATER; }
    interfaces {
        apply-groups PORTS;
        et-0/0/1 { unit 0 { family inet { address 10.0.0.1/31; } } }
        et-0/0/2 { mtu 1514; unit 0; }
        et-0/0/3 { apply-groups-except PORTS; unit 0; }
    }
    protocols { apply-groups PEERS; bgp { group a { type external; neighbor 10.0.0.0 { peer-as 65000; } } } }
    """
    model = JUNOS.parse(groups + own)
    ports = {port.name: (port.mtu_bytes, port.rate_gbps) for port in model.interfaces if isinstance(port, Port)}
    assert ports == {"et-0/0/1": (9202, 400), "et-0/0/2": (1500, 400), "et-0/0/3": (None, None)}
    assert [neighbor.timers.hold_s for neighbor in model.neighbors] == [9]
    assert model.management is None
    assert {one for one in model.unmodelled if "groups" in one.split()[:2]} == {
        "groups LATER system ntp server 10.9.9.9",
        "groups LATER when time 2:00",
    }
    assert "system apply-groups LATER" in model.unmodelled
    assert [one for one in model.unmodelled if one.startswith("delete interfaces")] == []
    for value in ("9216", "400g", "9", "2:00", "10.9.9.9"):
        assert JUNOS.parse(groups.replace(f" {value};", f" {value}0;") + own) != model


def test_an_operators_names_of_profiles_schedulers_and_instances_are_read() -> None:
    model = JUNOS.parse(FOREIGN)
    assert [policy.name for policy in model.policies] == ["OUT"]
    ours = [
        "class-of-service congestion-notification-profile cnp pfc-watchdog",
        "class-of-service schedulers s2 transmit-rate percent 5",
        "routing-instances evpn-1 instance-type mac-vrf",
    ]
    sections = ("class-of-service", "routing-instances", "routing-options", "policy-options policy-statement PFE-LB")
    assert [one for one in model.unmodelled if one.startswith(sections)] == ours


def test_several_paths_are_those_of_every_group() -> None:
    """A group has its own setting, or that of all sessions."""
    for speaker, second, expected in (
        ("", "multipath multiple-as;", (16, True)),
        ("multipath;", "", (16, False)),
        ("multipath multiple-as;", "", (16, True)),
        ("", "", (1, False)),
        ("", "multipath disable;", (1, False)),
    ):
        groups = f"group a {{ multipath multiple-as; neighbor 10.0.0.1; }} group b {{ {second} neighbor 10.0.0.3; }}"
        found = JUNOS.parse(f"protocols {{ bgp {{ {speaker} {groups} }} }}").bgp
        assert found is not None
        assert (found.max_paths, found.multiple_as) == expected, (speaker, second)


def test_pause_profiles_without_statements_are_objects_and_no_values_of_a_leaf() -> None:
    names = ("a_pfc-0", "pfc-0")
    found = JUNOS.parse(
        "class-of-service { congestion-notification-profile a_pfc-0; congestion-notification-profile pfc-0; }"
    )
    lines = [line for line in found.unmodelled if "congestion-notification-profile" in line]
    assert lines == [f"class-of-service congestion-notification-profile {name}" for name in names]


def test_a_disabled_unit_does_not_route_while_its_port_is_up(leaf: DeviceModel) -> None:
    port = next(each for each in leaf.interfaces if isinstance(each, Port) and (each.unnumbered or each.addresses))
    name = device_name(port.name)
    found = JUNOS.parse(as_set_lines(JUNOS.text(JUNOS.render(leaf))) + f"\nset interfaces {name} unit 0 disable\n")
    read_port = found.interface(port.name)
    assert read_port is not None
    assert (port.network_instance, read_port.network_instance, read_port.enabled) == ("default", None, True)


def test_a_configuration_that_says_more_lacks_nothing() -> None:
    model = JUNOS.parse("interfaces { et-0/0/1 { unit 0 { family inet { dhcp; } } } }")
    assert "interfaces et-0/0/1 unit 0 family inet dhcp" in model.unmodelled
    assert [one for one in model.unmodelled if one.startswith("delete interfaces")] == []


def test_the_mtu_of_irb_holds_that_of_its_units(leaf: DeviceModel) -> None:
    """That of irb is 1514 by default, which a family may not exceed."""
    text = as_set_lines(JUNOS.text(JUNOS.render(leaf)))
    assert "set interfaces irb mtu 9216" in text
    assert "set interfaces irb unit 101 family inet mtu 9202" in text
    assert "interfaces irb mtu 1600" in JUNOS.parse(text.replace("irb mtu 9216", "irb mtu 1600")).unmodelled


def test_a_gateway_beside_an_address_of_its_subnet_is_a_virtual_one() -> None:
    """As operators write it; a planned switch has the gateway alone."""
    model = admit(small_leaf("junos", feature="anycast_gateway"), JUNOS)
    own, gateway = IPv4Interface("10.9.0.2/24"), IPv4Interface("10.9.0.1/24")
    for mac in (None, "00:1c:73:00:00:01"):
        interfaces = tuple(
            replace(x, addresses=(own,), gateways=(gateway,), gateway_mac=mac) if isinstance(x, Svi) else x
            for x in model.interfaces
        )
        wanted = replace(model, interfaces=interfaces)
        text = JUNOS.text(JUNOS.render(wanted))
        assert "address 10.9.0.2/24 {\n                    virtual-gateway-address 10.9.0.1;" in text
        assert ("virtual-gateway-v4-mac" in text) == (mac is not None)
        assert JUNOS.parse(text) == wanted


def test_a_wildcard_stands_for_every_port_that_is_not_split() -> None:
    qos = JUNOS.parse(FOREIGN).qos
    assert qos is not None
    expected = PortQos(interface="et-0/0/0:0", profile="sm1", classifier="mydscp", pfc=(3,), ecn=("NO-LOSS",))
    assert qos.ports == (expected,)
    assert qos.watchdog == PfcWatchdog(detect_ms=200, recover_ms=200)
    (thresholds,) = qos.profiles[0].thresholds
    size = queue_bytes(None)
    assert thresholds.ecn == EcnRamp(kmin_bytes=55 * size // 100, kmax_bytes=90 * size // 100, pmax_percent=100)


def read_as(text: str) -> DeviceModel | str:
    """The model of a text, or why it is refused."""
    try:
        return JUNOS.parse(text)
    except RailfabError as error:
        return str(error)


def test_nothing_of_a_foreign_configuration_is_lost() -> None:
    """Each line that is changed or left out, and each name, changes the model or what is unmodelled."""
    lines = [line for line in as_set_lines(FOREIGN).splitlines() if not line.startswith("set inactive:")]
    whole = read_as("\n".join(lines))
    for place, line in enumerate(lines):
        others = lines[:place], lines[place + 1 :]
        assert read_as("\n".join((*others[0], *others[1]))) != whole, line
        assert read_as("\n".join((*others[0], f"{line}x", *others[1]))) != whole, line
    for name in ("group spines", "term EDGE", "policy-statement OUT", "community RED", "export OUT"):
        assert name in FOREIGN
        assert read_as(FOREIGN.replace(name, f"{name}x", 1)) != read_as(FOREIGN), name


def test_what_is_not_in_effect_and_what_no_model_has_is_unmodelled() -> None:
    model = JUNOS.parse(FOREIGN)
    assert "inactive: interfaces et-0/0/5 unit 0 family inet" in model.unmodelled
    assert "security certificates local grpc secret" in model.unmodelled
    assert model.interface("et-0/0/5") is None


@pytest.mark.parametrize("change", ["local-preference add 10", "metric igp", "metric add 5"])
def test_a_term_that_changes_a_value_is_unmodelled(change: str) -> None:
    text = f"policy-options {{ policy-statement p {{ term 1 {{ then {{ {change}; accept; }} }} }} }}"
    model = JUNOS.parse(text)
    assert model.policies[0].rules == ()
    assert f"policy-options policy-statement p term 1 then {change}" in model.unmodelled


def test_attributes_of_the_last_term_are_read_as_those_of_a_rule() -> None:
    text = "policy-options {{ policy-statement p {{ term default {{ then {{ {0}accept; }} }} }} }}"
    (plain,), (preferring,) = (JUNOS.parse(text.format(more)).policies for more in ("", "local-preference 200; "))
    assert (plain.rules, plain.default) == ((), Action.PERMIT)
    assert [rule.set_local_preference for rule in preferring.rules] == [200]
    assert preferring.default is None


def test_a_prefix_may_have_several_ranges() -> None:
    filters = [f"route-filter 10.0.0.0/8 prefix-length-range /{length}-/{length};" for length in (16, 24)]
    text = f"policy-options {{ policy-statement p {{ term 1 {{ from {{ {' '.join(filters)} }} then accept; }} }} }}"
    (rule,) = JUNOS.parse(text).policies[0].rules
    assert [(found.ge, found.le) for found in rule.prefixes] == [(16, 16), (24, 24)]


def test_another_order_of_terms_is_a_difference(leaf: DeviceModel) -> None:
    text = JUNOS.text(JUNOS.render(leaf))
    filters = "firewall { family inet { filter f { term a { then accept; } term b { then discard; } } } }\n"
    swapped = "firewall { family inet { filter f { term b { then discard; } term a { then accept; } } } }\n"
    assert JUNOS.parse(text + filters) != JUNOS.parse(text + swapped)
    path = "insert firewall family inet filter f term a after term b"
    assert path in JUNOS.parse(text + swapped).unmodelled


def test_another_order_of_values_is_a_difference() -> None:
    texts = [f"system {{ authentication-order [ {names} ]; }}" for names in ("radius password", "password radius")]
    assert JUNOS.parse(texts[0]).unmodelled != JUNOS.parse(texts[1]).unmodelled


def test_an_unknown_transport_of_syslog_is_unmodelled() -> None:
    model = JUNOS.parse("set system syslog host 10.0.0.3 transport tls")
    assert model.management is not None
    assert model.management.syslog[0].protocol == "udp"
    assert "system syslog host 10.0.0.3 transport tls" in model.unmodelled


def test_a_difference_is_the_command_that_makes_it(leaf: DeviceModel) -> None:
    text = JUNOS.text(JUNOS.render(leaf))
    found = JUNOS.differences(text.replace("mtu 9216;", "mtu 1514;", 1), text)
    assert [(one.side, one.text, one.section) for one in found] == [
        (Side.ADDED, "set interfaces et-0/0/0 mtu 1514", "interfaces"),
    ]
    found = JUNOS.differences(text.replace("mtu 9216;", "", 1), text)
    assert [(one.side, one.text) for one in found] == [(Side.MISSING, "delete interfaces et-0/0/0 mtu 9216")]


# Values in coarser units


def test_a_macro_keeps_the_bytes_of_a_ramp_while_its_levels_are_theirs(leaf: DeviceModel) -> None:
    """A level that an operator changes is what the switch does."""
    text = JUNOS.text(JUNOS.render(leaf))
    assert leaf.qos is not None
    (planned,) = leaf.qos.profiles[0].thresholds
    assert "kmin 485000;" in text
    changed = JUNOS.parse(text.replace("fill-level [ 1 2 ];", "fill-level [ 1 50 ];"))
    assert changed.qos is not None
    (thresholds,) = changed.qos.profiles[0].thresholds
    assert planned.ecn is not None
    assert thresholds.ecn is not None
    assert thresholds.ecn.kmax_bytes == queue_bytes(leaf.qos.shared_pool_bytes) // 2 > planned.ecn.kmax_bytes


def with_steps(leaf: DeviceModel, steps: dict[int, int]) -> str:
    """The text of a switch whose drop profiles have steps instead of a line."""
    stated = " ".join(f"fill-level {level} drop-probability {odds};" for level, odds in steps.items())
    return re.sub(r"interpolate \{[^}]*\}", stated, JUNOS.text(JUNOS.render(leaf)))


@given(steps=st.dictionaries(st.integers(0, 100), st.integers(0, 100), min_size=1, max_size=4))
@settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
def test_steps_mark_from_the_first_one_on_with_the_probability_of_the_last(
    leaf: DeviceModel, steps: dict[int, int]
) -> None:
    """Juniper, Configuring RED Drop Profiles: of a segmented profile the probability jumps at each fill level."""
    model = JUNOS.parse(with_steps(leaf, steps))
    assert leaf.qos is not None
    assert model.qos is not None
    size, marking = queue_bytes(leaf.qos.shared_pool_bytes), sorted(level for level, odds in steps.items() if odds)
    ramps = {thresholds.ecn for profile in model.qos.profiles for thresholds in profile.thresholds}
    if not marking:
        assert ramps == set()
        return
    exact = {thresholds.ecn for profile in leaf.qos.profiles for thresholds in profile.thresholds}
    first, last = (level * size // 100 for level in (marking[0], marking[-1]))
    read = EcnRamp(kmin_bytes=first, kmax_bytes=last, pmax_percent=steps[marking[-1]])
    assert ramps == {read} or (marking[0], marking[-1]) == (1, 2)
    assert ramps == {read} or {(ramp.kmin_bytes, ramp.kmax_bytes) for ramp in ramps if ramp} == {
        (ramp.kmin_bytes, ramp.kmax_bytes) for ramp in exact if ramp
    }
    assert [port.ecn for port in model.qos.ports] == [port.ecn for port in leaf.qos.ports]


def test_each_step_is_unmodelled_and_the_line_that_it_stands_for_is_not_missing(leaf: DeviceModel) -> None:
    text = with_steps(leaf, {1: 5, 2: 10})
    steps = [
        f"class-of-service drop-profiles {profile}_roce fill-level {step}"
        for profile in ("400g-40m", "400g-5m")
        for step in ("1 drop-probability 5", "2 drop-probability 10")
    ]
    model = JUNOS.parse(text)
    assert list(model.unmodelled) == steps
    assert replace(model, unmodelled=()) == leaf
    operators = text.replace("400g-5m_roce", "OPERATORS")
    assert [difference.path for difference in JUNOS.differences(operators, JUNOS.text(JUNOS.render(leaf)))] == [
        step.replace("400g-5m_roce", "OPERATORS") for step in steps
    ]


@given(kmin=st.integers(0, 200_000_000), more=st.integers(0, 200_000_000), size=st.integers(1, 100_000_000))
def test_fill_levels_are_the_nearest_percent_and_apart(kmin: int, more: int, size: int) -> None:
    levels = Levels.of(EcnRamp(kmin_bytes=kmin, kmax_bytes=kmin + more, pmax_percent=10), size)
    assert 0 <= levels.low < levels.high <= 99
    assert levels.low in {1, 98} or abs(levels.low * size - 100 * kmin) <= size / 2
    assert levels.high in {levels.low + 1, 99} or abs(levels.high * size - 100 * (kmin + more)) <= size / 2
    assert (levels.low == 0) == (kmin == 0)


def test_a_number_of_paths_is_that_of_the_intent_while_the_limit_is_its_own() -> None:
    model = small_leaf("junos")
    assert model.bgp is not None
    wanted = admit(replace(model, bgp=replace(model.bgp, max_paths=40)), JUNOS)
    text = JUNOS.text(JUNOS.render(wanted))
    assert "maximum-ecmp 64;" in text
    for limit, expected in ((64, 40), (16, 16)):
        parsed = JUNOS.parse(text.replace("maximum-ecmp 64;", f"maximum-ecmp {limit};"))
        assert parsed.bgp is not None
        assert parsed.bgp.max_paths == expected


@pytest.mark.parametrize(("paths", "limit"), [(2, 16), (16, 16), (17, 32), (64, 64), (65, 96), (512, 512), (600, 512)])
def test_a_limit_of_paths_is_one_that_junos_has(paths: int, limit: int) -> None:
    assert path_limit(paths) == limit


# What is rendered


SERVERS = ManagementAccess(network_instance=MANAGEMENT_VRF, ntp=("10.0.0.1",))


@pytest.mark.parametrize(
    ("management", "stated"),
    [
        (None, False),
        (replace(SERVERS, ntp=(), banner="authorised users only"), False),
        (SERVERS, True),
        (replace(SERVERS, network_instance="default"), False),
        (replace(SERVERS, ntp=(), gnmi=GnmiService(port=57400, tls_profile="fabric")), True),
    ],
)
def test_the_management_port_is_moved_only_where_services_are_stated(
    leaf: DeviceModel, management: ManagementAccess | None, stated: bool
) -> None:
    text = JUNOS.text(JUNOS.render(replace(leaf, management=management)))
    assert ("management-instance;" in text) == stated
    operators = text if stated else text + "system { management-instance; }\n"
    assert JUNOS.differences(operators, text) == ()
    if stated:
        (missing,) = JUNOS.differences(text.replace("management-instance;", ""), text)
        assert missing.text == "delete system management-instance"


def test_every_scheduler_map_has_a_scheduler_for_the_packets_of_the_switch(leaf: DeviceModel) -> None:
    lines = as_set_lines(JUNOS.text(JUNOS.render(leaf))).splitlines()
    maps = {line.split()[3] for line in lines if line.startswith("set class-of-service scheduler-maps ")}
    control = "forwarding-class network-control scheduler network-control"
    assert [name for name in maps if f"set class-of-service scheduler-maps {name} {control}" not in lines] == []
    assert "set class-of-service schedulers network-control priority strict-high" in lines


def test_every_scheduler_is_in_a_map(leaf: DeviceModel) -> None:
    lines = as_set_lines(JUNOS.text(JUNOS.render(leaf))).splitlines()
    schedulers = {line.split()[3] for line in lines if line.startswith("set class-of-service schedulers ")}
    used = {line.split()[-1] for line in lines if line.startswith("set class-of-service scheduler-maps ")}
    assert schedulers == used


@pytest.mark.parametrize(("queue", "name"), [(3, "fcoe"), (4, "no-loss")])
def test_a_default_class_in_the_queue_of_a_lossy_class_is_lossy(leaf: DeviceModel, queue: int, name: str) -> None:
    assert leaf.qos is not None
    storage = TrafficClass(name="storage", queue=queue, scheduling=Scheduling.WEIGHTED, weight=1)
    others = tuple(found for found in leaf.qos.classes if found.queue != queue)
    qos = replace(leaf.qos, classes=(*others, storage), classifiers=(), profiles=(), ports=())
    changed = admit(replace(leaf, qos=qos), JUNOS)
    text = JUNOS.text(JUNOS.render(changed))
    assert f"class {name} queue-num {queue};" in text
    assert JUNOS.parse(text) == JUNOS.parse(as_set_lines(text))
    parsed = JUNOS.parse(text)
    assert parsed.unmodelled == ()
    assert parsed.qos is not None
    assert {found.name for found in parsed.qos.classes} == {found.name for found in qos.classes}


def test_contributors_of_an_aggregate_are_held_back_before_every_policy(leaf: DeviceModel) -> None:
    text = JUNOS.text(JUNOS.render(leaf))
    assert "export [ SUMMARY fabric-export ];" in text
    assert "from route-filter 10.0.1.0/24 longer;" in text
    assert leaf.bgp is not None
    open_aggregate = Aggregate(prefix=leaf.bgp.aggregates[0].prefix, summary_only=False)
    shown_too = replace(leaf, bgp=replace(leaf.bgp, aggregates=(open_aggregate,)))
    assert "SUMMARY" not in JUNOS.text(JUNOS.render(shown_too))


def test_an_evpn_leaf_has_its_vlans_in_a_mac_vrf_with_one_target_for_each(repository: Path, tmp_path: Path) -> None:
    models = with_junos(repository, "dual-esi", tmp_path).models
    text = as_set_lines(JUNOS.text(JUNOS.render(admit(next(iter(models.values())), JUNOS))))
    assert "set routing-instances MAC-VRF vtep-source-interface lo0.0" in text
    assert "set routing-instances MAC-VRF protocols evpn vni-options vni 10101 vrf-target target:65000:10101" in text
    assert "esi all-active" in text


def test_a_route_server_keeps_the_next_hop_of_a_route() -> None:
    model = small_leaf("junos", feature="next_hop_unchanged")
    text = as_set_lines(JUNOS.text(JUNOS.render(model)))
    assert "multihop no-nexthop-change" in text
    assert JUNOS.parse(text).neighbors[0].next_hop is NextHop.UNCHANGED


def test_a_loopback_without_address_is_read_back() -> None:
    model = small_leaf("junos")
    bare = tuple(replace(x, addresses=()) if isinstance(x, Loopback) else x for x in model.interfaces)
    changed = admit(replace(model, interfaces=bare), JUNOS)
    assert JUNOS.parse(JUNOS.text(JUNOS.render(changed))) == changed


def test_layers_of_the_hash_key_are_rendered_where_the_switch_hashes_them_anyway() -> None:
    """Juniper documents `hash-key` for routers; QFX switches take their fields from `enhanced-hash-key`."""
    usual, addresses = list(HashField)[:5], list(HashField)[:2]
    for fields, words in (
        (usual, "hash-key family inet layer-4"),
        (addresses, "enhanced-hash-key inet no-l4-source-port"),
    ):
        wanted = LoadBalancing(fields=tuple(fields))
        text = as_set_lines(JUNOS.text(JUNOS.render(replace(small_leaf("junos"), load_balancing=wanted))))
        assert f"set forwarding-options {words}" in text
        assert ("forwarding-options hash-key" in text) == (fields == usual)
        assert JUNOS.parse(text).load_balancing == wanted
    foreign = JUNOS.parse("set forwarding-options hash-key family inet layer-3")
    assert foreign.load_balancing is None
    assert "forwarding-options hash-key family inet layer-3" in foreign.unmodelled


def test_other_fields_of_the_hash_are_what_it_leaves_out_of_all_and_adds() -> None:
    fields = (HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS, HashField.SOURCE_PORT, HashField.VLAN)
    model = admit(replace(small_leaf("junos"), load_balancing=LoadBalancing(fields=fields)), JUNOS)
    text = JUNOS.text(JUNOS.render(model))
    words = (found for found in read(text) if found[:3] == ("forwarding-options", "enhanced-hash-key", "inet"))
    assert [found[3] for found in words] == ["no-incoming-port", "no-protocol", "no-l4-destination-port", "vlan-id"]
    assert JUNOS.parse(text).load_balancing == LoadBalancing(fields=fields)


@pytest.mark.parametrize("scheduler", ["missing", "cnp"])
def test_a_class_with_the_scheduler_of_another_class_is_a_difference(leaf: DeviceModel, scheduler: str) -> None:
    """Also where the scheduler with its own name is defined; a scheduler map is what counts."""
    text = JUNOS.text(JUNOS.render(leaf))
    line = "forwarding-class default scheduler "
    changed = text.replace(f"{line}default;", f"{line}{scheduler};", 1)
    assert changed != text
    assert any(f"{line}{scheduler}" in one for one in JUNOS.parse(changed).unmodelled)


def test_the_statements_of_a_text_are_read_once_for_the_steps_of_an_audit() -> None:
    text = "system {\n    host-name leaf1;\n}\n"
    assert read(text) is read(text)
    assert read(text) == (("system", "host-name", "leaf1"),)


def test_a_unit_that_is_disabled_is_in_no_network_instance() -> None:
    leaf = small_leaf("junos")
    text = JUNOS.text(JUNOS.render(leaf))
    uplink = next(port for port in leaf.interfaces if isinstance(port, Port) and port.addresses)
    place = text.index(f"    {device_name(uplink.name)} {{")
    disabled = JUNOS.parse(text[:place] + text[place:].replace("unit 0 {\n", "unit 0 {\n            disable;\n", 1))
    ports = (replace(uplink, network_instance=None) if port == uplink else port for port in leaf.interfaces)
    assert disabled == replace(leaf, interfaces=tuple(ports))
    assert JUNOS.text(JUNOS.render(disabled)).count("disable;") == 1

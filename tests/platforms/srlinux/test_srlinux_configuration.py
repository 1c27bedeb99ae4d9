"""What SR Linux's configuration looks like, what it means, and what is said about a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.srlinux.switches import CLASSES, rail_switch, spine

from railfab.device import DeviceModel, PrefixRange
from railfab.errors import ConfigError, Problems, RailfabError
from railfab.platforms import platform
from railfab.platforms.srlinux import difference, lines, startup
from railfab.platforms.srlinux.tree import Json, stripped, text

SRLINUX = platform("srlinux")
EVERYTHING = (PrefixRange(prefix=IPv4Network("0.0.0.0/0"), ge=0, le=32),)


def tree(model: DeviceModel | None = None) -> Json:
    """A rendered configuration, free to be spoilt."""
    rendered: Json = json.loads(text(SRLINUX.render(model or rail_switch())))
    return rendered


def parsed(configuration: Json) -> DeviceModel:
    return SRLINUX.parse(json.dumps(configuration))


def interface(configuration: Json, name: str) -> Any:
    return next(entry for entry in configuration["srl_nokia-interfaces:interface"] if entry["name"] == name)


def unit(configuration: Json, name: str) -> Any:
    return interface(configuration, name)["subinterface"][0]


def instance(configuration: Json) -> Any:
    return configuration["srl_nokia-network-instance:network-instance"][0]


def bgp(configuration: Json) -> Any:
    return instance(configuration)["protocols"]["srl_nokia-bgp:bgp"]


def qos(configuration: Json) -> Any:
    return configuration["srl_nokia-qos:qos"]


def policy(configuration: Json) -> Any:
    return configuration["srl_nokia-routing-policy:routing-policy"]["policy"][0]


def binding(configuration: Json, name: str) -> Any:
    return next(entry for entry in qos(configuration)["interfaces"]["interface"] if entry["interface-id"] == name)


@pytest.mark.parametrize("switch", [rail_switch, spine], ids=lambda switch: switch.__name__)
@pytest.mark.parametrize("suffix", ["json", "cli"])
def test_the_golden_configurations(switch: Callable[[], DeviceModel], suffix: str, repository: Path) -> None:
    model = switch()
    rendered = SRLINUX.render(model)
    golden = repository / "tests" / "golden" / "srlinux" / f"{model.name}.{suffix}"
    assert (text(rendered) if suffix == "json" else startup(rendered)) == golden.read_text()


# What a configuration does in effect.


def port_qos(model: DeviceModel, name: str) -> Any:
    assert model.qos is not None
    return next(port for port in model.qos.ports if port.interface == name)


def without_ecn(configuration: Json) -> None:
    del qos(configuration)["explicit-congestion-notification"]


def test_without_ecn_switched_on_no_port_marks() -> None:
    configuration = tree()
    without_ecn(configuration)
    model = parsed(configuration).qos
    assert model is not None
    assert not any(port.ecn for port in model.ports)


def test_a_slope_that_is_switched_off_marks_nothing() -> None:
    configuration = tree()
    for profile in qos(configuration)["buffer-management"]["queue-management-profile"]:
        if profile["name"] == "400g-40m":
            profile["wred"]["wred-slope"][0]["slope-enabled"] = False
    model = parsed(configuration)
    assert not port_qos(model, "ethernet-1/9").ecn
    assert port_qos(model, "ethernet-1/1/1").ecn


def test_the_speakers_policy_holds_for_a_group_without_one() -> None:
    configuration = tree()
    policy(configuration)["default-action"]["policy-result"] = "accept"
    for group in bgp(configuration)["group"]:
        del group["import-policy"]
    bgp(configuration)["import-policy"] = ["fabric-import"]
    assert EVERYTHING[0] in parsed(configuration).bgp.import_prefixes


def test_a_disabled_group_has_no_sessions() -> None:
    configuration = tree()
    for group in bgp(configuration)["group"]:
        group["admin-state"] = "disable"
    assert parsed(configuration).bgp.neighbors == ()


def test_pfc_disabled_on_a_port_is_off_there_alone() -> None:
    configuration = tree()
    binding(configuration, "ethernet-1/1/1")["pfc"]["pfc-enable"] = False
    model = parsed(configuration)
    assert not port_qos(model, "ethernet-1/1/1").pfc
    assert port_qos(model, "ethernet-1/9").pfc


def test_a_wrong_code_point_moves_the_class() -> None:
    configuration = tree()
    qos(configuration)["classifiers"]["dscp-policy"][0]["dscp"][0]["value"] = 24
    model = parsed(configuration).qos
    assert model is not None
    assert [cls.dscp for cls in model.classes] == [(), (24,), (48,)]


def test_a_class_without_code_points_gets_no_packets_and_is_left_out() -> None:
    configuration = tree()
    qos(configuration)["classifiers"]["dscp-policy"][0]["dscp"][0]["forwarding-class"] = "default"
    model = parsed(configuration).qos
    assert model is not None
    assert [cls.name for cls in model.classes] == ["default", "cnp"]
    assert model.classes[0].dscp == ()


def test_a_port_outside_the_network_instance_routes_nothing() -> None:
    configuration = tree()
    instance(configuration)["interface"] = [{"name": "ethernet-1/9.0"}, {"name": "system0.0"}]
    bgp(configuration)["neighbor"] = []
    model = parsed(configuration)
    assert [port.address for port in model.interfaces] == [None, None, None, None]
    assert [port.unnumbered for port in model.interfaces] == [False, False, True, False]


def test_the_narrower_mtu_counts() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/9")["mtu"] = 1514
    found = parsed(configuration).interface("ethernet-1/9")
    assert found is not None
    assert found.mtu_bytes == 1500


def test_a_disabled_cage_takes_its_ports_down() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/1")["admin-state"] = "disable"
    assert [port.enabled for port in parsed(configuration).interfaces] == [False, False, True, True]


def test_bfd_needs_its_subinterface_and_its_group() -> None:
    configuration = tree()
    configuration["srl_nokia-bfd:bfd"]["subinterface"][0]["admin-state"] = "disable"
    assert not any(neighbor.bfd for neighbor in parsed(configuration).bgp.neighbors)


@pytest.mark.parametrize("place", [instance, bgp], ids=["network instance", "bgp"])
def test_bgp_that_is_disabled_has_no_sessions(place: Callable[[Json], Any]) -> None:
    configuration = tree()
    place(configuration)["admin-state"] = "disable"
    assert parsed(configuration).bgp.neighbors == ()


def test_a_disabled_neighbor_is_no_session() -> None:
    configuration = tree()
    bgp(configuration)["neighbor"][0]["admin-state"] = "disable"
    assert [neighbor.interface for neighbor in parsed(configuration).bgp.neighbors] == ["ethernet-1/9"]


def test_without_policies_ebgp_accepts_nothing_unless_told_to() -> None:
    configuration = tree()
    for group in bgp(configuration)["group"]:
        del group["import-policy"]
    assert parsed(configuration).bgp.import_prefixes == ()
    bgp(configuration)["ebgp-default-policy"]["import-reject-all"] = False
    assert parsed(configuration).bgp.import_prefixes == EVERYTHING


def test_a_policy_that_accepts_by_default_accepts_everything() -> None:
    configuration = tree()
    policy(configuration)["default-action"]["policy-result"] = "accept"
    assert parsed(configuration).bgp.import_prefixes[-1:] == EVERYTHING


def test_what_railfab_does_not_own_is_passed_over() -> None:
    configuration = tree()
    configuration["srl_nokia-interfaces:interface"].insert(0, {"name": "mgmt0", "subinterface": [{"index": 0}]})
    configuration["srl_nokia-network-instance:network-instance"].append({"name": "mgmt", "interface": []})
    configuration["srl_nokia-system:system"]["srl_nokia-grpc:grpc-server"] = [{"name": "mgmt"}]
    configuration["srl_nokia-acl:acl"] = {"acl-filter": []}
    assert parsed(configuration) == rail_switch()


def test_gnmi_may_leave_out_prefixes_and_send_numbers_as_text() -> None:
    def spelt(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: spelt(child) for name, child in value.items()}
        if isinstance(value, list):
            return [spelt(child) for child in value]
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    assert parsed(spelt(stripped(tree()))) == rail_switch()


def test_the_order_of_a_devices_lists_does_not_matter() -> None:
    """A device gives its lists by key; only those that Nokia's models mark as ordered by the user keep their order."""

    def by_key(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: by_key(child, key) for key, child in value.items()}
        if isinstance(value, list) and name != "statement":
            return sorted((by_key(child, name) for child in value), key=lambda entry: json.dumps(entry, sort_keys=True))
        return value

    assert parsed(by_key(tree())) == rail_switch()


def test_every_name_of_a_class_may_be_its_own() -> None:
    model = rail_switch()
    assert model.qos is not None
    classes = tuple(replace(cls, name=f"class-{cls.queue}") for cls in CLASSES)
    renamed = replace(model, qos=replace(model.qos, classes=classes))
    assert parsed(tree(renamed)) == renamed


# What is said about a wrong configuration.


def no_host_name(configuration: Json) -> None:
    del configuration["srl_nokia-system:system"]


def no_loopback(configuration: Json) -> None:
    interface(configuration, "system0")["subinterface"][0]["ipv4"]["admin-state"] = "disable"


def bad_prefix(configuration: Json) -> None:
    unit(configuration, "ethernet-1/1/1")["ipv4"]["address"][0]["ip-prefix"] = "10.16.0.0/40"


def two_addresses(configuration: Json) -> None:
    unit(configuration, "ethernet-1/1/1")["ipv4"]["address"].append({"ip-prefix": "10.99.0.0/31"})


def bad_mtu(configuration: Json) -> None:
    unit(configuration, "ethernet-1/9")["ip-mtu"] = "jumbo"


def bad_speed(configuration: Json) -> None:
    interface(configuration, "ethernet-1/9")["ethernet"]["port-speed"] = "400"


def bad_admin_state(configuration: Json) -> None:
    interface(configuration, "ethernet-1/9")["admin-state"] = "up"


def whole_cage(configuration: Json) -> None:
    del interface(configuration, "ethernet-1/1")["breakout-mode"]


def subinterface_on_a_cage(configuration: Json) -> None:
    interface(configuration, "ethernet-1/1")["subinterface"] = [{"index": 0}]


def interface_without_a_name(configuration: Json) -> None:
    del interface(configuration, "ethernet-1/9")["name"]


def no_as_number(configuration: Json) -> None:
    del bgp(configuration)["autonomous-system"]


def wrong_router_id(configuration: Json) -> None:
    bgp(configuration)["router-id"] = "leaf1"


def undefined_group(configuration: Json) -> None:
    bgp(configuration)["dynamic-neighbors"]["interface"][0]["peer-group"] = "spines"


def range_of_peers(configuration: Json) -> None:
    bgp(configuration)["dynamic-neighbors"]["interface"][0]["allowed-peer-as"] = ["65001..65010"]


def peer_elsewhere(configuration: Json) -> None:
    bgp(configuration)["neighbor"][0]["peer-address"] = "10.77.0.0"


def peer_without_as(configuration: Json) -> None:
    del bgp(configuration)["neighbor"][0]["peer-as"]


def peer_over_ipv6(configuration: Json) -> None:
    bgp(configuration)["neighbor"][0]["peer-address"] = "2001:db8::1"


def other_timers(configuration: Json) -> None:
    bgp(configuration)["group"][1]["timers"]["hold-time"] = 30


def other_bfd_timers(configuration: Json) -> None:
    configuration["srl_nokia-bfd:bfd"]["subinterface"][1]["detection-multiplier"] = 5


def lopsided_bfd_timers(configuration: Json) -> None:
    configuration["srl_nokia-bfd:bfd"]["subinterface"][0]["required-minimum-receive"] = 600000


def no_ipv6_next_hops(configuration: Json) -> None:
    bgp(configuration)["afi-safi"][0]["ipv4-unicast"]["receive-ipv6-next-hops"] = False


def family_disabled(configuration: Json) -> None:
    bgp(configuration)["afi-safi"][0]["admin-state"] = "disable"


def undefined_policy(configuration: Json) -> None:
    for group in bgp(configuration)["group"]:
        group["export-policy"] = ["all"]


def rejecting_statement(configuration: Json) -> None:
    policy(configuration)["statement"][0]["action"]["policy-result"] = "reject"


def prepending_statement(configuration: Json) -> None:
    policy(configuration)["statement"][0]["action"]["bgp"] = {"as-path": {"prepend": {"repeat-n": 2}}}


def undefined_prefix_set(configuration: Json) -> None:
    policy(configuration)["statement"][0]["match"]["prefix"]["prefix-set"] = "loopbacks"


def bad_mask_range(configuration: Json) -> None:
    prefixes = configuration["srl_nokia-routing-policy:routing-policy"]["prefix-set"][0]["prefix"]
    prefixes[0]["mask-length-range"] = "32"


def undefined_queue(configuration: Json) -> None:
    qos(configuration)["forwarding-classes"]["forwarding-class"][1]["output"]["unicast-queue"] = "rdma"


def weight_missing(configuration: Json) -> None:
    del qos(configuration)["scheduler-policies"]["scheduler-policy"][0]["scheduler"][1]["input"][1]["weight"]


def kmin_above_kmax(configuration: Json) -> None:
    slope(configuration)["min-threshold"] = "900000"


def kmax_missing(configuration: Json) -> None:
    del slope(configuration)["max-threshold"]


def slope_that_drops(configuration: Json) -> None:
    slope(configuration)["enable-ecn"] = False


def slope(configuration: Json) -> Any:
    return qos(configuration)["buffer-management"]["queue-management-profile"][0]["wred"]["wred-slope"][0]


def undefined_profile(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9")["output"]["buffer-allocation-profile"] = "800g-5m"


def unbound_port(configuration: Json) -> None:
    del binding(configuration, "ethernet-1/10")["output"]["buffer-allocation-profile"]


def two_profiles(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9")["input"]["pfc-buffer-allocation-profile"] = "100g-5m"


def two_classifiers(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9.0")["input"]["classifiers"]["dscp-policy"] = "other"


NEIGHBORS = "/network-instance[name=default]/protocols/bgp"
POLICIES = "/routing-policy/policy"
SLOPE = (
    "/qos/buffer-management/queue-management-profile[name=100g-5m]"
    "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
)


def pause_frames(configuration: Json) -> Any:
    return qos(configuration)["pfc-mapping-profile"][0]["received-pfc-pause-frames"]["queue"][0]


def deaf_to_pauses(configuration: Json) -> None:
    pause_frames(configuration)["enable-pfc"] = False


def obeys_another_priority(configuration: Json) -> None:
    pause_frames(configuration)["pfc-pause-frame-priority"] = 4


def pfc_without_buffers(configuration: Json) -> None:
    del binding(configuration, "ethernet-1/9")["input"]["pfc-buffer-allocation-profile"]


def unscheduled_port(configuration: Json) -> None:
    del binding(configuration, "ethernet-1/9")["output"]["scheduler"]


def family_of_a_group(configuration: Json) -> None:
    bgp(configuration)["group"][0]["afi-safi"] = [{"afi-safi-name": "ipv4-unicast", "admin-state": "disable"}]


def policy_of_a_neighbor(configuration: Json) -> None:
    bgp(configuration)["neighbor"][0]["import-policy"] = ["leak"]


FRAMES = "/qos/pfc-mapping-profile[name=fabric]/received-pfc-pause-frames/queue[queue-name=roce]"
WRONG: tuple[tuple[Callable[[Json], None], str], ...] = (
    (no_host_name, "/system/name/host-name: is missing. Give the switch its name."),
    (
        no_loopback,
        "/interface[name=system0]/subinterface[index=0]/ipv4/address: the loopback has no address. "
        "Give it one of /32 and set admin-state to enable.",
    ),
    (
        bad_prefix,
        "/interface[name=ethernet-1/1/1]/subinterface[index=0]/ipv4/address[ip-prefix=10.16.0.0/40]/ip-prefix: "
        "'10.16.0.0/40' is not an IPv4 address with its prefix length. "
        "Write an IPv4 address with its prefix length.",
    ),
    (
        two_addresses,
        "/interface[name=ethernet-1/1/1]/subinterface[index=0]/ipv4/address: several addresses on one port. "
        "Leave one; railfab numbers a link once.",
    ),
    (
        bad_mtu,
        "/interface[name=ethernet-1/9]/subinterface[index=0]/ip-mtu: 'jumbo' is not a whole number. "
        "Write a whole number.",
    ),
    (
        bad_speed,
        "/interface[name=ethernet-1/9]/ethernet/port-speed: '400' is not a speed of a fabric port. "
        "Write one such as 400G.",
    ),
    (
        bad_admin_state,
        "/interface[name=ethernet-1/9]/admin-state: 'up' is not enable or disable. Write enable or disable.",
    ),
    (
        subinterface_on_a_cage,
        "/interface[name=ethernet-1/1]/subinterface: a broken-out port carries no subinterface. "
        "Configure its breakout ports instead.",
    ),
    (interface_without_a_name, "/interface: an entry has no name. Give each entry its key."),
    (no_as_number, f"{NEIGHBORS}/autonomous-system: is missing. Give the switch its AS number."),
    (wrong_router_id, f"{NEIGHBORS}/router-id: 'leaf1' is not an IPv4 address. Write an IPv4 address."),
    (
        undefined_group,
        f"{NEIGHBORS}/dynamic-neighbors/interface[interface-name=ethernet-1/9.0]/peer-group: "
        "spines is not defined. Use one of fabric, fabric-without-bfd.",
    ),
    (
        range_of_peers,
        f"{NEIGHBORS}/dynamic-neighbors/interface[interface-name=ethernet-1/9.0]/allowed-peer-as: "
        "65001..65010 is not one AS number. Name the peer's AS.",
    ),
    (
        peer_elsewhere,
        f"{NEIGHBORS}/neighbor[peer-address=10.77.0.0]: is in no port's subnet. "
        "Give a port an address beside it, and put it into the network instance.",
    ),
    (
        peer_without_as,
        f"{NEIGHBORS}/neighbor[peer-address=10.32.0.0]/peer-as: is missing. "
        "Give the peer's AS number here or in its group.",
    ),
    (
        peer_over_ipv6,
        f"{NEIGHBORS}/neighbor[peer-address=2001:db8::1]: is not an IPv4 address. "
        "Number the session with IPv4, or use dynamic-neighbors.",
    ),
    (
        other_timers,
        f"{NEIGHBORS}/group[group-name=fabric-without-bfd]: policies or timers unlike those of the first group. "
        "Give all groups the same ones.",
    ),
    (
        other_bfd_timers,
        "/bfd/subinterface[id=ethernet-1/10.0]: timers unlike those of the first subinterface. "
        "Give all BFD sessions the same timers.",
    ),
    (
        no_ipv6_next_hops,
        f"{NEIGHBORS}/afi-safi[afi-safi-name=ipv4-unicast]/ipv4-unicast/receive-ipv6-next-hops: "
        "false is not modelled. Set it to true, as every railfab fabric does.",
    ),
    (
        family_disabled,
        f"{NEIGHBORS}/afi-safi[afi-safi-name=ipv4-unicast]/admin-state: IPv4 unicast is not enabled. "
        "Set it to enable; railfab's fabrics route IPv4.",
    ),
    (
        rejecting_statement,
        f"{POLICIES}[name=fabric-import]/statement[name=10]: does not accept. "
        "Accept what is wanted and leave the rest to the default action.",
    ),
    (
        prepending_statement,
        f"{POLICIES}[name=fabric-import]/statement[name=10]: does more than accept prefixes. "
        "Match a prefix-set and accept; the rest is not modelled yet.",
    ),
    (
        undefined_prefix_set,
        "/routing-policy/prefix-set[name=loopbacks]: is not defined. Define the prefix set that the statement names.",
    ),
    (
        bad_mask_range,
        "/routing-policy/prefix-set[name=fabric-import-10]/prefix[ip-prefix=10.254.0.0/15][mask-length-range=32]"
        "/mask-length-range: '32' is no range of lengths. Write one such as 24..32, or exact.",
    ),
    (
        undefined_queue,
        "/qos/forwarding-classes/forwarding-class[name=roce]/output/unicast-queue: queue rdma is not defined. "
        "Define the queue with its index.",
    ),
    (
        weight_missing,
        "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=1]/input[id=roce]/weight: "
        "is missing. Give the queue its weight.",
    ),
    (
        kmin_above_kmax,
        f"{SLOPE}/min-threshold: 900000 is above the maximum of 450000. Lower it, or raise max-threshold.",
    ),
    (kmax_missing, f"{SLOPE}/max-threshold: is missing. Write the threshold in bytes."),
    (
        unbound_port,
        "/qos/interfaces/interface[interface-id=ethernet-1/10]/output/buffer-allocation-profile: "
        "has no buffer allocation profile. Bind the port to one.",
    ),
    (
        undefined_profile,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/output/buffer-allocation-profile: "
        "800g-5m is not defined. Use one of 100g-5m, 400g-40m.",
    ),
    (
        two_profiles,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/input/pfc-buffer-allocation-profile: "
        "100g-5m is not the port's profile 400g-40m. Bind the port to one profile throughout.",
    ),
    (undefined_policy, f"{POLICIES}[name=all]: is not defined. Define the policy, or take it off the peer group."),
    (
        slope_that_drops,
        "/qos/buffer-management/queue-management-profile[name=100g-5m]/wred: has no slope that marks. "
        "Define wred-slope all drop-probability all enable-ecn true.",
    ),
    (
        lopsided_bfd_timers,
        "/bfd/subinterface[id=ethernet-1/9.0]/required-minimum-receive: 600000 us differ from the transmit interval. "
        "Give both the same value.",
    ),
    (
        two_classifiers,
        "/qos/interfaces/interface[interface-id=ethernet-1/9.0]/input/classifiers/dscp-policy: "
        "other is not the first port's fabric. Use one for all ports; railfab models one.",
    ),
    (
        deaf_to_pauses,
        f"{FRAMES}/enable-pfc: pauses are not obeyed. Set it to true, as every railfab fabric does.",
    ),
    (
        obeys_another_priority,
        f"{FRAMES}/pfc-pause-frame-priority: obeys pauses of another priority than 3, which its class asks for. Use 3.",
    ),
    (
        pfc_without_buffers,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/input/pfc-buffer-allocation-profile: "
        "is missing though PFC is on. Bind the port's profile here too, or switch PFC off.",
    ),
    (
        unscheduled_port,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/output/scheduler/scheduler-policy: "
        "is missing. Bind the port to the scheduler policy of the others.",
    ),
    (
        family_of_a_group,
        "/network-instance[name=default]/protocols/bgp/group[group-name=fabric]/afi-safi: "
        "is set here alone. Set it where it holds for all sessions; railfab models one.",
    ),
    (
        policy_of_a_neighbor,
        "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=10.32.0.0]/import-policy: "
        "is set here alone. Set it where it holds for all sessions; railfab models one.",
    ),
)


@pytest.mark.parametrize(("spoil", "said"), WRONG, ids=[spoil.__name__ for spoil, _ in WRONG])
def test_a_wrong_configuration_is_refused_in_one_line(spoil: Callable[[Json], None], said: str) -> None:
    configuration = tree()
    spoil(configuration)
    with pytest.raises(RailfabError) as refused:
        parsed(configuration)
    assert isinstance(refused.value, ConfigError)
    assert str(refused.value) == said


def test_every_port_below_a_whole_cage_is_named() -> None:
    configuration = tree()
    whole_cage(configuration)
    with pytest.raises(Problems) as refused:
        parsed(configuration)
    assert str(refused.value).splitlines() == [
        f"/interface[name=ethernet-1/1/{lane}]: ethernet-1/1 is not broken out into {lane} ports. "
        "Set breakout-mode on ethernet-1/1."
        for lane in (1, 2)
    ]


def test_all_mistakes_are_named_at_once() -> None:
    configuration = tree()
    for spoil in (no_host_name, bad_mtu, no_as_number, kmax_missing):
        spoil(configuration)
    with pytest.raises(Problems) as refused:
        parsed(configuration)
    assert [error.where.split("/")[1] for error in refused.value.errors] == [
        "interface[name=ethernet-1",
        "network-instance[name=default]",
        "qos",
        "system",
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "{",
            "SR Linux configuration: is not JSON (Expecting property name enclosed in double quotes: line 1 column 2",
        ),
        ("[]", "SR Linux configuration: is not a JSON object. Give the whole tree as one object."),
    ],
)
def test_a_text_that_is_no_configuration(written: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        SRLINUX.parse(written)
    assert str(refused.value).startswith(said)


# Lines and differences.


def test_a_difference_is_said_in_lines_of_the_cli() -> None:
    before, after = tree(), tree()
    slope(after)["min-threshold"] = "100000"
    interface(after, "ethernet-1/9")["description"] = 'the "first" uplink'
    assert difference(text(before), text(after)).splitlines() == [
        "--- running",
        "+++ candidate",
        '-set / interface ethernet-1/9 description "pod1-spine1 ethernet-1/1"',
        '+set / interface ethernet-1/9 description "the \\"first\\" uplink"',
        "-set / qos buffer-management queue-management-profile 100g-5m wred wred-slope all drop-probability all "
        "enable-ecn true min-threshold 150000",
        "+set / qos buffer-management queue-management-profile 100g-5m wred wred-slope all drop-probability all "
        "enable-ecn true min-threshold 100000",
    ]


def test_equal_configurations_do_not_differ_however_they_are_spelt() -> None:
    assert difference(text(tree()), json.dumps(stripped(tree()))) == ""


def test_every_leaf_stands_in_one_line() -> None:
    def count(value: Any) -> int:
        if isinstance(value, dict):
            return sum(count(child) for child in value.values()) or 1
        if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
            return sum(count(entry) for entry in value)
        return 1

    found = lines(tree())
    assert len(set(found)) == len(found)
    assert 0 < len(found) <= count(tree())

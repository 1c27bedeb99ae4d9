"""SR Linux configuration: golden text, parsing for effect, and error messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.srlinux.switches import CLASSES, rail_switch, spine

from railfab.device import BfdTimers, DeviceModel, PfcWatchdog, PrefixRange
from railfab.errors import ConfigError, Problems, RailfabError, UnsupportedFeature
from railfab.platforms import platform
from railfab.platforms.admission import admit
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux import difference, lines, startup
from railfab.platforms.srlinux.set_request import set_request
from railfab.platforms.srlinux.tree import stripped

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


def test_without_the_ecn_container_no_port_marks() -> None:
    configuration = tree()
    without_ecn(configuration)
    model = parsed(configuration).qos
    assert model is not None
    assert not any(port.ecn for port in model.ports)


def test_a_disabled_slope_marks_nothing() -> None:
    configuration = tree()
    for profile in qos(configuration)["buffer-management"]["queue-management-profile"]:
        if profile["name"] == "400g-40m":
            profile["wred"]["wred-slope"][0]["slope-enabled"] = False
    model = parsed(configuration)
    assert not port_qos(model, "ethernet-1/9").ecn
    assert port_qos(model, "ethernet-1/1/1").ecn


def test_a_group_without_policy_inherits_the_policy_of_bgp() -> None:
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


def test_pfc_disabled_on_one_port_stays_on_for_the_others() -> None:
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


def test_the_default_class_has_no_code_points_whatever_its_queue() -> None:
    """SR Linux puts unclassified packets into forwarding class index 0."""
    model = rail_switch()
    assert model.qos is not None
    moved = tuple(cls if cls.dscp else replace(cls, queue=2) for cls in model.qos.classes)
    rendered = qos(tree(replace(model, qos=replace(model.qos, classes=moved))))
    found = {cls["name"]: cls["forwarding-class-index"] for cls in rendered["forwarding-classes"]["forwarding-class"]}
    assert found["default"] == 0


def test_a_configuration_without_a_host_name_does_not_delete_the_switchs() -> None:
    named = tree()
    request = set_request(named, {key: value for key, value in named.items() if "system" not in key})
    assert [path for path in request.delete if "/system" in path] == ["/system/lldp/admin-state"]


@pytest.mark.parametrize(
    "watchdog", [PfcWatchdog(detect_ms=1501, recover_ms=100), PfcWatchdog(detect_ms=200, recover_ms=1501)]
)
def test_both_times_of_the_watchdog_have_the_limit_of_the_platform(watchdog: PfcWatchdog) -> None:
    model = rail_switch()
    assert model.qos is not None
    with pytest.raises(UnsupportedFeature, match=r"watchdog_ms 1501 is above platform srlinux's limit of 1500\."):
        admit(replace(model, qos=replace(model.qos, watchdog=watchdog)), SRLINUX)


def test_a_port_outside_the_network_instance_routes_nothing() -> None:
    configuration = tree()
    instance(configuration)["interface"] = [{"name": "ethernet-1/9.0"}, {"name": "system0.0"}]
    bgp(configuration)["neighbor"] = []
    model = parsed(configuration)
    assert [port.address for port in model.interfaces] == [None, None, None, None]
    assert [port.unnumbered for port in model.interfaces] == [False, False, True, False]


def test_the_smaller_mtu_is_effective() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/9")["mtu"] = 1514
    found = parsed(configuration).interface("ethernet-1/9")
    assert found is not None
    assert found.mtu_bytes == 1500


def test_the_ports_of_a_disabled_cage_are_down() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/1")["admin-state"] = "disable"
    assert [port.enabled for port in parsed(configuration).interfaces] == [False, False, True, True]


def test_bfd_timers_that_are_not_configured_are_those_of_sr_linux() -> None:
    """One second and three intervals (srl_nokia-bfd)."""
    configuration = tree()
    for entry in configuration["srl_nokia-bfd:bfd"]["subinterface"]:
        for leaf in ("desired-minimum-transmit-interval", "required-minimum-receive", "detection-multiplier"):
            entry.pop(leaf, None)
    assert parsed(configuration).bfd == BfdTimers(interval_ms=1000, multiplier=3)


def test_bfd_needs_its_subinterface_and_its_group() -> None:
    configuration = tree()
    configuration["srl_nokia-bfd:bfd"]["subinterface"][0]["admin-state"] = "disable"
    assert not any(neighbor.bfd for neighbor in parsed(configuration).bgp.neighbors)


@pytest.mark.parametrize("place", [instance, bgp], ids=["network instance", "bgp"])
def test_bgp_that_is_disabled_has_no_sessions(place: Callable[[Json], Any]) -> None:
    configuration = tree()
    place(configuration)["admin-state"] = "disable"
    assert parsed(configuration).bgp.neighbors == ()


def test_a_disabled_neighbor_has_no_session() -> None:
    configuration = tree()
    bgp(configuration)["neighbor"][0]["admin-state"] = "disable"
    assert [neighbor.interface for neighbor in parsed(configuration).bgp.neighbors] == ["ethernet-1/9"]


def test_without_policies_ebgp_follows_its_default_policy() -> None:
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


def test_unmanaged_configuration_is_ignored() -> None:
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


def test_queue_and_forwarding_class_may_have_different_names() -> None:
    model = rail_switch()
    assert model.qos is not None
    classes = tuple(replace(cls, name=f"class-{cls.queue}") for cls in CLASSES)
    renamed = replace(model, qos=replace(model.qos, classes=classes))
    assert parsed(tree(renamed)) == renamed


# Errors of a wrong configuration.


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
    (no_host_name, "/system/name/host-name: is missing. Configure the switch's name."),
    (
        no_loopback,
        "/interface[name=system0]/subinterface[index=0]/ipv4/address: the loopback has no address. "
        "Configure a /32 address and set admin-state to enable.",
    ),
    (
        bad_prefix,
        "/interface[name=ethernet-1/1/1]/subinterface[index=0]/ipv4/address[ip-prefix=10.16.0.0/40]/ip-prefix: "
        "'10.16.0.0/40' is not an IPv4 address with prefix length. "
        "Use an IPv4 address with prefix length.",
    ),
    (
        two_addresses,
        "/interface[name=ethernet-1/1/1]/subinterface[index=0]/ipv4/address: several addresses on one port. "
        "Remove all but one.",
    ),
    (
        bad_mtu,
        "/interface[name=ethernet-1/9]/subinterface[index=0]/ip-mtu: 'jumbo' is not a whole number. "
        "Use a whole number.",
    ),
    (
        bad_speed,
        "/interface[name=ethernet-1/9]/ethernet/port-speed: '400' is not a port speed. Use for example 400G.",
    ),
    (
        bad_admin_state,
        "/interface[name=ethernet-1/9]/admin-state: 'up' is not enable or disable. Use enable or disable.",
    ),
    (
        subinterface_on_a_cage,
        "/interface[name=ethernet-1/1]/subinterface: a broken-out port cannot have a subinterface. "
        "Configure its breakout ports instead.",
    ),
    (interface_without_a_name, "/interface: an entry has no key name. Add the key to every entry."),
    (no_as_number, f"{NEIGHBORS}/autonomous-system: is missing. Configure the switch's AS number."),
    (wrong_router_id, f"{NEIGHBORS}/router-id: 'leaf1' is not an IPv4 address. Use an IPv4 address."),
    (
        undefined_group,
        f"{NEIGHBORS}/dynamic-neighbors/interface[interface-name=ethernet-1/9.0]/peer-group: "
        "spines is not defined. Use one of fabric, fabric-without-bfd.",
    ),
    (
        range_of_peers,
        f"{NEIGHBORS}/dynamic-neighbors/interface[interface-name=ethernet-1/9.0]/allowed-peer-as: "
        "65001..65010 is not one AS number. Set it to the peer's AS number.",
    ),
    (
        peer_elsewhere,
        f"{NEIGHBORS}/neighbor[peer-address=10.77.0.0]: is in no port's subnet. "
        "Configure a port in its subnet, within the network instance.",
    ),
    (
        peer_without_as,
        f"{NEIGHBORS}/neighbor[peer-address=10.32.0.0]/peer-as: is missing. "
        "Configure the peer's AS number here or in its group.",
    ),
    (
        peer_over_ipv6,
        f"{NEIGHBORS}/neighbor[peer-address=2001:db8::1]: is not an IPv4 address. "
        "Use an IPv4 address, or dynamic-neighbors.",
    ),
    (
        other_timers,
        f"{NEIGHBORS}/group[group-name=fabric-without-bfd]: policies or timers differ from those of the first group. "
        "Configure the same in all groups.",
    ),
    (
        other_bfd_timers,
        "/bfd/subinterface[id=ethernet-1/10.0]: timers differ from those of the first subinterface. "
        "Configure the same timers for all BFD sessions.",
    ),
    (
        no_ipv6_next_hops,
        f"{NEIGHBORS}/afi-safi[afi-safi-name=ipv4-unicast]/ipv4-unicast/receive-ipv6-next-hops: "
        "false is not supported. Set it to true.",
    ),
    (
        family_disabled,
        f"{NEIGHBORS}/afi-safi[afi-safi-name=ipv4-unicast]/admin-state: IPv4 unicast is not enabled. "
        "Set it to enable; railfab's fabrics route IPv4.",
    ),
    (
        rejecting_statement,
        f"{POLICIES}[name=fabric-import]/statement[name=10]: has another action than accept. "
        "List the accepted prefixes and reject the rest by the default action.",
    ),
    (
        prepending_statement,
        f"{POLICIES}[name=fabric-import]/statement[name=10]: matches or does more than accept prefixes. "
        "Use only a prefix-set match and the action accept.",
    ),
    (
        undefined_prefix_set,
        "/routing-policy/prefix-set[name=loopbacks]: is not defined. "
        "Define the prefix set, or correct the name in the statement.",
    ),
    (
        bad_mask_range,
        "/routing-policy/prefix-set[name=fabric-import-10]/prefix[ip-prefix=10.254.0.0/15][mask-length-range=32]"
        "/mask-length-range: '32' is not a range of prefix lengths. Use for example 24..32, or exact.",
    ),
    (
        undefined_queue,
        "/qos/forwarding-classes/forwarding-class[name=roce]/output/unicast-queue: queue rdma is not defined. "
        "Define the queue with its index.",
    ),
    (
        weight_missing,
        "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=1]/input[id=roce]/weight: "
        "is missing. Configure the weight of the queue.",
    ),
    (
        kmin_above_kmax,
        f"{SLOPE}/min-threshold: 900000 is above max-threshold 450000. Lower it, or raise max-threshold.",
    ),
    (kmax_missing, f"{SLOPE}/max-threshold: is missing. Set the threshold in bytes."),
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
        "100g-5m differs from the port's profile 400g-40m. Use one profile for the whole port.",
    ),
    (undefined_policy, f"{POLICIES}[name=all]: is not defined. Define the policy, or remove it from the peer group."),
    (
        slope_that_drops,
        "/qos/buffer-management/queue-management-profile[name=100g-5m]/wred: has no ECN marking slope. "
        "Define wred-slope all drop-probability all enable-ecn true.",
    ),
    (
        lopsided_bfd_timers,
        "/bfd/subinterface[id=ethernet-1/9.0]/required-minimum-receive: 600000 us differs from the transmit interval "
        "of 300000 us. "
        "Set both intervals to the same value.",
    ),
    (
        two_classifiers,
        "/qos/interfaces/interface[interface-id=ethernet-1/9.0]/input/classifiers/dscp-policy: "
        "other differs from the first port's fabric. Use the same policy on all ports.",
    ),
    (
        deaf_to_pauses,
        f"{FRAMES}/enable-pfc: received pause frames are ignored. Set it to true.",
    ),
    (
        obeys_another_priority,
        f"{FRAMES}/pfc-pause-frame-priority: differs from priority 3, of which its class sends pause frames. "
        "Set it to 3.",
    ),
    (
        pfc_without_buffers,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/input/pfc-buffer-allocation-profile: "
        "is missing, although PFC is enabled. Bind the port's profile here too, or disable PFC.",
    ),
    (
        unscheduled_port,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/output/scheduler/scheduler-policy: "
        "is missing. Bind the port to the same scheduler policy as the others.",
    ),
    (
        family_of_a_group,
        "/network-instance[name=default]/protocols/bgp/group[group-name=fabric]/afi-safi: "
        "overrides the setting of all sessions. Remove it; railfab supports one value for all.",
    ),
    (
        policy_of_a_neighbor,
        "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=10.32.0.0]/import-policy: "
        "overrides the setting of all sessions. Remove it; railfab supports one value for all.",
    ),
)


@pytest.mark.parametrize(("spoil", "message"), WRONG, ids=[spoil.__name__ for spoil, _ in WRONG])
def test_a_wrong_configuration_is_a_one_line_error(spoil: Callable[[Json], None], message: str) -> None:
    configuration = tree()
    spoil(configuration)
    with pytest.raises(RailfabError) as refused:
        parsed(configuration)
    assert isinstance(refused.value, ConfigError)
    assert str(refused.value) == message


def test_every_port_of_a_cage_without_breakout_is_named() -> None:
    configuration = tree()
    whole_cage(configuration)
    with pytest.raises(Problems) as refused:
        parsed(configuration)
    assert str(refused.value).splitlines() == [
        f"/interface[name=ethernet-1/1/{lane}]: ethernet-1/1 is not broken out into {lane} ports. "
        "Set breakout-mode on ethernet-1/1."
        for lane in (1, 2)
    ]


def test_all_errors_are_reported_together() -> None:
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
    ("written", "message"),
    [
        (
            "{",
            "SR Linux configuration: is not JSON (Expecting property name enclosed in double quotes: line 1 column 2",
        ),
        ("[]", "SR Linux configuration: is not a JSON object. Pass the whole tree as one object."),
    ],
)
def test_text_that_is_not_a_json_object_is_refused(written: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        SRLINUX.parse(written)
    assert str(refused.value).startswith(message)


# Lines and differences.


def test_a_difference_is_shown_as_cli_lines() -> None:
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


def test_equal_configurations_have_no_difference_with_or_without_module_prefixes() -> None:
    assert difference(text(tree()), json.dumps(stripped(tree()))) == ""


def test_every_leaf_is_a_one_line_error() -> None:
    def count(value: Any) -> int:
        if isinstance(value, dict):
            return sum(count(child) for child in value.values()) or 1
        if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
            return sum(count(entry) for entry in value)
        return 1

    found = lines(tree())
    assert len(set(found)) == len(found)
    assert 0 < len(found) <= count(tree())

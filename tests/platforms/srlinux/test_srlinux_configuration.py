"""SR Linux configuration: golden text, parsing for effect, and error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.srlinux.configuration import (
    SRLINUX,
    bgp,
    binding,
    instance,
    interface,
    parsed,
    policies,
    policy,
    qos,
    slope,
    tree,
    unit,
)
from tests.platforms.srlinux.switches import rail_switch, spine

from railfab.device import (
    LOOPBACK,
    BfdTimers,
    BgpNeighbor,
    DeviceModel,
    Family,
    Lag,
    NetworkInstance,
    NextHop,
    PfcWatchdog,
    Vtep,
)
from railfab.errors import ConfigError, Problems, RailfabError, UnsupportedFeature
from railfab.fabric import design
from railfab.platforms.admission import admit
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.parse import parse_tree
from railfab.platforms.srlinux.set_request import set_request
from railfab.platforms.srlinux.tree import difference, lines, startup, stripped


@pytest.mark.parametrize("switch", [rail_switch, spine], ids=lambda switch: switch.__name__)
@pytest.mark.parametrize("suffix", ["json", "cli"])
def test_the_golden_configurations(switch: Callable[[], DeviceModel], suffix: str, repository: Path) -> None:
    model = switch()
    rendered = SRLINUX.render(model)
    golden = repository / "tests" / "golden" / "srlinux" / f"{model.name}.{suffix}"
    assert (text(rendered) if suffix == "json" else startup(rendered)) == golden.read_text()


# What a configuration does in effect.


def policies_of(model: DeviceModel) -> list[tuple[str, ...]]:
    return [neighbor.import_policies for neighbor in model.neighbors]


def test_a_group_without_policy_inherits_the_policy_of_bgp() -> None:
    configuration = tree()
    for group in bgp(configuration)["group"]:
        del group["import-policy"]
    assert policies_of(parsed(configuration)) == [(), ()]
    bgp(configuration)["import-policy"] = ["fabric-import"]
    assert policies_of(parsed(configuration)) == [("fabric-import",), ("fabric-import",)]


def test_the_default_class_has_index_0_whatever_its_queue() -> None:
    """SR Linux puts unclassified packets into forwarding class index 0."""
    model = rail_switch()
    assert model.qos is not None
    moved = tuple(replace(cls, queue={0: 2, 3: 3, 6: 0}[cls.queue]) for cls in model.qos.classes)
    rendered = qos(tree(replace(model, qos=replace(model.qos, classes=moved))))
    found = {cls["name"]: cls["forwarding-class-index"] for cls in rendered["forwarding-classes"]["forwarding-class"]}
    assert found == {"default": 0, "roce": 3, "cnp": 1}


def test_a_configuration_without_a_host_name_does_not_delete_the_switchs() -> None:
    named = tree()
    request = set_request(named, {key: value for key, value in named.items() if "system" not in key})
    assert [path for path in request.delete if "/system" in path] == ["/system/lldp"]


@pytest.mark.parametrize(
    ("watchdog", "said"),
    [
        (
            PfcWatchdog(detect_ms=1501, recover_ms=100),
            "watchdog_detect_ms 1501 is above platform srlinux's limit of 1500.",
        ),
        (
            PfcWatchdog(detect_ms=200, recover_ms=1501),
            "watchdog_recover_ms 1501 is above platform srlinux's limit of 1500.",
        ),
        (
            PfcWatchdog(detect_ms=10, recover_ms=99),
            "watchdog_recover_ms 99 is below platform srlinux's minimum of 100.",
        ),
    ],
)
def test_both_times_of_the_watchdog_have_the_limits_of_the_platform(watchdog: PfcWatchdog, said: str) -> None:
    model = rail_switch()
    assert model.qos is not None
    with pytest.raises(UnsupportedFeature, match=re.escape(said)):
        admit(replace(model, qos=replace(model.qos, watchdog=watchdog)), SRLINUX)


def with_timers(model: DeviceModel, **stated: int) -> DeviceModel:
    assert model.bgp is not None
    timed = tuple(replace(found, timers=replace(found.timers, **stated)) for found in model.bgp.neighbors)
    return replace(model, bgp=replace(model.bgp, neighbors=timed))


def test_withdrawals_wait_for_no_timer_and_updates_for_the_shortest() -> None:
    """SR Linux's own defaults are 5 s, false and 120 s (srl_nokia-bgp)."""
    speaker = bgp(tree(admit(rail_switch(), SRLINUX)))
    assert speaker["route-advertisement"] == {"rapid-withdrawal": True}
    timers = [group["timers"] for group in speaker["group"]]
    assert {(found["minimum-advertisement-interval"], found["connect-retry"]) for found in timers} == {(1, 10)}


def test_timers_that_the_intent_states_are_kept() -> None:
    stated = with_timers(rail_switch(), connect_retry_s=5, advertisement_interval_s=7)
    timers = bgp(tree(admit(stated, SRLINUX)))["group"][0]["timers"]
    assert (timers["minimum-advertisement-interval"], timers["connect-retry"]) == (7, 5)


@pytest.mark.parametrize(("stated", "words"), [(0, "below .* minimum of 1"), (256, "above .* limit of 255")])
def test_an_advertisement_interval_that_sr_linux_does_not_take_is_refused(stated: int, words: str) -> None:
    with pytest.raises(UnsupportedFeature, match=rf"advertisement_interval_s {stated} is {words}"):
        admit(with_timers(rail_switch(), advertisement_interval_s=stated), SRLINUX)


def test_rapid_withdrawal_that_is_turned_off_is_read() -> None:
    configuration = tree(admit(rail_switch(), SRLINUX))
    bgp(configuration)["route-advertisement"]["rapid-withdrawal"] = False
    found = parsed(configuration).bgp
    assert found is not None
    assert found.rapid_withdrawal is False


def test_the_smaller_mtu_is_effective() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/9")["mtu"] = 1514
    found = parsed(configuration).interface("ethernet-1/9")
    assert found is not None
    assert found.mtu_bytes == 1500


def test_the_ports_of_a_disabled_cage_are_down() -> None:
    configuration = tree()
    interface(configuration, "ethernet-1/1")["admin-state"] = "disable"
    assert [port.enabled for port in parsed(configuration).interfaces] == [False, False, True, True, True]


def test_bfd_timers_that_are_not_configured_are_those_of_sr_linux() -> None:
    """One second and three intervals (srl_nokia-bfd)."""
    configuration = tree()
    for entry in configuration["srl_nokia-bfd:bfd"]["subinterface"]:
        for leaf in ("desired-minimum-transmit-interval", "required-minimum-receive", "detection-multiplier"):
            entry.pop(leaf, None)
    assert parsed(configuration).neighbors[0].bfd == BfdTimers(interval_ms=1000, multiplier=3)


def test_bfd_needs_its_subinterface_and_its_group() -> None:
    configuration = tree()
    configuration["srl_nokia-bfd:bfd"]["subinterface"][0]["admin-state"] = "disable"
    assert not any(neighbor.bfd for neighbor in parsed(configuration).neighbors)


@pytest.mark.parametrize("place", [instance, bgp], ids=["network instance", "bgp"])
def test_the_sessions_of_disabled_bgp_are_disabled(place: Callable[[Json], Any]) -> None:
    configuration = tree()
    place(configuration)["admin-state"] = "disable"
    assert [neighbor.enabled for neighbor in parsed(configuration).neighbors] == [False, False]


def test_without_policies_ebgp_follows_its_default_policy() -> None:
    """RFC 8212, per direction; a model has one setting for both."""
    configuration = tree()
    bgp(configuration)["ebgp-default-policy"] = {"import-reject-all": False, "export-reject-all": False}
    model = parsed(configuration)
    assert model.bgp is not None
    assert not model.bgp.requires_policy


def test_unmanaged_configuration_is_unmodelled() -> None:
    configuration = tree()
    configuration["srl_nokia-interfaces:interface"].insert(0, {"name": "mgmt0", "subinterface": [{"index": 0}]})
    configuration["srl_nokia-network-instance:network-instance"].append({"name": "mgmt", "interface": []})
    configuration["srl_nokia-system:system"]["srl_nokia-grpc:grpc-server"] = [{"name": "mgmt"}]
    configuration["srl_nokia-acl:acl"] = {"policers": {}}
    unmodelled = (
        "set / acl policers",
        "set / interface mgmt0 subinterface 0",
        "set / network-instance mgmt interface [  ]",
        "set / system grpc-server mgmt",
    )
    assert parse_tree(configuration, like=tree()) == replace(rail_switch(), unmodelled=unmodelled)


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


# Errors of a wrong configuration.


def bad_prefix(configuration: Json) -> None:
    unit(configuration, "ethernet-1/1/1")["ipv4"]["address"][0]["ip-prefix"] = "10.16.0.0/40"


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


def words_for_a_peer(configuration: Json) -> None:
    bgp(configuration)["dynamic-neighbors"]["interface"][0]["allowed-peer-as"] = ["spines"]


def undefined_policy(configuration: Json) -> None:
    for group in bgp(configuration)["group"]:
        group["export-policy"] = ["all"]


def undefined_prefix_set(configuration: Json) -> None:
    policy(configuration)["statement"][0]["match"]["prefix"]["prefix-set"] = "loopbacks"


def bad_mask_range(configuration: Json) -> None:
    policies(configuration)["prefix-set"][0]["prefix"][0]["mask-length-range"] = "32"


def undefined_queue(configuration: Json) -> None:
    qos(configuration)["forwarding-classes"]["forwarding-class"][1]["output"]["unicast-queue"] = "rdma"


def undefined_profile(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9")["output"]["buffer-allocation-profile"] = "800g-5m"


def undefined_classifier(configuration: Json) -> None:
    binding(configuration, "ethernet-1/9.0")["input"]["classifiers"]["dscp-policy"] = "other"


NEIGHBORS = "/network-instance[name=default]/protocols/bgp"
WRONG: tuple[tuple[Callable[[Json], None], str], ...] = (
    (
        bad_prefix,
        "/interface[name=ethernet-1/1/1]/subinterface[index=0]/ipv4/address[ip-prefix=10.16.0.0/40]/ip-prefix: "
        "'10.16.0.0/40' is not an IP address with prefix length. Use an IP address with prefix length.",
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
        words_for_a_peer,
        f"{NEIGHBORS}/dynamic-neighbors/interface[interface-name=ethernet-1/9.0]/allowed-peer-as: "
        "spines is not an AS number. Use an AS number, or a range such as 65001..65010.",
    ),
    (
        undefined_policy,
        "/routing-policy/policy[name=all]: is not defined. Define the policy, or remove it from the peer group.",
    ),
    (
        undefined_prefix_set,
        "/routing-policy/prefix-set[name=loopbacks]: is not defined. "
        "Define the prefix-set, or correct the name in the statement.",
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
        undefined_profile,
        "/qos/interfaces/interface[interface-id=ethernet-1/9]/output/buffer-allocation-profile: "
        "800g-5m is not defined. Use one of 100g-5m, 400g-40m.",
    ),
    (
        undefined_classifier,
        "/qos/interfaces/interface[interface-id=ethernet-1/9.0]/input/classifiers/dscp-policy: "
        "other is not defined. Use one of fabric.",
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
        f"/interface[name=ethernet-1/1/{lane}]: ethernet-1/1 is not broken out. "
        "Set breakout-mode on ethernet-1/1, or remove this port."
        for lane in (1, 2)
    ]


def test_all_errors_are_reported_together() -> None:
    configuration = tree()
    for spoil in (bad_mtu, no_as_number, undefined_profile):
        spoil(configuration)
    with pytest.raises(Problems) as refused:
        parsed(configuration)
    assert [error.where.split("/")[1] for error in refused.value.errors] == [
        "interface[name=ethernet-1",
        "network-instance[name=default]",
        "qos",
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
    assert difference(before, after).splitlines() == [
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
    assert difference(tree(), stripped(tree())) == ""


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


def overlaid(next_hop: NextHop) -> DeviceModel:
    """The spine with two EVPN sessions beside those over its links."""
    model = spine()
    assert model.bgp is not None
    sessions = tuple(
        BgpNeighbor(
            peer=IPv4Address(f"10.255.1.{number}"),
            remote_as=4200001000 + number,
            timers=model.neighbors[0].timers,
            update_source=LOOPBACK,
            multihop_ttl=3,
            families=(Family.EVPN,),
            next_hop=next_hop,
        )
        for number in (1, 2)
    )
    return replace(model, bgp=replace(model.bgp, neighbors=(*model.neighbors, *sessions)))


def test_a_route_server_of_evpn_passes_routes_on_that_it_does_not_import() -> None:
    """Without it a spine without VRFs drops them; the next hop is unchanged anyway."""
    for next_hop, leaves in ((NextHop.UNCHANGED, {"inter-as-vpn": True}), (NextHop.DEFAULT, {})):
        evpn = next(found for found in bgp(tree(overlaid(next_hop)))["afi-safi"] if "evpn" in found["afi-safi-name"])
        assert evpn.get("evpn", {}) == leaves


def test_a_route_server_that_drops_routes_is_a_change_of_its_evpn_sessions() -> None:
    configuration = tree(overlaid(NextHop.UNCHANGED))
    (evpn,) = (found for found in bgp(configuration)["afi-safi"] if "evpn" in found)
    evpn["evpn"]["inter-as-vpn"] = False
    assert {found.next_hop for found in parsed(configuration).neighbors} == {NextHop.DEFAULT}
    assert parsed(tree(overlaid(NextHop.UNCHANGED))) == overlaid(NextHop.UNCHANGED)


def test_one_evpn_session_that_keeps_next_hops_beside_another_is_refused() -> None:
    model = overlaid(NextHop.UNCHANGED)
    assert model.bgp is not None
    *others, last = model.bgp.neighbors
    mixed = replace(model, bgp=replace(model.bgp, neighbors=(*others, replace(last, next_hop=NextHop.DEFAULT))))
    with pytest.raises(UnsupportedFeature, match="platform srlinux does not support next_hop_unchanged_per_session"):
        admit(mixed, SRLINUX)


def test_a_lag_above_the_last_of_the_models_is_refused() -> None:
    """srl_nokia-interfaces 25.3.1: lag1 to lag1000."""
    model = rail_switch()
    for number, refused in ((1000, False), (1001, True)):
        lag = replace(model, interfaces=(*model.interfaces, Lag(name=f"lag{number}", members=())))
        if refused:
            with pytest.raises(UnsupportedFeature, match="lag_number 1001 is above platform srlinux's limit of 1000"):
                admit(lag, SRLINUX)
        else:
            admit(lag, SRLINUX)


@pytest.mark.parametrize(
    ("silicon", "lacking"),
    [("Trident 4", None), ("Tomahawk 4", "vxlan"), ("Tomahawk 5", "vxlan"), ("Trident 3", "pfc")],
)
def test_what_a_chip_has_not_is_refused_by_name(silicon: str, lacking: str | None) -> None:
    """VXLAN is of the 7220 D series, PFC of the D4, D5 and the H series."""
    loopback = rail_switch().loopback
    assert loopback is not None
    model = replace(rail_switch(), silicon=silicon, vtep=Vtep(source=LOOPBACK, address=loopback))
    if lacking is None:
        admit(model, SRLINUX)
        return
    with pytest.raises(RailfabError, match=f"platform srlinux does not support {lacking} on {silicon}"):
        admit(model, SRLINUX)


@pytest.mark.parametrize(("vni", "evi"), [(50_200, 50_200), (65_536, 1), (131_072, 2)])
def test_the_evi_of_a_vrf_is_one_that_the_models_take(vni: int, evi: int) -> None:
    """srl_nokia-common 25.3.1, evi: 1 to 65535; a VNI goes to 16777215."""
    vrf = NetworkInstance(name="red", rd="1.1.1.1:1", import_targets=("1:1",), export_targets=("1:1",), vni=vni)
    instances = tree(replace(rail_switch(), network_instances=(vrf,)))["srl_nokia-network-instance:network-instance"]
    (found,) = (one for one in instances if one["name"] == "red")
    assert found["protocols"]["bgp-evpn"]["srl_nokia-bgp-evpn:bgp-instance"][0]["evi"] == evi


def test_leaves_with_one_gateway_tell_each_other_the_neighbours_of_an_overlay(repository: Path) -> None:
    """A host with a LAG to two leaves answers to either of them; without an overlay nobody else has the gateway."""
    model = design(repository / "inventory" / "fabrics" / "cluster.yml").models["front-leaf1"]
    plain = replace(model, vlans=tuple(replace(vlan, vni=None) for vlan in model.vlans))
    found, without = (unit(tree(one), "irb0")["ipv4"].get("srl_nokia-interfaces-nbr:arp") for one in (model, plain))
    announced = {"advertise": [{"route-type": "dynamic"}]}
    assert found == {"learn-unsolicited": True, "srl_nokia-interfaces-nbr-evpn:evpn": announced}
    assert without is None
    configuration = tree(model)
    del unit(configuration, "irb0")["ipv4"]["srl_nokia-interfaces-nbr:arp"]["learn-unsolicited"]
    assert [line for line in parsed(configuration).unmodelled if "learn-unsolicited" in line]

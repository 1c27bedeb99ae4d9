"""What a virtual SR Linux switch accepts, over real gNMI: the Sets of Nokia's models, and no others.

A Set that is refused changes nothing; what is accepted is read back, also where the twin simulates nothing of it.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from tests.laws import examples
from tests.twin.twins import srl_pod
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import read_credentials
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.statuses import Refused
from railfab.gnmi.target import DataType
from railfab.platforms.shared.json_tree import leaf_text
from railfab.platforms.srlinux.schema import MARK, schema
from railfab.platforms.srlinux.tree import stripped
from railfab.platforms.srlinux.value_types import fits
from railfab.twin import Twin, connect

LEAF = "pod1-seg1-leaf1"

UPLINK = "/interface[name=ethernet-1/32]"
INSTANCE = "/network-instance[name=default]"
BGP = f"{INSTANCE}/protocols/bgp"
IPV4 = f"{BGP}/afi-safi[afi-safi-name=ipv4-unicast]"
FILTER = "/acl/acl-filter[name=own][type=ipv4]"
OWN = "/network-instance[name=own]"
WITHOUT_FAMILY = {
    "type": "ip-vrf",
    "protocols": {"bgp": {"autonomous-system": 1, "router-id": "10.0.0.1"}},
}
OSPF = f"{INSTANCE}/protocols/ospf/instance[name=own]"


def ospf(dead_interval: int) -> dict[str, Any]:
    port = {"interface-name": "ethernet-1/32.0", "hello-interval": 10, "dead-interval": dead_interval}
    return {
        "version": "srl_nokia-ospf-types:ospf-v2",
        "router-id": "10.0.0.1",
        "area": [{"area-id": "0.0.0.0", "interface": [port]}],
    }


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def twin(state: Path) -> Iterator[Twin]:
    with Twin(srl_pod(), state=state, base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def switch(twin: Twin) -> Iterator[BlockingGnmiClient]:
    node = twin.endpoints.by_name()[LEAF]
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        yield client


def whole(switch: BlockingGnmiClient) -> Any:
    ((_, tree),) = switch.get(("/",), DataType.CONFIG)
    return tree


REFUSED = [
    # names
    ("/qos/frobnicate", {"a": 1}, "Path not valid - unknown element 'frobnicate'. Options are [buffer-management, "),
    ("/frobnicate", {"a": 1}, "Path not valid - unknown element 'frobnicate'. Options are [acl, "),
    (f"{UPLINK}/speed", "400G", "Path not valid - unknown element 'speed'. Options are [admin-state, "),
    (f"{UPLINK}/oper-state", "up", "Path not valid - unknown element 'oper-state'. Options are [admin-state, "),
    (f"{UPLINK}/statistics/in-octets", "5", "Path not valid - unknown element 'statistics'. Options are ["),
    (f"{UPLINK}/mtu/bytes", 9000, "Path not valid - unknown element 'bytes'. "),
    (f"{UPLINK}/transceiver/frob", 1, "Path not valid - unknown element 'frob'. Options are [ddm-events, "),
    (f"{UPLINK}/transceiver", {"frob": 1}, "Schema '/interface/transceiver' has no local leaf with the name 'frob'. "),
    # a 7220 has FEC below `ethernet`: our reading of the features
    (f"{UPLINK}/transceiver/forward-error-correction", "rs-528", "unknown element 'forward-error-correction'. "),
    *(
        (f"{above}/frob", 1, "Path not valid - unknown element 'frob'. Options are [")
        for above in (
            "/oam",
            "/tunnel",
            f"{INSTANCE}/protocols/isis",
            f"{INSTANCE}/protocols/ospf",
            f"{INSTANCE}/protocols/ldp",
            f"{INSTANCE}/segment-routing",
            f"{UPLINK}/ethernet/dot1x",
            f"{UPLINK}/subinterface[index=0]/ipv4/dhcp-relay",
            "/system/sync",
            "/system/event-handler",
        )
    ),
    ("/system/information", {"wrong": "x"}, "Schema '/system/information' has no local leaf with the name 'wrong'. "),
    (UPLINK, {"oper-state": "up"}, "Schema '/interface' has no local leaf with the name 'oper-state'. Options are ["),
    ("/qos", {"frobnicate": {"a": 1}}, "/ qos frobnicate: is unknown to SR Linux 25.3.1"),
    (UPLINK, {"statistics": {"in-octets": "5"}}, "ethernet-1/32 statistics: is state, which cannot be configured"),
    # numbers
    (f"{UPLINK}/mtu", 100_000, 'ethernet-1/32 mtu: Invalid value "100000": Must be an integer in range 1450..9500'),
    (f"{UPLINK}/mtu", 1499, "ethernet-1/32 mtu: minimum mtu is 1500 for this interface type"),
    (f"{UPLINK}/mtu", None, "is None, which is not 1450 to 9500"),
    (f"{UPLINK}/mtu", "big", "is big, which is not 1450 to 9500"),
    ("/qos/classifiers/dscp-policy[name=fabric]/dscp[value=64]", {"forwarding-class": "roce"}, "is 64, which is not 0"),
    (f"{BGP}/autonomous-system", 0, 'Invalid value "0": Must be an integer in range 1..4294967295'),
    (f"{BGP}/autonomous-system", 4_294_967_296, 'Invalid value "4294967296": Must be an integer in range 1..'),
    (
        f"{BGP}/dynamic-neighbors/interface[interface-name=ethernet-1/32.0]/allowed-peer-as",
        ["abc"],
        'Invalid value "abc": Must match',
    ),
    (f"{UPLINK}/transceiver/ddm-events", "frob", "ddm-events: is frob, which is not true or false"),
    (f"{UPLINK}/ethernet/hold-time/up", 1, "is 1, which is not 0 or 100 to 86400000"),
    (f"{UPLINK}/ethernet/hold-time/up", 120, "hold-time up must be a multiple of 50"),
    (
        "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=0]/input[id=cnp]/peak-rate-percent",
        101,
        'Invalid value "101": Must be an integer in range 1..100',
    ),
    (
        "/qos/buffer-management/buffer-allocation-profile[name=100g-5m]/queues/queue[queue-name=roce]",
        {"maximum-burst-size": -5},
        'Invalid value "-5": Must be an integer in range 0..',
    ),
    # texts and enumerations
    ("/system/name/host-name", "bad name!", 'Invalid value "bad name!": Must match the pattern'),
    (f"{UPLINK}/admin-state", "up", "is up, which is not one of enable, disable"),
    (f"{UPLINK}/ethernet/port-speed", "3T", "is 3T, which is not one of"),
    ("/qos/interfaces/interface[interface-id=ethernet-1/32]/pfc/pfc-enable", "maybe", "is maybe, which is not true"),
    (
        "/interface[name=foo]",
        {"admin-state": "enable"},
        "Failed to parse value 'foo' for key 'name' (node 'interface') - Invalid value \"foo\": Must match the ",
    ),
    # hardware
    (
        "/interface[name=ethernet-1/77]",
        {"admin-state": "enable"},
        "/ interface ethernet-1/77: is no port of the switch",
    ),
    # row 48: ports 3 and 4 are configured
    (
        "/interface[name=ethernet-1/1]/breakout-mode",
        {"num-breakout-ports": "2", "breakout-port-speed": "200G"},
        "/interface[name=ethernet-1/1/3]: ethernet-1/1 has 2 ports",
    ),
    # references
    (
        "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]/forwarding-class",
        "nope",
        "dscp 26 forwarding-class: is nope, and there is no qos forwarding-classes forwarding-class name of this name",
    ),
    (f"{BGP}/group[group-name=fabric]/export-policy", ["nope"], "is nope, and there is no routing-policy policy name"),
    (
        f"{BGP}/dynamic-neighbors/interface[interface-name=ethernet-1/32.0]/peer-group",
        "nope",
        "is nope, and there is no",
    ),
    ("/bfd/subinterface[id=ethernet-1/20.0]", {"admin-state": "enable"}, "Must be an existing subinterface name"),
    # what the models say between leaves
    ("/interface[name=ethernet-1/1]/mtu", 9232, "mtu not configurable when breakout-mode is enabled"),
    # a text of the models that ends with a full stop
    (OWN, WITHOUT_FAMILY, "bgp admin-state: One of the address families must be enabled. Correct it)"),
    (OSPF, ospf(19), "The dead-interval must be at least twice the hello-interval"),
    (f"{UPLINK}/ethernet/flow-control/receive", True, "pfc and ethernet flow-control are mutually exclusive"),
    (
        "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=1]/priority",
        "strict",
        "scheduler with sequence 0 must be strict priority and scheduler with sequence 1 must be weighted RR",
    ),
    # kinds and keys
    ("/qos/queues/queue[queue-name=roce]", {}, "/ qos queues queue"),
    ("/interface", [{"admin-state": "enable"}], "lacks its key name"),
    (
        "/qos/queues/queue",
        [{"name": "a", "queue-index": 1}, {"name": "a", "queue-index": 2}],
        "is there more than once",
    ),
    (UPLINK, {"breakout-mode": {"num-breakout-ports": "4"}, "mtu": None}, ""),
    # `unique` and `choice`
    (
        "/qos/pfc-mapping-profile[name=fabric]/received-pfc-pause-frames/queue[queue-name=cnp]",
        {"pfc-pause-frame-priority": 3},
        "queue cnp: has pfc-pause-frame-priority 3, which roce has",
    ),
    (FILTER, {"entry": [{"sequence-id": 10, "action": {"accept": {}, "drop": {}}}]}, "has accept and drop, which are"),
    (
        f"{FILTER}/entry[sequence-id=10]/action",
        {"accept": {}, "drop": {}},
        "has accept and drop, which are alternatives",
    ),
    (f"{IPV4}/add-paths", {"send-max": 4, "send-multipath": True}, "has send-max and send-multipath, which are"),
    (UPLINK, "text", "is a list entry"),
]


@pytest.mark.parametrize(("path", "value", "text"), REFUSED, ids=[f"{path}={value}" for path, value, _ in REFUSED])
def test_what_the_models_refuse_is_refused_and_changes_nothing(
    switch: BlockingGnmiClient, path: str, value: Any, text: str
) -> None:
    before = whole(switch)
    with pytest.raises(Refused) as caught:
        switch.set(SetChanges(update=((path, value),)))
    assert caught.type is Refused  # INVALID_ARGUMENT; other statuses have classes of their own
    assert text in str(caught.value)
    assert whole(switch) == before


REMOVED = [
    ("/system/frobnicate", "Path not valid - unknown element 'frobnicate'. Options are [aaa, "),
    (f"{UPLINK}/statistics", "Path not valid - unknown element 'statistics'. "),
    ("/routing-policy/policy[name=fabric-export]", "is fabric-export, and there is no routing-policy policy name"),
    ("/qos/forwarding-classes/forwarding-class[name=roce]", "is roce, and there is no qos forwarding-classes"),
    (f"{BGP}/group[group-name=fabric]", "is fabric, and there is no network-instance protocols bgp group"),
    (f"{BGP}/router-id", "lacks router-id"),
    (f"{BGP}/autonomous-system", "lacks autonomous-system"),
    (UPLINK, "is ethernet-1/32, and there is no interface name of this name"),
    # row 47 of the mistakes: the ports of a breakout are configured
    ("/interface[name=ethernet-1/1]/breakout-mode", "/interface[name=ethernet-1/1/1]: ethernet-1/1 is not broken out"),
]


@pytest.mark.parametrize(("path", "text"), REMOVED)
def test_what_others_need_is_not_removed(switch: BlockingGnmiClient, path: str, text: str) -> None:
    before = whole(switch)
    with pytest.raises(Refused) as caught:
        switch.set(SetChanges(delete=(path,)))
    assert text in str(caught.value)
    assert whole(switch) == before


def test_every_way_to_set_is_checked(switch: BlockingGnmiClient) -> None:
    before = whole(switch)
    for operation in ("update", "replace", "union_replace"):
        with pytest.raises(Refused, match=r"Must be an integer in range 1450\.\.9500"):
            switch.set(SetChanges(**{operation: ((f"{UPLINK}/mtu", 100_000),)}))
    assert whole(switch) == before


ACCEPTED = [
    # rows 15 and 20 of the mistakes: Nokia's models have no such constraint
    (
        "/qos/buffer-management/queue-management-profile[name=100g-5m]/wred"
        "/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]/min-threshold",
        "9000000",
    ),
    (f"{UPLINK}/mtu", 1514),
    # a name of 1 to 255 characters, no reference (srl_nokia-network-instance, network-instance-subintf-name); its rules
    # hold for a subinterface that does not exist
    (f"{INSTANCE}/interface[name=ethernet-1/99.0]", {}),
    # no `unique` in srl_nokia-qos, unlike that of a PFC priority
    ("/qos/queues/queue[name=own]", {"queue-index": 3}),
    ("/qos/queues/queue[name=another]", {"queue-index": 3}),
    (
        "/qos/forwarding-classes/forwarding-class[name=own]",
        {"forwarding-class-index": 3, "output": {"unicast-queue": "roce"}},
    ),
    # in the models and not simulated
    (f"{UPLINK}/transceiver/ddm-events", True),
    (f"{UPLINK}/ethernet/forward-error-correction/fec-option", "rs-528"),
    (OSPF, ospf(20)),
    (f"{UPLINK}/ethernet/hold-time/up", 150),
    ("/system/banner/motd-banner", "hello"),
    ("/interface[name=ethernet-1/31]/vlan-tagging", True),
    ("/acl/acl-filter[name=own][type=ipv4]", {"description": "of the operator"}),
    ("/routing-policy/community-set[name=own]", {"member": ["65000:1"]}),
    ("/system/logging/buffer[buffer-name=own]", {"rotate": 3}),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED)
def test_what_the_models_accept_is_accepted_and_read_back(switch: BlockingGnmiClient, path: str, value: Any) -> None:
    before = whole(switch)
    switch.set(SetChanges(update=((path, value),)))
    ((_, found),) = switch.get((path,), DataType.CONFIG)
    assert found == value or value.items() <= found.items()
    switch.set(SetChanges(replace=(("/", before),)))
    assert whole(switch) == before


ACTION = f"{FILTER}/entry[sequence-id=10]/action"

CASES = [
    # by values of the node above, of the one above that, and by paths into the cases
    [(ACTION, {"accept": {}}), (ACTION, {"drop": {}, "log": True}), (ACTION, {"accept": {}})],
    [(ACTION.removesuffix("/action"), {"action": {name: {}}}) for name in ("drop", "accept")],
    [(f"{ACTION}/drop", {}), (f"{ACTION}/accept/forwarding-class", "roce"), (f"{ACTION}/drop", {})],
]


@pytest.mark.parametrize("steps", CASES, ids=lambda steps: steps[0][0])
def test_a_node_of_one_case_removes_those_of_the_others(
    switch: BlockingGnmiClient, steps: list[tuple[str, Any]]
) -> None:
    """RFC 7950, section 7.9; siblings that are in no case stay."""
    before, logged = whole(switch), False
    for path, value in steps:
        switch.set(SetChanges(update=((path, value),)))
        ((_, action),) = switch.get((ACTION,), DataType.CONFIG)
        named = str((path, value))
        (case,) = action.keys() - {"log"}
        assert case in named
        logged = logged or "log" in named
        assert ("log" in action) == logged
    switch.set(SetChanges(replace=(("/", before),)))


@pytest.mark.parametrize("first", [f"{FILTER}/entry[sequence-id=10]/action", f"{FILTER}/entry[sequence-id=10]", FILTER])
def test_one_request_does_not_set_two_cases(switch: BlockingGnmiClient, first: str) -> None:
    """Also when the second node has an update of its own, which the server applies after the first."""
    before, value = whole(switch), {"accept": {}}
    below = {FILTER: {"entry": [{"sequence-id": 10, "action": value}]}, f"{FILTER}/entry[sequence-id=10]/action": value}
    sent = below.get(first, {"action": value})
    drop = (f"{FILTER}/entry[sequence-id=10]/action/drop", {})
    for updates in ((drop, (first, sent)), ((first, sent), drop)):
        with pytest.raises(Refused, match="has accept and drop, which are alternatives"):
            switch.set(SetChanges(update=updates))
        assert whole(switch) == before
    switch.set(SetChanges(update=((first, sent),)))
    switch.set(SetChanges(delete=(drop[0].removesuffix("drop") + "accept",), update=(drop,)))
    switch.set(SetChanges(replace=(("/", before),)))


TEXTS = ("own", "10.0.0.1", "10.0.0.0/24", "2001:db8::1", "2001:db8::/64", "ethernet-1/5", "ethernet-1/5.0", "lag1")
TEXTS += ("00:11:22:33:44:55", "65001", "65000:1", "32..32", "vxlan1", "2026-01-01T00:00:00.000Z", "00:00:00", "A")
"""Texts of which one fits most types."""


def values_of(kind: Mapping[str, Any]) -> list[Any]:
    """Some values of a type; none for a pattern that no text here matches."""
    if kind["type"] == "union":
        return [value for member in kind["members"] for value in values_of(member)]
    if kind["type"] == "boolean":
        return [True, False]
    if kind["type"] == "empty":
        return [[None]]
    ends = [number for pair in kind.get("range", ()) for number in pair]
    return [value for value in (ends or kind.get("names") or TEXTS) if fits(value, kind)]


def leaves_of(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every configurable leaf and leaf-list with values, by a gNMI path with keys."""
    for name, child in node.items():
        if name == MARK or child is None:
            continue
        if not isinstance(child, dict):
            yield f"{path}/{name}", child
        elif isinstance(child.get(MARK), list):
            choices = [values_of(schema().types[child[key]]) for key in child[MARK]]
            if all(choices):
                keys = zip(child[MARK], choices, strict=True)
                place = "".join(f"[{key}={leaf_text(found[0])}]" for key, found in keys)
                rest = {inner: below for inner, below in child.items() if inner not in child[MARK]}
                yield from leaves_of(rest, f"{path}/{name}{place}")
        else:
            yield from leaves_of(child, f"{path}/{name}")


LEAVES = sorted(leaves_of(schema().nodes, ""), key=lambda pair: pair[0])


@given(drawn=st.data())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_every_leaf_of_the_models_is_accepted_and_read_back_or_refused_with_a_reason(
    switch: BlockingGnmiClient, drawn: st.DataObject
) -> None:
    path, node = drawn.draw(st.sampled_from(LEAVES))
    values = values_of(schema().type_of(node) or {})
    assume(values)
    value = drawn.draw(st.sampled_from(values))
    sent = [value] if isinstance(node, list) and not isinstance(value, list) else value
    before = whole(switch)
    refused = refusal(switch, path, sent)
    if refused is None:
        ((_, found),) = switch.get((path,), DataType.CONFIG)
        assert stripped(found) == sent
        switch.set(SetChanges(replace=(("/", before),)))
    else:
        assert type(refused) is Refused
        assert re.search(r"\((/ [a-z]|.*: Path not valid - unknown element )", str(refused)), refused
    assert whole(switch) == before


def refusal(switch: BlockingGnmiClient, path: str, value: Any) -> Refused | None:
    """The refusal of a Set; None when it is accepted."""
    try:
        switch.set(SetChanges(update=((path, value),)))
    except Refused as error:
        return error
    return None


def unmodelled_by_metric(twin: Twin) -> dict[str, float]:
    """`fabric_twin_unmodelled_leaves` by device, as Prometheus reads it."""
    with urllib.request.urlopen(twin.control.metrics_url, timeout=30) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    (family,) = [family for family in families if family.name == "fabric_twin_unmodelled_leaves"]
    return {sample.labels["device"]: sample.value for sample in family.samples}


def test_what_is_not_simulated_is_counted_and_listed(switch: BlockingGnmiClient, twin: Twin, state: Path) -> None:
    before, counted = whole(switch), unmodelled_by_metric(twin)
    assert set(counted.values()) == {0}
    switch.set(SetChanges(update=(("/routing-policy/community-set[name=own]", {"member": ["65000:1"]}),)))
    line = "set / routing-policy community-set own member [ 65000:1 ]"
    assert unmodelled_by_metric(twin) == {**counted, LEAF: 1}
    ((listed,),) = ([one.unmodelled for one in connect(state, twin.fabric).status().switches if one.name == LEAF],)
    assert listed == (line,)
    status = ["twin", "status", "--state", str(state)]
    (found,) = json.loads(CliRunner().invoke(app, [*status, "--output", "json"]).stdout)
    assert [one["unmodelled"] for one in found["status"]["switches"] if one["name"] == LEAF] == [[line]]
    table = CliRunner().invoke(app, status, env={"COLUMNS": "200"}).stdout
    assert f"{LEAF}  {line}" in table
    switch.set(SetChanges(replace=(("/", before),)))
    assert unmodelled_by_metric(twin) == counted


def test_what_the_twin_knows_is_not_listed_though_a_port_does_not_use_it(
    switch: BlockingGnmiClient, twin: Twin
) -> None:
    before = whole(switch)
    port = "/qos/interfaces/interface[interface-id=ethernet-1/32]"
    switch.set(SetChanges(update=((f"{port}/pfc/pfc-enable", False),)))
    unit = "/interface[name=ethernet-1/31]/subinterface[index=0]"
    switch.set(SetChanges(update=((f"{unit}/admin-state", "disable"), (f"{unit}/ip-mtu", 1500))))
    assert [one.unmodelled for one in twin.status().switches if one.name == LEAF] == [()]
    switch.set(SetChanges(replace=(("/", before),)))


def test_what_the_twin_saves_for_the_next_boot_is_in_effect(switch: BlockingGnmiClient, twin: Twin) -> None:
    before, counted = whole(switch), unmodelled_by_metric(twin)
    switch.set(SetChanges(update=(("/system/grpc-server[name=mgmt]/gnmi/commit-save", True),)))
    switch.set(SetChanges(update=(("/system/configuration/auto-save", False),)))
    assert [one.unmodelled for one in twin.status().switches if one.name == LEAF] == [()]
    assert unmodelled_by_metric(twin) == counted
    switch.set(SetChanges(replace=(("/", before),)))


def test_what_is_modelled_and_not_computed_is_listed_too(switch: BlockingGnmiClient, twin: Twin) -> None:
    before = whole(switch)
    family = "/network-instance[name=default]/protocols/bgp/afi-safi[afi-safi-name=evpn]"
    switch.set(SetChanges(update=((family, {"admin-state": "enable"}),)))
    (listed,) = (one.unmodelled for one in twin.status().switches if one.name == LEAF)
    assert "BGP neighbour ethernet-1/32: EVPN" in listed
    switch.set(SetChanges(replace=(("/", before),)))


def test_a_factory_switch_checks_too(tmp_path: Path) -> None:
    with Twin(srl_pod(), state=tmp_path, base_port=0) as empty:
        node = empty.endpoints.by_name()[LEAF]
        with BlockingGnmiClient(node, read_credentials(node)) as client:
            before = whole(client)
            with pytest.raises(Refused, match="Path not valid - unknown element 'frobnicate'"):
                client.set(SetChanges(update=(("/system/frobnicate", 1),)))
            assert whole(client) == before


def test_names_have_their_module_where_the_namespace_changes(switch: BlockingGnmiClient) -> None:
    """RFC 7951, section 4; in configuration, in state, and whether a client writes prefixes or not."""
    for kind in DataType:
        ((_, root),) = switch.get(("/",), kind)
        modules = {name.partition(":")[0] for name in root} - {"railfab-twin"}
        assert modules <= set(schema().modules.values())
        ((_, system),) = switch.get(("/system",), kind)
        assert "srl_nokia-lldp:lldp" in system
        ((_, instance),) = switch.get((INSTANCE,), kind)
        assert "srl_nokia-bgp:bgp" in instance["protocols"]
        ((_, port),) = switch.get((UPLINK,), kind)
        assert "admin-state" in port
    before = whole(switch)
    for value in ({"banner": {"motd-banner": "one"}}, {"srl_nokia-system-banner:banner": {"motd-banner": "one"}}):
        switch.set(SetChanges(update=(("/system", value),)))
        ((_, system),) = switch.get(("/system",), DataType.CONFIG)
        assert system["srl_nokia-system-banner:banner"] == {"motd-banner": "one"}
        switch.set(SetChanges(replace=(("/", before),)))


def test_identities_have_the_prefix_of_their_module(switch: BlockingGnmiClient) -> None:
    """RFC 7951, section 6.8; in configuration and state, and whether a client writes it or not."""
    before = whole(switch)
    for kind in DataType:
        for sent in ("ipv4-unicast", "srl_nokia-common:ipv4-unicast"):
            path = f"{BGP}/neighbor[peer-address=*]/afi-safi[afi-safi-name={sent}]"
            place = IPV4.replace("ipv4-unicast", sent) if kind is DataType.CONFIG else path
            answers = switch.get((place,), kind)
            assert {family["afi-safi-name"] for _, family in answers} == {"srl_nokia-common:ipv4-unicast"}
    for sent in ("mac-vrf", "srl_nokia-network-instance:mac-vrf"):
        switch.set(SetChanges(replace=(("/network-instance[name=own]", {"type": sent}),)))
        ((_, found),) = switch.get(("/network-instance[name=own]/type",), DataType.CONFIG)
        assert found == "srl_nokia-network-instance:mac-vrf"
        family = "srl_nokia-common:evpn" if ":" in sent else "evpn"
        switch.set(SetChanges(update=((f"{BGP}/afi-safi[afi-safi-name={family}]", {"admin-state": "enable"}),)))
    ((_, speaker),) = switch.get((BGP,), DataType.CONFIG)
    names = [one["afi-safi-name"] for one in speaker["afi-safi"]]
    assert names.count("srl_nokia-common:evpn") == 1
    assert all(name.startswith("srl_nokia-common:") for name in names)
    switch.set(SetChanges(replace=(("/", before),)))


def test_a_name_with_a_colon_is_no_identity(switch: BlockingGnmiClient) -> None:
    """Nokia's names of policies may contain colons; two of them that end alike are two."""
    before = whole(switch)
    names = {"in:rail", "out:rail"}
    policies = [f"/routing-policy/policy[name={name}]" for name in names]
    switch.set(SetChanges(update=tuple((path, {"default-action": {"policy-result": "accept"}}) for path in policies)))
    answers = switch.get(("/routing-policy/policy[name=*]",), DataType.CONFIG)
    assert names <= {dict(path[-1].keys)["name"] for path, _ in answers}
    switch.set(SetChanges(replace=(("/", before),)))

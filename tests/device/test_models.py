"""Planned device models, differences between two models, and mismatched link ends."""

from dataclasses import replace
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from railfab.device import DeviceModel, changes, disagreements, plan
from railfab.intent import load_intent
from railfab.topology import Topology, switch_model, wire

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@pytest.fixture(scope="module")
def topology() -> Topology:
    return wire(load_intent(POD64))


@pytest.fixture
def models(topology: Topology) -> dict[str, DeviceModel]:
    return plan(topology, load_intent(POD64))


def test_planned_models_agree_at_both_ends_of_every_link(topology: Topology, models: dict[str, DeviceModel]) -> None:
    assert disagreements(topology, models) == ()


def test_every_fabric_link_carries_one_session_with_the_right_as_numbers(models: dict[str, DeviceModel]) -> None:
    leaf, spine = models[LEAF], models[SPINE]
    assert [found.remote_as for found in leaf.bgp.neighbors] == [65001] * 8
    assert [found.remote_as for found in spine.bgp.neighbors] == [
        4200001000 + number for number in (1, 1, 2, 2, 3, 3, 4, 4)
    ]


def test_a_numbered_underlay_has_sessions_to_the_far_ends_address(topology: Topology) -> None:
    intent = load_intent(POD64)
    numbered = intent.model_copy(update={"profile": intent.profile.model_copy(update={"underlay": "numbered"})})
    wired = wire(numbered)
    models = plan(wired, numbered)
    assert disagreements(wired, models) == ()
    for port, peer, _ in wired.ports():
        if {port.node, peer.node} <= set(models):
            neighbor = next(found for found in models[port.node].bgp.neighbors if found.interface == port.name)
            own = models[port.node].interface(port.name)
            assert own is not None
            assert own.address == port.address
            assert peer.address is not None
            assert (neighbor.address, own.unnumbered) == (peer.address.ip, False)


def test_only_loopbacks_and_host_links_are_routed(models: dict[str, DeviceModel]) -> None:
    for model in models.values():
        for policy in (model.bgp.import_prefixes, model.bgp.export_prefixes):
            assert [(str(entry.prefix), entry.ge, entry.le) for entry in policy] == [
                ("10.254.0.0/15", 32, 32),
                ("10.16.0.0/12", 31, 31),
            ]


def test_the_headroom_pool_holds_what_all_ports_need(topology: Topology, models: dict[str, DeviceModel]) -> None:
    from railfab.qos import lossless_thresholds

    for node in topology.switches():
        qos, model = models[node.name].qos, switch_model(node.model or "")
        assert qos is not None
        need = sum(
            lossless_thresholds(rate_gbps=link.rate_gbps, cable_m=link.cable_m, mtu_bytes=9216).headroom_bytes
            for _, _, link in topology.ports_of(node.name)
        )
        pool = qos.headroom_pool_percent * model.buffer_bytes / 100
        assert need <= pool <= need + model.buffer_bytes / 100
        for profile in qos.profiles:
            rate = int(profile.name.split("g-")[0])
            one = lossless_thresholds(rate_gbps=rate, cable_m=5 if rate == 100 else 40, mtu_bytes=9216).headroom_bytes
            assert profile.headroom_percent * pool / 100 >= one


def test_equal_models_have_no_changes_and_a_change_names_its_path(models: dict[str, DeviceModel]) -> None:
    leaf = models[LEAF]
    assert changes(leaf, leaf) == ()
    neighbors = (replace(leaf.bgp.neighbors[0], remote_as=65009), *leaf.bgp.neighbors[1:])
    found = changes(leaf, replace(leaf, bgp=replace(leaf.bgp, neighbors=neighbors)))
    assert [str(change) for change in found] == ["bgp.neighbors[ethernet-1/25].remote_as: 65001 -> 65009"]
    fewer = replace(leaf, bgp=replace(leaf.bgp, neighbors=leaf.bgp.neighbors[1:]))
    assert [change.after for change in changes(leaf, fewer)] == [None]


def test_another_order_is_a_change(models: dict[str, DeviceModel]) -> None:
    leaf = models[LEAF]
    turned = replace(leaf, interfaces=leaf.interfaces[::-1])
    assert [change.path for change in changes(leaf, turned)] == ["interfaces order"]


def test_elements_with_the_same_key_are_compared_separately(models: dict[str, DeviceModel]) -> None:
    leaf = models[LEAF]
    first = leaf.bgp.neighbors[0]
    twice = replace(leaf, bgp=replace(leaf.bgp, neighbors=(replace(first, remote_as=65009), *leaf.bgp.neighbors)))
    assert [change.path for change in changes(twice, leaf)] == [
        "bgp.neighbors[ethernet-1/25].remote_as",
        "bgp.neighbors[ethernet-1/25#2]",
    ]
    wide = leaf.bgp.import_prefixes[0]
    longer = replace(leaf, bgp=replace(leaf.bgp, import_prefixes=(replace(wide, ge=24), *leaf.bgp.import_prefixes)))
    assert [change.path for change in changes(longer, leaf)] == [
        "bgp.import_prefixes[10.254.0.0/15].ge",
        "bgp.import_prefixes[10.254.0.0/15#2]",
    ]


def _spine_with(models: dict[str, DeviceModel], **fields: object) -> dict[str, DeviceModel]:
    """pod64 with the spine's first port (towards LEAF ethernet-1/32) changed."""
    spine = models[SPINE]
    first = replace(spine.interfaces[0], **fields)  # type: ignore[arg-type]
    return {**models, SPINE: replace(spine, interfaces=(first, *spine.interfaces[1:]))}


def _spine_qos_with(models: dict[str, DeviceModel], **fields: object) -> dict[str, DeviceModel]:
    spine = models[SPINE]
    assert spine.qos is not None
    first = replace(spine.qos.ports[0], **fields)  # type: ignore[arg-type]
    return {**models, SPINE: replace(spine, qos=replace(spine.qos, ports=(first, *spine.qos.ports[1:])))}


SAME = "Configure both ends with the same value"
ENDS = f"{LEAF} ethernet-1/32 and {SPINE} ethernet-1/1"


def test_mismatched_ends_are_named_with_both_values(topology: Topology, models: dict[str, DeviceModel]) -> None:
    def messages(changed: dict[str, DeviceModel]) -> list[str]:
        return [str(finding) for finding in disagreements(topology, changed)]

    assert messages(_spine_with(models, mtu_bytes=1500)) == [f"{ENDS}: MTU differs: 9216 and 1500. {SAME}."]
    assert messages(_spine_with(models, rate_gbps=200)) == [f"{ENDS}: speed differs: 400 and 200. {SAME}."]
    assert messages(_spine_with(models, enabled=False)) == [f"{SPINE} ethernet-1/1: is shut down. Enable it."]
    assert messages(_spine_with(models, unnumbered=False)) == [f"{ENDS}: IPv6 unnumbered differs: on and off. {SAME}."]
    assert messages(_spine_with(models, name="ethernet-1/30"))[0] == (
        f"{SPINE} ethernet-1/1: is not configured. Deploy the intent."
    )
    for field, setting in (("pfc", "PFC"), ("ecn", "ECN"), ("trust_dscp", "DSCP trust")):
        assert messages(_spine_qos_with(models, **{field: False})) == [
            f"{ENDS}: {setting} differs: on and off. {SAME}."
        ]


def test_addresses_of_different_subnets_at_the_ends_of_a_link_are_a_finding() -> None:
    intent = load_intent(POD64)
    numbered = intent.model_copy(update={"profile": intent.profile.model_copy(update={"underlay": "numbered"})})
    topology = wire(numbered)
    models = plan(topology, numbered)
    leaf = models[LEAF].interface("ethernet-1/32")
    assert leaf is not None
    moved = _spine_with(models, address=IPv4Interface("10.99.0.1/31"))
    assert [str(finding) for finding in disagreements(topology, moved)] == [
        f"{ENDS}: subnet differs: {leaf.network} and 10.99.0.0/31. {SAME}."
    ]


def test_wrong_as_numbers_missing_neighbours_and_other_maps_are_findings(
    topology: Topology, models: dict[str, DeviceModel]
) -> None:
    spine = models[SPINE]
    wrong = (replace(spine.bgp.neighbors[0], remote_as=65009), *spine.bgp.neighbors[2:])
    found = [
        str(finding)
        for finding in disagreements(
            topology, {**models, SPINE: replace(spine, bgp=replace(spine.bgp, neighbors=wrong))}
        )
    ]
    assert found == [
        f"{SPINE} ethernet-1/1: expects AS 65009, but {LEAF} is in AS 4200001001. Correct the remote AS.",
        f"{SPINE} ethernet-1/2: has no BGP neighbour towards {LEAF}. Deploy the intent.",
    ]
    silent = (replace(spine.bgp.neighbors[0], bfd=False), *spine.bgp.neighbors[1:])
    without_bfd = {**models, SPINE: replace(spine, bgp=replace(spine.bgp, neighbors=silent))}
    assert [str(finding) for finding in disagreements(topology, without_bfd)] == [
        f"{ENDS}: BFD differs: interval_ms 300, multiplier 3 and off. {SAME}."
    ]
    assert spine.qos is not None
    classes = tuple(replace(cls, dscp=(24,)) if cls.dscp == (26,) else cls for cls in spine.qos.classes)
    mapped = disagreements(topology, {**models, SPINE: replace(spine, qos=replace(spine.qos, classes=classes))})
    assert len(mapped) == 8
    assert str(mapped[0]) == (
        f"{ENDS}: DSCP map differs: 26 to queue 3 with PFC priority 3, 48 to queue 6 "
        f"and 24 to queue 3 with PFC priority 3, 48 to queue 6. {SAME}."
    )
    for name, ours, theirs in (
        ("kmin_bytes", 500_000, 1000),
        ("kmax_bytes", 1_500_000, 9_000_000),
        ("pmax_percent", 10, 50),
        ("xoff_bytes", 2_000_000, 4_000_000),
    ):
        other = tuple(replace(profile, **{name: theirs}) for profile in spine.qos.profiles)
        marked = disagreements(topology, {**models, SPINE: replace(spine, qos=replace(spine.qos, profiles=other))})
        assert {str(one).partition(": ")[2] for one in marked} == {f"{name} differs: {ours} and {theirs}. {SAME}."}


def test_missing_and_unexpected_elements_are_named(models: dict[str, DeviceModel]) -> None:
    leaf = models[LEAF]
    fewer = replace(leaf, bgp=replace(leaf.bgp, neighbors=leaf.bgp.neighbors[1:]))
    assert [change.problem for change in changes(fewer, leaf)] == ["is missing"]
    assert [change.problem for change in changes(leaf, fewer)] == ["is not in the intent"]
    other = replace(leaf, bfd=None, bgp=replace(leaf.bgp, max_paths=1))
    assert [change.problem for change in changes(other, leaf)] == ["is 1, the intent says 64", "is missing"]

"""Traffic classes beside that of the GPUs, and the features of Ultra Ethernet, as an intent asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.device.planned import SPINE, planned_with, qos_of
from tests.topology.fabric_intents import fabric

from railfab.device import BalancingMode, DeviceModel, Port, switch_buffers
from railfab.errors import TopologyError, UnsupportedFeature
from railfab.platforms import admit, platform
from railfab.topology import wire

LEAF = "pod1-seg1-leaf1"
SHARES = {"profile__lossless": {"weight": 60}}
ROCE = {**SHARES, "profile__storage_class": {"weight": 30}}
TCP = {**SHARES, "profile__storage_class": {"weight": 30, "protocol": "nvme-tcp"}}


def spine(**changes: Any) -> DeviceModel:
    return planned_with(**changes)[1][SPINE]


def test_storage_with_roce_is_a_second_lossless_class_with_its_own_priority() -> None:
    qos = qos_of(spine(**ROCE))
    storage = qos.traffic_class("storage")
    assert (storage.queue, storage.pfc_priority, storage.obeyed_priority, storage.weight) == (4, 4, 4, 30)
    assert qos.classifiers[0].dscp == ((26, "roce"), (34, "storage"), (48, "cnp"))
    assert {port.pfc for port in qos.ports} == {(3, 4)}
    assert {port.ecn for port in qos.ports} == {("roce", "storage")}
    (profile,) = qos.profiles
    roce, own = profile.of("roce"), profile.of("storage")
    assert roce is not None
    assert own is not None
    assert (own.ecn, own.xoff_bytes, own.headroom_bytes) == (roce.ecn, roce.xoff_bytes, roce.headroom_bytes)


def test_storage_with_tcp_is_a_lossy_class_that_is_marked_above_one_length() -> None:
    qos = qos_of(spine(**TCP))
    storage = qos.traffic_class("storage")
    assert (storage.queue, storage.lossless, storage.weight) == (4, False, 30)
    assert {port.pfc for port in qos.ports} == {(3,)}
    assert {port.ecn for port in qos.ports} == {("roce", "storage")}
    (profile,) = qos.profiles
    roce, own = profile.of("roce"), profile.of("storage")
    assert roce is not None
    assert roce.ecn is not None
    assert own is not None
    assert own.ecn is not None
    assert own.ecn.kmin_bytes == roce.ecn.kmin_bytes
    assert own.ecn.kmax_bytes - own.ecn.kmin_bytes == 9216 + 18
    assert own.ecn.pmax_percent == 100
    assert own.xoff_bytes is None


@pytest.mark.parametrize("changes", [{}, ROCE, TCP], ids=["none", "roce", "tcp"])
def test_the_weights_of_a_port_sum_to_100(changes: dict[str, Any]) -> None:
    assert sum(found.weight or 0 for found in qos_of(spine(**changes)).classes) == 100


def test_a_second_lossless_class_takes_twice_the_headroom_and_a_lossy_one_none() -> None:
    one, two, tcp = (
        switch_buffers(wire(intent), intent)[0].plan.uncut
        for intent in (fabric(**SHARES), fabric(**ROCE), fabric(**TCP))
    )
    assert (two.mixed_headroom_bytes, two.worst_headroom_bytes) == (
        2 * one.mixed_headroom_bytes,
        2 * one.worst_headroom_bytes,
    )
    assert two.granted_xoff_bytes < one.granted_xoff_bytes
    assert tcp == one


def test_a_platform_with_one_lossless_class_refuses_a_second_by_name() -> None:
    own = platform("srlinux")
    only = {name: support for name, support in own.capabilities.features.items() if name != "several_lossless_classes"}
    single = replace(own, capabilities=replace(own.capabilities, features=only))
    admit(spine(**TCP), single)
    with pytest.raises(
        UnsupportedFeature, match=f"{SPINE}: platform srlinux does not support several_lossless_classes"
    ):
        admit(spine(**ROCE), single)


def test_trimmed_packets_have_the_queue_of_cnps() -> None:
    qos = qos_of(spine(profile__ultra_ethernet={"packet_trimming": {"size_bytes": 128}}))
    assert qos.trimming is not None
    assert (qos.trimming.size_bytes, qos.trimming.dscp, qos.trimming.traffic_class) == (128, 51, "cnp")
    assert (51, "cnp") in qos.classifiers[0].dscp


def test_link_level_retry_is_on_the_ports_between_switches() -> None:
    topology, models = planned_with(profile__ultra_ethernet={"link_level_retry": True})
    assert all(port.link_level_retry for port in models[SPINE].interfaces if isinstance(port, Port))
    up = {link.a.name for link in topology.links if link.a.node == LEAF}
    on = {port.name for port in models[LEAF].interfaces if isinstance(port, Port) and port.link_level_retry}
    assert on == up


@pytest.mark.parametrize("mode", ["adaptive", "collective"])
def test_ecmp_takes_the_mode_of_the_intent(mode: str) -> None:
    balancing = spine(profile__ecmp=mode, hosts__reorder=True).load_balancing
    assert balancing is not None
    assert balancing.mode is BalancingMode(mode)


def test_adaptive_routing_needs_nics_that_reorder_packets() -> None:
    with pytest.raises(TopologyError, match="adaptive routing of packets needs NICs that reorder packets"):
        wire(fabric(profile__ecmp="adaptive"))
    wire(fabric(profile__ecmp="collective"))

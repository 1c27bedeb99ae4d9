"""NCCL: one file for all hosts, whose devices have the rails and planes of the plan.

The devices are read by the rules of NCCL 2.30.7 (5067397, misc/utils.cc) and of 2.18 to 2.30.4, whose readers differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run
from tests.documents.designs import FABRICS, NAMES
from tests.hosts.rig import fabric as two_hosts

from railfab.exports import HostNames, export_named
from railfab.fabric import Design, design
from railfab.hosts.ports import roce_ports
from railfab.intent import FabricIntent
from railfab.topology import wire

NCCL = export_named("nccl")
MOST_CHARACTERS, MOST_DEVICES = 1023, 32


@cache
def planned(name: str) -> Design:
    return design(FABRICS / f"{name}.yml")


def text(fabric: Design) -> str:
    ((name, content),) = NCCL.documents(fabric, HostNames())
    assert name == "nccl/nccl.conf"
    return content


def of(intent: FabricIntent) -> dict[str, str]:
    """The variables of an intent."""
    return variables(replace(planned("pod64"), intent=intent, topology=wire(intent)))


def variables(fabric: Design) -> dict[str, str]:
    """The variables as every version of NCCL reads them: older ones take comments with an equals sign for some."""
    lines = [line.partition("=") for line in text(fabric).splitlines() if "=" in line]
    assert all(name.startswith("NCCL_") and len(value) <= MOST_CHARACTERS for name, _, value in lines)
    assert len({name for name, _, _ in lines}) == len(lines)
    return {name: value for name, _, value in lines}


def edited(intent: FabricIntent, **keys: Any) -> FabricIntent:
    return intent.model_copy(update={"profile": intent.profile.model_copy(update=keys)})


def with_devices(fabric: Design) -> Design:
    """A design whose intent names a device for each port."""
    count = fabric.intent.hosts.nics * fabric.intent.hosts.devices_per_nic
    devices = tuple(f"mlx5_{3 * number}" for number in range(count))
    hosts = fabric.intent.hosts.model_copy(update={"rdma_devices": devices})
    return replace(fabric, intent=fabric.intent.model_copy(update={"hosts": hosts}))


def entries(value: str) -> Iterator[tuple[str, int, int, int]]:
    """Device, port, rail and plane of each entry, by the rules of NCCL 2.30.7; -1 for what is not there."""
    for entry in value.split(","):
        name, *numbers = entry.split(":")
        port, rail, plane = (int(number or -1) for number in (*numbers, "", "", "")[:3])
        yield name, port, rail, plane


def entries_before(value: str) -> Iterator[tuple[str, int]]:
    """Device and port of each entry, by the rules before 2.30.7: behind the first colon, the digits of a number."""
    for entry in value.split(","):
        name, _, rest = entry.partition(":")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        yield name, int(digits or 0)


@pytest.mark.parametrize("name", NAMES)
def test_each_device_has_the_rail_and_the_plane_of_its_port(name: str) -> None:
    fabric = with_devices(planned(name))
    if fabric.intent.profile.transport != "rocev2":
        fabric = replace(fabric, intent=edited(fabric.intent, transport="rocev2"))
    value = variables(fabric)["NCCL_IB_HCA"]
    assert value.startswith("=")
    read = list(entries(value[1:]))
    assert list(entries_before(value[1:])) == [(device, port) for device, port, _, _ in read]
    assert [device for device, _, _, _ in read] == list(fabric.intent.hosts.rdma_devices)
    assert len(read) <= MOST_DEVICES
    host = fabric.topology.hosts()[0]
    bonds = {port: bond.name for bond in fabric.topology.bonds if bond.host == host.name for port in bond.ports}
    planes: dict[tuple[int, str], int] = {}
    for link in fabric.topology.links:
        switch = fabric.topology.node(link.z.node)
        if link.a.node == host.name and switch.net == "backend":
            planes[link.a.rail, bonds.get(link.a.name, link.a.name)] = switch.plane
    assert [(rail, plane) for _, _, rail, plane in read] == [(rail, plane) for (rail, _), plane in planes.items()]
    merged = len(read) > fabric.intent.hosts.nics
    assert variables(fabric).get("NCCL_NET_MERGE_POLICY") == ("RAIL" if merged else None)


@pytest.mark.parametrize("name", NAMES)
def test_a_fabric_that_grew_has_the_same_file(name: str) -> None:
    fabric = with_devices(planned(name))
    segments = fabric.intent.backend.segments
    if segments.hosts < 2:
        return
    smaller = segments.model_copy(update={"hosts": segments.hosts - 1})
    backend = fabric.intent.backend.model_copy(update={"segments": smaller})
    before = replace(fabric, intent=fabric.intent.model_copy(update={"backend": backend}))
    assert roce_ports(before.topology, before.intent) == roce_ports(fabric.topology, fabric.intent)
    assert text(before) == text(fabric)


def test_devices_that_the_intent_does_not_name_are_missing_with_a_remedy() -> None:
    lines = text(planned("pod64")).splitlines()
    assert not any(line.startswith("NCCL_IB_HCA") for line in lines)
    assert lines[2].endswith("the plan knows the RDMA devices of a host by hosts.rdma_devices.")
    assert lines[3] == "# hosts/nic.py --env reads them on a host."
    lossy = edited(planned("pod64").intent, lossless=None)
    assert "nic.py" not in text(replace(planned("pod64"), intent=lossy))


def test_the_environment_of_a_pod() -> None:
    assert variables(planned("pod64")) == {
        "NCCL_IB_TC": "104",
        "NCCL_IB_ADDR_FAMILY": "AF_INET",
        "NCCL_IB_ROCE_VERSION_NUM": "2",
        "NCCL_IB_ADDR_RANGE": "10.16.0.0/12",
        "NCCL_IB_QPS_PER_CONNECTION": "4",
        "NCCL_IB_SPLIT_DATA_ON_QPS": "0",
        "NCCL_CROSS_NIC": "1",
        "NCCL_IB_TIMEOUT": "20",
        "NCCL_IB_RETRY_CNT": "7",
    }


def test_every_variable_has_its_reason_before_it() -> None:
    for before, line in pairwise(text(planned("pod64")).splitlines()):
        assert line.startswith("#") or before.startswith("# ")


def test_a_lossy_class_has_no_traffic_class_and_ultra_ethernet_no_variable_of_roce() -> None:
    intent = planned("pod64").intent
    assert {*of(intent)} - {*of(edited(intent, lossless=None))} == {"NCCL_IB_TC"}
    assert of(edited(intent, transport="uet")) == {"NCCL_CROSS_NIC": "1"}


def test_rails_on_different_switches_keep_rings_on_their_rail() -> None:
    apart = of(two_hosts())
    assert apart["NCCL_CROSS_NIC"] == "0"
    assert "NCCL_PXN_DISABLE" not in apart


def test_without_spines_data_changes_rails_inside_the_host() -> None:
    rails = two_hosts()
    alone = of(rails.model_copy(update={"backend": rails.backend.model_copy(update={"spines": None})}))
    assert (alone["NCCL_CROSS_NIC"], alone["NCCL_PXN_DISABLE"]) == ("0", "0")
    assert alone["NCCL_IB_QPS_PER_CONNECTION"] == "1"


def test_queue_pairs_spread_over_the_ports_of_a_lag_too() -> None:
    assert planned("dual-mlag").intent.backend.spines is None
    assert variables(planned("dual-mlag"))["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    assert variables(planned("single-switch"))["NCCL_IB_QPS_PER_CONNECTION"] == "1"


def test_sprayed_packets_need_one_queue_pair_and_adaptive_routing() -> None:
    spraying = edited(two_hosts(), ecmp="packet")
    hosts = spraying.hosts.model_copy(update={"reorder": True})
    sprayed = of(spraying.model_copy(update={"hosts": hosts}))
    assert (sprayed["NCCL_IB_QPS_PER_CONNECTION"], sprayed["NCCL_IB_ADAPTIVE_ROUTING"]) == ("1", "1")


def test_without_bfd_a_try_lasts_longer_than_the_hold_time() -> None:
    slow = edited(two_hosts(), bfd=None)
    slow = edited(slow, bgp=slow.profile.bgp.model_copy(update={"hold_s": 90, "keepalive_s": 30}))
    assert of(slow)["NCCL_IB_TIMEOUT"] == "23"
    assert of(two_hosts())["NCCL_IB_TIMEOUT"] == "20"


def test_ipv6_and_amd_have_variables_of_their_own() -> None:
    amd = of(two_hosts("pollara-400", family="ipv6"))
    assert (amd["NCCL_IB_ADDR_FAMILY"], amd["NCCL_IB_FIFO_TC"]) == ("AF_INET6", str(48 * 4))


def test_a_plan_has_the_file_too(tmp_path: Path) -> None:
    run("plan", FABRICS / "single-switch.yml", "-o", tmp_path)
    assert (tmp_path / "nccl/nccl.conf").read_text() == text(planned("single-switch"))
    assert "- nccl/: " in (tmp_path / "summary.md").read_text()

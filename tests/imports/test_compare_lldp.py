"""LLDP of hosts against the plan: a cabling as planned is proved, and each mistake is one finding with its plugs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run as command
from tests.docs.schemas import conforming
from tests.documents.designs import NAMES, topology
from tests.imports.lldp_hosts import (
    Cables,
    documents,
    entry,
    neighbors_of_real_lldpd,
    nic_of,
    planned_cables,
    swapped,
    write,
)

from railfab.errors import Problems
from railfab.fabric.host_names import HostNames
from railfab.imports.existing import SourceError
from railfab.imports.lldp import read_host_neighbors
from railfab.imports.lldp_compare import LldpComparison, lldp_comparison
from railfab.intent import load_intent
from railfab.topology import wire

MULTI_RAIL = topology("multi-rail")
NICS = nic_of(MULTI_RAIL)
HOST, NEXT = "pod1-seg1-host1", "pod1-seg1-host2"
LAB = Path("labs/frr-pod/intent.yml")


def nic(rail: int, host: str = HOST) -> tuple[str, str]:
    """Host and NIC of a rail, by the name that Linux gives it."""
    return host, NICS[host, f"rail{rail}-p0"]


def compared(folder: Path, files: dict[str, Any]) -> LldpComparison:
    return lldp_comparison(MULTI_RAIL, read_host_neighbors(write(folder, files)), HostNames())


def found(comparison: LldpComparison) -> list[tuple[str, str, str]]:
    return [(each.code, each.where, each.problem) for each in comparison.findings]


@pytest.mark.parametrize("name", NAMES)
def test_a_cabling_as_planned_is_proved(name: str, tmp_path: Path) -> None:
    fabric = topology(name)
    cables = planned_cables(fabric)
    result = lldp_comparison(fabric, read_host_neighbors(write(tmp_path, documents(cables))), HostNames())
    assert (result.findings, result.without_file) == ((), ())
    assert (result.proved, result.ports) == (len(cables), len(cables))


def test_hosts_without_a_file_are_unknown_and_no_finding(tmp_path: Path) -> None:
    cables = planned_cables(MULTI_RAIL)
    few = {key: at for key, at in cables.items() if key[0].startswith("pod1-seg1-")}
    result = compared(tmp_path, documents(few))
    assert (result.findings, result.read, result.proved, result.wrong) == ((), 4, 32, 0)
    assert (result.ports, result.unknown, len(result.without_file)) == (128, 96, 12)
    assert result.gap == "pod1-seg[2-4]-host[1-4]"


SWAPS = ((nic(1), nic(2)), (nic(1), nic(1, NEXT)), (nic(3), nic(8, NEXT)))


@pytest.mark.parametrize("swap", range(len(SWAPS)))
def test_two_swapped_plugs_are_one_finding_that_names_them(swap: int, tmp_path: Path) -> None:
    one, other = SWAPS[swap]
    cables = planned_cables(MULTI_RAIL)
    at, belongs = cables[other], cables[one]
    swapped(cables, one, other)
    result = compared(tmp_path, documents(cables))
    ((code, where, problem),) = found(result)
    assert (code, where) == ("cables-swapped", f"{' '.join(one)} and {' '.join(other)}")
    rails = [{nic(rail, host): rail for host in (HOST, NEXT) for rail in range(1, 9)}[end] for end in (other, one)]
    assert problem == (
        f"are swapped: the first is on rail {rails[0]} ({' '.join(at)}) and belongs on rail {rails[1]} "
        f"({' '.join(belongs)}), the other the other way round"
    )
    assert result.findings[0].remedy == "Swap the two plugs"
    assert (result.proved, result.wrong) == (126, 2)


def test_every_swap_of_two_plugs_of_two_hosts_is_one_finding(tmp_path: Path) -> None:
    planned = planned_cables(MULTI_RAIL)
    ends = [nic(rail, host) for host in (HOST, NEXT) for rail in range(1, 9)]
    for number, one in enumerate(ends):
        for other in ends[number + 1 :: 3]:
            cables = dict(planned)
            swapped(cables, one, other)
            assert [code for code, _, _ in found(compared(tmp_path, documents(cables)))] == ["cables-swapped"]


def test_a_nic_in_a_free_port_has_its_rail_and_place(tmp_path: Path) -> None:
    cables = planned_cables(MULTI_RAIL)
    switch, port = cables[nic(2)]
    cables[nic(2)] = (switch, "Ethernet1/64")
    assert found(compared(tmp_path, documents(cables))) == [
        (
            "miscabled",
            " ".join(nic(2)),
            f"is on {switch} Ethernet1/64, where the intent has no host, and belongs on rail 2 ({switch} {port})",
        )
    ]


def test_a_nic_at_a_device_that_the_intent_does_not_have_is_miscabled_and_another_nic_is_no_finding(
    tmp_path: Path,
) -> None:
    cables = planned_cables(MULTI_RAIL)
    cables[HOST, "eno1"] = ("office-switch", "ge-0/0/1")
    result = compared(tmp_path, documents(cables))
    assert (result.findings, result.proved) == ((), 128)
    cables[nic(2)] = ("office-switch", "ge-0/0/2")
    ((code, _, problem),) = found(compared(tmp_path, documents(cables)))
    assert code == "miscabled"
    assert problem.startswith("is on office-switch ge-0/0/2, where the intent has no host, and belongs on rail 2 (")


@pytest.mark.parametrize("order", [(2, 3, 1), (8, 7, 6, 5, 4, 3, 2, 1), (2, 1, 4, 3)])
def test_a_host_with_another_order_of_nics_is_one_finding(order: tuple[int, ...], tmp_path: Path) -> None:
    planned = planned_cables(MULTI_RAIL)
    cables = dict(planned)
    for rail, instead in enumerate(order, start=1):
        cables[nic(rail)] = planned[nic(instead)]
    ((code, where, problem),) = found(compared(tmp_path, documents(cables)))
    assert (code, where) == ("nic-order-differs", HOST)
    assert f"{nic(1)[1]} is on rail {order[0]}, not rail 1" in problem


def test_hosts_whose_cables_are_those_of_each_other_are_exchanged(tmp_path: Path) -> None:
    files = documents(planned_cables(MULTI_RAIL))
    files[HOST], files[NEXT] = files[NEXT], files[HOST]
    result = compared(tmp_path, files)
    assert [each[:2] for each in found(result)] == [("node-renamed", HOST), ("node-renamed", NEXT)]
    assert result.findings[0].problem == f"has all cables of {NEXT}"
    assert (result.proved, result.wrong) == (112, 16)


def test_a_file_that_is_a_copy_of_another_proves_nothing_of_its_host(tmp_path: Path) -> None:
    files = documents(planned_cables(MULTI_RAIL))
    files[HOST] = files[NEXT]
    result = compared(tmp_path, files)
    assert [each[:2] for each in found(result)] == [("node-renamed", HOST)]
    assert (result.proved, result.wrong) == (120, 8)


def test_what_no_cable_can_be_is_a_conflict_and_not_proved(tmp_path: Path) -> None:
    cables = planned_cables(MULTI_RAIL)
    cables[nic(4)] = cables[nic(4, NEXT)]
    result = compared(tmp_path, documents(cables))
    conflict, *_ = found(result)
    assert conflict == (
        "lldp-conflict",
        " ".join(cables[nic(4)]),
        f"is the neighbour of {' '.join(nic(4))} and of {' '.join(nic(4, NEXT))}",
    )
    assert result.proved == 126
    files = documents(planned_cables(MULTI_RAIL))
    files[HOST]["lldp"][0]["interface"].append(entry(nic(4)[1], *cables[nic(5)]))
    assert {code for code, _, _ in found(compared(tmp_path, files))} == {"lldp-conflict"}


def test_nics_without_neighbour_are_a_warning_of_their_host(tmp_path: Path) -> None:
    cables = planned_cables(MULTI_RAIL)
    places = [cables.pop(nic(rail)) for rail in (2, 3)]
    files = documents(cables) | {NEXT: {"lldp": [{}]}}
    result = compared(tmp_path, files)
    shown = ", ".join(f"rail {rail} ({' '.join(at)})" for rail, at in zip((2, 3), places, strict=True))
    assert found(result) == [
        ("lldp-silent", HOST, f"sees no neighbour on {shown}"),
        ("lldp-silent", NEXT, "sees no switch of the intent"),
    ]
    assert (result.proved, result.wrong, result.unknown) == (118, 0, 10)


def test_names_of_the_plan_need_no_majority(tmp_path: Path) -> None:
    names = {linux: port for (_, port), linux in NICS.items()}
    cables: Cables = {
        (host, names[linux]): at for (host, linux), at in planned_cables(MULTI_RAIL).items() if host == HOST
    }
    swapped(cables, (HOST, "rail1-p0"), (HOST, "rail2-p0"))
    result = compared(tmp_path, documents(cables))
    assert [each[:2] for each in found(result)] == [("cables-swapped", f"{HOST} rail1-p0 and {HOST} rail2-p0")]


def test_one_host_alone_says_nothing_of_the_rail_of_a_name(tmp_path: Path) -> None:
    cables = {key: at for key, at in planned_cables(MULTI_RAIL).items() if key[0] == HOST}
    swapped(cables, nic(1), nic(2))
    result = compared(tmp_path, documents(cables))
    assert (result.findings, result.proved, result.unknown) == ((), 0, 128)
    cables[nic(1)] = planned_cables(MULTI_RAIL)[nic(1, NEXT)]
    ((code, _, problem),) = found(compared(tmp_path, documents(cables)))
    assert (code, problem) == ("miscabled", f"is on rail 1 ({' '.join(cables[nic(1)])}), where {NEXT} belongs")


def test_names_that_two_of_four_hosts_have_elsewhere_say_nothing(tmp_path: Path) -> None:
    few = {key: at for key, at in planned_cables(MULTI_RAIL).items() if key[0].startswith("pod1-seg1-")}
    for host in (HOST, NEXT):
        swapped(few, nic(1, host), nic(2, host))
    result = compared(tmp_path, documents(few))
    assert (result.findings, result.proved, result.wrong) == ((), 24, 0)


def test_a_host_that_sees_one_port_of_another_has_a_nic_there_and_not_its_cables(tmp_path: Path) -> None:
    planned = planned_cables(MULTI_RAIL)
    cables = {key: at for key, at in planned.items() if key[0] != HOST and key != nic(1, NEXT)}
    cables[nic(1)] = planned[nic(1, NEXT)]
    first, *_ = found(compared(tmp_path, documents(cables)))
    assert first[:2] == ("miscabled", " ".join(nic(1)))


def test_hosts_and_switches_may_have_names_with_a_domain_and_those_of_the_cluster(tmp_path: Path) -> None:
    planned = [node.name for node in MULTI_RAIL.hosts()]
    names = HostNames({host: f"gpu{number:02}.site.example" for number, host in enumerate(planned)})
    cables = {
        (names[host].partition(".")[0], linux): (f"{switch}.site.example", port)
        for (host, linux), (switch, port) in planned_cables(MULTI_RAIL).items()
    }
    result = lldp_comparison(MULTI_RAIL, read_host_neighbors(write(tmp_path, documents(cables))), names)
    assert (result.findings, result.proved) == ((), 128)


def test_the_description_of_a_port_is_read_where_its_identifier_is_no_name(tmp_path: Path) -> None:
    files = documents(planned_cables(MULTI_RAIL))
    for document in files.values():
        for each in document["lldp"][0]["interface"]:
            each["port"][0]["id"] = [{"type": "mac", "value": "00:00:5e:00:53:01"}]
    assert compared(tmp_path, files).proved == 128


NO_LISTS = {"lldp": {"interface": {"ens1": {"chassis": {"leaf1": {}}}}}}
FAULTS: dict[str, tuple[str, str]] = {
    "not JSON": ("{", "x.json:1: is not JSON (Expecting property name enclosed in double quotes, column 2)."),
    "another format": (json.dumps(NO_LISTS), "x.json: was written with -f json, whose shape depends on the number of"),
    "a list": ("[]", "x.json: has no list lldp. Write it with `lldpcli -f json0 show neighbors details`."),
    "no name": ('{"lldp": [{"interface": [{"via": "LLDP"}]}]}', "x.json: interface 1: has no name. Write it with"),
    "interfaces are a text": ('{"lldp": [{"interface": "x"}]}', "x.json: interface is no list of mappings. Write it"),
    "no chassis": (
        '{"lldp": [{"interface": [{"name": "ens1", "port": [{"id": [{"value": "x"}]}]}]}]}',
        "x.json: interface 1 (ens1): has no chassis with a name or an identifier. Write it",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_is_no_lldp_of_a_host_is_one_line(fault: str, tmp_path: Path) -> None:
    text, message = FAULTS[fault]
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SourceError) as refused:
        read_host_neighbors(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path}/{message}")


def test_a_folder_in_place_of_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    with pytest.raises(
        SourceError, match=r"x\.json: cannot be read \(is a directory\)\. Make it a readable file, with"
    ):
        read_host_neighbors(tmp_path)


def test_every_file_that_cannot_be_read_is_named_and_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"has no \*\.json, one for each host\. Write HOST\.json on each host with"):
        read_host_neighbors(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text("[]")
    with pytest.raises(Problems) as refused:
        read_host_neighbors(tmp_path)
    assert len(refused.value.errors) == 2


def test_two_files_of_one_host_are_refused(tmp_path: Path) -> None:
    for name in (HOST, f"{HOST}.example.com"):
        (tmp_path / f"{name}.json").write_text('{"lldp": []}')
    with pytest.raises(SourceError) as refused:
        read_host_neighbors(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path}/{HOST}.json: is of the same host as {HOST}.example.com.json: domains are not compared. "
        "Keep the newer file, and remove the older one."
    )


def test_the_command_counts_what_is_unknown_and_its_document_fits_the_schema(tmp_path: Path) -> None:
    cables = planned_cables(MULTI_RAIL)
    swapped(cables, nic(1), nic(2))
    files = documents(cables)
    del files["pod1-seg3-host4"]
    write(tmp_path, files)
    arguments = ("compare", "inventory/fabrics/multi-rail.yml", "--with", str(tmp_path))
    shown = command(*arguments)
    assert shown.returncode == 1
    assert shown.stdout.splitlines()[-1] == (
        "cabling of multi-rail: 118 of 128 NIC ports proved, 2 wrong, 8 unknown (hosts without a file: pod1-seg3-host4)"
    )
    document = conforming("compare", command(*arguments, "--output", "json").stdout)
    assert [finding["code"] for finding in document["findings"]] == ["cables-swapped"]
    assert document["not_compared"] == ["hosts without a file: pod1-seg3-host4"]


def test_what_a_real_lldpd_wrote_is_read(tmp_path: Path) -> None:
    fabric = wire(load_intent(LAB))
    recorded = read_host_neighbors(Path("tests/reference/lldp"))
    written = documents({key: at for key, at in planned_cables(fabric).items() if key[0] != "pod1-seg2-host2"})
    ours = read_host_neighbors(write(tmp_path, written))
    assert [[each.nic for each in host.neighbors] for host in recorded] == [
        [each.nic for each in host.neighbors] for host in ours
    ]
    assert recorded[0] == ours[0]
    result = lldp_comparison(fabric, recorded, HostNames())
    assert [each.code for each in result.findings] == ["cables-swapped"]
    assert (result.proved, result.wrong, result.unknown) == (10, 2, 4)


@pytest.mark.lldp
def test_a_real_lldpd_shows_swapped_plugs_and_a_cable_that_is_missing(tmp_path: Path) -> None:
    fabric = wire(load_intent(LAB))
    cables = planned_cables(fabric)
    hosts = list(dict.fromkeys(host for host, _ in cables))
    (first, second, *_), (third, *_) = ([key for key in cables if key[0] == host] for host in hosts[:2])
    swapped(cables, first, second)
    del cables[third]
    neighbors_of_real_lldpd(tmp_path, cables)
    result = lldp_comparison(fabric, read_host_neighbors(tmp_path), HostNames())
    assert [(each.code, each.where) for each in result.findings] == [
        ("cables-swapped", f"{' '.join(first)} and {' '.join(second)}"),
        ("lldp-silent", third[0]),
    ]
    assert (result.proved, result.wrong, result.unknown) == (13, 2, 1)

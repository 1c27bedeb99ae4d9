"""NetBox: what is created is the plan, once. The rules are those of NetBox 4.7.3 (see `netbox_creates`).

NetBox itself, which needs Python 3.12, PostgreSQL and Redis, has taken a plan by hand (see docs/interop.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands import run
from tests.docs.schemas import conforming
from tests.documents.designs import FABRICS, NAMES
from tests.exports.netbox_creates import CreatingHandler, empty
from tests.imports.netbox_server import TOKEN, World, served

from railfab.errors import RailfabError
from railfab.exports import HostNames, export_named
from railfab.exports.netbox_push import PushedKind, push
from railfab.fabric import Design, design
from railfab.imports import read_netbox
from railfab.imports.compare import compare, match_topology
from railfab.netbox import NetBox
from railfab.topology import wire

SMALL = ("single-switch", "dual-mlag", "cluster")


def fabric(name: str) -> Design:
    return design(FABRICS / f"{name}.yml")


def smaller(whole: Design) -> Design:
    """The same with one host less a segment."""
    segments = whole.intent.backend.segments
    backend = whole.intent.backend.model_copy(
        update={"segments": segments.model_copy(update={"hosts": segments.hosts - 1})}
    )
    intent = whole.intent.model_copy(update={"backend": backend})
    return replace(whole, intent=intent, topology=wire(intent))


@pytest.fixture
def world() -> World:
    return empty()


@pytest.fixture
def netbox(world: World) -> Iterator[NetBox]:
    with served(world, kind=CreatingHandler) as url:
        yield NetBox(url=url, token=TOKEN)


def pushed(whole: Design, netbox: NetBox, **options: bool) -> list[PushedKind]:
    return list(push(whole, HostNames(), netbox, **options))


@pytest.mark.parametrize("name", SMALL)
def test_what_is_read_back_has_no_difference_from_the_plan_and_a_second_push_creates_nothing(
    name: str, netbox: NetBox, world: World
) -> None:
    whole = fabric(name)
    first = pushed(whole, netbox)
    assert {kind.present for kind in first} == {0}
    existing = read_netbox(replace(netbox, site=None))
    assert compare(whole.topology, existing) == ()
    assert match_topology(whole.topology, existing).not_compared == ()
    assert (len(existing.nodes), len(existing.links)) == (len(whole.topology.nodes), len(whole.topology.links))
    before = json.dumps(world.records)
    assert pushed(whole, netbox) == [replace(kind, present=kind.created, created=0) for kind in first]
    assert json.dumps(world.records) == before


def test_ports_of_a_rail_say_which_and_in_which_plane(netbox: NetBox, world: World) -> None:
    whole = fabric("single-switch")
    pushed(whole, netbox)
    for link in whole.topology.links:
        interface = world.interface(link.a.node, link.a.name)
        assert interface["description"] == f"rail {link.a.rail}, plane {whole.topology.node(link.z.node).plane}"
        assert interface["speed"] == link.a.rate_gbps * 1_000_000


def test_a_dry_run_creates_nothing_and_counts_what_is_missing(netbox: NetBox, world: World) -> None:
    whole = fabric("single-switch")
    shown = pushed(whole, netbox, dry_run=True)
    assert not any(world.records.values())
    assert [asked for asked in world.asked if asked.startswith("POST")] == []
    assert shown == pushed(whole, netbox)
    assert {kind.created for kind in pushed(whole, netbox, dry_run=True)} == {0}


def test_a_plan_that_grew_adds_to_what_is_there_and_changes_none_of_it(netbox: NetBox, world: World) -> None:
    whole = fabric("single-switch")
    pushed(smaller(whole), netbox)
    before = {endpoint: json.dumps(records) for endpoint, records in world.records.items()}
    pushed(whole, netbox)
    for endpoint, records in world.records.items():
        assert json.dumps(records).startswith(before[endpoint][:-1])
    assert compare(whole.topology, read_netbox(netbox)) == ()


@pytest.mark.parametrize("name", NAMES)
def test_no_object_names_a_later_one_and_none_is_there_twice(name: str) -> None:
    files = [(file, json.loads(text)) for file, text in export_named("netbox").documents(fabric(name), HostNames())]
    assert [file for file, _ in files] == sorted(file for file, _ in files)
    devices = {payload["name"] for payload in files[6][1]}
    assert devices == {node.name for node in fabric(name).topology.nodes}
    interfaces = {(payload["device"]["name"], payload["name"]) for _, group in files[7:9] for payload in group}
    assert len(interfaces) == len(files[7][1]) + len(files[8][1])
    ends = [end["object"] for cable in files[12][1] for side in "ab" for end in cable[f"{side}_terminations"]]
    assert len({(end["device"]["name"], end["name"]) for end in ends}) == len(ends) == 2 * len(files[12][1])
    assert {(end["device"]["name"], end["name"]) for end in ends} <= interfaces
    addresses = [payload["address"].partition("/")[0] for payload in files[11][1]]
    assert len({*addresses}) == len(addresses)


def test_a_cable_in_another_port_stays_and_is_found_by_compare(netbox: NetBox, world: World) -> None:
    whole = fabric("single-switch")
    pushed(whole, netbox)
    first, second = world.records["dcim/cables"][:2]
    first["b_terminations"], second["b_terminations"] = second["b_terminations"], first["b_terminations"]
    assert next(kind for kind in pushed(whole, netbox) if kind.objects == "cables").created == 0
    (finding,) = compare(whole.topology, read_netbox(netbox))
    assert "are swapped" in finding.problem


def test_a_refusal_is_one_line_and_pushing_again_continues(netbox: NetBox, world: World) -> None:
    whole = fabric("single-switch")
    world.answers["/api/dcim/cables/"] = (400, json.dumps([{}, {"length": ["Too long."]}]))
    with pytest.raises(RailfabError) as refused:
        pushed(whole, netbox)
    assert str(refused.value).startswith(f"{netbox.url}: rejects the query for dcim/cables (length: ")
    world.answers.clear()
    assert {kind.created for kind in pushed(whole, netbox)} == {0, len(whole.topology.links)}


def test_what_netbox_refuses_to_create_is_one_line_with_its_reason(netbox: NetBox) -> None:
    """Another fabric has the addresses: a NetBox has each once."""
    pushed(fabric("single-switch"), netbox)
    with pytest.raises(RailfabError) as refused:
        pushed(fabric("dual-mlag"), netbox)
    assert str(refused.value) == (
        f"{netbox.url}: refuses new ipam/ip_addresses (__all__: ['ipam/ip-addresses with this address already "
        "exists.']). Correct it there, and push again."
    )


def test_the_command_creates_and_shows_how_much(netbox: NetBox, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    command = ("export", "netbox", FABRICS / "single-switch.yml", "--to", netbox.url, "--token-file", token)
    done = run(*command, "--dry-run", "--output", "json")
    kinds = conforming("export-netbox", done.stdout)
    assert {"objects": "devices", "present": 0, "created": 4} in kinds
    shown = run(*command).stdout
    assert ["devices", "0", "4"] in [line.split() for line in shown.replace("│", " ").splitlines()]
    assert {kind["created"] for kind in conforming("export-netbox", run(*command, "--output", "json").stdout)} == {0}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("slurm", "--to", "http://x"), "http://x: --to is for the format netbox, without -o. Leave out one of them."),
        (("netbox", "--dry-run"), "netbox: --site, --dry-run, --token-file, --ca and --skip-verify are of a NetBox. "),
        (("netbox", "--to", "http://127.0.0.1:1"), "http://127.0.0.1:1: cannot be reached (connection refused). "),
    ],
)
def test_what_does_not_fit_is_one_line(arguments: tuple[str, ...], expected: str) -> None:
    done = run("export", arguments[0], FABRICS / "single-switch.yml", *arguments[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"railfab: {expected}")
    assert done.stderr.count("\n") == 1

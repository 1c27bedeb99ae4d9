"""Each fault of a nested key is one line with its place, the problem and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.intent.intents import FULL, SMALL, refused

Place = tuple[int | str, ...]
FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
FAST_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

NAMES = "Use up to 32 lower-case letters, digits and inner hyphens."


def cases() -> list[tuple[str, ...]]:
    """(before, after, expected) of faults.txt."""
    blocks = (Path(__file__).parent / "faults.txt").read_text().split("\n\n")[1:]
    return [tuple(line.replace("\\n", "\n") for line in block.strip("\n").split("\n")) for block in blocks]


@pytest.mark.parametrize(("before", "after", "message"), cases(), ids=[case[2] for case in cases()])
def test_a_fault_has_its_line_key_problem_and_remedy(tmp_path: Path, before: str, after: str, message: str) -> None:
    text = FULL.replace(before, after, 1)
    assert text != FULL
    lines = refused(tmp_path, text)
    key = message.partition(": ")[0]
    found = [line for line in lines if line.endswith(f": {message}")]
    assert found, lines
    where = found[0].removesuffix(f": {message}")
    expected = {".".join(map(str, place)): line for place, line in marks(yaml.compose(text))}
    assert where == f"f.yml:{expected[nearest(key, expected)]}"


def nearest(key: str, known: dict[str, int]) -> str:
    """The key, or the innermost key around it that the file contains."""
    while key not in known:
        key = key.rpartition(".")[0]
    return key


def leaves(node: Any, place: Place = ()) -> Iterator[Place]:
    """Every place of a document with a plain value."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*place, key))
    else:
        yield place


def marks(node: yaml.Node, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """The line of every place."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = (*place, int(key.value) if key.value.isdigit() else key.value)
            yield below, key.start_mark.line + 1
            yield from marks(value, below)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield (*place, number), value.start_mark.line + 1
            yield from marks(value, (*place, number))


@pytest.mark.parametrize("section", yaml.load(FULL, yaml.CSafeLoader))
def test_each_wrong_value_is_reported_with_its_line_and_key(tmp_path: Path, section: str) -> None:
    fullest = yaml.load(FULL, yaml.CSafeLoader)
    for place in leaves(fullest[section], (section,)):
        document = deepcopy(fullest)
        *around, last = place
        inner = document
        for part in around:
            inner = inner[part]
        inner[last] = {"wrong": 1}
        text = yaml.dump(document, Dumper=FAST_DUMPER, sort_keys=False)
        line = dict(marks(yaml.compose(text, Loader=FAST_LOADER)))[place]
        expected = f"f.yml:{line}: {'.'.join(map(str, place))}: "
        lines = refused(tmp_path, text)
        assert any(found.startswith(expected) for found in lines), (expected, lines)


def test_super_spines_need_spines(tmp_path: Path) -> None:
    text = SMALL.replace("  spines:", "  super_spines:")
    assert refused(tmp_path, text) == [
        "f.yml:5: backend.super_spines: super-spines need spines, and the backend has none. Add spines."
    ]


def test_faults_of_one_model_are_reported_together(tmp_path: Path) -> None:
    text = FULL.replace("{count: 4, links_per_leaf", "{count: 3, links_per_leaf").replace(
        "{count: 4, g", "{count: 5, g"
    )
    assert [line.split(": ")[1] for line in refused(tmp_path, text)] == [
        "backend.spines.count",
        "backend.super_spines.count",
    ]


def test_faults_of_several_depths_are_in_file_order(tmp_path: Path) -> None:
    text = (
        FULL.replace("nic_per: 4", "nic_per: 80")
        .replace("ports: {1: [1, 4], 2: [2, 3]}", "ports: {1: [x], b: [1], 2: 5}")
        .replace("vlan: 200", "vlan: 0, vlna: 3")
        .replace("lane_gbps: 100\n    buffer", "lane: 100\n    buffer")
        .replace("mtu: 9000", "mtu: 1")
        .replace("ssh_port: 22", "ssh_port: 0")
    )
    lines = refused(tmp_path, text)
    assert [line.split(": ")[1] for line in lines] == [
        "profile.mtu",
        "hosts.nic_per",
        "backend.segments.ports.1.0",
        "backend.segments.ports.b",
        "backend.segments.ports.2",
        "frontend.tenants.blue.vlan",
        "frontend.tenants.blue.vlna",
        "switches.mine-64.lane",
        "inventory.pod1-seg1-leaf1.ssh_port",
    ]
    numbers = [int(line.split(":")[1]) for line in lines]
    assert numbers == sorted(numbers)


def test_a_wrong_key_and_a_wrong_value_below_it_are_two_faults(tmp_path: Path) -> None:
    lines = refused(
        tmp_path, SMALL + "frontend: {leaves: {count: 1, model: m}, tenants: {B!: {vlan: 0, subnet: 10.0.0.0/8}}}\n"
    )
    assert lines == [
        f"f.yml:6: frontend.tenants.B!: 'B!' is not a name. {NAMES}",
        "f.yml:6: frontend.tenants.B!.vlan: 0 is out of range. Use 1 to 4094.",
    ]


def test_a_tenant_of_several_vlans_has_an_l3vni_and_names_that_fit_a_switch(tmp_path: Path) -> None:
    further = "vlans: {" + "v" * 30 + ": {vlan: 3, subnet: 10.1.0.0/24}}"
    tenant = f"blue: {{vlan: 2, subnet: 10.0.0.0/24, {further}}}"
    text = SMALL + f"frontend: {{leaves: {{count: 1, model: m}}, tenants: {{{tenant}}}}}\n"
    assert refused(tmp_path, text) == [
        "f.yml:6: frontend.tenants.blue.l3vni: a tenant with several VLANs is routed between leaves by an L3VNI, and "
        "none is stated. State l3vni, or remove vlans."
    ]
    assert refused(tmp_path, text.replace("vlan: 2,", "vlan: 2, l3vni: 5,")) == [
        f"f.yml:6: frontend.tenants.blue.vlans.{'v' * 30}: the name of the VLAN on the switches, blue-{'v' * 30}, has "
        "35 characters. Use names of at most 32 characters together, with a hyphen."
    ]


def test_a_key_at_a_wrong_place_is_told_its_place(tmp_path: Path) -> None:
    assert refused(tmp_path, SMALL + "mtu: 9000\n")[0].startswith(
        "f.yml:6: mtu: unknown key. Move it to profile. The keys here are backend, "
    )
    assert "Move it to frontend.tenants.NAME. " in refused(tmp_path, SMALL + "l3vni: 9000\n")[0]


def test_an_unprintable_or_long_key_is_shown_on_one_line(tmp_path: Path) -> None:
    lines = refused(tmp_path, SMALL + '"a\\nb": 1\n"": 2\n' + f"{'k' * 300}: 3\n")
    assert [line.partition(": unknown key")[0] for line in lines] == [
        "f.yml:6: 'a\\nb'",
        "f.yml:7: ''",
        "f.yml:8: '" + "k" * 36 + "...",
    ]


def test_two_notations_of_a_number_are_the_same_key(tmp_path: Path) -> None:
    text = FULL.replace("ports: {1: [1, 4], 2: [2, 3]}", "ports: {1: [1], 0x1: [2]}")
    assert refused(tmp_path, text)[0].endswith(": key '0x1' is duplicate. Keep one of them.")
    assert FULL not in text


def test_faults_beyond_the_first_thirty_are_counted(tmp_path: Path) -> None:
    lines = refused(tmp_path, SMALL + "".join(f"wrong{n}: 1\n" for n in range(1000)))
    assert len(lines) == 31
    assert lines[-1] == "f.yml: 970 more faults are not shown. Correct the first ones."
    lines = refused(tmp_path, SMALL + "".join(f"wrong{n}: !!int 1\n" for n in range(1000)))
    assert len(lines) == 31
    assert lines[-1] == "f.yml: 970 more faults are not shown. Correct the first ones."

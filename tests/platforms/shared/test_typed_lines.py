"""Lines of configuration as they are typed and pasted, and the text that they leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.shared.typed_lines import TypedLines, line_rules

RACK = Path(__file__).parents[2] / "deploy" / "rack_eos.yml"
RULES = line_rules(
    {
        "sections": [
            {"line": r"interface (?P<name>\S+)", "place": "-if-{name}"},
            {"line": r"vlan (?P<number>\d+)", "place": "-vlan-{number}"},
            {"line": r"router bgp \d+", "place": "-router-bgp"},
            {"in": r"router bgp .*", "line": r"address-family \S+", "place": "-router-bgp-af"},
        ],
        "replaces": [r"mtu \d+", r"neighbor (\S+) remote-as \d+", "hostname .*"],
    }
)


def typed(*lines: str, text: str = "") -> TypedLines:
    edited = TypedLines(FORMAT, RULES, text)
    for line in lines:
        edited.take(line)
    return edited


def texts(edited: TypedLines) -> list[str]:
    return [line for line in edited.text().splitlines() if line.strip() not in ("!", "end")]


def test_a_line_stands_in_the_section_that_was_opened_last() -> None:
    edited = typed("interface Ethernet1", "mtu 9214", "interface Ethernet2", "mtu 1500")
    assert texts(edited) == ["interface Ethernet1", "   mtu 9214", "interface Ethernet2", "   mtu 1500"]
    assert (edited.place, edited.section) == ("-if-Ethernet2", ("interface Ethernet2",))


def test_a_section_within_another_is_left_by_a_section_of_the_top() -> None:
    edited = typed("router bgp 65001", "neighbor A peer group", "address-family ipv4", "neighbor A activate")
    assert edited.place == "-router-bgp-af"
    edited.take("vlan 10")
    assert texts(edited) == [
        "router bgp 65001",
        "   neighbor A peer group",
        "   address-family ipv4",
        "      neighbor A activate",
        "vlan 10",
    ]


def test_leaving_a_section_goes_to_the_one_around_it() -> None:
    edited = typed("router bgp 65001", "address-family ipv4")
    assert edited.leave()
    assert edited.place == "-router-bgp"
    assert edited.leave()
    assert not edited.leave()


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("mtu 9214", "mtu 1500", ["mtu 1500"]),
        ("shutdown", "no shutdown", []),
        ("no switchport", "switchport", ["switchport"]),
        ("description a b", "no description", []),
        ("", "no switchport", ["no switchport"]),
        ("shutdown", "default shutdown", []),
        ("mtu 9214", "mtu 9214", ["mtu 9214"]),
    ],
)
def test_a_line_takes_the_place_of_what_it_changes(before: str, line: str, after: list[str]) -> None:
    edited = typed("interface Ethernet1", *filter(None, (before, line)))
    assert [each.strip() for each in texts(edited)[1:]] == after


def test_a_setting_of_another_neighbor_stays() -> None:
    lines = ("neighbor 10.0.0.1 remote-as 1", "neighbor 10.0.0.2 remote-as 2", "neighbor 10.0.0.1 remote-as 3")
    edited = typed("router bgp 65001", *lines)
    assert [each.strip() for each in texts(edited)[1:]] == [lines[1], lines[2]]


def test_a_section_is_removed_with_its_lines() -> None:
    edited = typed("no vlan 10", text="vlan 10\n   name red\n!\nvlan 20\n")
    assert texts(edited) == ["vlan 20"]


def test_a_banner_is_taken_up_to_its_end() -> None:
    edited = typed("banner motd", "interface Ethernet9", "EOF", "hostname leaf1")
    assert texts(edited) == ["banner motd", "interface Ethernet9", "EOF", "hostname leaf1"]
    assert not edited.in_literal


def test_a_pasted_configuration_is_the_configuration() -> None:
    eos = platform("eos")
    model = next(iter(design(RACK).models.values()))
    text = eos.text(eos.render(model))
    edited = typed(*(line for line in text.splitlines() if line != "end"))
    assert edited.text() == text

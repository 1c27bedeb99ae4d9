"""The command list of FRR: what it knows is what vtysh takes, and other lines are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.laws import examples

from railfab.device import DeviceModel
from railfab.platforms import Refusal, admit, platform
from railfab.platforms.frr.commands import TOP, nodes, refusals
from railfab.testing.device_models import device_models

from .command_list import SECTIONS, CommandGraph, written
from .examples import example, out_of_range
from .grammar import refused_lines

FOR_ALL = "[LINE...]"
"""Stands for the commands of a protocol that railfab neither configures nor reads."""
NOT_OF_A_FILE = ("banner motd file",)
"""vtysh looks for the file."""
LOOSER = "prefix-len"
"""vtysh takes any number behind this word."""


def example_lines() -> Iterator[tuple[tuple[str, ...], str]]:
    """One line of every command, and one out of its ranges, with the lines of its section."""
    for section, ways in SECTIONS.items():
        listed = nodes()[TOP if section == "top" else section].by_word.values()
        for command in dict.fromkeys(command for commands in listed for command in commands):
            if FOR_ALL not in command and not command.startswith(NOT_OF_A_FILE) and LOOSER not in command:
                family = "ipv6" if "X:X::X:X" in command.split("|")[0] or "nexthop-local" in command else "ipv4"
                for line in {example(command), out_of_range(command)}:
                    yield tuple(way.format(family) for way in ways), line


@pytest.mark.lab
def test_a_line_is_known_where_vtysh_takes_it(tmp_path: Path) -> None:
    """One line of every command of every section: 1500 verdicts of vtysh 8.4 in one run."""
    lines: list[str] = []
    numbers: dict[int, tuple[tuple[str, ...], str]] = {}
    for ways, line in example_lines():
        lines += [*ways, line]
        numbers[len(lines)] = ways, line
    path = tmp_path / "frr.conf"
    path.write_text("\n".join(lines) + "\n")
    refused = {numbers[number] for number in refused_lines(path)}
    ours = {
        (ways, line)
        for ways, line in numbers.values()
        if refusals("".join(f"{' ' * depth}{text}\n" for depth, text in enumerate((*ways, line))))
    }
    assert len(numbers) > 1000
    assert len(refused) > 200
    assert ours == refused


@given(model=device_models("frr"))
@settings(max_examples=examples(50), deadline=None, suppress_health_check=list(HealthCheck))
def test_every_line_of_a_planned_model_is_known(model: DeviceModel) -> None:
    frr = platform("frr")
    assert refusals(frr.text(frr.render(admit(model, frr)))) == ()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("bogus 7\n", "bogus 7"),
        ("router bgp 65001\n bgp bogus\n", "router bgp 65001: bgp bogus"),
        ("interface swp1\n ip adress 10.0.0.0/31\n", "interface swp1: ip adress 10.0.0.0/31"),
        ("ip prefix-list any seq 5 permit 10.0.0.0/8 lt 32\n", "ip prefix-list any seq 5 permit 10.0.0.0/8 lt 32"),
        ("route-map any permit 10\n match ip adress any\n", "route-map any permit 10: match ip adress any"),
    ],
)
def test_a_line_that_frr_does_not_know_is_refused_by_name(text: str, where: str) -> None:
    assert refusals(text) == (Refusal(where=where, problem="FRR 8.4 does not know this line"),)


def test_a_value_out_of_its_range_is_refused_as_a_value() -> None:
    (found,) = refusals("router bgp 65001\n neighbor swp1 advertisement-interval 601\n")
    assert found.problem == "FRR 8.4 does not take a value of this line"


def test_a_line_of_another_release_is_unknown_and_not_wrong() -> None:
    text = "frr version 10.2\nrouter bgp 65001\n bgp bestpath aigp\n"
    (found,) = refusals(text)
    assert found.is_unknown
    assert found.where == "router bgp 65001: bgp bestpath aigp"
    assert found.problem.endswith("this is of FRR 10.2")


def test_a_line_may_be_of_a_section_around_it_as_vtysh_reads_it() -> None:
    text = "router bgp 65001\n address-family ipv4 unicast\n  neighbor swp1 bfd\n  ip forwarding\n"
    assert refusals(text) == ()


def test_sections_of_other_protocols_are_not_looked_at() -> None:
    assert refusals("router ospf\n bogus 1\nsegment-routing\n srv6\n  locators\n") == ()


GRAPH = """digraph {
  n0x1 [ shape=box, label=<<b>START_TKN</b>>, style = filled, fillcolor = "#ccffcc" ];
  n0x1 -> n0x2;
  n0x2 [ shape=box, label=<<b>WORD_TKN</b> (h)<br/>"<font color="#0055ff"><b>timers</b></font>">, style ];
  n0x2 -> n0x3;
  n0x3 [ shape=box, label=<<b>FORK_TKN</b>>, style = filled, fillcolor = "#aaddff" ];
  n0x3 -> n0x4;
  n0x3 -> n0x5;
  n0x4 [ shape=box, label=<<b>RANGE_TKN</b><br/>(1-9)>, style = filled, fillcolor = "#ffffff" ];
  n0x4 -> n0x5;
  n0x5 [ shape=box, label=<<b>JOIN_TKN</b>>, style = filled, fillcolor = "#ddaaff" ];
  n0x5 -> n0x6;
  n0x5 -> end0x7;
  n0x6 [ shape=box, label=<<b>VARIABLE_TKN</b><br/>LINE>, style = filled, fillcolor = "#ffffff" ];
  n0x6 -> n0x6;
  n0x6 -> end0x8;
}
"""


def test_a_graph_of_vtysh_becomes_commands_in_frrs_notation() -> None:
    assert sorted(CommandGraph(GRAPH).commands()) == ["timers [(1-9)]", "timers [(1-9)] LINE..."]
    assert written({"top": [CommandGraph(GRAPH)]}).splitlines()[1:] == [
        "top",
        " timers [(1-9)]",
        " timers [(1-9)] LINE...",
    ]

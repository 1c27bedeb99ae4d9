"""The index of line patterns by first word: it leaves out no entry that matches a line, and keeps the order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.audit.fabrics import fabric_of

from railfab.platforms.frr import grammar as frr_grammar
from railfab.platforms.frr.lines import FORMAT as FRR
from railfab.platforms.nxos import grammar as nxos_grammar
from railfab.platforms.nxos.lines import FORMAT as NXOS
from railfab.platforms.shared.first_words import ByFirstWord, first_word
from railfab.platforms.shared.line_grammar import LineRule
from railfab.platforms.shared.line_tree import Line

WORDS = {
    r"mtu \d+": "mtu",
    r"interface": "interface",
    r"ip-address (\S+)": "ip-address",
    r"neighbor\ (\S+)\ remote\-as": "neighbor",
    r"logging(?: vrf (\S+))? host (\S+)": "logging",
    r"shutdown(?: force)?": "shutdown",
    r"bfd(?: interval(?: a|b)?)? x": "bfd",
    r"(no )?shutdown": "",
    r"a|b c": "",
    r"log(?: a|b) c": "",
    r"ip? address": "",
    r"a[b] c": "",
    r"a\d b": "",
    r"(?:ip|ipv6) address": "",
}
"""Patterns, and the first word of all that they match."""


@pytest.mark.parametrize("pattern", WORDS)
def test_the_first_word_of_a_pattern_is_that_of_all_its_lines_or_not_known(pattern: str) -> None:
    assert first_word(pattern) == WORDS[pattern]


def test_an_index_gives_the_entries_of_a_word_in_the_order_of_the_table() -> None:
    table = ("mtu 9000", "(no )?mtu .*", "speed (\\d+)", "mtu (\\d+)")
    index = ByFirstWord(table, str)
    assert index.for_line("mtu 1500") == ["mtu 9000", "(no )?mtu .*", "mtu (\\d+)"]
    assert index.for_line("speed 400") == ["(no )?mtu .*", "speed (\\d+)"]
    assert index.for_line("no mtu 1500") == ["(no )?mtu .*"]


def levels(rules: tuple[LineRule[Any], ...], lines: tuple[Line, ...]) -> Iterator[tuple[LineRule[Any], Line]]:
    """Every rule with every line at its level of a configuration."""
    for rule in rules:
        yield from ((rule, line) for line in lines)
        sections = [line.children for line in lines if rule.pattern.fullmatch(line.text)]
        yield from levels(rule.below, tuple(line for children in sections for line in children))


@pytest.mark.parametrize("platform", ["frr", "nxos"])
def test_every_rule_that_matches_a_line_is_in_the_index_under_its_word(platform: str) -> None:
    rules, form = (frr_grammar.CONFIGURATION, FRR) if platform == "frr" else (nxos_grammar.CONFIGURATION, NXOS)
    tree = tuple({line for text in fabric_of(platform, "numbered").texts.values() for line in form.tree(text)})
    matched = 0
    for rule, line in levels(rules, tree):
        if rule.pattern.fullmatch(line.text):
            matched += 1
            assert rule in ByFirstWord((rule,), lambda each: each.pattern.pattern).for_line(line.text)
    assert matched > 100

"""Each `must` of Nokia's models on a path that railfab renders is broken once: Nokia's models and the twin refuse it.

`broken_rules.txt` has small configurations that break them. A rule of a path that is newly rendered needs another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.oracles.srlinux import NokiaModels
from tests.platforms.srlinux.rendered import as_json, places, rendered_paths

from railfab.errors import RailfabError, each
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped, tree_of
from railfab.platforms.srlinux.twin import check
from railfab.platforms.srlinux.xpath import holds_at

Rule = tuple[str, str, str]
"""The path of a node without keys, the expression, and the words of the switch, which may be none."""

UNBREAKABLE = {
    ("aggregate-id", "not(../../qos)"): "a 7220 has no such container",
    ("aggregate-id", "not(../../ethernet/duplex-mode)"): "a 7220 has no such leaf",
    ("vxlan-interface", '(/network-instance[name = current()/name]/type != "srl_nokia-netinst:default")'): (
        "looks for an instance by the name of the interface, where there is none"
    ),
    ("name", "(starts-with(.,'vxlan'))"): "the pattern of the type refuses other names",
}
"""Rules that no configuration breaks which has only leaves that the models know and take, and why."""

NAMES_ANOTHER_MODULE = "libyang takes its names for those of its own module, which does not import theirs"
NOT_SEEN = {
    "vlan-tagging and aggregate-id can not be configured together": NAMES_ANOTHER_MODULE,
    "tpid and aggregate-id can not be configured together": NAMES_ANOTHER_MODULE,
    "IRB interfaces cannot be configured with proxy-arp": NAMES_ANOTHER_MODULE,
    "IRB interfaces cannot be configured with proxy-nd": NAMES_ANOTHER_MODULE,
    "ipv4 configuration not allowed on bridged or local-mirror-dest subinterfaces": NAMES_ANOTHER_MODULE,
    "ipv6 configuration not allowed on bridged or local-mirror-dest subinterfaces": NAMES_ANOTHER_MODULE,
    "Local type does not accept server addresses": "libyang ends at the same rule of the entry that has the address",
}
"""Messages of rules that libyang does not reach, and why; the twin holds them."""

LOCATION = re.compile(r'Data location "(?P<path>.*)"')
PREDICATE = re.compile(r"\[(?:[^\]'\"]|'[^']*'|\"[^\"]*\")*\]")


@cache
def configurations() -> tuple[tuple[Json, frozenset[Rule]], ...]:
    """The configurations of the file, each with the rules that it breaks."""
    texts = Path(__file__).with_name("broken_rules.txt").read_text().strip().split("\n\n")
    trees: list[Json] = [as_json(tree_of(lines)) for lines in texts]
    return tuple((tree, frozenset(broken(tree))) for tree in trees)


def broken(tree: Json) -> Iterator[Rule]:
    for path, place in places(stripped(tree)):
        yield from ((path, *rule) for rule in schema().rules_at(path) if not holds_at(rule[0], place))


def rules_of_rendered_paths() -> set[Rule]:
    return {(path, *rule) for path in rendered_paths() for rule in schema().rules_at(path)}


def is_breakable(rule: Rule) -> bool:
    path, expression, _ = rule
    return (path.rpartition("/")[2], expression) not in UNBREAKABLE


def test_there_is_a_configuration_for_each_rule_of_each_rendered_path() -> None:
    rules = rules_of_rendered_paths()
    assert len(rules) > 140
    wanted = {rule for rule in rules if is_breakable(rule)}
    assert len(rules) - len(wanted) == len(UNBREAKABLE)
    reached = {rule for _, rules in configurations() for rule in rules}
    assert sorted(wanted - reached) == []


def test_a_virtual_switch_refuses_each_in_the_words_of_the_switch() -> None:
    for tree, rules in configurations():
        with pytest.raises(RailfabError) as refused:
            check(tree)
        said = [error.problem for error in each(refused.value)]
        for _, expression, message in rules:
            assert (message.rstrip(".") or f"does not satisfy {expression}") in said, tree


@pytest.mark.oracle
def test_nokias_models_refuse_each_for_the_same_rule(nokia: NokiaModels, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(len(configurations()))]
    for file, (tree, _) in zip(files, configurations(), strict=True):
        file.write_text(text(tree))
    seen: set[Rule] = set()
    for said, (tree, rules) in zip(nokia.complaints_of_each(files), configurations(), strict=True):
        agreed = {rule for rule in rules if said and is_said(said[0], rule)}
        assert agreed or {message for _, _, message in rules} <= NOT_SEEN.keys(), (tree, said)
        seen |= agreed
    unseen = {rule for rule in rules_of_rendered_paths() - seen if is_breakable(rule)}
    assert {message for _, _, message in unseen} == NOT_SEEN.keys(), sorted(unseen)


def is_said(line: str, rule: Rule) -> bool:
    """Whether libyang refuses the node of a rule in its words, or for a reference that the rule is about."""
    path, _, message = rule
    location = LOCATION.search(line)
    assert location is not None, line
    steps = PREDICATE.sub("", location["path"]).split("/")
    words = " ".join(line.split())
    is_reason = (message or "Must condition") in words or "Invalid leafref" in words
    return "/".join(step.rpartition(":")[2] for step in steps) == path and is_reason

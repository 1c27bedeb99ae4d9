"""Each rule of SONiC's models on a table that railfab writes is broken once: the models and the twin refuse it.

`every_field.txt` is a valid configuration with each field that railfab renders, `broken_rules.txt` what breaks it. A
field that is newly rendered has to be added to the first, a rule of another table or of newer models to the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.oracles.sonic import SonicModels, without_newer
from tests.oracles.yang import SchemaNode, Statement
from tests.platforms.feature_goldens import examples
from tests.platforms.sonic.configuration import SONIC, unlisted_fields, whole
from tests.platforms.sonic.row_lines import broken_rules, every_field
from tests.platforms.sonic.spoilt import spoilt

from railfab.platforms.sonic.schema import tree_refusals

LOCATION = re.compile(r'Data location "(?P<path>.*)"')
PREDICATE = re.compile(r"\[(?:[^\]'\"]|'[^']*'|\"[^\"]*\")*\]")
GENERIC = "Must condition not satisfied"
"""Beginning of messages in which the models say no more; the twin says what is missing."""


@dataclass(frozen=True)
class Rule:
    """A rule of a node. path: without keys. words: those in which libyang refuses. message: of the models, or ""."""

    path: str
    words: str
    message: str


def rules_of_rendered_tables(models: SonicModels) -> Iterator[Rule]:
    for table in without_newer(every_field()):
        known = models.tables[table]
        yield from _rules(known.node, f"/{known.module}/{table}")


def _rules(node: SchemaNode, path: str) -> Iterator[Rule]:
    for found in node.statement.all("must", "when"):
        message = _plain(found.first("error-message") or "")
        yield Rule(path, message or _plain(found.argument), message)
    if node.statement.first("max-elements") is not None:
        yield Rule(path, f'Too many "{node.name}" instances.', "")
    yield from (Rule(path, target, "") for target in _targets(node.statement) if "[" in target)
    for child in node.children.values():
        yield from _rules(child, f"{path}/{child.name}")


def _targets(statement: Statement) -> Iterator[str]:
    """The paths of the references that a leaf may be."""
    for kind in statement.all("type"):
        yield from (found.argument for found in kind.all("path"))
        yield from _targets(kind)


def _plain(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def said(sonic_models: SonicModels, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the models say first of each configuration, by what is changed in it; "" where they take it."""
    trees = {"": every_field(), **dict(broken_rules()), **dict(spoilt())}
    lines = sonic_models.complaints_of_each(trees.values(), tmp_path_factory.mktemp("rules"))
    return {name: "".join(said) for name, said in zip(trees, lines, strict=True)}


def said_by(line: str, rules: set[Rule]) -> Rule | None:
    """The rule for which libyang refuses a configuration."""
    location = LOCATION.search(line)
    steps = PREDICATE.sub("", location["path"] if location else "").split("/")
    path = "/".join(step.rpartition(":")[2] for step in steps)
    return next((rule for rule in rules if rule.path == path and rule.words in _plain(line)), None)


def test_each_field_of_each_feature_is_in_the_valid_configuration() -> None:
    assert unlisted_fields(whole(model) for _, model in examples(SONIC)) == []
    assert tree_refusals(every_field()) == ()


@pytest.mark.oracle
def test_the_models_take_the_valid_configuration_and_refuse_each_change_for_a_rule_of_its_own(
    sonic_models: SonicModels, said: dict[str, str]
) -> None:
    rules = {*rules_of_rendered_tables(sonic_models)}
    assert len(rules) > 60
    assert said[""] == ""
    reasons = {lines: said_by(said[lines], rules) for lines, _ in broken_rules()}
    assert {lines: said[lines] for lines, rule in reasons.items() if rule is None} == {}
    assert rules - {*reasons.values()} == set()


@pytest.mark.oracle
def test_a_virtual_switch_refuses_each_in_the_words_of_the_models(
    sonic_models: SonicModels, said: dict[str, str]
) -> None:
    rules = {*rules_of_rendered_tables(sonic_models)}
    for lines, tree in broken_rules():
        rule = said_by(said[lines], rules)
        assert rule is not None, said[lines]
        refused = tree_refusals(tree)
        assert {one.where.partition("|")[0] for one in refused} == {rule.path.split("/")[2]}, lines
        assert rule.message.startswith(GENERIC) or rule.message in {"", *(one.problem for one in refused)}, lines
        assert len({one.problem for one in refused}) == 1 or "POLL_INTERVAL" in lines, refused


def test_a_virtual_switch_refuses_each_value_that_is_wrong_twice_or_missing() -> None:
    trees = dict(spoilt())
    assert len(trees) > 350
    assert [name for name, tree in trees.items() if not tree_refusals(tree)] == []


@pytest.mark.oracle
def test_the_models_refuse_each_value_that_is_wrong_twice_or_missing(said: dict[str, str]) -> None:
    known = without_newer(every_field())
    assert [name for name, tree in spoilt() if not said[name] and without_newer(tree) != known] == []

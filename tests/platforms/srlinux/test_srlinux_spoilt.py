"""Each leaf that railfab renders in any role, design or feature: the twin refuses it spoilt, as Nokia's models do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from tests.oracles.srlinux import NokiaModels
from tests.platforms.srlinux.rendered import rendered, rendered_paths
from tests.platforms.srlinux.spoilt import dangling, lacking, out_of_type

from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.refusals import plain_refusals
from railfab.platforms.srlinux.tree import stripped

Spoil = Callable[[Iterable[Json]], Mapping[str, Json]]


def test_references_of_every_section_are_rendered() -> None:
    found = dangling(rendered().values())
    assert len(found) > 35
    sections = {"qos", "network-instance", "routing-policy", "system"}
    assert {path.split("/")[1] for path in found} >= sections
    assert {*out_of_type(rendered().values())} < rendered_paths()


@pytest.mark.parametrize(("spoil", "words"), [(dangling, "and there is no"), (lacking, "lacks ")])
def test_a_virtual_switch_refuses_a_reference_without_its_target_and_a_missing_leaf(spoil: Spoil, words: str) -> None:
    for path, tree in spoil(rendered().values()).items():
        problems = [one.problem for one in violations(stripped(tree))]
        assert [problem for problem in problems if words in problem], (path, problems)


def test_a_virtual_switch_refuses_a_value_that_is_none_of_its_type() -> None:
    for path, tree in out_of_type(rendered().values()).items():
        (refused,) = plain_refusals(stripped(tree))
        assert refused.where.endswith(f" {path.rpartition('/')[2]}")


@pytest.mark.oracle
@pytest.mark.parametrize("spoil", [dangling, lacking, out_of_type])
def test_nokias_models_refuse_each(nokia: NokiaModels, spoil: Spoil, tmp_path: Path) -> None:
    trees = spoil(rendered().values())
    files = [tmp_path / f"{number}.json" for number in range(len(trees))]
    for file, tree in zip(files, trees.values(), strict=True):
        file.write_text(text(tree))
    for path, said in zip(trees, nokia.complaints_of_each(files), strict=True):
        assert said, path
        assert spoil is not dangling or "Invalid leafref" in said[0], (path, said)

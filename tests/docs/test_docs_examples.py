"""The examples of docs/ do what the pages show. How a page marks them stands in pages.py."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests import commands
from tests.docs.pages import PASTED, SHOWN, UNMARKED, Step, differs, steps
from tests.docs.worlds import INSTALLED, WORLDS, World
from tests.sampled import sampled

from railfab.intent.starters import designs

DOCS = Path(__file__).parents[2] / "docs"
PATIENCE_S = 60.0
ASKS = ("curl", "railfab lab status", "railfab targets check", "railfab verify")
"""Commands that change nothing, and show what may come later on a busy machine: a collector that is late keeps series
until it has read what is pending, and a dial takes long."""
STEPS = [step for page in sorted(DOCS.glob("*.md")) for step in steps(page)]
PAGES = list(dict.fromkeys((step.page, step.world) for step in STEPS))
"""Pages and worlds of their examples: those of another world are another test, in another folder."""
MARKS = {
    ("lab.md", "lab"): [pytest.mark.lab, pytest.mark.matrix],
    ("python.md", "lab"): [pytest.mark.lab, pytest.mark.matrix],
    ("twin.md", "paste"): [pytest.mark.matrix],
    ("page.md", "twin"): [pytest.mark.matrix],
}
"""tests/integration does with the same lab what lab.md and the lab of python.md show, tests/twin with a twin what
twin.md shows, and tests/page what page.md shows."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("page", "world"), [pytest.param(*place, id="-".join(place), marks=MARKS.get(place, ())) for place in PAGES]
)
def test_the_examples_of_a_page_print_what_it_shows(page: str, world: str, repository: Path, tmp_path: Path) -> None:
    place = World(tmp_path, repository, commands.folder())
    with ExitStack() as stack:
        WORLDS[world](place, stack)
        for step in (step for step in STEPS if (step.page, step.world) == (page, world)):
            assert not (reason := outcome(place, step)), f"docs/{step.page}:{step.line}: {step.command}\n{reason}"


def outcome(world: World, step: Step) -> str:
    """Why a command did not do what the page shows; empty when it did.

    What is measured, what a twin does by itself, targets, which are dialed again and again, and what is asked is looked
    at again: on a busy machine the twin simulates less than the wall clock passes.
    """
    takes_time = step.numbers is not None or step.world == "switches" or step.command.startswith(ASKS)
    deadline = time.monotonic() + (PATIENCE_S if takes_time else 0.0)
    while True:
        code, printed = world.run(step.command)
        reason = differs(step.output, printed, step.numbers)
        if code != step.exit:
            reason = f"ended with {code}\n{printed}"
        if not reason or time.monotonic() >= deadline:
            return reason
        time.sleep(1.0)


README = DOCS.parent / "README.md"
BLOCKS = [found["body"] for found in PASTED.finditer(README.read_text())]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("block", sampled(BLOCKS, few=[block for block in BLOCKS if "--detach" not in block]))
def test_a_block_of_the_readme_works_when_it_is_pasted(block: str, repository: Path, tmp_path: Path) -> None:
    """Those with a twin in `make matrix`: docs/deploy.md begins with the same commands."""
    world = World(tmp_path, repository, INSTALLED)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    script = "\n".join(line.removeprefix("$ ") for line in block.splitlines())
    with ExitStack() as stack:
        WORLDS["paste"](world, stack)
        code, printed = world.run(script)
        assert code == 0, printed


def test_the_readme_has_blocks_to_paste_and_one_of_them_deploys_to_a_twin() -> None:
    assert len(BLOCKS) >= 2
    assert any("--detach" in block and "railfab deploy" in block for block in BLOCKS)


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_commands_are_run_or_pasted_or_it_is_said_why_not(page: Path) -> None:
    assert [found["body"] for found in UNMARKED.finditer(page.read_text())] == []


@pytest.mark.parametrize("reader", ["head", "grep -q", "grep -m"])
def test_no_example_ends_its_pipe_before_the_command_has_written(reader: str) -> None:
    """Whether such a command ends with 0 or with 141 (SIGPIPE) depends on the machine."""
    assert [step.command for step in STEPS if f"| {reader}" in step.command] == []


def test_every_design_of_the_readme_is_rendered(repository: Path) -> None:
    goldens = {path.name for path in (repository / "tests" / "golden" / "configurations").iterdir()}
    assert goldens >= set(designs())
    assert f"list {len(designs())} designs" in README.read_text()


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_a_file_that_a_page_shows_is_that_file(page: Path, repository: Path) -> None:
    for shown in SHOWN.finditer(page.read_text()):
        assert shown["body"] == (repository / shown["path"]).read_text(), shown["path"]


@pytest.mark.parametrize(
    ("shown", "printed", "numbers", "same"),
    [
        ("a 1\nb", "a 1\n\nb  \n", None, True),
        ("a 1", "a 2", None, False),
        ("a ... z\n...\nend", "a b c z\n1\n2\nend", None, True),
        ("a ...", "b", None, False),
        ("x[3]/leaf-1 +10", "x[3]/leaf-1 +19", float("inf"), True),
        ("x[3]/leaf-1 +10", "x[3]/leaf-2 +19", float("inf"), False),
        ("depth 100", "depth 139", 0.4, True),
        ("depth 100", "depth 141", 0.4, False),
        ("depth 100", "depth 100\nmore", 0.4, False),
        ("columns  are   wide", "columns     are wide", None, False),
        ("columns  are   wide", "columns     are        wide", None, True),
    ],
)
def test_what_counts_as_the_same_output(shown: str, printed: str, numbers: float | None, same: bool) -> None:
    assert (not differs(shown, printed, numbers)) is same

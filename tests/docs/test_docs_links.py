"""What the pages point at exists: links, files, commands and their options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main
from tests.docs.pages import FENCE, LINK

from railfab.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "inventory|docs|playbooks|labs|dashboards|benchmarks|tests|src|collectors"
FILE = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./-]*\w/?")
TYPED = re.compile(r"^(?:[$#] )?(?:sudo )?railfab (?P<words>.*?)(?: [|&>].*| *)$", re.MULTILINE)
WRITTEN_BY_EXAMPLES = {"inventory/hosts.yml"}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in (found["target"] for found in LINK.finditer(page.read_text())):
        path, _, heading = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not heading or heading in _headings(file), target


def _headings(page: Path) -> set[str]:
    """The anchors that a Markdown page has, as GitHub and GitLab make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@every_page
def test_every_file_that_is_named_is_there(page: Path) -> None:
    named = set(FILE.findall(page.read_text())) - WRITTEN_BY_EXAMPLES
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def _typed(page: Path) -> list[list[str]]:
    """The railfab commands of a page, those that no test runs included."""
    bodies = (fence["body"].replace("\\\n", " ") for fence in FENCE.finditer(page.read_text()))
    return [shlex.split(found["words"], comments=True) for body in bodies for found in TYPED.finditer(body)]


@every_page
def test_every_command_and_option_that_is_shown_exists(page: Path) -> None:
    for words in _typed(page):
        command = typer.main.get_command(app)
        rest = list(words)
        while rest and hasattr(command, "commands"):
            default = getattr(command, "default", None)  # of `railfab twin FILE`
            if rest[0].startswith("-") and default is None:
                break
            assert default or rest[0] in command.commands, words
            command = command.commands[rest.pop(0) if rest[0] in command.commands else default]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert given <= known | {"--help", "-h"}, words


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    listed = {found["target"] for found in LINK.finditer(index)}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= listed

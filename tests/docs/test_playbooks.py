"""Playbooks: short enough to copy, each shown on a page."""

from __future__ import annotations

import re
from pathlib import Path


def test_a_playbook_has_less_than_60_lines_and_a_page_names_it(repository: Path) -> None:
    pages = "".join(page.read_text() for page in (repository / "docs").glob("*.md"))
    playbooks = list((repository / "playbooks").glob("*.py"))
    assert len(playbooks) >= 5
    for playbook in playbooks:
        assert len(playbook.read_text().splitlines()) < 60, playbook
        assert f"(../playbooks/{playbook.name})" in pages


def test_playbooks_escape_every_diff_that_they_print(repository: Path) -> None:
    lines = [line for path in (repository / "playbooks").glob("*.py") for line in path.read_text().splitlines()]
    printed = [line.strip() for line in lines if re.search(r"print\(.*\.diff\b", line)]
    assert printed
    assert [line for line in printed if not line.startswith("print(printable_lines(")] == []

"""Tables that follow from the code are what the code gives now."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import TABLE
from tests.docs.tables import TABLES, written

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_the_tables_of_a_page_are_current(page: Path) -> None:
    text = page.read_text()
    assert written(text) == text, "write them anew: python -m tests.docs.tables"


def test_every_table_is_on_a_page() -> None:
    shown = {found["name"] for page in DOCS.glob("*.md") for found in TABLE.finditer(page.read_text())}
    assert shown == set(TABLES)

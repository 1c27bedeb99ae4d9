"""Pages that compare a platform's lines with the guide of its vendor: each rendered line is in a table of its page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.platforms.sonic.designs import with_sonic

from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.cumulus.tree import lines as nvue_lines
from railfab.platforms.junos.statements import rendered
from railfab.platforms.shared.brace_text import shown
from railfab.platforms.sonic.tables import lines as database_lines
from railfab.platforms.srlinux.tree import lines as set_lines

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "platforms"
TABLE = re.compile(r"<!-- lines: \w+ -->\n(?P<rows>.*?)<!-- end -->", re.DOTALL)
ROW = re.compile(r"^\| `(?P<line>[^`]+)` \| (?P<guide>[^|]+) \| [^|]*\|$", re.MULTILINE)
WORDS: Mapping[str, str] = {
    "TEXT": ".+",
    "PORT": r"(?:PORT|(?:swp|ethernet-|Ethernet|et-)[\d/.:]+)",
    "ADDRESS": r"[\d.]+(?:/\d+)?",
    "NAME": r"[\w.:-]+",
    "N": r"\d+",
}
PLACEHOLDER = re.compile(rf"\b(?:{'|'.join(WORDS)})\b")


def frr_lines() -> Iterator[str]:
    texts = design(ROOT / "labs" / "frr-evpn" / "intent.yml").configurations()
    for name in ("front-leaf1", "front-spine1"):
        yield from (line.strip() for line in texts[name].splitlines())


def srlinux_lines() -> Iterator[str]:
    models = design(ROOT / "inventory" / "fabrics" / "pod64.yml").models
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from set_lines(platform("srlinux").render(models[name]))


def junos_lines() -> Iterator[str]:
    """As `display set` has them."""
    models = design(ROOT / "inventory" / "fabrics" / "dual-rail.yml").models
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from map(shown, rendered(platform("junos").render(models[name])))


def nxos_lines() -> Iterator[str]:
    texts = design(ROOT / "inventory" / "fabrics" / "routed.yml").configurations()
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from (line.strip() for line in texts[name].splitlines() if line)


def eos_lines() -> Iterator[str]:
    texts = design(ROOT / "inventory" / "fabrics" / "multi-rail.yml").configurations()
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from (line.strip() for line in texts[name].splitlines() if line.strip() != "!")


def sonic_lines() -> Iterator[str]:
    """A row and a field a line, without the bars that would end a cell of a table."""
    with TemporaryDirectory() as folder:
        models = with_sonic(ROOT, "dual-plane", Path(folder)).models
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from (line.replace("|", " ") for line in database_lines(platform("sonic").render(models[name])))


def cumulus_lines() -> Iterator[str]:
    models = design(ROOT / "inventory" / "fabrics" / "single-rail.yml").models
    for name in ("pod1-seg1-leaf1", "pod1-spine1"):
        yield from nvue_lines(platform("cumulus").render(models[name]))


RENDERED: Mapping[str, Callable[[], Iterator[str]]] = {
    "cumulus": cumulus_lines,
    "eos": eos_lines,
    "frr": frr_lines,
    "junos": junos_lines,
    "nxos": nxos_lines,
    "sonic": sonic_lines,
    "srlinux": srlinux_lines,
}


def patterns(name: str) -> list[tuple[str, re.Pattern[str]]]:
    """Each line of the tables of a page, and the pattern of the lines that it stands for."""
    tables = TABLE.finditer((PAGES / f"{name}.md").read_text())
    found = [row["line"] for table in tables for row in ROW.finditer(table["rows"])]
    return [(line, re.compile(PLACEHOLDER.sub(lambda word: WORDS[word[0]], re.escape(line)))) for line in found]


@pytest.mark.parametrize("name", RENDERED)
def test_every_line_of_a_leaf_and_a_spine_is_compared_and_no_other(name: str) -> None:
    rows, lines = patterns(name), set(RENDERED[name]())
    assert rows
    assert [line for line in sorted(lines) if not any(pattern.fullmatch(line) for _, pattern in rows)] == []
    assert [row for row, pattern in rows if not any(pattern.fullmatch(line) for line in lines)] == []

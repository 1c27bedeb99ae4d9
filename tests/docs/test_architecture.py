"""The README's table of packages and docs/architecture.svg agree with src/railfab and with the layers of imports."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

from tests.draw.pictures import TOUCH

from railfab.draw.text_width import width_of

SVG = "{http://www.w3.org/2000/svg}"


def _packages(repository: Path) -> set[str]:
    return {path.parent.name for path in (repository / "src" / "railfab").glob("*/__init__.py")}


def _layers(repository: Path) -> list[set[str]]:
    """Packages of each layer, the top one first, without modules."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    contract = next(each for each in project["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    layers = [set(re.findall(r"railfab\.(\w+)", layer)) & _packages(repository) for layer in contract["layers"]]
    return [layer for layer in layers if layer]


def _rows(repository: Path) -> list[set[str]]:
    """Packages in each row of the README's table of packages."""
    table = (repository / "README.md").read_text().partition("| packages | content |\n")[2].partition("\n\n")[0]
    return [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[1:]]


def test_the_readme_lists_every_package_in_the_order_of_the_layers(repository: Path) -> None:
    layers, rows = _layers(repository), _rows(repository)
    depth = {package: number for number, layer in enumerate(layers) for package in layer}
    assert set().union(*rows) == set().union(*layers) == _packages(repository)
    assert sum(map(len, rows)) == len(_packages(repository))
    depths = [{depth[package] for package in row} for row in rows]
    assert all(len(each) == 1 for each in depths)
    assert [min(each) for each in depths] == sorted(min(each) for each in depths)


def test_the_architecture_picture_shows_existing_packages(repository: Path) -> None:
    tree = ElementTree.parse(repository / "docs" / "architecture.svg")
    notes = [text.text or "" for text in tree.iter(f"{SVG}text") if text.get("class") == "package"]
    shown = {word.rstrip("/") for note in notes for word in note.split() if word.endswith("/")}
    assert shown == _packages(repository) - {
        "app",
        "cli",
        "compiled",
        "endpoints",
        "netbox",
        "process",
        "ssh",
        "testing",
        "text",
        "yaml_reader",
    }  # not steps of the data flow


def _width(text: ElementTree.Element) -> float:
    """Width of a line by the style sheet of the picture: 14 px and bold, 11 px of a monospaced font, or 12 px."""
    words, look = text.text or "", text.get("class")
    return (
        0.61 * 11 * len(words)
        if look == "package"
        else width_of(words, 14 if look == "name" else 12, bold=look == "name")
    )


def test_no_text_of_the_architecture_picture_touches_its_box(repository: Path) -> None:
    tree = ElementTree.parse(repository / "docs" / "architecture.svg")
    groups = [group for group in tree.iter(f"{SVG}g") if group.find(f"{SVG}rect") is not None]
    assert len(groups) > 10
    for group in groups:
        box = group.find(f"{SVG}rect")
        assert box is not None
        left, width = float(box.attrib["x"]), float(box.attrib["width"])
        for text in group.findall(f"{SVG}text"):
            half, middle = _width(text) / 2, float(text.attrib["x"])
            assert left + TOUCH <= middle - half, text.text
            assert middle + half <= left + width - TOUCH, text.text

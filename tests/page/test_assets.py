"""The files of the page: what comes from others is unchanged and licensed, and nothing is loaded from elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ASSETS = REPOSITORY / "src/railfab/page/assets"
VENDORED = (ASSETS / "vendor", REPOSITORY / "tests/page/browser/axe")
OURS = sorted(path for path in ASSETS.rglob("*.*") if "vendor" not in path.parts)
MODULES = [path for path in OURS if path.suffix == ".js"]
STATIC_IMPORT = re.compile(r'^import (?:[^;]*? from )?"(\.[^"]+)";', re.MULTILINE)
DYNAMIC_IMPORT = re.compile(r'import\("(\.[^"]+)"\)')
NAMESPACE = "http://www.w3.org/2000/svg"


def imported(module: Path, pattern: re.Pattern[str] = STATIC_IMPORT) -> set[Path]:
    return {(module.parent / name).resolve() for name in pattern.findall(module.read_text())}


def reached(module: Path) -> set[Path]:
    """A module and all that it imports when it is loaded."""
    done: set[Path] = set()
    waiting = {module}
    while waiting:
        done |= waiting
        waiting = {each for path in waiting for each in imported(path)} - done
    return done


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.name)
def test_files_of_others_are_those_of_their_release_with_their_licence(folder: Path) -> None:
    packages = json.loads((folder / "vendored.json").read_text())
    named = {"vendored.json"}
    for package in packages.values():
        hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in package["sha256"]}
        assert hashes == package["sha256"]
        assert len((folder / package["licence_text"]).read_text()) > 1000
        assert package["version"] in (folder / next(iter(package["sha256"]))).read_text()[:1000]
        named |= hashes.keys()
    assert {path.name for path in folder.iterdir()} == named


def test_nothing_is_loaded_from_elsewhere() -> None:
    for path in OURS:
        assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"']*", path.read_text().replace(NAMESPACE, "")) == [], path


def test_modules_make_no_markup_and_no_code_of_texts() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write|\"style\"")
    for path in MODULES:
        assert forbidden.findall(path.read_text()) == [], path
        assert all(module.is_file() for module in imported(path) | imported(path, DYNAMIC_IMPORT)), path


def test_the_index_has_no_script_and_no_style_of_its_own() -> None:
    text = (ASSETS / "index.html").read_text()
    assert re.findall(r"<style|style=|<script(?![^>]* src=)|\son\w+=", text) == []
    for name in re.findall(r'(?:src|href)="/?(assets/[^"]+)"', text):
        assert (ASSETS.parent / name).is_file(), name


def test_all_modules_that_the_first_view_needs_are_asked_for_at_once() -> None:
    preloaded = re.findall(r'modulepreload" href="assets/([^"]+)"', (ASSETS / "index.html").read_text())
    needed = {str(path.relative_to(ASSETS)) for path in reached(ASSETS / "main.js")} - {"main.js"}
    assert set(preloaded) == needed
    assert not any(name.startswith("vendor/") for name in needed), "charts are loaded when the first is shown"


def test_every_module_is_reached_from_the_first() -> None:
    done: set[Path] = set()
    waiting = {ASSETS / "main.js"}
    while waiting:
        done |= waiting
        waiting = {each for path in waiting for each in imported(path) | imported(path, DYNAMIC_IMPORT)} - done
    assert done >= set(MODULES)

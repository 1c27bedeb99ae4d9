"""The catalogue file of an intent: validated like the intent, and merged into its switch models."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from tests.intent.intents import FULL, SMALL, error_lines

from railfab.intent import CatalogueFile, load_intent

ENTRY = {**yaml.load(FULL, yaml.CSafeLoader)["switches"]["mine-64"], "breakouts": {}, "at_most": {}}
REMEDY = "Name a file of switch models, relative to the folder of the intent."


def fabric(folder: Path, catalogue: str, more: str = "") -> Path:
    path = folder / "f.yml"
    path.write_text(f"{SMALL}{more}catalogue: {catalogue}\n")
    return path


def switches(*names: str) -> str:
    """The key `switches` with ENTRY under each name."""
    return "switches:\n" + "".join(f"  {name}: {json.dumps(ENTRY)}\n" for name in names)


def write_catalogue(path: Path, *names: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(switches(*names))


@pytest.mark.parametrize("place", ["c.yml", "more/c.yml", "../c.yml", "./a/../c.yml"])
def test_the_path_of_a_catalogue_is_relative_to_the_intent(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fabrics"
    (folder / "a").mkdir(parents=True)
    write_catalogue(folder / place, "one", "two")
    monkeypatch.chdir("/")
    intent = load_intent(fabric(folder, place))
    assert intent.switches == CatalogueFile.model_validate({"switches": {"one": ENTRY, "two": ENTRY}}).switches
    assert intent.catalogue == place


def test_the_path_of_a_catalogue_may_be_absolute(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "elsewhere" / "c.yml", "one")
    assert set(load_intent(fabric(tmp_path, f"{tmp_path}/elsewhere/c.yml")).switches) == {"one"}


def test_switch_models_of_an_intent_and_its_catalogue_are_merged(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    own = switches("two")
    assert list(load_intent(fabric(tmp_path, "c.yml", own)).switches) == ["one", "two"]


def test_a_duplicate_model_is_reported_with_both_places(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one", "two")
    own = switches("two", "three")
    path = fabric(tmp_path, "c.yml", own)
    assert error_lines(load_intent, path) == [
        "f.yml:7: switches.two: c.yml:3 defines the same model. Keep one of them."
    ]


def test_faults_of_a_catalogue_have_its_file_and_lines(tmp_path: Path) -> None:
    path = fabric(tmp_path, "c.yml")
    (tmp_path / "c.yml").write_text("switches:\n  one:\n    vendr: me\n    cages: 0\nwrong: 1\n")
    assert [line.partition(". ")[0] for line in error_lines(load_intent, path)] == [
        "c.yml:2: switches.one.vendor: the key is missing",
        "c.yml:2: switches.one.silicon: the key is missing",
        "c.yml:2: switches.one.speeds_gbps: the key is missing",
        "c.yml:2: switches.one.buffer_bytes: the key is missing",
        "c.yml:2: switches.one.names: the key is missing",
        "c.yml:3: switches.one.vendr: unknown key",
        "c.yml:4: switches.one.cages: 0 is out of range",
        "c.yml:5: wrong: unknown key",
    ]


def test_faults_of_an_intent_and_of_its_catalogue_are_reported_together(tmp_path: Path) -> None:
    path = fabric(tmp_path, "c.yml", "mtu: 9000\n")
    (tmp_path / "c.yml").write_text("switches: []\n")
    lines = error_lines(load_intent, path)
    assert lines[0].startswith("f.yml:6: mtu: unknown key.")
    assert lines[1:] == ["c.yml:1: switches: a list is not a mapping. Write the keys below, indented."]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("none.yml", "'none.yml' does not exist"),
        ("folder", "'folder' is not a file"),
        (".", "'.' is not a file"),
        ("/dev/null", "'/dev/null' is not a file"),
        ("pipe", "'pipe' is not a file"),
        ("f.yml/c.yml", "'f.yml/c.yml' does not exist"),
        ("loop", "'loop' does not exist"),
        ("~/c.yml", "'~/c.yml' does not exist"),
        ("https://example.net/c.yml", "'https://example.net/c.yml' does not exist"),
        ("n" * 100 + "/" + "m" * 99, "'" + "n" * 36 + "... does not exist"),
    ],
)
def test_a_missing_catalogue_is_reported_at_the_key_that_names_it(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assert error_lines(load_intent, fabric(tmp_path, name)) == [f"f.yml:6: catalogue: {problem}. {REMEDY}"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (SMALL, "c.yml: the file describes a fabric, not switch models. Name a file with switch models."),
        ("version: 1\njob: j\n", "c.yml: the file describes a job, not switch models. Name a file with switch models."),
        ("", "c.yml: the file contains no mapping. Begin it with `switches:`."),
        ("[]", "c.yml: the file contains no mapping. Begin it with `switches:`."),
        ("mine-64: {vendor: me}\n", "c.yml:1: mine-64: unknown key. The keys here are switches."),
        ("switches:\n", "c.yml:1: switches: an empty value is not a mapping. Write the keys below, indented."),
        ("switches: {a: 1}\n", "c.yml:1: switches.a: 1 is not a mapping. Write the keys below, indented."),
        ("#" * 1_000_001, "c.yml: the file is larger than 1000000 bytes. Use a smaller file."),
    ],
)
def test_a_file_that_is_not_a_catalogue_is_an_error(tmp_path: Path, content: str, line: str) -> None:
    (tmp_path / "c.yml").write_text(content)
    assert line in error_lines(load_intent, fabric(tmp_path, "c.yml"))


def test_an_intent_cannot_be_its_own_catalogue(tmp_path: Path) -> None:
    assert error_lines(load_intent, fabric(tmp_path, "f.yml")) == [
        "f.yml: the file describes a fabric, not switch models. Name a file with switch models."
    ]


def test_a_catalogue_in_place_of_a_fabric_is_one_error(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    assert error_lines(load_intent, tmp_path / "c.yml") == [
        "c.yml: the file describes switch models, not a fabric. Name a file with a fabric."
    ]


def test_an_invalid_catalogue_name_is_a_fault_of_the_intent(tmp_path: Path) -> None:
    assert error_lines(load_intent, fabric(tmp_path, "[c.yml]")) == [
        "f.yml:6: catalogue: a list is not a text. Write a text."
    ]
    assert error_lines(load_intent, fabric(tmp_path, "''")) == [
        "f.yml:6: catalogue: the text is empty. Write at least 1 character."
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_catalogue_without_read_permission_is_an_error(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    (tmp_path / "c.yml").chmod(0)
    assert "c.yml: cannot be read (permission denied)." in error_lines(load_intent, fabric(tmp_path, "c.yml"))[0]

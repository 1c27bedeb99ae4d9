"""A file of switch models beside an intent: read with the same care, and merged into the intent's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from tests.intent.intents import FULL, SMALL, said

from railfab.intent import CatalogueFile, load_intent

ENTRY = {**yaml.safe_load(FULL)["switches"]["mine-64"], "breakouts": {}, "at_most": {}}
REMEDY = "Name a file of switch models, from the folder of this one."


def fabric(folder: Path, catalogue: str, more: str = "") -> Path:
    path = folder / "f.yml"
    path.write_text(f"{SMALL}{more}catalogue: {catalogue}\n")
    return path


def switches(*names: str) -> str:
    """The key `switches` with that entry under each name."""
    return "switches:\n" + "".join(f"  {name}: {json.dumps(ENTRY)}\n" for name in names)


def write_catalogue(path: Path, *names: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(switches(*names))


@pytest.mark.parametrize("place", ["c.yml", "more/c.yml", "../c.yml", "./a/../c.yml"])
def test_a_catalogue_is_found_from_the_folder_of_the_intent(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "fabrics"
    (folder / "a").mkdir(parents=True)
    write_catalogue(folder / place, "one", "two")
    monkeypatch.chdir("/")
    intent = load_intent(fabric(folder, place))
    assert intent.switches == CatalogueFile.model_validate({"switches": {"one": ENTRY, "two": ENTRY}}).switches
    assert intent.catalogue == place


def test_a_catalogue_may_be_named_from_the_root(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "elsewhere" / "c.yml", "one")
    assert set(load_intent(fabric(tmp_path, f"{tmp_path}/elsewhere/c.yml")).switches) == {"one"}


def test_switches_of_the_intent_and_of_its_catalogue_are_one(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    own = switches("two")
    assert list(load_intent(fabric(tmp_path, "c.yml", own)).switches) == ["one", "two"]


def test_a_model_that_is_given_in_both_names_both_places(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one", "two")
    own = switches("two", "three")
    path = fabric(tmp_path, "c.yml", own)
    assert said(load_intent, path) == ["f.yml:7: switches.two: c.yml:3 has it too. Keep one of them."]


def test_faults_of_a_catalogue_have_its_own_lines(tmp_path: Path) -> None:
    path = fabric(tmp_path, "c.yml")
    (tmp_path / "c.yml").write_text("switches:\n  one:\n    vendr: me\n    cages: 0\nwrong: 1\n")
    assert [line.partition(". ")[0] for line in said(load_intent, path)] == [
        "c.yml:2: switches.one.vendor: is missing",
        "c.yml:2: switches.one.silicon: is missing",
        "c.yml:2: switches.one.speeds_gbps: is missing",
        "c.yml:2: switches.one.buffer_bytes: is missing",
        "c.yml:2: switches.one.names: is missing",
        "c.yml:3: switches.one.vendr: is not a key railfab knows",
        "c.yml:4: switches.one.cages: 0 does not do",
        "c.yml:5: wrong: is not a key railfab knows",
    ]


def test_faults_of_an_intent_and_of_its_catalogue_are_said_together(tmp_path: Path) -> None:
    path = fabric(tmp_path, "c.yml", "mtu: 9000\n")
    (tmp_path / "c.yml").write_text("switches: []\n")
    lines = said(load_intent, path)
    assert lines[0].startswith("f.yml:6: mtu: is not a key railfab knows.")
    assert lines[1:] == ["c.yml:1: switches: a list does not do. Write its keys below it, indented."]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("none.yml", "'none.yml' is not there"),
        ("folder", "'folder' is no file"),
        (".", "'.' is no file"),
        ("/dev/null", "'/dev/null' is no file"),
        ("pipe", "'pipe' is no file"),
        ("f.yml/c.yml", "'f.yml/c.yml' is not there"),
        ("loop", "'loop' is not there"),
        ("~/c.yml", "'~/c.yml' is not there"),
        ("https://example.net/c.yml", "'https://example.net/c.yml' is not there"),
        ("n" * 100 + "/" + "m" * 99, "'" + "n" * 36 + "... is not there"),
    ],
)
def test_a_catalogue_that_is_no_file_is_one_line_at_the_key_that_names_it(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assert said(load_intent, fabric(tmp_path, name)) == [f"f.yml:6: catalogue: {problem}. {REMEDY}"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (SMALL, "c.yml: is a fabric, not a file of switch models. Name a file of switch models."),
        ("version: 1\njob: j\n", "c.yml: is a job, not a file of switch models. Name a file of switch models."),
        ("", "c.yml: holds no mapping. Begin with `switches:`."),
        ("[]", "c.yml: holds no mapping. Begin with `switches:`."),
        ("mine-64: {vendor: me}\n", "c.yml:1: mine-64: is not a key railfab knows. Known here: switches."),
        ("switches:\n", "c.yml:1: switches: nothing does not do. Write its keys below it, indented."),
        ("switches: {a: 1}\n", "c.yml:1: switches.a: 1 does not do. Write its keys below it, indented."),
        ("#" * 1_000_001, "c.yml: is larger than 1000000 bytes. Name a smaller file."),
    ],
)
def test_a_file_that_is_no_catalogue_is_said_so(tmp_path: Path, content: str, line: str) -> None:
    (tmp_path / "c.yml").write_text(content)
    assert line in said(load_intent, fabric(tmp_path, "c.yml"))


def test_an_intent_may_not_be_its_own_catalogue(tmp_path: Path) -> None:
    assert said(load_intent, fabric(tmp_path, "f.yml")) == [
        "f.yml: is a fabric, not a file of switch models. Name a file of switch models."
    ]


def test_a_catalogue_where_a_fabric_belongs_is_said_so(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    assert said(load_intent, tmp_path / "c.yml") == ["c.yml: is a file of switch models, not a fabric. Name a fabric."]


def test_a_name_that_is_no_text_is_a_fault_of_the_intent(tmp_path: Path) -> None:
    assert said(load_intent, fabric(tmp_path, "[c.yml]")) == [
        "f.yml:6: catalogue: a list does not do. It should be a valid string."
    ]
    assert said(load_intent, fabric(tmp_path, "''")) == [
        "f.yml:6: catalogue: '' does not do. It should have at least 1 character."
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_catalogue_that_may_not_be_read_is_said_so(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.yml", "one")
    (tmp_path / "c.yml").chmod(0)
    assert "c.yml: cannot be read (permission denied)." in said(load_intent, fabric(tmp_path, "c.yml"))[0]

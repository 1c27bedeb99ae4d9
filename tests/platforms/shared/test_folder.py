"""A platform is the files of its folder: a part is in the file of its name, or where its `__init__` says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from railfab.platforms import platform_names
from railfab.platforms.shared.folder import platform_of

FOLDER = Path(__file__).parents[3] / "src" / "railfab" / "platforms"
MOST_LINES = 16
PARSER = "from railfab_acme.shared import TEXT\n\n\ndef {part}(*arguments):\n    return (TEXT, *arguments)\n"


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with the files of EOS, and functions that return their arguments."""
    package = tmp_path / "railfab_acme"
    package.mkdir()
    for name in ("capabilities.yml", "telemetry.yml", "lab.yml", "hazards.yml"):
        (package / name).write_text((FOLDER / "eos" / name).read_text())
    (package / "__init__.py").write_text("")
    (package / "shared.py").write_text('TEXT = "acme"\n')
    for part in ("render", "parse", "differences"):
        (package / f"{part}.py").write_text(PARSER.format(part=part))
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for module in [name for name in sys.modules if name.startswith("railfab_acme")]:
        del sys.modules[module]


def test_a_part_is_the_function_of_its_name_in_the_file_of_its_name(acme: Path) -> None:
    platform = platform_of("railfab_acme", suffix="cfg", text=".parse:parse")
    assert platform.parse("line") == ("acme", "line")
    assert platform.text({}) == ("acme", {})
    assert (platform.name, platform.suffix) == ("railfab_acme", "cfg")
    assert len(platform.hazards()) > 1


def test_a_file_adds_its_part_and_without_it_there_is_none(acme: Path) -> None:
    platform = platform_of("railfab_acme", suffix="cfg", text=".parse:parse")
    assert (platform.refusals, platform.dialect, platform.session, platform.twin) == (None, None, None, None)
    (acme / "refusals.py").write_text(PARSER.format(part="refusals"))
    (acme / "dialect.yml").write_text((FOLDER / "frr" / "dialect.yml").read_text())
    platform = platform_of("railfab_acme", name="acme", suffix="cfg", text=".parse:parse")
    assert platform.name == "acme"
    assert platform.refusals("line") == ("acme", "line")
    assert platform.dialect


def test_no_module_is_imported_before_its_part_is_used(acme: Path) -> None:
    (acme / "parse.py").write_text("raise ValueError('imported')\n")
    platform = platform_of("railfab_acme", suffix="cfg", text=".parse:parse")
    with pytest.raises(ValueError, match=r"^imported$"):
        platform.parse("line")


def test_a_missing_part_is_named(acme: Path) -> None:
    with pytest.raises(TypeError, match=r"missing 1 required keyword-only argument: 'text'$"):
        platform_of("railfab_acme", suffix="cfg")


@pytest.mark.parametrize("name", [name for name in platform_names() if (FOLDER / name).is_dir()])
def test_a_platform_states_only_what_is_in_other_files(name: str) -> None:
    lines = (FOLDER / name / "__init__.py").read_text().splitlines()
    assert len(lines) <= MOST_LINES
    for part, place in (line.strip(" ,").split("=") for line in lines if line.startswith("    ") and "=" in line):
        assert place.strip('"') != f".{part}:{part}", f"{part} is found without it"

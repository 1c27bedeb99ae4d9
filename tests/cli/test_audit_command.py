"""`railfab audit --configs` with files that are no configuration of the switch: one line each."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from railfab.cli import app
from railfab.cli.configuration_files import MAX_BYTES
from railfab.errors import RailfabError

ROOT = Path(__file__).parents[2]
INTENTS = {"eos": ROOT / "tests" / "deploy" / "rack_eos.yml", "frr": ROOT / "labs" / "frr-pod" / "intent.yml"}
SPINE = "pod1-spine1"


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of each fabric, by name."""
    found = {}
    for name, intent in INTENTS.items():
        folder = tmp_path_factory.mktemp(name)
        assert CliRunner().invoke(app, ["render", str(intent), "-o", str(folder)]).exit_code == 0
        found[name] = {file.name: file.read_bytes() for file in folder.iterdir()}
    return found


def audited(name: str, files: dict[str, bytes], folder: Path) -> tuple[int, list[str]]:
    """The exit code and the lines of an audit of these files."""
    for file, content in files.items():
        (folder / file).write_bytes(content)
    done = CliRunner().invoke(app, ["audit", str(INTENTS[name]), "--configs", str(folder)], catch_exceptions=False)
    return done.exit_code, done.output.splitlines()


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("eos", b"", "is empty. Read or render it again"),
        ("frr", b" \n\t\n", "is empty. Read or render it again"),
        (
            "eos",
            b"<html>404 Not Found</html>\n",
            "has none of the 2 ports of the intent, such as Ethernet1/1. Deploy the intent, or check that this is a "
            "configuration of this switch and of eos",
        ),
        (
            "frr",
            b"hostname pod1-spine1\ninterface loopback0\ninterface Ethernet1/1\n  mtu 9216\n",
            "is one of platform nxos, and the intent has frr on this switch. Take that of this switch, or correct its "
            "platform in the intent",
        ),
        (
            "frr",
            b"interface Ethernet1\n ip address 10.0.0.1/31\n",
            "has none of the 4 ports of the intent, such as swp1. Deploy the intent, or check that this is a "
            "configuration of this switch and of frr",
        ),
    ],
    ids=["empty", "blank", "a web page", "of another platform", "of another switch"],
)
def test_a_file_that_is_no_configuration_of_the_switch_is_one_line(
    name: str, content: bytes, line: str, rendered: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    file = next(file for file in rendered[name] if file.startswith(SPINE))
    code, lines = audited(name, {**rendered[name], file: content}, tmp_path)
    assert [one for one in lines if "configuration-" in one] == [
        f"error {SPINE}: configuration: {line}. [configuration-invalid]"
    ]
    assert code == 1


def test_a_file_that_windows_saved_is_read(rendered: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    saved = {name: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n") for name, text in rendered["eos"].items()}
    assert "configuration-" not in "".join(audited("eos", saved, tmp_path)[1])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("hostname pod1-spine1\n".encode("utf-16"), "is not UTF-8 text. Save it as UTF-8, or render it again."),
        (
            b"x" * (MAX_BYTES + 1),
            "is larger than 16,000,000 bytes, more than a configuration has. Name a folder with one file for each "
            "switch.",
        ),
    ],
    ids=["UTF-16", "large"],
)
def test_a_file_that_is_no_text_of_a_switch_is_refused(content: bytes, line: str, tmp_path: Path) -> None:
    with pytest.raises(RailfabError) as refused:
        audited("eos", {f"{SPINE}.cfg": content}, tmp_path)
    assert str(refused.value) == f"{tmp_path / SPINE}.cfg: {line}"


def test_a_missing_switch_is_an_error_and_a_file_of_no_switch_a_note(
    rendered: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    """A file with another ending is both: without the note, its switch would only be missing."""
    files = dict(rendered["eos"])
    files[f"{SPINE}.txt"] = files.pop(f"{SPINE}.cfg")
    code, lines = audited("eos", files, tmp_path)
    assert code == 1
    assert lines[-4:-2] == [
        f"error {SPINE}: has no configuration here. Render or read it as well. [configuration-missing]",
        f"note {tmp_path}: not checked, as it is of no switch: {SPINE}.txt. Name the file of a switch as render does, "
        "pod1-seg1-leaf1.cfg. [node-unexpected]",
    ]

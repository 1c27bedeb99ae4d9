"""One twin of a fabric in a state directory, and nothing left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.endpoints import Credentials
from railfab.errors import LabError
from railfab.twin.files import claimed, write_credentials


def test_a_second_twin_of_a_fabric_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path, "pod"):
        with pytest.raises(LabError) as caught, claimed(tmp_path, "pod"):
            pass
        with claimed(tmp_path, "other"):
            pass
    assert str(caught.value) == (
        f"pod: a twin is already running ({tmp_path}/pod.twin.json). Stop it, or use another --state."
    )


def test_what_was_written_is_removed_and_what_is_kept_or_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "pod.lab.json").write_text("{}")
    with claimed(tmp_path, "pod") as files:
        for path in (*files.written(), *files.kept()):
            path.write_text("x")
    assert sorted(tmp_path.iterdir()) == sorted((tmp_path / "pod.lab.json", *files.kept()))


def test_files_of_a_twin_that_died_are_in_nobodys_way(tmp_path: Path) -> None:
    for name in ("pod.twin.json", "pod.twin.lock", "pod.twin.control.json"):
        (tmp_path / name).write_text("stale")
    with claimed(tmp_path, "pod") as files:
        assert files.endpoints.read_text() == "stale"
    assert list(tmp_path.iterdir()) == []


def test_the_password_is_for_the_owner_only(tmp_path: Path) -> None:
    write_credentials(tmp_path / "c.yml", Credentials("admin", "secret"))
    assert (tmp_path / "c.yml").stat().st_mode & 0o777 == 0o600


def test_a_state_directory_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError) as caught, claimed(tmp_path / "file" / "state", "pod"):
        pass
    assert str(caught.value) == (
        f"{tmp_path}/file/state: cannot be created (Not a directory). Name another directory with --state."
    )

"""The memo gives what was computed, or nothing: damaged files, several processes, a bound on its size."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from railfab.simulate import kept_files, memo
from railfab.simulate.memo import Memo
from railfab.simulate.packet_run import PacketOutcome


def outcome(number: int = 1) -> PacketOutcome:
    return PacketOutcome(ends_ns=np.arange(number, number + 3) / 3, marked=number, pauses=2, dropped=0)


def never() -> PacketOutcome:
    raise AssertionError("it is there already")


def equal(first: PacketOutcome, second: PacketOutcome) -> bool:
    same = (first.marked, first.pauses, first.dropped) == (second.marked, second.pauses, second.dropped)
    return same and np.array_equal(first.ends_ns, second.ends_ns)


def test_another_process_reads_what_was_written(tmp_path: Path) -> None:
    Memo(tmp_path, "v1").outcome("key", outcome)
    again = Memo(tmp_path, "v1")
    assert equal(again.outcome("key", never), outcome())
    assert (again.hits, again.misses) == (1, 0)


def test_another_version_of_the_engine_computes_anew(tmp_path: Path) -> None:
    Memo(tmp_path, "v1").outcome("key", outcome)
    assert equal(Memo(tmp_path, "v2").outcome("key", lambda: outcome(5)), outcome(5))


def test_the_version_is_that_of_every_source_of_the_engine_and_of_what_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memo, "__file__", str(tmp_path / "simulate" / "memo.py"))
    sources = [tmp_path / name for name in ("sim/engine.py", "sim/kernel/switch.py", "simulate/packet_run.py")]
    for source in sources:
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("1")
    versions = [memo.engine_version()]
    for source in sources:
        source.write_text("2")
        versions.append(memo.engine_version())
    assert len(set(versions)) == 4
    (tmp_path / "sim" / "notes.txt").write_text("1")
    assert memo.engine_version() == versions[-1]


@pytest.mark.parametrize("damage", [lambda text: b"", lambda text: text[:-1], lambda text: text[:-1] + b"x"])
def test_a_damaged_entry_is_computed_and_written_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    Memo(tmp_path, "v1").outcome("key", outcome)
    (path,) = tmp_path.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert equal(Memo(tmp_path, "v1").outcome("key", outcome), outcome())
    assert equal(Memo(tmp_path, "v1").outcome("key", never), outcome())


def test_writers_at_once_leave_whole_entries_and_nothing_else(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda number: Memo(tmp_path, "v1").outcome(str(number % 5), outcome), range(200)))
    assert {path.name for path in tmp_path.iterdir()} == {f"v1-{number}" for number in range(5)}
    assert all(equal(Memo(tmp_path, "v1").outcome(str(number), never), outcome()) for number in range(5))


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert equal(Memo(tmp_path / "file" / "below", "v1").outcome("key", outcome), outcome())


def test_the_entries_used_least_recently_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = Memo(tmp_path, "v1")
    for number in range(10):
        used.outcome(str(number), outcome)
        os.utime(tmp_path / f"v1-{number}", (1000 + number, 1000 + number))
    Memo(tmp_path, "v1").outcome("0", never)
    size = (tmp_path / "v1-0").stat().st_size
    used.trim()
    assert len(list(tmp_path.iterdir())) == 10
    monkeypatch.setattr(kept_files, "MOST_BYTES", 8 * size)
    used.trim()
    assert {path.name for path in tmp_path.iterdir()} == {"v1-0", *(f"v1-{number}" for number in range(5, 10))}

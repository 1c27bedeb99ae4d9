"""How the kernel runs: compiled and kept, compiled at every start, or interpreted; with the same results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.sampled import sampled

from railfab.compiled import kernel
from railfab.compiled.cache import KEEP_DAYS, cache_base, cache_directory, digest_of
from railfab.sim.interpreted import on_python_objects

SCENARIOS = Path(__file__).parents[1] / "reference" / "simulator" / "scenarios"
RUN = f"""
from dataclasses import replace
from pathlib import Path
import numpy as np
from railfab.sim import Engine, Recovery
from railfab.sim.replay.scenario import load
scenario = load(Path({str(SCENARIOS)!r}) / "incast2_dcqcn")
network = replace(scenario.network, loss_per_byte=np.full(scenario.network.links, 2e-6))
transports = [replace(scenario.transport, timeout_ns=20_000.0, recovery=recovery) for recovery in Recovery]
engine = Engine(network, scenario.routing, framing=scenario.framing, transports=transports)
engine.add([replace(flow, transport=1 + flow.id % 2) for flow in scenario.flows])
engine.run(60_000.0)
engine.reroute(replace(network, up=network.far != scenario.flows[0].source), scenario.routing)
engine.run(80_000.0)
counters = engine.counters()
assert counters.marked_packets.sum() and counters.lost_packets.sum() and engine.flows().retransmitted_packets.sum()
print(engine.fingerprint())
"""
REPLAY = f"""
import sys
sys.argv[1:] = ["sim", "replay", {str(SCENARIOS / "incast2_pfconly")!r}]
from railfab.cli import main
main()
"""
SAY = "from railfab.sim.readiness import slowness; print(slowness())"
WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n"
"""An entry that is None makes the import fail as that of a package which is not installed."""


def finished(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def output(program: str, **environment: str) -> str:
    done = finished(program, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_compiled_and_interpreted_kernel_agree_to_the_bit() -> None:
    pytest.importorskip("numba")
    assert output(RUN) == output(RUN, RAILFAB_INTERPRETED="1")


def test_all_runs_use_one_compilation() -> None:
    pytest.importorskip("numba")
    program = f"{RUN}\nfrom railfab.sim.kernel.entry import kernel\nprint(len(kernel.signatures))"
    assert output(program).splitlines()[-1] == "1"


def test_designs_and_routes_bring_no_compiler() -> None:
    program = "import sys, railfab.forwarding, railfab.sim\nprint([name for name in sys.modules if 'numba' in name])"
    assert output(program) == "[]"


@pytest.mark.parametrize(
    ("prologue", "environment", "reason"),
    [
        (WITHOUT_NUMBA, {}, "numba is not installed. Install it with: pip install numba."),
        ("", {"RAILFAB_INTERPRETED": "1"}, "RAILFAB_INTERPRETED is set. Unset it."),
        ("", {"NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT is set. Unset it."),
    ],
)
def test_an_interpreted_kernel_says_how_much_slower_it_is(
    prologue: str, environment: dict[str, str], reason: str
) -> None:
    if not prologue:
        pytest.importorskip("numba")
    said = output(prologue + SAY, **environment)
    assert said == f"The simulator runs about 200 times slower than compiled: {reason}"


def test_a_kernel_that_is_not_compiled_yet_says_so(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    said = output(SAY, NUMBA_CACHE_DIR=str(tmp_path / "new"))
    assert said == "The simulator is compiled once, which takes about 30 s."


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    (tmp_path / "file").touch()
    said = output(SAY, XDG_CACHE_HOME=str(tmp_path / "file"), NUMBA_CACHE_DIR="")
    assert said == (
        f"The simulator is compiled at every start, which takes about 30 s: {tmp_path / 'file' / 'railfab'} cannot be "
        "written. Set XDG_CACHE_HOME to a directory that can."
    )


def test_a_kernel_that_was_compiled_says_nothing() -> None:
    pytest.importorskip("numba")
    assert output("from railfab.sim.warm import compile_kernel; compile_kernel()\n" + SAY) == "None"


STARTS_ANOTHER = """
import subprocess, sys
from railfab.sim.kernel.entry import kernel
from railfab.sim.readiness import is_ready
from railfab.sim.warm import prepare
if not is_ready():
    subprocess.run([sys.executable, "-m", "railfab.sim.warm"], check=True, stderr=subprocess.DEVNULL)
for here in (False, True):
    prepare(print, here=here)
    print(len(kernel.signatures))
"""


def test_a_process_that_only_starts_another_loads_no_kernel() -> None:
    pytest.importorskip("numba")
    assert output(STARTS_ANOTHER).split() == ["0", "1"]


def test_a_replay_says_on_stderr_that_it_is_interpreted(tmp_path: Path) -> None:
    short = Path(shutil.copytree(SCENARIOS / "incast2_pfconly", tmp_path / "short"))
    flows = short / "flows.csv"
    flows.write_text(flows.read_text().replace(",10000000,", ",100000,"))
    done = finished(REPLAY.replace(str(SCENARIOS / "incast2_pfconly"), str(short)), RAILFAB_INTERPRETED="1")
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        [
            "railfab: The simulator runs about 200 times slower than compiled: RAILFAB_INTERPRETED is set. Unset it.",
        ],
    )


def test_a_second_replay_compiles_nothing_and_loads_no_code_that_only_compiling_needs() -> None:
    pytest.importorskip("numba")
    assert output(REPLAY)
    then = (
        "import sys\n"
        "from railfab.sim.kernel.entry import kernel\n"
        "stats, is_compiler_loaded = kernel.stats, 'numba.np.arrayobj' in sys.modules\n"
        "print(stats.cache_hits.total(), stats.cache_misses.total(), is_compiler_loaded)\n"
    )
    ended = REPLAY.replace("main()\n", "try:\n    main()\nexcept SystemExit:\n    pass\n")
    assert output(ended + then).splitlines()[-1] == "1 0 False"


# The directory


def test_the_users_settings_choose_the_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache_base() == tmp_path / "numba" / "railfab"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert cache_base() == tmp_path / "xdg" / "railfab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_base() == tmp_path / "home" / ".cache" / "railfab"


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert cache_base() is None
    assert cache_directory(None, "a") is None


def test_a_changed_source_or_version_means_another_digest(tmp_path: Path) -> None:
    source = tmp_path / "run.py"
    source.write_text("a = 1")
    before = digest_of([source], ["1.0"])
    assert digest_of([source], ["1.0"]) == before
    assert digest_of([source], ["1.1"]) != before
    source.write_text("a = 2")
    assert digest_of([source], ["1.0"]) != before


def test_unused_directories_go_when_another_is_made(tmp_path: Path) -> None:
    old, recent = (cache_directory(tmp_path, name) for name in ("old", "recent"))
    assert old
    assert recent
    (old / "compiled.nbc").touch()
    for path, days in ((old, KEEP_DAYS + 1), (recent, KEEP_DAYS - 1)):
        os.utime(path, (time.time() - days * 86_400,) * 2)
    assert cache_directory(tmp_path, "recent") == recent
    assert old.exists()
    cache_directory(tmp_path, "new")
    assert not old.exists()
    assert recent.exists()


# Compiled code that is kept


def kept_double(directory: Path) -> Any:
    numba = pytest.importorskip("numba")
    from railfab.compiled.kept import keep

    dispatcher = numba.njit(double)
    keep(dispatcher, directory)
    return dispatcher


def double(value: Any) -> Any:
    return 2 * value


def hits(directory: Path) -> int:
    """Compilations that a new process would take from here."""
    again = kept_double(directory)
    assert again(4) == 8
    return sum(again.stats.cache_hits.values())


def test_a_kept_function_is_not_compiled_again_and_numbas_setting_stays(tmp_path: Path) -> None:
    numba = pytest.importorskip("numba")
    before = numba.config.CACHE_DIR
    assert kept_double(tmp_path)(4) == 8
    assert hits(tmp_path) == 1
    assert before == numba.config.CACHE_DIR


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda whole: whole[: len(whole) // 2], lambda _: b"\x93not a pickle", lambda _: bytes(99)],
)
def test_a_damaged_file_is_compiled_again(suffix: str, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    assert kept_double(tmp_path)(4) == 8
    (path,) = tmp_path.glob(f"*/*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 1


@pytest.mark.parametrize("eighth", sampled(range(1, 8), few=[1, 4, 7]))
def test_code_with_a_wrong_byte_is_compiled_again_and_never_run(eighth: int, tmp_path: Path) -> None:
    assert kept_double(tmp_path)(4) == 8
    (path,) = tmp_path.glob("*/*.nbc")
    content = bytearray(path.read_bytes())
    content[len(content) * eighth // 8] ^= 1
    path.write_bytes(content)
    assert hits(tmp_path) == 0
    assert hits(tmp_path) == 1


def test_code_for_other_types_is_compiled_again_and_never_run(tmp_path: Path) -> None:
    """As two processes leave it that compile at once, and one that is killed before it writes what its index names."""
    kept = kept_double(tmp_path)
    assert [kept(4), kept(np.arange(3.0)).tolist()] == [8, [0.0, 2.0, 4.0]]
    one, other = sorted(tmp_path.glob("*/*.nbc"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    again = kept_double(tmp_path)
    assert [again(4), again(np.arange(3.0)).tolist()] == [8, [0.0, 2.0, 4.0]]
    assert sum(again.stats.cache_hits.values()) == 0
    assert hits(tmp_path) == 1


CHECKED = """
import numpy as np
from railfab.compiled import kernel
from railfab.compiled.intrinsics import copy, from_start, load64
def element(array, index):
    return from_start(array)[index]
def stored(array, index):
    from_start(array)[index] = 1
def word(array, index):
    return load64(from_start(array), index)
def read(array, index):
    return copy(from_start(array), index, 8, from_start(array), 0)
def written(array, index):
    return copy(from_start(array), 0, 8, from_start(array), index)
array = np.arange(9, dtype=np.uint8)
one, eight = (0, 8, 9, -1), (0, 1, 2, -1)
for function, places in (element, one), (stored, one), (word, eight), (read, eight), (written, eight):
    for place in places:
        try:
            kernel._jit(function)(array, place)
            print("in", end=" ")
        except IndexError:
            print("out", end=" ")
"""


def test_accesses_from_the_start_are_checked_where_numba_checks_its_own() -> None:
    pytest.importorskip("numba")
    assert output(CHECKED, NUMBA_BOUNDSCHECK="1").split() == ["in", "in", "out", "out"] * 5


def test_checked_and_unchecked_code_are_kept_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found = []
    for checks in (None, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checks)
        found.append(kernel._directory((Path(__file__),)))
    assert found[0] != found[1]


def test_an_array_with_gaps_cannot_be_read_from_its_start() -> None:
    numba = pytest.importorskip("numba")
    from railfab.compiled.intrinsics import from_start

    first = numba.njit(lambda array: from_start(array)[0])
    with pytest.raises(numba.TypingError, match="contiguous arrays of one dimension"):
        first(np.arange(9)[::2])


def test_a_cache_that_goes_away_is_done_without(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    directory.mkdir()
    dispatcher = kept_double(directory)
    for path in directory.iterdir():
        path.rmdir()
    directory.rmdir()
    directory.touch()
    assert dispatcher(4) == 8


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
KEPT = """
import sys, numba
from pathlib import Path
from railfab.compiled.cache import cache_directory
from railfab.compiled.kept import keep
def fourfold(value):
    return 4 * value
directory = cache_directory(Path(sys.argv[1]), "digest")
dispatcher = numba.njit(fourfold)
if directory:
    keep(dispatcher, directory)
assert dispatcher(4) == 16
print(bool(directory), sum(dispatcher.stats.cache_hits.values()))
"""


def test_a_directory_that_cannot_be_written_serves_if_it_is_filled(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    source, cache = tmp_path / "fourfold.py", tmp_path / "cache"
    source.write_text(KEPT)
    cache.mkdir()

    def found(*prefix: str | Path) -> str:
        done = subprocess.run(
            [*prefix, sys.executable, source, cache], capture_output=True, text=True, timeout=60, check=False
        )
        if prefix and "ermi" in done.stderr:
            pytest.skip("mounting a directory read-only needs root")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    read_only = ("unshare", "-m", "sh", "-c", READ_ONLY, cache)
    assert found(*read_only) == "False 0"
    assert found() == "True 0"
    assert found(*read_only) == "True 1"


def test_two_processes_compile_at_once(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    source = tmp_path / "treble.py"
    source.write_text(
        "import sys, numba\n"
        "from pathlib import Path\n"
        "from railfab.compiled.kept import keep\n"
        "def treble(value):\n"
        "    return 3 * value\n"
        "dispatcher = numba.njit(treble)\n"
        "keep(dispatcher, Path(sys.argv[1]))\n"
        "print('loaded')\n"
        "sys.stdin.readline()\n"
        "assert dispatcher(4) == 12\n"
        "print(sum(dispatcher.stats.cache_hits.values()))\n"
    )

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-u", str(source), str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def results(*processes: subprocess.Popen[str]) -> list[str]:
        for process in processes:
            assert process.stdout
            assert process.stdout.readline() == "loaded\n"
        return [process.communicate("\n", timeout=60)[0].strip() for process in processes]

    assert set(results(start(), start())) <= {"0", "1"}
    assert results(start()) == ["1"]


# Without a compiler


class Arrays(NamedTuple):
    rows: Any
    numbers: Any


def records(*values: tuple[int, float]) -> Any:
    return np.array(list(values), np.dtype([("count", "i4"), ("rate", "f8")])).view(np.recarray)


def test_interpreted_functions_see_python_numbers_and_write_them_back() -> None:
    arrays = Arrays(records((5, 0.5), (6, 0.25)), np.arange(3, dtype=np.int32))

    @on_python_objects
    def change(st: Arrays, places: Any, factor: int) -> int:
        first = st.rows[0]
        first.count += factor
        st.numbers[2] = places.size
        return int((first.count << 40) + st.numbers[1])

    assert change(arrays, np.zeros(7, np.int64), 3) == (8 << 40) + 1
    assert arrays.rows.tolist() == [(8, 0.5), (6, 0.25)]
    assert arrays.numbers.tolist() == [0, 1, 7]


def test_an_interpreted_assignment_copies_a_record() -> None:
    arrays = Arrays(records((5, 0.5), (6, 0.25)), np.zeros(0))

    @on_python_objects
    def shift(st: Arrays) -> None:
        st.rows[1] = st.rows[0]
        st.rows[0].count = 9

    shift(arrays)
    assert arrays.rows.tolist() == [(9, 0.5), (5, 0.5)]

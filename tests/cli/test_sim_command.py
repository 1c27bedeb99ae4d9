"""`railfab sim replay` and `railfab sim why` as a user types them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.sim.scenario_folders import ring, star

REFERENCE = Path(__file__).parents[1] / "reference" / "simulator" / "scenarios"
COLUMNS = [
    "jct_ns",
    "fct_mean_ns",
    "fct_p99_ns",
    "ecn_marked",
    "pause_rx",
    "paused_ns",
    "q_max_bytes",
    "drops",
]
COLD = ("-m", "railfab")
WITHOUT_MATPLOTLIB = "import sys; sys.modules['matplotlib'] = None; from railfab.__main__ import main; main()"
SMALL_FILES = (
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)); from railfab.__main__ import main; main()"
)


def sim(*arguments: object, code: int = 0, run: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command. run: how, in an interpreter of its own."""
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    words = ("sim", *map(str, arguments))
    if run:
        command = [sys.executable, *run, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    else:
        done = commands.run(*words, environment=environment, timeout_s=300)
    assert done.returncode == code, done.stderr
    return done


def test_json_has_each_seed_and_the_mean() -> None:
    done = sim("replay", REFERENCE / "incast2_pfconly", "--seeds", 2, "--output", "json", run=COLD)
    document = conforming("sim-replay", done.stdout)
    assert document["unfinished"] == []
    assert [list(row) for row in document["seeds"]] == [["seed", *COLUMNS]] * 2
    assert [row["seed"] for row in document["seeds"]] == [1, 2]
    assert list(document["mean"]) == COLUMNS
    assert document["mean"]["pause_rx"] == 258
    assert done.stderr == ""


def test_a_table_has_a_row_for_each_seed_and_one_for_the_mean() -> None:
    lines = sim("replay", REFERENCE / "incast2_pfconly", "--seeds", 3).stdout.splitlines()
    assert lines[0] == "incast2_pfconly"
    assert lines[1].split() == ["seed", *COLUMNS]
    assert [line.split()[0] for line in lines[2:6]] == ["1", "2", "3", "mean"]
    assert lines[5].split()[1] == "1665091"


def test_mistakes_are_lines_on_stderr_and_write_nothing(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=-1)
    done = sim("replay", folder, "--save", tmp_path / "run", code=2)
    wanted = "is not a whole number from 1 to 1,000,000,000,000. Correct the value."
    assert done.stderr.splitlines() == [
        f"railfab: {folder}/flows.csv, line {line}, column size_bytes: -1 {wanted}" for line in (2, 3)
    ]
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["star"]


def test_a_saved_run_is_explained_from_its_directory_alone(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=4, size=2_000_000, buffer=1_000_000)
    sim("replay", folder, "--seeds", 1, "--save", tmp_path / "run")
    for path in folder.iterdir():
        path.unlink()
    text = sim("why", tmp_path / "run", "5:1").stdout.splitlines()
    assert text[0] == "star: port 5:1 of a switch, 100 Gb/s to 0:1"
    assert text[1] == "ECN   ECN is off in this scenario (ecn 0)"
    assert text[3] == "queue never paused"
    document = conforming("sim-why", sim("why", tmp_path / "run", "5:1", "--output", "json").stdout)
    (tree,) = document["storms"]
    assert tree["port"] == "5:1"
    assert sorted(branch["port"] for branch in tree["pauses"]) == ["1:1", "2:1", "3:1", "4:1"]
    assert tree["xoffs"] == sum(branch["xoffs"] for branch in tree["pauses"])
    assert [feeder["acted"] for feeder in document["feeders"]] == [True] * 4
    refused = sim("why", tmp_path / "run", "6:1", code=2)
    assert refused.stderr == "railfab: 6:1: there is no node 6 with links. See the ports of star in links.csv.\n"


def test_a_deadlock_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    folder = ring(tmp_path / "ring", buffer=200_000, stop=1e15)
    done = sim("replay", folder, "--seeds", 1, "--output", "json", code=1)
    document = conforming("sim-replay", done.stdout)
    assert document["seeds"][0]["jct_ns"] is None
    assert "5:2 > 6:3 > 7:3 > 8:3 > 9:3 > 5:2" in document["unfinished"][0]["reason"]
    assert (
        conforming("errors", done.stderr)["errors"][0]["message"]
        == f"ring, seed 1: {document['unfinished'][0]['reason']}."
    )


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_plot_is_written_whole(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    folder = star(tmp_path / "star", senders=2, size=200_000)
    sim("replay", folder, "--seeds", 1, "--plot", tmp_path / f"plot.{ending}")
    begin = (tmp_path / f"plot.{ending}").read_bytes()[:200]
    assert (b"<?xml" in begin) if ending == "svg" else begin.startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"plot.{ending}", "star"]


def test_a_plot_that_cannot_be_made_is_refused_before_the_run(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=200_000)
    missing = sim("replay", folder, "--plot", tmp_path / "plot.svg", code=2, run=("-c", WITHOUT_MATPLOTLIB))
    assert missing.stderr == (
        "railfab: --plot: matplotlib is not installed. Install it with: pip install 'railfab[plot]'.\n"
    )
    ending = sim("replay", folder, "--plot", tmp_path / "plot.pdf", code=2)
    assert "is not the name of an SVG or PNG file" in ending.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["star"]


@pytest.mark.parametrize(
    ("option", "name", "problem"),
    [
        ("--save", "star/flows.csv/run", "cannot be written (not a directory). Name another directory with --save."),
        ("--save", "star", "exists and is not an empty directory. Name another directory with --save."),
        ("--plot", ".", "is not the name of an SVG or PNG file. End the name in .svg or .png."),
        ("--plot", "star/plot.svg/plot.svg", "is not a directory. Name a file in a directory that exists."),
        ("--plot", "folder.svg", "is a directory. Name a file with --plot."),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, option: str, name: str, problem: str
) -> None:
    folder = star(tmp_path / "star", senders=2, size=200_000)
    (tmp_path / "folder.svg").mkdir()
    done = sim("replay", folder, option, tmp_path / name if name != "." else ".", code=2)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.endswith(problem)


def test_results_are_shown_although_the_disk_is_full(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=200_000)
    done = sim("replay", folder, "--seeds", 1, "--save", tmp_path / "run", code=2, run=("-c", SMALL_FILES))
    assert "mean" in done.stdout
    assert "cannot be used (file too large)" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["star"]


def test_progress_is_shown_on_a_terminal_only() -> None:
    """Over seeds and simulated time, on stderr; the results stay alone on stdout."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "railfab", "sim", "replay", str(REFERENCE / "incast8_dcqcn"), "--output", "json"],
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 65536):
                shown += part
        except OSError:  # the terminal is closed when the process has ended
            pass
        assert process.stdout is not None
        document = json.loads(process.stdout.read())
    os.close(leader)
    assert len(document["seeds"]) == 5
    assert b"of 5, " in shown
    assert b"ms simulated" in shown
    assert b"500/500" in shown


def test_an_interpreted_run_says_how_much_slower_it_is_and_has_the_same_result(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=20_000, cc=1, ecn=1, kmin=5, kmax=20)
    fast = sim("replay", folder, "--seeds", 2, "--output", "json")
    done = subprocess.run(
        [sys.executable, "-m", "railfab", "sim", "replay", str(folder), "--seeds", "2", "--output", "json"],
        capture_output=True,
        text=True,
        env={**os.environ, "RAILFAB_INTERPRETED": "1"},
        check=True,
    )
    assert json.loads(done.stdout) == json.loads(fast.stdout)
    (line,) = done.stderr.splitlines()
    assert "times slower" in line
    assert "RAILFAB_INTERPRETED is set" in line

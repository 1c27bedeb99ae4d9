"""A command that is forked from a process with its imports is what `python -m railfab` is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import commands

ROOT = Path(__file__).parents[1]
POD64, JOBS = ROOT / "inventory" / "fabrics" / "pod64.yml", ROOT / "inventory" / "jobs"


@pytest.mark.parametrize("arguments", [("plan", POD64), ("plan", "none.yml", "--output", "json"), ("render", POD64)])
def test_a_forked_command_prints_and_ends_as_one_with_an_interpreter_of_its_own(
    arguments: tuple[str | Path, ...], tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "railfab", *map(str, arguments)]
    alone = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    done = commands.run(*arguments, cwd=tmp_path)
    named = alone.stderr.replace("python -m railfab", "railfab")
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, named)


def test_a_forked_script_is_run_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import sys\nWORDS = sys.argv[1:]\n")
    script = tmp_path / "script.py"
    script.write_text("import beside\nimport railfab.errors\nprint(__name__)\nexit(beside.WORDS[0])\n")
    alone = subprocess.run([sys.executable, script, "why"], cwd="/", capture_output=True, text=True, timeout=60)
    done = commands.run("why", cwd=Path("/"), program=script)
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert (alone.returncode, alone.stdout, alone.stderr) == (1, "__main__\n", "why\n")


def test_commands_share_neither_directory_nor_environment_nor_files(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(POD64.read_text())
    there = commands.run("plan", "mine.yml", cwd=tmp_path, environment={**os.environ, "COLUMNS": "40"})
    elsewhere = commands.run("plan", "mine.yml", cwd=tmp_path.parent)
    wide = commands.run("plan", POD64, environment={**os.environ, "COLUMNS": "200"})
    assert (there.returncode, elsewhere.returncode, wide.returncode) == (0, 2, 0)
    assert max(map(len, there.stdout.splitlines())) <= 40 < max(map(len, wide.stdout.splitlines()))


def test_a_shell_starts_them_by_name() -> None:
    path = f"{commands.folder()}{os.pathsep}{os.environ['PATH']}"
    script = "railfab --version | tr a-z A-Z; railfab plan 'none here.yml' 2>&1; echo $?"
    done = subprocess.run(["sh", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    version, missing, code = done.stdout.splitlines()
    assert version.startswith("RAILFAB ")
    assert missing.startswith("railfab: none here.yml: ")
    assert (code, done.stderr) == ("2", "")


def test_a_shell_starts_scripts_with_arguments_and_python_itself_without(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("import sys\nprint(__name__, *sys.argv, 'railfab.cli' in sys.modules)\n")
    path = f"{commands.folder()}{os.pathsep}{os.environ['PATH']}"
    script = "python made.py a 'b c'; python -c 'import sys; print(*sys.argv)' d; echo 'print(7)' | python -"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("__main__ made.py a b c True\n-c d\n7\n", "")


def test_a_signal_to_one_that_a_shell_starts_ends_the_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "intent.yml")
    process = subprocess.Popen([commands.folder() / "railfab", "plan", "intent.yml"], cwd=tmp_path, stderr=-1)
    with (tmp_path / "intent.yml").open("w"):  # opens when the command reads it
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"railfab: interrupted\n")


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "intent.yml")
    with pytest.raises(subprocess.TimeoutExpired):
        commands.run("plan", "intent.yml", cwd=tmp_path, timeout_s=0.5)
    assert commands.run("--version").stdout.startswith("railfab ")


def test_a_job_is_simulated_with_the_kernel_of_its_environment() -> None:
    """The kernel is imported once, with the environment of the first command, and kept where that says."""
    arguments = ("simulate", POD64, "--job", JOBS / "ring.yml")
    compiled = commands.run(*arguments)
    interpreted = commands.run(*arguments, environment={**os.environ, "RAILFAB_INTERPRETED": "1"})
    again = commands.run(*arguments)
    assert "RAILFAB_INTERPRETED is set" in interpreted.stderr
    assert (compiled.stderr, again.stderr) == ("", "")
    assert compiled.stdout == interpreted.stdout == again.stdout

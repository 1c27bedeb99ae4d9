"""`railfab export`: the files of a format on stdout or in a folder, where they replace those before them together."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import run
from tests.docs.schemas import conforming
from tests.documents.designs import FABRICS, topology

from railfab.exports import export_formats

POD64 = FABRICS / "pod64.yml"
SLURM = ("slurm/tree/topology.conf", "slurm/block/topology.conf", "slurm/topology.yaml")


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_a_format_are_written_into_a_folder(tmp_path: Path) -> None:
    done = run("export", "slurm", POD64, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [f"wrote {tmp_path}/out/{name}" for name in SLURM]
    assert {*files(tmp_path / "out")} == {*SLURM}


def test_a_design_that_its_platform_cannot_have_is_refused_as_by_plan(tmp_path: Path) -> None:
    intent = tmp_path / "pair.yml"
    intent.write_text((FABRICS / "dual-mlag.yml").read_text().replace("7060dx5-64s", "n9k-c9364d-gx2a"))
    refused = run("plan", intent)
    assert refused.returncode == 2
    assert "platform nxos does not support mlag_without_keepalive" in refused.stderr
    done = run("export", "slurm", intent, "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, refused.stderr)
    assert not (tmp_path / "out").exists()


def test_several_files_on_stdout_have_their_names_above_them(tmp_path: Path) -> None:
    run("export", "slurm", POD64, "-o", tmp_path)
    written = files(tmp_path)
    done = run("export", "slurm", POD64)
    assert done.stdout == "".join(f"==> {name} <==\n{written[name]}\n" for name in SLURM)
    printed = conforming("export", run("export", "slurm", POD64, "--output", "json").stdout)
    assert printed == [{"name": name, "file": None, "text": written[name]} for name in SLURM]
    printed = conforming("export", run("export", "slurm", POD64, "-o", tmp_path, "--output", "json").stdout)
    assert printed == [{"name": name, "file": f"{tmp_path}/{name}", "text": None} for name in SLURM]


def test_a_plan_has_the_files_of_schedulers_too(tmp_path: Path) -> None:
    run("plan", POD64, "-o", tmp_path / "plan")
    run("export", "slurm", POD64, "-o", tmp_path / "export")
    planned = files(tmp_path / "plan")
    assert {name: planned[name] for name in SLURM} == files(tmp_path / "export")


def test_names_of_the_cluster_come_from_a_file(tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    hosts = enumerate(topology("pod64").hosts(), start=1)
    names.write_text("".join(f"{host.name},gpu{number:02}\n" for number, host in hosts))
    done = run("export", "slurm", POD64, "--hosts", names)
    assert "SwitchName=pod1-seg1 Nodes=gpu[01-04]\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("slrm", POD64), "railfab: slrm: is no format. Use "),
        (("slurm", "missing.yml"), "railfab: missing.yml: "),
        (("slurm", POD64, "--hosts", "missing.csv"), "railfab: missing.csv: no such file. "),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: tuple[str | Path, ...], expected: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("export", *arguments, "-o", out, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1
    assert not out.exists()


def test_a_folder_that_cannot_be_written_keeps_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("export", "slurm", POD64, "-o", out)
    before = files(out)
    (out / "slurm/topology.yaml").unlink()
    (out / "slurm/topology.yaml").mkdir()
    done = run("export", "slurm", FABRICS / "multi-pod.yml", "-o", out)
    assert done.returncode == 2
    assert files(out) == {name: text for name, text in before.items() if name != "slurm/topology.yaml"}


def test_the_help_of_the_command_names_every_format() -> None:
    shown = run("export", "--help").stdout
    assert [name for name in export_formats() if name not in shown] == []

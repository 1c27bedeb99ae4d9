"""`railfab plan` as a user types it: tables of small and of large fabrics, files, JSON, and how long it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import run

from railfab.cli.plan import print_plan
from railfab.documents import planned

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
POD64 = FABRICS / "pod64.yml"


def plan(*arguments: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = run("plan", *arguments, cwd=cwd, environment={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"})
    assert done.returncode == code, done.stderr
    return done


def test_equal_switches_and_equal_rails_are_one_row(tmp_path: Path) -> None:
    lines = plan(POD64, cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "pod64: 64 GPUs on 8 hosts, 8 switches, 160 cables, 8 rails"
    for row in (
        "pod1-seg[1-2]-leaf[1-2]      4  7220-ixr-d5  srlinux         32          8",
        "pod1-spine[1-4]              4  7220-ixr-d5  srlinux          0          8",
        "pod1-seg[1-2]-leaf[1-2]  3.2 / 3.2 Tb/s, non-blocking",
        "pod1-seg[1-2]-leaf[1-2]  4200001001-4200001004  10.255.1.1-10.255.1.4",
        "pod1-spine[1-4]          65001                  10.254.1.1-10.254.1.4",
        "host to leaf     128   100       5",
        "1-8    pod1-seg[1-2]-leaf[1-2]  4 each  10.17.0.0/24-10.24.3.0/24",
    ):
        assert row in lines
    assert any(line.startswith("pod1-spine1 and 3 more") for line in lines)
    assert lines[-2] == "Power: 89.5 kW in 5 racks, at most 40.9 kW in one (pod1-seg1-r1)."


def test_rails_on_switches_of_their_own_are_a_row_each(tmp_path: Path) -> None:
    path = tmp_path / "large.yml"
    path.write_text(
        "version: 1\nfabric: large\nhosts: {gpus: 8, rate_gbps: 400}\nbackend:\n"
        "  segments: {count: 12, hosts: 8, rail_switches: 8, model: linux-128}\n"
        "  spines: {count: 4, links_per_leaf: 2, rate_gbps: 400, model: linux-256}\n"
        "profile: {lossless: off}\n"
    )
    lines = plan(path, cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "large: 768 GPUs on 96 hosts, 100 switches, 1,536 cables, 8 rails"
    assert [line.split("  ")[0] for line in lines if "  linux-" in line] == [
        "pod1-seg[1-12]-leaf[1-8]",
        "pod1-spine[1-4]",
    ]
    assert [line.split()[:2] for line in lines if " each " in line] == [
        [str(rail), f"pod1-seg[1-12]-leaf{rail}"] for rail in range(1, 9)
    ]


@pytest.mark.parametrize("width", [None, 80, 50])
@pytest.mark.parametrize("name", ["pod64", "cluster", "multi-pod", "dual-plane"])
def test_tables_fit_80_columns_and_the_columns_that_are_stated(
    name: str, width: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    print_plan(planned(FABRICS / f"{name}.yml"))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= (width or 80)


def test_files_are_counted_on_stderr_and_named_in_the_summary(tmp_path: Path) -> None:
    done = plan(POD64, "-o", "out", cwd=tmp_path)
    assert done.stderr == "wrote 25 files, listed in out/summary.md\n"
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) == 25


def test_json_is_one_document_and_nothing_else(tmp_path: Path) -> None:
    done = plan(POD64, "--output", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["fabric"], len(found["links"]), done.stderr) == ("pod64", 160, "")


@pytest.mark.parametrize("name", ["dual-esi", "single-switch", "dual-plane", "cluster"])
def test_designs_that_are_not_rendered_yet_are_planned(tmp_path: Path, name: str) -> None:
    done = plan(FABRICS / f"{name}.yml", cwd=tmp_path)
    assert done.stdout.startswith(f"{name}: ")


def test_a_fabric_of_several_networks_names_the_network_of_each_cable(tmp_path: Path) -> None:
    lines = plan(FABRICS / "cluster.yml", cwd=tmp_path).stdout.splitlines()
    starts = {line.split(": ")[0] for line in lines if " to " in line and ": " in line}
    assert {"backend", "frontend", "storage", "management"} <= starts
    assert any(line.startswith("management: switch to leaf") for line in lines)


def test_a_plan_brings_neither_twin_nor_numerics(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from railfab.cli import app\n"
        f"app(['plan', {str(POD64)!r}, '-o', 'out'], standalone_mode=False)\n"
        "assert not {'numpy', 'railfab.twin', 'railfab.sim', 'nornir', 'grpc'} & set(sys.modules), sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, timeout=60)


def test_what_stated_traffic_saves_is_shown(tmp_path: Path) -> None:
    intent = tmp_path / "pod.yml"
    text = POD64.read_text().replace("cnp_dscp: 48}", "cnp_dscp: 48, traffic: {message_bytes: 64KiB}}")
    intent.write_text(text)
    shown = plan(intent, cwd=tmp_path).stdout
    assert "the stated traffic needs 16.3 MB headroom and 25.5 MB lossless, which saves 77.0 MB." in shown

"""`lab doctor`: one line with the remedy for each missing requirement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.fabrics import FRR_POD, lab_plan

from railfab.errors import LabError
from railfab.lab import Requirement, programs
from railfab.lab.netns import NetnsBackend, doctor


def only(findings: tuple[Requirement, ...]) -> list[str]:
    return [str(finding) for finding in findings if not finding.ok]


def test_missing_frr_is_one_line_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FRR", tmp_path)
    (tmp_path / "zebra").touch()
    lines = only(doctor.machine())
    assert f"frr: no staticd, bgpd, bfdd in {tmp_path}. apt-get install frr." in lines
    assert f"frr-reload.py: is not in {tmp_path}; deploy needs it. apt-get install frr-pythontools." in lines


def test_missing_programs_are_named_with_their_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "SYSTEM_FOLDERS", str(tmp_path))
    lines = only(doctor.machine())
    assert "ip: is not installed. apt-get install iproute2." in lines
    assert "vtysh: is not installed. apt-get install frr." in lines
    assert "unshare: is not installed. apt-get install util-linux." in lines


def test_without_root_the_remedy_is_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "root: network namespaces need root. Run the command with sudo." in only(doctor.machine())


def test_missing_python_modules_are_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MODULES", ("json", "nosuchmodule"))
    said = "Python modules: nosuchmodule not installed. Install it with: pip install 'railfab[lab]'."
    assert said in only(doctor.machine())


def _proc(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_kernel_without_ipv6_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROC", _proc(tmp_path, {"sys/net/ipv6/conf/default/disable_ipv6": "1\n"}))
    expected = (
        "IPv6: is disabled; BGP unnumbered needs it. "
        "Set sysctl net.ipv6.conf.default.disable_ipv6=0, or boot without ipv6.disable."
    )
    assert expected in only(doctor.machine())


def test_a_small_neighbour_table_is_refused_with_the_sysctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"sys/net/ipv4/neigh/default/gc_thresh3": "50\n", "sys/net/ipv6/neigh/default/gc_thresh3": "1024\n"}
    monkeypatch.setattr(doctor, "PROC", _proc(tmp_path, tables | {"meminfo": "MemAvailable:  9000000 kB\n"}))
    assert only(doctor.lab(lab_plan(FRR_POD, tmp_path))) == [
        "neighbour table: 60 entries are needed, but net.ipv4.neigh.default.gc_thresh3 is 50. "
        "Run sysctl -w net.ipv4.neigh.default.gc_thresh3=240."
    ]


def test_little_memory_is_reported_but_not_fatal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROC", _proc(tmp_path, {"meminfo": "MemTotal: 1 kB\nMemAvailable:  102400 kB\n"}))
    found = [finding for finding in doctor.lab(lab_plan(FRR_POD, tmp_path)) if not finding.ok]
    assert only(tuple(found)) == [
        "memory: 6 switches need about 480 MB, but 100 MB are free. Use a smaller fabric, or free memory."
    ]
    assert not found[0].fatal


def test_switches_of_another_platform_are_refused(tmp_path: Path) -> None:
    plan = lab_plan(FRR_POD, tmp_path)
    models = {name: replace(model, platform="srlinux") for name, model in plan.models.items()}
    assert (
        "platforms: srlinux cannot run in a network namespace. "
        "Use platform frr in the intent, or --backend containerlab."
    ) in only(doctor.lab(replace(plan, models=models)))


@pytest.mark.parametrize("verb", [lambda b, p: b.up(p, print), lambda b, p: b.down(p.place, print)])
def test_up_and_down_without_root_are_refused_and_change_nothing(
    verb: Callable[[NetnsBackend, object], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError, match=r"^root: network namespaces need root\. Run the command with sudo\.$"):
        verb(NetnsBackend(), lab_plan(FRR_POD, tmp_path))
    assert not list(tmp_path.iterdir())

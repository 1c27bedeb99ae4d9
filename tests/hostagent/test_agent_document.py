"""The document of `railfab agent --once --output json`: each NIC as its tree has it, and one line for what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.docs.schemas import conforming
from tests.hostagent.example import FOLDER, write_example
from tests.hostagent.trees import CABLES, MODELS, HostTree, host_tree

from railfab.hosts import nic_models

Copied = Callable[[str], HostTree]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """The tree of a host that is as wanted, by its NIC."""
    return cache(lambda model: host_tree(tmp_path_factory.mktemp("host"), model))


@pytest.fixture
def copied(prepared: Copied, tmp_path: Path) -> Copied:
    """A copy of such a tree."""

    def copy(model: str) -> HostTree:
        shutil.copytree(prepared(model).root, tmp_path / "root", symlinks=True)
        return HostTree(root=tmp_path / "root", data=prepared(model).data)

    return copy


def run(tree: HostTree, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """The agent once, which must end with this code."""
    command = [sys.executable, "-m", "railfab.hostagent", "--root", str(tree.root), "--data", str(tree.data)]
    done = subprocess.run([*command, "--host", "host1", "--once", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def document(tree: HostTree, code: int = 0) -> dict[str, Any]:
    done = run(tree, "--output", "json", code=code)
    assert done.stderr == ""
    made: dict[str, Any] = conforming("agent", done.stdout)
    return made


@pytest.mark.parametrize("model", MODELS)
def test_each_nic_is_read_with_its_link_slot_neighbour_and_settings(prepared: Copied, model: str) -> None:
    host = document(prepared(model))
    assert (host["version"], host["fabric"], host["host"], host["faults"]) == (1, "two", "host1", [])
    rate_gbps = nic_models()[model].rate_gbps
    for number, nic in enumerate(host["nics"], start=1):
        interface = f"enp{number}s0"
        switch, port = CABLES[interface]
        assert (nic["nic"], nic["interface"], nic["model"]) == (f"rail{number}-p0", interface, model)
        assert (nic["family"], nic["rail"], nic["plane"]) == (nic_models()[model].family, number, 1)
        assert nic["neighbor"] == {"switch": switch, "port": port}
        assert nic["link"] == {"up": True, "rate_gbps": rate_gbps, "fec": "RS"}
        assert nic["pcie"]["lanes"] == nic["pcie"]["max_lanes"] == 16
        assert rate_gbps < nic["pcie"]["rate_gbps"] == nic["pcie"]["max_rate_gbps"] < 1.3 * rate_gbps
        assert [(entry["index"], entry["kind"]) for entry in nic["gids"]][-1] == (3, "RoCE v2")
        assert {setting["ok"] for setting in nic["settings"]} == {True}
        read = {setting["setting"]: setting["read"] for setting in nic["settings"]}
        assert (read["mtu"], read["rdma-cm-tos"]) == ("9216", "104")
    assert [(setting["setting"], setting["ok"]) for setting in host["settings"]] == [("lldpad", True)]


@pytest.mark.parametrize("model", ["connectx-7", "bcm57608", "pollara-400"])
def test_a_delivered_host_has_each_setting_that_differs_with_both_values(model: str, tmp_path: Path) -> None:
    host = document(host_tree(tmp_path, model, as_wanted=False), code=1)
    for nic in host["nics"]:
        settings = {setting["setting"]: setting for setting in nic["settings"]}
        mtu = {"setting": "mtu", "wanted": "9216", "read": "1500", "ok": False, "problem": None}
        assert settings["mtu"] == mtu
        assert settings["pfc"]["ok"] is False
        assert len(settings["pfc"]["wanted"]) >= 1


FAULTS: dict[str, tuple[Callable[[HostTree], object], str]] = {
    "missing driver": (
        lambda tree: _replace(tree.device("enp2s0") / "uevent", "DRIVER=mlx5_core\n", ""),
        "rail2-p0 (enp2s0): unknown NIC (driver none, PCI 15b3:1021, subsystem 1234:5678).",
    ),
    "unknown NIC": (
        lambda tree: _replace(tree.device("enp2s0") / "uevent", "15B3:1021", "8086:1592"),
        "rail2-p0 (enp2s0): unknown NIC (driver mlx5_core, PCI 8086:1592, subsystem 1234:5678).",
    ),
    "hot-unplugged NIC": (
        lambda tree: shutil.rmtree(tree.device("enp2s0")),
        "rail2-p0 (enp2s0): its PCI device is gone, or it has none.",
    ),
    "renamed NIC": (
        lambda tree: _replace(tree.captured("ip", "-json", "link", "show"), "rail2-p0", "other"),
        "rail2-p0: no interface has this name.",
    ),
}


def _replace(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("name", FAULTS)
def test_a_nic_that_is_missing_or_another_one_is_one_line_and_the_rest_goes_on(copied: Copied, name: str) -> None:
    edit, line = FAULTS[name]
    tree = copied("connectx-7")
    edit(tree)
    host = document(tree, code=1)
    (fault,) = host["faults"]
    assert fault.startswith(line)
    assert [nic["nic"] for nic in host["nics"]] == ["rail1-p0"]
    assert {setting["ok"] for setting in host["nics"][0]["settings"]} == {True}


def test_what_cannot_be_read_is_unknown_and_never_disagrees(copied: Copied) -> None:
    tree = copied("connectx-7")
    tree.captured("mlnx_qos", "-i", "enp2s0").unlink()
    host = document(tree, code=1)
    first, second = host["nics"]
    assert {setting["ok"] for setting in first["settings"]} == {True}
    unknown = [setting for setting in second["settings"] if setting["ok"] is None]
    assert {setting["ok"] for setting in second["settings"]} == {True, None}
    assert {(setting["read"], setting["problem"]) for setting in unknown} == {(None, "mlnx_qos was not captured")}
    (fault,) = host["faults"]
    more = len(unknown) - 1
    assert fault == f"dcbx-owner of rail2-p0 and {more} more cannot be compared: mlnx_qos was not captured"


def test_a_file_that_cannot_be_read_is_one_line(copied: Copied) -> None:
    """A folder in the place of the file: root reads every file."""
    tree = copied("connectx-7")
    path = tree.path("/sys/kernel/config/rdma_cm/mlx5_2/ports/1/default_roce_tos")
    path.unlink()
    path.mkdir()
    host = document(tree, code=1)
    (fault,) = host["faults"]
    place = "/sys/kernel/config/rdma_cm/mlx5_2/ports/1/default_roce_tos cannot be read (Is a directory)"
    assert fault == f"rdma-cm-tos of rail2-p0 cannot be compared: {place}"


def test_half_a_tree_has_no_traceback(copied: Copied) -> None:
    """Without the outputs of programs, and without the RDMA devices: what is known is there."""
    tree = copied("connectx-7")
    for path in tree.captured("x").parent.iterdir():
        if not path.name.startswith("ip -json"):
            path.unlink()
    shutil.rmtree(tree.path("/sys/class/infiniband"))
    host = document(tree, code=1)
    assert [nic["link"]["up"] for nic in host["nics"]] == [True, True]
    assert [nic["neighbor"] for nic in host["nics"]] == [None, None]
    assert {setting["ok"] for nic in host["nics"] for setting in nic["settings"]} == {True, None}
    assert len(host["faults"]) == len(set(host["faults"])) > 2


def test_an_empty_tree_has_one_fault_for_its_interfaces(copied: Copied, tmp_path: Path) -> None:
    tree = copied("connectx-7")
    (tmp_path / "empty" / "captured").mkdir(parents=True)
    host = document(HostTree(root=tmp_path / "empty", data=tree.data), code=1)
    assert host["nics"] == host["settings"] == []
    assert host["faults"][0] == "the interfaces cannot be listed: ip was not captured"


@pytest.mark.parametrize("text", ["{", "[]", '{"lldp": {}}', '{"lldp": [{"interface": [{"name": 3}]}]}'])
def test_neighbours_that_cannot_be_read_are_one_line(copied: Copied, text: str) -> None:
    tree = copied("connectx-7")
    tree.captured("lldpcli", "-f", "json0", "show", "neighbors", "details").write_text(text)
    host = document(tree, code=1)
    (fault,) = host["faults"]
    assert fault.startswith("neighbours are not known: the output of lldpcli ")
    assert [nic["neighbor"] for nic in host["nics"]] == [None, None]


def test_a_port_with_a_mac_as_identifier_has_its_description(copied: Copied) -> None:
    tree = copied("connectx-7")
    path = tree.captured("lldpcli", "-f", "json0", "show", "neighbors", "details")
    _replace(path, '"ifname"', '"mac"')
    assert [nic["neighbor"]["port"] for nic in document(tree)["nics"]] == ["to enp1s0", "to enp2s0"]


@pytest.mark.parametrize("speed", ["-1", "400000"])
def test_a_link_that_is_down_has_no_rate(copied: Copied, speed: str) -> None:
    """Drivers have -1 then, or the last one."""
    tree = copied("connectx-7")
    tree.write("/sys/class/net/enp2s0/carrier", "0")
    tree.write("/sys/class/net/enp2s0/speed", speed)
    assert document(tree)["nics"][1]["link"] == {"up": False, "rate_gbps": None, "fec": "RS"}


def test_the_end_of_a_gid_table_is_not_read_entry_by_entry(copied: Copied) -> None:
    """A table has 256 entries, which the kernel fills from the first on."""
    tree = copied("connectx-7")
    zero = ":".join(["0000"] * 8)
    gids = {4: zero, 5: "0000:0000:0000:0000:0000:ffff:0a10:0002", **dict.fromkeys(range(6, 15), zero)}
    for index, gid in {**gids, 15: "0000:0000:0000:0000:0000:ffff:0a10:0003"}.items():
        (tree.rdma("enp1s0") / "gids" / str(index)).write_text(f"{gid}\n")
    assert [entry["index"] for entry in document(tree)["nics"][0]["gids"]] == [0, 1, 2, 3, 5]


def test_people_get_a_line_for_each_nic_and_each_difference(copied: Copied) -> None:
    tree = copied("connectx-7")
    _replace(tree.captured("mlnx_qos", "-i", "enp2s0"), "enabled     0   0   0   1", "enabled     0   0   0   0")
    first, second, pfc, host = run(tree, code=1).stdout.splitlines()
    link = "link up 400 Gb/s to pod1-seg1-leaf1 ethernet-1/1, PCIe 32 GT/s x16"
    assert first == f"rail1-p0 (enp1s0, connectx-7): {link}; 25 of 25 settings as wanted"
    assert second.endswith("24 of 25 settings as wanted")
    assert pfc == "  pfc: 0 0 0 0 0 0 0 0, wanted 0 0 0 1 0 0 0 0"
    assert host == "host host1: 1 of 1 settings as wanted"


def test_what_a_file_contains_cannot_control_the_terminal(copied: Copied) -> None:
    tree = copied("connectx-7")
    path = tree.captured("lldpcli", "-f", "json0", "show", "neighbors", "details")
    path.write_text(path.read_text().replace("pod1-seg1-leaf1", "leaf\\u001b[2J"))
    assert "leaf\\x1b[2J" in run(tree).stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be read ("),
        ("{", "cannot be read ("),
        ("{}", "is no file of NIC settings of version 1. "),
        ('{"version": 1, "railfab": "nic settings"}', "has no fabric. "),
        (
            '{"version": 1, "railfab": "nic settings", "fabric": "f", "nics": {}, "facts": {}, "ports": [{}]}',
            "port 1 has no name. ",
        ),
    ],
)
def test_a_file_that_is_no_nic_json_is_refused_in_one_line(
    copied: Copied, tmp_path: Path, text: str | None, problem: str
) -> None:
    data = tmp_path / "nic.json"
    if text is not None:
        data.write_text(text)
    tree = HostTree(root=copied("connectx-7").root, data=data)
    done = run(tree, code=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"railfab: {data}: {problem}")
    assert line.endswith("Name the nic.json that `railfab plan INTENT -o DIR` writes into DIR/hosts.")
    (error,) = conforming("errors", run(tree, "--output", "json", code=2).stderr)["errors"]
    assert error["where"] == str(data)


def test_railfab_agent_becomes_that_process(copied: Copied) -> None:
    tree = copied("connectx-7")
    words = ["agent", "--root", str(tree.root), "--data", str(tree.data), "--host", "host1", "--once"]
    command = [sys.executable, "-m", "railfab", *words, "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["faults"], done.stderr) == (0, [], "")


def test_the_tree_of_the_page_is_made_by_its_script(tmp_path: Path) -> None:
    write_example(tmp_path / "tree")
    assert _files(FOLDER / "tree") == _files(tmp_path / "tree"), "run python -m tests.hostagent.example"


def _files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

"""The script that sets the NICs of a host: it shows, sets, checks, and refuses what it does not know."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.hosts.rig import Host, fabric, host

from railfab.hosts import nic as script
from railfab.intent import FabricIntent

NVIDIA, BROADCOM, AMD = NICS = ("connectx-7", "bcm57608", "pollara-400")


@pytest.fixture(params=NICS)
def delivered(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    """A host as delivered, of each vendor."""
    return host(tmp_path, fabric(request.param), request.param)


Configured = Callable[[str], Host]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """A host after --apply, by its NIC, with the calls of it in calls.log."""

    @cache
    def made(nic: str) -> Host:
        one = host(tmp_path_factory.mktemp("host"), fabric(nic), nic)
        one.run("--apply")
        return one

    return made


@pytest.fixture
def configured(prepared: Configured, tmp_path: Path) -> Configured:
    """A copy of such a host."""
    return lambda nic: prepared(nic).copy(tmp_path / "copy")


@pytest.mark.parametrize("name", NICS)
def test_after_apply_every_setting_is_as_wanted_and_a_second_apply_changes_nothing(
    configured: Configured, name: str
) -> None:
    made = configured(name)
    found = made.check()
    assert found["ok"]
    assert {row["ok"] for row in found["settings"]} == {True}
    before = made.everything()
    assert made.run("--apply").startswith(f"nothing changed: all {len(found['settings'])} settings are as wanted")
    assert made.everything() == before
    assert made.run().startswith("nothing to change: ")


@pytest.mark.parametrize("name", NICS)
def test_without_an_option_it_shows_the_commands_and_changes_nothing(
    prepared: Configured, tmp_path: Path, name: str
) -> None:
    """Those of the first rail. A DSCP that leaves the lossless priority is known only when DSCPs are trusted."""
    made = host(tmp_path, fabric(name), name)
    before = made.everything()
    shown = {line.strip() for line in made.run().splitlines()}
    assert made.everything() == before
    applied = (prepared(name).folder / "calls.log").read_text().splitlines()
    other = re.compile(r"enp2|:02:|_2|re2|10002 |--dscp2prio")
    written = {call for call in applied if not other.search(call)} - set(made.calls())
    assert len(written) >= 8
    assert written <= shown


def test_the_check_finds_each_setting_of_a_delivered_host(delivered: Host) -> None:
    found = delivered.different()
    names = {name for _, name in found}
    assert {"mtu", "roce-dscp", "pfc", "rdma-cm-tos", "lldpad"} <= names
    for nic in ("rail1-p0", "rail2-p0"):
        assert {setting for place, setting in found if place == nic} == names - {"lldpad"}
    assert found["all", "lldpad"]["found"] == "active"
    assert found["rail2-p0", "mtu"] == {
        "host": "host1",
        "nic": "rail2-p0",
        "interface": "enp2s0",
        "setting": "mtu",
        "wanted": "9216",
        "found": "1500",
        "ok": False,
        "problem": None,
        "survives_reboot": False,
    }


def test_the_check_names_the_fabric_the_host_and_the_models(tmp_path: Path) -> None:
    found = host(tmp_path, fabric(NVIDIA), NVIDIA).check(code=1)
    head = {key: found[key] for key in ("version", "fabric", "host", "ok", "nics")}
    nics = {"rail1-p0": "connectx-7", "rail2-p0": "connectx-7"}
    assert head == {"version": 1, "fabric": "two", "host": "host1", "ok": False, "nics": nics}


@pytest.mark.parametrize("mode", ["--plan", "--apply", "--check", "--env"])
def test_an_unknown_nic_is_refused_and_nothing_is_changed(tmp_path: Path, mode: str) -> None:
    made = host(tmp_path, fabric(NVIDIA), NVIDIA)
    uevent = next(made.root.glob("sys/devices/*/*/*/0000:02:02.0/uevent"))
    uevent.write_text(uevent.read_text().replace("15B3:1021", "8086:1592"))
    before = made.everything()
    said = made.run(mode, code=2)
    assert said.startswith(
        "nic.py: rail2-p0 (enp2s0): unknown NIC (driver mlx5_core, PCI 8086:1592, subsystem 1234:5678)."
    )
    assert made.everything() == before


def test_a_check_that_is_not_possible_says_why_as_json(tmp_path: Path) -> None:
    made = host(tmp_path, fabric("connectx-8"), "connectx-7")
    said = made.run("--check", code=2)
    document = json.loads(said[said.index("{\n") :])
    assert (document["version"], document["host"], document["ok"]) == (1, "host1", False)
    assert document["problems"] == [
        f"rail{rail}-p0 (enp{rail}s0): the NIC is a connectx-7, and the intent states connectx-8" for rail in (1, 2)
    ]


def test_another_nic_than_the_intent_states_is_refused(tmp_path: Path) -> None:
    made = host(tmp_path, fabric("connectx-8"), "connectx-7")
    said = made.run("--apply", code=2)
    assert said.splitlines() == [
        f"nic.py: rail{rail}-p0 (enp{rail}s0): the NIC is a connectx-7, and the intent states connectx-8"
        for rail in (1, 2)
    ]


def test_another_product_on_the_same_device_is_unknown(tmp_path: Path) -> None:
    """A DSC has the PCI device of the Pollara, and another subsystem."""
    made = host(tmp_path, fabric(AMD), AMD)
    uevent = next(made.root.glob("sys/devices/*/*/*/0000:01:02.0/uevent"))
    uevent.write_text(uevent.read_text().replace("1DD8:5201", "1DD8:4000"))
    assert "rail1-p0 (enp1s0): unknown NIC" in made.run(code=2)


@pytest.mark.parametrize("name", NICS)
def test_without_a_stated_model_any_known_nic_is_accepted(tmp_path: Path, name: str) -> None:
    found = host(tmp_path, fabric(), name).check(code=1)
    assert found["nics"] == {"rail1-p0": name, "rail2-p0": name}


def test_a_missing_interface_is_named_with_its_remedy(tmp_path: Path) -> None:
    made = host(tmp_path, fabric(NVIDIA), NVIDIA)
    made.change(lambda state: state["nics"]["enp2s0"].update(name="other"))
    said = made.run(code=2)
    assert said == (
        "nic.py: rail2-p0: no interface has this name. Name each one: ip link property add dev NAME altname rail2-p0\n"
    )


def test_what_cannot_be_set_is_reported_and_all_else_is_set(configured: Configured) -> None:
    made = configured(NVIDIA)
    made.change(lambda state: state.update(refused=["mlnx_qos -i enp2s0 --pfc"]))
    made.change(lambda state: [nic.update(pfc=[0] * 8, cable=7, mtu=1500) for nic in state["nics"].values()])
    said = made.run("--apply", code=1)
    refusal = "mlnx_qos -i enp2s0 --pfc 0,0,0,1,0,0,0,0 --cable_len 5 failed with exit code 1 (Operation not permitted)"
    assert f"pfc on rail2-p0: still 0 0 0 0 0 0 0 0, wanted 0 0 0 1 0 0 0 0: {refusal}\n" in said
    assert set(made.different()) == {("rail2-p0", "pfc"), ("rail2-p0", "cable-length")}


def test_what_a_tool_accepts_without_effect_is_reported(configured: Configured) -> None:
    made = configured(NVIDIA)
    made.change(lambda state: state.update(ignored=["--trust dscp"]))
    made.change(lambda state: state["nics"]["enp1s0"].update(trust="pcp"))
    assert "trust on rail1-p0: still pcp, wanted dscp\n" in made.run("--apply", code=1)


def test_a_tool_that_is_not_installed_is_a_problem_and_not_agreement(configured: Configured) -> None:
    made = configured(NVIDIA)
    for tool in ("mlxconfig", "systemctl"):
        (made.folder / "bin" / tool).unlink()
    found = made.different()
    assert {name for _, name in found} == {
        "lldpad",
        "firmware-lldp-nb-dcbx",
        "firmware-lldp-nb-rx-mode",
        "firmware-lldp-nb-tx-mode",
        "firmware-roce-cc-prio-mask",
        "firmware-cnp-dscp",
        "firmware-cnp-802p-prio",
    }
    problems = {row["problem"] for row in found.values()}
    assert problems == {"mlxconfig or mstconfig is not installed", "systemctl is not installed"}


WRONG = {
    "pfc": ([0, 0, 0, 1, 1, 0, 0, 0], {"pfc": "0 0 0 1 1 0 0 0"}),
    "cable": (40, {"cable-length": "40"}),
    "buffer": ([0] * 8, {"receive-buffer": "0 0 0 0 0 0 0 0"}),
    "802.3x": (["off", "on"], {"802.3x-pause": "off on"}),
    "dcbx": ("Firmware", {"dcbx-owner": "Firmware"}),
    "share": (["50", "0", "0", "50", "0", "0", "0", "0"], {"ets-default": "ets 50", "ets-roce": "ets 50"}),
    "mtu": (1500, {"mtu": "1500"}),
}


def test_what_a_nic_does_not_have_is_no_fault_where_nothing_is_missing(configured: Configured) -> None:
    """A firmware without LLDP; but one without the DSCP of CNPs is a fault."""
    made = configured(NVIDIA)
    for key in ("LLDP_NB_DCBX_P1", "LLDP_NB_RX_MODE_P1", "LLDP_NB_TX_MODE_P1", "CNP_DSCP_P1"):
        made.change(lambda state, key=key: state["nics"]["enp1s0"]["firmware"].pop(key))
    assert set(made.different()) == {("rail1-p0", "firmware-cnp-dscp")}


def test_wrong_values_are_found_and_set_right(configured: Configured) -> None:
    made = configured(NVIDIA)
    made.change(lambda state: state["nics"]["enp2s0"].update({key: value for key, (value, _) in WRONG.items()}))
    found = {name: row["found"] for (nic, name), row in made.different().items() if nic == "rail2-p0"}
    assert found == {name: value for _, expected in WRONG.values() for name, value in expected.items()}
    made.run("--apply")
    assert made.check()["ok"]


def test_without_trust_in_dscp_no_dscp_is_in_a_class(configured: Configured) -> None:
    made = configured(NVIDIA)
    made.change(lambda state: state["nics"]["enp1s0"].update(trust="pcp"))
    assert {name for _, name in made.different()} == {"trust", "roce-dscp", "cnp-dscp-map"}


def test_only_the_dscp_of_roce_stays_in_the_lossless_priority(configured: Configured) -> None:
    """By default, NVIDIA puts DSCP 24 to 31 into priority 3."""
    points = configured(NVIDIA).state["nics"]["enp1s0"]["dscp"]
    assert [dscp for dscp, priority in points.items() if priority == 3] == ["26"]
    assert points["48"] == 6


def test_the_files_of_the_driver_are_written(configured: Configured) -> None:
    root = configured(NVIDIA).root
    sysfs = root / "sys/class"
    assert (sysfs / "infiniband/mlx5_1/tc/1/traffic_class").read_text() == "104"
    for point in ("roce_np", "roce_rp"):
        assert (sysfs / f"net/enp1s0/ecn/{point}/enable/3").read_text() == "1"
    assert (sysfs / "net/enp1s0/ecn/roce_np/cnp_dscp").read_text() == "48"
    configfs = root / "sys/kernel/config/rdma_cm/mlx5_1/ports/1"
    assert (configfs / "default_roce_mode").read_text() == "RoCE v2"
    assert (configfs / "default_roce_tos").read_text() == "104"


def test_a_traffic_class_with_ecn_bits_has_the_same_dscp(configured: Configured) -> None:
    """The recipe of NVIDIA, 106, is DSCP 26 and ECT(0); 105 would be DSCP 26 and ECT(1)."""
    made = configured(NVIDIA)
    made.file("/sys/class/infiniband/mlx5_1/tc/1/traffic_class", "Global tclass=106")
    made.file("/sys/class/infiniband/mlx5_2/tc/1/traffic_class", "Global tclass=105")
    assert set(made.different()) == {("rail2-p0", "traffic-class")}


def test_the_driver_of_the_kernel_has_fewer_files_and_debugfs(configured: Configured) -> None:
    """Without MLNX_OFED, the firmware enables DCQCN, applications set the traffic class, and debugfs marks CNPs."""
    made = configured(NVIDIA)
    for rail in (1, 2):
        shutil.rmtree(made.root / f"sys/class/net/enp{rail}s0/ecn")
        shutil.rmtree(made.root / f"sys/class/infiniband/mlx5_{rail}/tc")
        for name, value in (("np_cnp_dscp", 46), ("np_cnp_prio", 6)):
            made.file(f"/sys/kernel/debug/mlx5/0000:0{rail}:02.0/cc_params/{name}", str(value))
    assert {name for _, name in made.different()} == {"cnp-dscp"}
    made.run("--apply")
    rows = {row["setting"]: row for row in made.check()["settings"]}
    assert rows["cnp-dscp"]["found"] == "48"
    assert (rows["traffic-class"]["found"], rows["traffic-class"]["ok"]) == (None, True)
    assert rows["traffic-class"]["problem"].startswith("only the driver of MLNX_OFED or DOCA has it")


def test_a_group_of_configfs_is_made_for_reading_and_removed(configured: Configured) -> None:
    """Here nothing fills it, as with a module rdma_cm that has no configfs."""
    made = configured(NVIDIA)
    group = made.root / "sys/kernel/config/rdma_cm/mlx5_1"
    shutil.rmtree(group)
    found = made.different()
    assert not group.exists()
    assert set(found) == {("rail1-p0", "rdma-cm-mode"), ("rail1-p0", "rdma-cm-tos")}
    path = "/sys/kernel/config/rdma_cm/mlx5_1/ports/1/default_roce_tos"
    assert found["rail1-p0", "rdma-cm-tos"]["problem"] == f"{path} does not exist"


def test_it_says_what_a_reboot_loses_and_what_keeps_it(tmp_path: Path) -> None:
    said = host(tmp_path, fabric(NVIDIA), NVIDIA).run("--plan").splitlines()
    (line,) = [one for one in said if one.endswith("permanent with railfab-nic.service")]
    assert line.startswith("lost at a reboot: 802.3x-pause, dcbx-owner, trust, roce-dscp, cnp-dscp-map, pfc, ")
    assert "firmware" not in line
    assert "    (in effect after a reboot, or `mlxfwreset -d {pci} reset`)" not in said
    assert "    (in effect after a reboot, or `mlxfwreset -d 0000:01:02.0 reset`)" in said


def test_broadcom_with_a_service_class_of_cnps_has_them_in_a_strict_class(configured: Configured) -> None:
    """The firmware then owns priorities and DSCPs, and the APP table rules."""
    made = configured(BROADCOM)
    for rail in (1, 2):
        made.file(f"/sys/kernel/debug/bnxt_re/bnxt_re{rail}/info", "\tfw_service_prof_type_sup  : 1")
    made.run("--apply")
    nic = made.state["nics"]["enp1s0"]
    assert nic["prio-tc"] == ["0", "0", "0", "1", "0", "0", "2", "0"]
    assert nic["tc-tsa"][:3] == ["ets", "ets", "strict"]
    assert nic["dscp-prio"] == [["26", "3"], ["48", "6"]]
    assert "cc-cnp-prio" not in {row["setting"] for row in made.check()["settings"]}


def test_broadcom_without_it_has_priorities_and_dscps_in_configfs(configured: Configured) -> None:
    made = configured(BROADCOM)
    nic, cc = made.state["nics"]["enp1s0"], made.root / "sys/kernel/config/bnxt_re/bnxt_re1/ports/1/cc"
    assert nic["prio-tc"] == ["0", "0", "0", "1", "0", "0", "0", "0"]
    assert nic["dscp-prio"] == [["26", "3"]]
    assert (cc / "cnp_prio").read_text() == "0x6"
    assert [(cc / name).read_text() for name in ("ecn_enable", "cc_mode", "apply")] == ["0x1", "0x1", "0x1"]


def test_a_firmware_that_accepts_only_eight_traffic_classes_gets_eight(configured: Configured) -> None:
    made = configured(BROADCOM)
    made.change(lambda state: state["nics"]["enp1s0"].update({"eight": True, "tc-bw": ["100"] + ["0"] * 7}))
    made.run("--apply")
    assert made.state["nics"]["enp1s0"]["tc-bw"][:2] == ["10", "90"]


def test_a_firmware_that_negotiates_dcbx_is_reported(configured: Configured) -> None:
    made = configured(BROADCOM)
    made.change(lambda state: state["nics"]["enp2s0"].update(agent=True, dcbx="lld-managed ieee"))
    said = made.run("--apply", code=1)
    assert "dcbx-owner on rail2-p0: still lld-managed, wanted host: dcb dcbx set dev enp2s0 host ieee failed" in said


def test_amd_has_each_card_by_its_port_and_the_values_of_amd(configured: Configured) -> None:
    made = configured(AMD)
    made.change(lambda state: state["nics"]["enp2s0"]["dscp"].update({"24": 3}))
    made.run("--apply")
    for nic in made.state["nics"].values():
        assert {dscp: priority for dscp, priority in nic["dscp"].items() if priority} == {"26": 3, "48": 6}
        assert nic["nodrop"] == [3]
        assert nic["scheduling"] == [["0", "10", "0"], ["3", "90", "0"], ["6", "0", "10"]]
        assert (nic["dcqcn"]["token-bucket-size"], nic["dcqcn"]["cnp-dscp"]) == ("800000", "48")


def test_the_ports_of_a_lag_share_an_rdma_device_and_take_the_mtu_of_the_bond(tmp_path: Path) -> None:
    """The kernel shows the RDMA device of a bond below its first port."""
    document = fabric(NVIDIA).model_dump(mode="json", exclude_unset=True)
    document["hosts"] = {"gpus": 1, "nic_ports": 2, "rate_gbps": 200, "attach": "mlag", "nic": NVIDIA}
    del document["backend"]["spines"]
    made = host(tmp_path, FabricIntent.model_validate(document), NVIDIA)
    bond = {"master": "bond1", "name": "rail1-p1"}
    made.change(lambda state: state["nics"]["enp1s0"].update(master="bond1"))
    made.change(lambda state: state["nics"]["enp2s0"].update(bond))
    shutil.rmtree(next(made.root.glob("sys/devices/*/*/*/0000:02:02.0/infiniband")))
    made.run("--apply")
    assert made.check()["nics"] == {"rail1-p0": NVIDIA, "rail1-p1": NVIDIA}
    assert "ip link set dev bond1 mtu 9216" in made.calls()
    assert "NCCL_IB_HCA==mlx5_1:1:1:1" in made.run("--env").splitlines()
    assert "MERGE" not in made.run("--env")


def test_the_environment_has_the_devices_by_rail(configured: Configured) -> None:
    made = configured(NVIDIA)
    planned = json.loads((made.folder / "plan" / "nic.json").read_text())["environment"]
    fixed = [f"{variable['name']}={variable['value']}" for variable in planned]
    said = made.run("--env").splitlines()
    assert said[: len(fixed)] == fixed
    assert said[len(fixed) :] == [
        "NCCL_IB_HCA==mlx5_1:1:1:1,mlx5_2:1:2:1",
        "# for NCCL before 2.21: NCCL_IB_GID_INDEX=3",
    ]
    made.file("/sys/class/infiniband/mlx5_2/ports/1/gid_attrs/types/3", "IB/RoCE v1")
    assert "GID_INDEX" not in made.run("--env")
    shutil.rmtree(next(made.root.glob("sys/devices/*/*/*/0000:02:02.0/infiniband")))
    assert made.run("--env", code=2).endswith("rail2-p0: no RDMA device. Load the RoCE driver of the NIC\n")


def test_the_ports_of_a_nic_in_two_planes_are_devices_of_one_rail(tmp_path: Path) -> None:
    document = fabric(NVIDIA).model_dump(mode="json", exclude_unset=True)
    document["hosts"] = {"gpus": 1, "nic_ports": 2, "rate_gbps": 200, "nic": NVIDIA}
    document["backend"]["planes"] = 2
    document["backend"]["segments"]["rail_switches"] = 1
    made = host(tmp_path, FabricIntent.model_validate(document), NVIDIA)
    made.change(lambda state: state["nics"]["enp2s0"].update(name="rail1-p1"))
    said = made.run("--env").splitlines()
    assert said[-3:-1] == ["NCCL_IB_HCA==mlx5_1:1:1:1,mlx5_2:1:1:2", "NCCL_NET_MERGE_POLICY=RAIL"]


def test_a_file_that_is_no_settings_is_refused(configured: Configured) -> None:
    made = configured(NVIDIA)
    for text in ("", "[]", '{"version": 2}'):
        (made.folder / "other.json").write_text(text)
        assert made.run("--data", str(made.folder / "other.json"), code=2).startswith("nic.py: ")


def test_an_old_python_can_read_the_script() -> None:
    ast.parse(Path(script.__file__).read_text(), feature_version=(3, 8))

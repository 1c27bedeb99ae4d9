"""The files for the NICs of hosts: the same for all hosts, from the traffic classes and the shape of the fabric."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from tests.hosts.rig import fabric, host

from railfab.hosts import nic_models
from railfab.hosts.catalogue import Family, nic_findings
from railfab.hosts.environment import environment
from railfab.hosts.files import nic_files, nic_settings
from railfab.hosts.ports import roce_ports
from railfab.intent import FabricIntent, Lossless, StorageClass, load_intent
from railfab.topology import wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
FAMILIES: tuple[Family, ...] = get_args(Family)
PLACEHOLDERS = {"interface", "bond", "pci", "rdma", "number", "port", "mtu", "cable_m", "extra"}


@cache
def named(name: str) -> FabricIntent:
    return load_intent(FABRICS / f"{name}.yml")


def files(intent: FabricIntent) -> dict[str, str]:
    return dict(nic_files(wire(intent), intent))


def settings(intent: FabricIntent) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(intent)["nic.json"])
    return found


def edited(intent: FabricIntent, **keys: Any) -> FabricIntent:
    return intent.model_copy(update={"profile": intent.profile.model_copy(update=keys)})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_setting_has_a_unique_name_a_source_and_a_way_to_be_set(family: Family) -> None:
    every = nic_settings(family, Lossless())
    names = [(setting.name, setting.when) for setting in every]
    assert len(set(names)) == len(names)
    for setting in every:
        assert setting.source, setting.name
        assert bool(setting.run) != (setting.text is not None), setting.name
        assert re.fullmatch(r"[a-z0-9.-]+", setting.name)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_placeholder_of_a_setting_is_one_that_the_script_fills_in(family: Family) -> None:
    for setting in nic_settings(family, Lossless()):
        words = [*setting.read.files, *(setting.read.run or ()), *(setting.undo or ()), setting.wanted]
        words += [word for command in (*setting.run, *setting.otherwise) for word in command]
        assert set(re.findall(r"\{(\w+)\}", " ".join(words))) <= PLACEHOLDERS, setting.name


def commands(family: Family, lossless: Lossless) -> str:
    """Everything that the settings of a family write."""
    every = nic_settings(family, lossless)
    return "\n".join(f"{one.name} {one.wanted} {one.text} {' '.join(map(str, one.run))}" for one in every)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_nics_follow_each_key_of_the_class(family: Family) -> None:
    before = commands(family, Lossless())
    for key, value in {"dscp": 24, "priority": 4, "cnp_dscp": 46, "cnp_queue": 7, "weight": 75, "pfc": False}.items():
        assert commands(family, Lossless.model_validate({key: value})) != before, key


@pytest.mark.parametrize("family", FAMILIES)
def test_without_ecn_no_nic_reacts_to_marks(family: Family) -> None:
    """Of Broadcom the settings stay, switched off by their value."""
    with_ecn, names = (
        {one.name: one.wanted for one in nic_settings(family, Lossless(ecn=ecn))} for ecn in (True, False)
    )
    assert with_ecn.get("cc-ecn-enable", "1") == "1"
    assert "cc-ecn-enable" in with_ecn or any(name.startswith("dcqcn") for name in with_ecn)
    assert not [name for name in names if name.startswith("dcqcn")]
    assert names.get("cc-ecn-enable", "0") == "0"


STORAGE = StorageClass(weight=5)


def test_a_connectx_has_the_lossless_class_of_storage_too() -> None:
    before, after = ({one.name: one.wanted for one in nic_settings("mlx5", Lossless(), own)} for own in (None, STORAGE))
    assert {name: after[name] for name in after if after[name] != before.get(name)} == {
        "storage-dscp": "34",
        "pfc": "0 0 0 1 1 0 0 0",
        "receive-buffer": "0 0 0 1 2 0 0 0",
        "ets-default": "ets 5",
        "ets-storage": "ets 5",
    }
    assert nic_settings("mlx5", Lossless(), STORAGE.model_copy(update={"protocol": "nvme-tcp"})) == nic_settings(
        "mlx5", Lossless()
    )


def test_a_nic_that_is_set_to_one_lossless_class_is_refused_for_two() -> None:
    intent = edited(named("pod64"), storage_class=STORAGE)
    assert {family for family in FAMILIES if family in settings(intent)} == {"mlx5"}
    assert not list(nic_findings(intent))
    thor = intent.model_copy(update={"hosts": intent.hosts.model_copy(update={"nic": "bcm57608"})})
    (found,) = nic_findings(thor)
    assert found.code == "nic-classes"
    assert "sets one lossless class on a" in found.problem
    assert not {family for family in FAMILIES if family in settings(thor)}


def test_all_hosts_have_the_same_files_with_the_ports_of_one() -> None:
    found = settings(named("pod64"))
    assert [port["name"] for port in found["ports"]] == [f"rail{r}-p{p}" for r in range(1, 9) for p in range(2)]
    assert {(port["nic"], port["mtu"], port["cable_m"]) for port in found["ports"]} == {("connectx-6-dx", 9216, 5)}
    assert {family for family in FAMILIES if family in found} == {"mlx5"}


def test_without_a_model_the_settings_of_every_family_are_there() -> None:
    found = settings(fabric())
    assert set(FAMILIES) < set(found)
    assert {port["nic"] for port in found["ports"]} == {None}


def test_a_lag_has_its_name_and_an_overlay_its_mtu() -> None:
    found = settings(named("dual-esi"))
    assert {port["bond"] for port in found["ports"]} == {f"bond{rail}" for rail in range(1, 9)}
    overhead = 50 if named("dual-esi").profile.data_plane == "vxlan" else 0
    assert {port["mtu"] for port in found["ports"]} == {named("dual-esi").profile.mtu - overhead}


def test_nics_of_a_roce_storage_network_are_set_too_and_of_any_model() -> None:
    cluster = named("cluster")
    assert cluster.storage is not None
    found = settings(cluster.model_copy(update={"storage": cluster.storage.model_copy(update={"protocol": "roce"})}))
    assert {(port["net"], port["nic"]) for port in found["ports"]} == {("backend", "connectx-7"), ("storage", None)}
    tcp = settings(cluster.model_copy(update={"storage": cluster.storage.model_copy(update={"protocol": "tcp"})}))
    assert {port["net"] for port in tcp["ports"]} == {"backend"}
    assert found["frontend"] == tcp["frontend"] != []


@pytest.mark.parametrize("keys", [{"lossless": None}, {"transport": "uet"}], ids=["lossy", "uet"])
def test_nothing_is_written_where_the_nics_need_nothing(keys: dict[str, Any]) -> None:
    assert files(edited(named("pod64"), **keys)) == {}


def test_the_script_has_the_environment_of_nccl() -> None:
    intent = named("pod64")
    topology = wire(intent)
    written = {entry["name"]: entry["value"] for entry in settings(intent)["environment"]}
    assert written == {each.name: each.value for each in environment(topology, intent, roce_ports(topology, intent))}


def test_the_unit_applies_the_settings_at_every_boot() -> None:
    unit = configparser.ConfigParser()
    unit.read_string(files(named("pod64"))["railfab-nic.service"])
    assert unit["Service"]["ExecStart"].endswith("/etc/railfab/nic.py --apply")
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_no_two_models_are_the_same_device() -> None:
    models = nic_models().values()
    assert len({(model.pci, model.subsystem) for model in models}) == len(models)


@pytest.fixture
def namespace() -> Iterator[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2; run the tests with sudo")
    name = f"rf-nic-{uuid4().hex[:8]}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


def test_the_kernel_finds_interfaces_by_alternative_names_and_takes_the_mtu(namespace: str, tmp_path: Path) -> None:
    """The `ip` of the system in place of the recording one, on interfaces of a namespace."""
    made = host(tmp_path, fabric("connectx-7"), "connectx-7")
    (tmp_path / "bin" / "ip").unlink()
    (tmp_path / "bin" / "ip").symlink_to(str(shutil.which("ip")))
    inside = ("ip", "netns", "exec", namespace)
    for rail in (1, 2):
        add = ("link", "add", f"enp{rail}s0", "type", "veth", "peer", "name", f"far{rail}")
        subprocess.run(["ip", "-n", namespace, *add], check=True)
    unnamed = "nic.py: rail1-p0, rail2-p0: no interface has this name. Name each one: ip link property add dev "
    assert made.run("--apply", code=2, inside=inside).startswith(unnamed)
    for rail in (1, 2):
        name = ("link", "property", "add", "dev", f"enp{rail}s0", "altname", f"rail{rail}-p0")
        subprocess.run(["ip", "-n", namespace, *name], check=True)
    assert made.run("--apply", inside=inside).endswith("permanent with railfab-nic.service\n")
    links = json.loads(subprocess.check_output(["ip", "-n", namespace, "-json", "link", "show"]))
    assert {link["mtu"] for link in links if link["ifname"].startswith("enp")} == {9216}
    assert made.run("--apply", inside=inside).startswith("nothing changed: all 51 settings")

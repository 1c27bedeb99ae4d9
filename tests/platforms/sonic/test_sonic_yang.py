"""SONiC's configuration against SONiC's own models, and our checker of them against both."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.oracles import sonic_schema
from tests.oracles.sonic import ARCHIVE, SonicModels, without_newer
from tests.platforms.other_switches import judged
from tests.platforms.sonic.designs import with_sonic
from tests.platforms.sonic.ds5000 import laid_over
from tests.sampled import sampled

from railfab.device import DeviceModel
from railfab.platforms import admit, platform
from railfab.platforms.sonic.schema import tree_refusals
from railfab.platforms.sonic.tables import Tables
from railfab.testing.device_models import device_models

pytestmark = pytest.mark.oracle
SONIC = platform("sonic")
INTENTS = (
    *("dual-esi", "dual-plane", "dual-rail", "dual-vlan", "multi-pod", "multi-rail", "multi-rail-own"),
    *("pod64", "pod64-800g", "pod64-bundle", "rail-blocks", "shared-nic", "single-switch"),
)
"""Design documents whose switches can all be DS5000."""


@pytest.fixture(scope="module")
def models(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> SonicModels:
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    return SonicModels(oracles / ARCHIVE, tmp_path_factory.mktemp("sonic"))


def whole(model: DeviceModel) -> Tables:
    """The configuration of a switch as it runs: rendered, over what its hardware gives it."""
    return laid_over(SONIC.render(admit(model, SONIC)))


def files_of(models: SonicModels, trees: Iterator[Tables], folder: Path) -> tuple[list[Path], list[str]]:
    """A file of YANG data for each configuration, and what the models do not know of them."""
    problems: list[str] = []
    files = []
    for number, tree in enumerate(trees):
        file = folder / f"{number}.xml"
        file.write_text("\n".join(models.xml(without_newer(tree), problems)))
        files.append(file)
    return files, problems


@pytest.mark.parametrize("name", INTENTS)
def test_the_models_and_our_checker_accept_the_switches_of_a_design(
    models: SonicModels, repository: Path, name: str, tmp_path: Path
) -> None:
    switches = [admit(model, SONIC) for model in judged(with_sonic(repository, name, tmp_path).models.values())]
    assert switches
    trees = [whole(model) for model in switches]
    files, problems = files_of(models, iter(trees), tmp_path)
    assert problems == []
    assert models.said_of(files) == []
    assert [tree_refusals(tree) for tree in trees] == [()] * len(trees)
    assert [SONIC.parse(SONIC.text(SONIC.render(model))) for model in switches] == switches


def test_the_models_and_our_checker_accept_the_rows_of_nvidias_chips(
    models: SonicModels, repository: Path, tmp_path: Path
) -> None:
    (switch, *_) = judged(with_sonic(repository, "pod64", tmp_path).models.values())
    model = admit(replace(switch, silicon="Spectrum-4"), SONIC)
    tree = whole(model)
    assert "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" in tree
    files, problems = files_of(models, iter([tree]), tmp_path)
    assert (problems, models.said_of(files), tree_refusals(tree)) == ([], [], ())
    assert SONIC.parse(SONIC.text(SONIC.render(model))) == model


def test_the_models_accept_every_model_that_the_capabilities_allow(models: SonicModels, tmp_path: Path) -> None:
    trees: list[Tables] = []

    @settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(drawn=st.data())
    def draw(drawn: st.DataObject) -> None:
        trees.append(whole(drawn.draw(device_models("sonic"))))

    draw()
    files, problems = files_of(models, iter(trees), tmp_path)
    assert problems == []
    assert models.said_of(files) == []


BROKEN: dict[str, tuple[str, str, str, Any]] = {
    "a DSCP map that does not exist": ("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map", "nope"),
    "a code point above 63": ("DSCP_TO_TC_MAP", "fabric", "70", "1"),
    "a traffic class above 15": ("DSCP_TO_TC_MAP", "fabric", "26", "16"),
    "a priority above 7": ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "9"),
    "a watchdog that is too quick": ("PFC_WD", "Ethernet0", "detection_time", "5"),
    "a watchdog quicker than its polls": ("PFC_WD", "GLOBAL", "POLL_INTERVAL", "1000"),
    "Kmin above Kmax": ("WRED_PROFILE", "400g-5m_roce", "green_min_threshold", "99999999"),
    "an unknown colour": ("WRED_PROFILE", "400g-5m_roce", "ecn", "ecn_pink"),
    "a scheduler that does not exist": ("QUEUE", "Ethernet0|3", "scheduler", "nope"),
    "a peak rate without a committed one": ("SCHEDULER", "cnp_400g", "cir", None),
    "a weight above 100": ("SCHEDULER", "roce", "weight", "101"),
    "alpha above 128": ("BUFFER_PROFILE", "pg_400g-5m_roce", "dynamic_th", "9"),
    "a profile without a pool": ("BUFFER_PROFILE", "pg_400g-5m_roce", "pool", None),
    "a pool that does not exist": ("BUFFER_PROFILE", "pg_400g-5m_roce", "pool", "nope"),
    "a priority group above 7": ("BUFFER_PG", "Ethernet0|8", "profile", "pg_400g-5m_roce"),
    "an MTU above 9216": ("PORT", "Ethernet0", "mtu", "9217"),
    "an unknown error correction": ("PORT", "Ethernet0", "fec", "rs-544"),
    "an unknown field": ("PORT", "Ethernet0", "bogus", "1"),
    "a route map that does not exist": (
        "BGP_NEIGHBOR_AF",
        "default|Ethernet256|ipv4_unicast",
        "route_map_in",
        ["nope"],
    ),
    "a neighbour on a port that does not exist": ("BGP_NEIGHBOR", "default|Ethernet999", "asn", "65001"),
    "AS number 0": ("BGP_NEIGHBOR", "default|Ethernet256", "asn", "0"),
    "too many paths": ("BGP_GLOBALS_AF", "default|ipv4_unicast", "max_ebgp_paths", "257"),
    "an entry of a route map without number": ("ROUTE_MAP", "fabric-export|last", "route_operation", "permit"),
    "a VLAN of another number": ("VLAN", "Vlan10", "vlanid", "11"),
    "a mode of FRR that there is not": ("DEVICE_METADATA", "localhost", "docker_routing_config_mode", "united"),
    "a hash field that there is not": ("SWITCH_HASH", "GLOBAL", "ecmp_hash", ["QUEUE_PAIR"]),
    "a code point of trimming above 63": ("SWITCH_TRIMMING", "GLOBAL", "dscp_value", "64"),
}


@pytest.fixture(scope="module")
def switch(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """A rail switch with 400G to hosts and 800G to spines."""
    fabric = with_sonic(repository, "dual-plane", tmp_path_factory.mktemp("intent"))
    return whole(fabric.models["pod1-seg1-leaf1"])


def broken(switch: Tables, name: str) -> Tables:
    """The configuration of a switch with one mistake."""
    table, row, field, value = BROKEN[name]
    found = copy.deepcopy(switch)
    fields = found.setdefault(table, {}).setdefault(row, {})
    if value is None:
        del fields[field]
    else:
        fields[field] = value
    return found


@pytest.mark.parametrize("name", sampled(BROKEN.keys(), few=[*BROKEN][::2]))
def test_the_models_refuse_a_broken_configuration(
    models: SonicModels, switch: Tables, name: str, tmp_path: Path
) -> None:
    assert models.complaints(without_newer(broken(switch, name)), tmp_path / "switch.xml")


@pytest.mark.parametrize("name", BROKEN)
def test_our_checker_refuses_what_the_models_do(switch: Tables, name: str) -> None:
    table, row, *_ = BROKEN[name]
    refused = tree_refusals(broken(switch, name))
    assert refused
    assert all(one.where.startswith(f"{table}|{row}") or table == "PFC_WD" for one in refused)


def test_our_checker_refuses_nothing_of_a_switch(switch: Tables) -> None:
    assert tree_refusals(switch) == ()


def test_the_schema_is_that_of_the_models(oracles: Path, models: SonicModels) -> None:
    del models
    assert json.loads(sonic_schema.FILE.read_text()) == json.loads(
        sonic_schema.text_of(sonic_schema.document(oracles / ARCHIVE))
    )

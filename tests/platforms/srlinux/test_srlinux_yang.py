"""SR Linux's configuration against Nokia's own models."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.laws import examples
from tests.oracles import srlinux_schema
from tests.oracles.srlinux import ARCHIVE, NokiaModels
from tests.platforms.srlinux.oracle import judge_of, laid_over_the_factory
from tests.platforms.srlinux.switches import rail_switch, spine
from tests.platforms.srlinux.test_srlinux_management import STATED

from railfab.device import AaaServer, DeviceModel
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.refusals import plain_refusals
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import KEYS, stripped
from railfab.testing.device_models import device_models

pytestmark = pytest.mark.oracle
SRLINUX = platform("srlinux")


def complaints(nokia: NokiaModels, tree: Json, folder: Path) -> list[str]:
    """Nokia's complaints about a configuration on a switch with the network instance of its management port."""
    file = folder / "switch.json"
    file.write_text(text(laid_over_the_factory(tree)))
    return nokia.complaints(file)


@pytest.mark.parametrize("switch", [rail_switch, spine], ids=["rail switch", "spine"])
def test_nokias_models_accept_a_switch_with_every_feature(
    nokia: NokiaModels, switch: Callable[[], DeviceModel], tmp_path: Path
) -> None:
    assert complaints(nokia, SRLINUX.render(switch()), tmp_path) == []


def test_nokias_models_accept_every_switch_of_a_fabric_and_its_other_networks(
    nokia: NokiaModels, repository: Path, tmp_path: Path
) -> None:
    models = design(repository / "inventory" / "fabrics" / "cluster.yml").models.values()
    assert judge_of(nokia, tmp_path)([*models]) == []


def test_nokias_models_accept_all_of_the_management_access(nokia: NokiaModels, tmp_path: Path) -> None:
    both = replace(STATED, aaa=(*STATED.aaa, AaaServer(address="10.0.0.5", protocol="radius")))
    assert complaints(nokia, SRLINUX.render(replace(rail_switch(), management=both)), tmp_path) == []


@given(model=device_models("srlinux"))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
def test_nokias_models_accept_any_planned_model(
    nokia: NokiaModels, tmp_path_factory: pytest.TempPathFactory, model: DeviceModel
) -> None:
    assert complaints(nokia, SRLINUX.render(admit(model, SRLINUX)), tmp_path_factory.mktemp("drawn")) == []


def pfc_without_profile(tree: Json) -> None:
    port(tree)["pfc"]["pfc-mapping-profile"] = "nope"


def pfc_on_a_subinterface(tree: Json) -> None:
    entries = tree["srl_nokia-qos:qos"]["interfaces"]["interface"]
    next(entry for entry in entries if "." in entry["interface-id"])["pfc"] = {"pfc-enable": True}


def pfc_beside_flow_control(tree: Json) -> None:
    interface(tree, "ethernet-1/1/1")["ethernet"] = {"flow-control": {"receive": True}}


def unknown_group(tree: Json) -> None:
    bgp(tree)["dynamic-neighbors"]["interface"][0]["peer-group"] = "nope"


def marking_without_a_queue_limit(tree: Json) -> None:
    buffers = tree["srl_nokia-qos:qos"]["buffer-management"]["buffer-allocation-profile"]
    for profile in buffers:
        profile["queues"]["queue"][0]["maximum-burst-size"] = 0


def mtu_beyond_the_chip(tree: Json) -> None:
    interface(tree, "ethernet-1/9")["mtu"] = 9999


def mtu_on_a_broken_out_cage(tree: Json) -> None:
    interface(tree, "ethernet-1/1")["mtu"] = 9232


def unknown_leaf(tree: Json) -> None:
    interface(tree, "ethernet-1/9")["speed"] = "400G"


def weighted_before_strict(tree: Json) -> None:
    policy = tree["srl_nokia-qos:qos"]["scheduler-policies"]["scheduler-policy"][0]
    policy["scheduler"] = [{"sequence": 0, "input": [{"id": "roce", "queue-name": "roce", "weight": 90}]}]


def watchdog_too_slow(tree: Json) -> None:
    frames = tree["srl_nokia-qos:qos"]["pfc-mapping-profile"][0]["received-pfc-pause-frames"]
    frames["deadlock"]["detection-timer"] = 2000


def queues_that_obey_one_priority(tree: Json) -> None:
    queues = tree["srl_nokia-qos:qos"]["pfc-mapping-profile"][0]["received-pfc-pause-frames"]["queue"]
    queues.append(queues[0] | {"queue-name": "cnp"})


def both_ways_to_add_paths(tree: Json) -> None:
    bgp(tree)["afi-safi"][0]["add-paths"] = {"send-max": 4, "send-multipath": [None]}


def port(tree: Json) -> Any:
    return tree["srl_nokia-qos:qos"]["interfaces"]["interface"][0]


def interface(tree: Json, name: str) -> Any:
    return next(entry for entry in tree["srl_nokia-interfaces:interface"] if entry["name"] == name)


def bgp(tree: Json) -> Any:
    return tree["srl_nokia-network-instance:network-instance"][0]["protocols"]["srl_nokia-bgp:bgp"]


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (pfc_without_profile, "Invalid leafref"),
        (pfc_on_a_subinterface, "pfc cannot be enabled on sub-interfaces"),
        (pfc_beside_flow_control, "mutually exclusive"),
        (unknown_group, "Invalid leafref"),
        (marking_without_a_queue_limit, "cannot be configured without setting maximum burst size"),
        (mtu_beyond_the_chip, "out of the allowed range"),
        (mtu_on_a_broken_out_cage, "mtu not configurable when breakout-mode is enabled"),
        (unknown_leaf, "not found"),
        (weighted_before_strict, "scheduler with sequence 0 must be strict"),
        (watchdog_too_slow, "out of the allowed range"),
        (queues_that_obey_one_priority, "Unique data leaf(s)"),
        (both_ways_to_add_paths, 'Data for both cases "send-max" and "send-multipath" exist'),
    ],
    ids=lambda case: case.__name__ if callable(case) else "",
)
def test_nokias_models_refuse_wrong_configuration(
    nokia: NokiaModels, spoil: Callable[[Json], None], complaint: str, tmp_path: Path
) -> None:
    tree = json.loads(text(SRLINUX.render(rail_switch())))
    spoil(tree)
    assert any(complaint in line for line in complaints(nokia, tree, tmp_path))
    plain = stripped(laid_over_the_factory(tree))
    assert plain_refusals(plain) or violations(plain)


def test_the_subinterface_of_a_network_instance_is_no_reference_and_need_not_exist(
    nokia: NokiaModels, tmp_path: Path
) -> None:
    """Its name is a text in Nokia's models, and nothing compares it: the interface is down (subif-down)."""
    tree = SRLINUX.render(rail_switch())
    tree["srl_nokia-network-instance:network-instance"][0]["interface"].append({"name": "ethernet-1/30.7"})
    assert complaints(nokia, tree, tmp_path) == []
    assert violations(stripped(laid_over_the_factory(tree))) == ()


@pytest.mark.parametrize("seed", range(6))
def test_a_virtual_switch_refuses_what_nokias_models_refuse(nokia: NokiaModels, seed: int, tmp_path: Path) -> None:
    """Of configurations from which any part was taken away, and of none else."""
    choice = random.Random(seed)
    tree = json.loads(text(SRLINUX.render(rail_switch())))
    for _ in range(choice.randint(1, 2)):
        node, name = choice.choice(list(parts_of(tree)))
        del node[name]
    plain = stripped(laid_over_the_factory(tree))
    ours = plain_refusals(plain) or violations(plain)
    assert bool(ours) == bool(complaints(nokia, tree, tmp_path)), ours


def parts_of(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every member and entry of a tree, with what has it."""
    for name in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, name
        if isinstance(node[name], (dict, list)):
            yield from parts_of(node[name])


def test_the_list_keys_are_those_of_nokias_models(nokia: NokiaModels) -> None:
    known = {(path.rpartition("/")[2], names) for path, names in nokia.keys.items()}
    for name, choices in KEYS.items():
        for choice in choices:
            assert (name, choice) in known, name


def test_every_list_we_render_has_its_keys() -> None:
    def walk(name: str, value: Any) -> None:
        for key, child in value.items() if isinstance(value, dict) else ():
            walk(key, child)
        for entry in value if isinstance(value, list) else ():
            if isinstance(entry, dict):
                assert any(all(key in entry for key in choice) for choice in KEYS[name]), name
                walk(name, entry)

    walk("", stripped(SRLINUX.render(rail_switch())))


def test_the_compact_schema_is_what_nokias_models_give(oracles: Path) -> None:
    """Write it anew with `python -m tests.oracles.srlinux_schema`."""
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    assert srlinux_schema.FILE.read_text() == srlinux_schema.text(srlinux_schema.compact(oracles / ARCHIVE))


def test_the_compact_schema_has_the_leaves_that_libyang_sees(nokia: NokiaModels) -> None:
    """Those of the modules that libyang has loaded here, with their keys, as configuration or state."""
    found = schema()
    compared = 0
    for path, leaf in nokia.leaves.items():
        above = [found.at(path.rsplit("/", depth)[0]) for depth in range(1, path.count("/"))]
        if not all(isinstance(one, dict) for one in above):
            continue
        compared += 1
        assert (found.type_of(found.at(path)) is not None) == (leaf.access == "rw"), path
    assert compared > 1000
    for path, keys in nokia.keys.items():
        if isinstance(found.at(path), dict):
            assert found.keys(path) == keys, path

"""Findings about configurations: three classes, folded by hazard and section."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings

LEAF = "pod1-seg1-leaf1"
INTERFACES, QOS = "srl_nokia-interfaces:interface", "srl_nokia-qos:qos"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "inventory" / "fabrics" / "pod64.yml")


def lines(fabric: Design, edit: Callable[[Any], object]) -> list[str]:
    tree = json.loads(fabric.texts[LEAF])
    edit(tree)
    return [found.line for found in configuration_findings(fabric, {LEAF: json.dumps(tree)})]


def profiles(tree: Any) -> Any:
    return tree[QOS]["buffer-management"]["queue-management-profile"]


def test_the_rendered_configurations_have_no_finding(fabric: Design) -> None:
    assert configuration_findings(fabric, fabric.texts) == ()


def test_a_hazard_is_one_finding_with_its_first_place_and_how_many_more(fabric: Design) -> None:
    assert lines(fabric, lambda tree: [one.update({"weight-factor": 15}) for one in profiles(tree)]) == [
        f"warning {LEAF}: set / qos buffer-management queue-management-profile 100g-5m weight-factor 15: "
        "hazard averaged-marking: marks follow an average of the queue, so that PFC acts first in an incast "
        "(and 1 place more). Deploy the intent. [hazard]"
    ]


def test_a_label_is_a_note(fabric: Design) -> None:
    assert lines(fabric, lambda tree: tree[INTERFACES][3].update({"description": "spare"})) == [
        f"note {LEAF}: interfaces[ethernet-1/1/3].description: is spare, the intent says pod1-seg1-host1 rail3-p0. "
        "Deploy the intent. [configuration-differs]"
    ]


def test_a_part_that_railfab_does_not_configure_is_a_note_by_section(fabric: Design) -> None:
    banner = {"login-banner": "hands off", "motd-banner": "hello"}
    assert lines(
        fabric, lambda tree: tree["srl_nokia-system:system"].update({"srl_nokia-system-banner:banner": banner})
    ) == [
        f"note {LEAF}: /system/banner: has 2 lines that railfab does not model, the first is "
        "'set / system banner login-banner \"hands off\"'. Check that nothing there concerns the fabric. [unmodelled]"
    ]


def test_a_rendered_setting_without_a_word_in_the_model_is_a_warning(fabric: Design) -> None:
    def unsampled(tree: Any) -> None:
        del tree[QOS]["queues"]["queue-depth-sampling"]

    (found,) = lines(fabric, unsampled)
    assert found.startswith(f"warning {LEAF}: delete / qos queues queue-depth-sampling admin-state: ")


def test_an_invalid_configuration_is_an_error_and_the_others_are_checked(fabric: Design) -> None:
    found = configuration_findings(fabric, {**fabric.texts, LEAF: "{"})
    assert [one.code for one in found] == ["configuration-invalid"]
    assert found[0].switch == LEAF


def test_an_address_of_another_switch_is_an_error(fabric: Design) -> None:
    loopback = fabric.models["pod1-spine1"].loopback
    extra = {
        "name": "lo1",
        "admin-state": "enable",
        "subinterface": [{"index": 0, "ipv4": {"admin-state": "enable", "address": [{"ip-prefix": f"{loopback}/32"}]}}],
    }
    found = lines(fabric, lambda tree: tree[INTERFACES].append(extra))
    assert found[0] == (
        f"error {LEAF} loopback1: has {loopback}, which is an address of pod1-spine1. "
        "Give one of both another address. [address-shared]"
    )
    assert all(one.startswith("note") for one in found[1:])


def with_members(more: Any) -> Callable[[str], str]:
    """A JSON text with more members, in the containers that it has or in new ones."""

    def merge(tree: Any, more: Any) -> None:
        for name, value in more.items():
            if isinstance(value, dict) and isinstance(tree.get(name), dict):
                merge(tree[name], value)
            else:
                tree[name] = value

    def edited(text: str) -> str:
        tree = json.loads(text)
        merge(tree, more)
        return json.dumps(tree)

    return edited


def with_lines(lines: str) -> Callable[[str], str]:
    return lambda text: f"{text.removesuffix('end' + chr(10))}{lines}\n"


SECRETS: dict[str, Callable[[str], str]] = {
    "eos": with_lines("username admin secret sha512 $6$hidden"),
    "nxos": with_lines("snmp-server user admin network-admin auth md5 0xhidden priv 0xhidden localizedkey"),
    "junos": with_lines('system {\n    root-authentication {\n        encrypted-password "$6$hidden";\n    }\n}'),
    "cumulus": with_lines(
        "- set:\n    system:\n      aaa:\n        user:\n          cumulus:\n            hashed-password: $6$hidden"
    ),
    "sonic": with_members({"TACPLUS": {"global": {"passkey": "hidden"}}}),
    "srlinux": with_members(
        {
            "srl_nokia-system:system": {
                "srl_nokia-aaa:aaa": {"authentication": {"linuxadmin-user": {"password": "hidden"}}}
            }
        }
    ),
    "frr": with_lines("enable password hidden"),
}
"""A setting of the operator with a secret, by platform."""


@pytest.mark.parametrize("name", SECRETS)
def test_a_finding_shows_no_secret(name: str) -> None:
    fabric = design_of(name, name)
    (found,) = configuration_findings(fabric, {LEAF: SECRETS[name](fabric.texts[LEAF])})
    assert "hidden" not in found.line
    assert " ..." in found.line

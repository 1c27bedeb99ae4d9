"""Names that are free are aligned with those of another configuration, with the references to them and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from railfab.platforms.srlinux.alignment import aligned


def statements(*names: str) -> list[Any]:
    return [{"name": name, "action": {"policy-result": "accept"}} for name in names]


def policies(**by_name: list[Any]) -> str:
    return json.dumps({"routing-policy": {"policy": [{"name": name, "statement": by_name[name]} for name in by_name]}})


def names(text: str) -> dict[str, list[str]]:
    found = json.loads(text)["routing-policy"]["policy"]
    return {policy["name"]: [statement["name"] for statement in policy["statement"]] for policy in found}


def test_an_inner_name_is_aligned_in_its_own_object_alone() -> None:
    text, lines = aligned(policies(a=statements("x"), b=statements("x", "y")), policies(a=statements("10"), c=[]))
    assert names(text) == {"a": ["10"], "b": ["x", "y"]}
    assert lines == ("/ routing-policy policy a statement x",)


def test_a_name_is_not_aligned_with_one_that_is_in_use() -> None:
    text = policies(a=statements("x"), b=statements("x"))
    assert aligned(text, policies(a=statements("x"))) == (text, ())


def test_references_follow_a_name() -> None:
    def qos(queue: str) -> str:
        tree = {
            "queues": {"queue": [{"name": queue, "queue-index": 3}]},
            "forwarding-classes": {
                "forwarding-class": [{"name": "roce", "forwarding-class-index": 3, "output": {"unicast-queue": queue}}]
            },
        }
        return json.dumps({"qos": tree})

    text, lines = aligned(qos("q3"), qos("roce"))
    assert json.loads(text) == json.loads(qos("roce"))
    assert lines == ("/ qos queues queue q3",)


def test_ports_keep_their_names() -> None:
    ports = [json.dumps({"qos": {"interfaces": {"interface": [{"interface-id": name}]}}}) for name in "ab"]
    assert aligned(*ports) == (ports[0], ())


def test_an_object_whose_name_is_no_text_has_no_other_name() -> None:
    """Its name cannot be replaced by that of the rendered one."""
    text = json.dumps({"routing-policy": {"policy": [{"name": 7, "statement": statements("x")}]}})
    assert aligned(text, policies(a=statements("x"))) == (text, ())


def speaker(instance: dict[str, Any], group: dict[str, Any], *neighbors: dict[str, Any], **more: Any) -> str:
    named = [{"peer-address": f"192.0.2.{number}", "peer-group": "g"} | own for number, own in enumerate(neighbors)]
    bgp = instance | {"group": [{"group-name": "g"} | group], "neighbor": named} | more
    return json.dumps({"network-instance": [{"name": "default", "protocols": {"bgp": bgp}}]})


HOLD: dict[str, Any] = {"timers": {"hold-time": 9}}
POLICY: dict[str, Any] = {"import-policy": ["a"]}
FAMILY: dict[str, Any] = {"afi-safi": [{"afi-safi-name": "ipv4-unicast", "admin-state": "enable"}]}


@pytest.mark.parametrize(
    ("configured", "wanted"),
    [
        (speaker(POLICY, {}, {}), speaker({}, POLICY, {})),
        (speaker({}, POLICY, {}), speaker(POLICY, {}, {})),
        (speaker(FAMILY, FAMILY, {}), speaker(FAMILY, {}, {})),
        (speaker({}, HOLD, HOLD, {}), speaker({}, HOLD, {}, {})),
        (speaker({}, HOLD, {}, {}), speaker({}, {}, HOLD, HOLD)),
        (speaker({}, {}, HOLD, HOLD), speaker({}, HOLD, {}, {})),
    ],
)
def test_an_inherited_setting_is_at_the_level_of_the_other_configuration(configured: str, wanted: str) -> None:
    assert json.loads(aligned(configured, wanted)[0]) == json.loads(wanted)


@pytest.mark.parametrize(
    ("configured", "wanted"),
    [
        (speaker({}, {}, HOLD, {}), speaker({}, HOLD, {}, {})),
        (speaker({}, HOLD, {"timers": {"hold-time": 90}}), speaker({}, HOLD, {})),
        (
            speaker({}, {}, HOLD, **{"dynamic-neighbors": {"interface": [{"peer-group": "g"}]}}),
            speaker({}, HOLD, {}),
        ),
    ],
)
def test_a_setting_that_would_change_a_session_stays(configured: str, wanted: str) -> None:
    assert aligned(configured, wanted) == (configured, ())

"""The compact schema of SR Linux, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from railfab.platforms.contract import Refusal
from railfab.platforms.srlinux.place import NodePlace
from railfab.platforms.srlinux.refusals import plain_refusals, refusals
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.value_types import fits, meaning
from railfab.platforms.srlinux.xpath import compiled, holds_at


def test_it_has_keys_types_defaults_references_and_state() -> None:
    found = schema()
    assert found.keys("/qos/buffer-management/queue-management-profile/wred/wred-slope") == (
        "traffic-type",
        "drop-probability",
        "enable-ecn",
    )
    assert found.default("/interface/admin-state") == "enable"
    assert found.default("/bfd/subinterface/detection-multiplier") == "3"
    assert found.default("/interface/mtu") is None
    mapping = found.type_of(found.at("/qos/interfaces/interface/pfc/pfc-mapping-profile"))
    assert mapping is not None
    assert (mapping["type"], mapping["reference"]) == ("string", "/qos/pfc-mapping-profile/name")
    assert found.at("/interface/oper-state") is None
    assert found.is_plain_container("/qos/queues")
    assert not found.is_plain_container("/qos/explicit-congestion-notification")


@pytest.mark.parametrize(
    ("path", "good", "bad", "words"),
    [
        ("/interface/ethernet/hold-time/up", (0, "100", 86_400_000), (50, -1, True, "x", None), "0 or 100 to 86400000"),
        ("/interface/admin-state", ("enable",), ("up", 1, []), "one of enable, disable"),
        ("/qos/interfaces/interface/pfc/pfc-enable", (True, "false"), ("yes", 1), "true or false"),
        ("/qos/classifiers/dscp-policy/dscp/value", (26, "AF31"), (64, "AF99"), "0 to 63 or one of CS0, LE, CS1"),
        ("/network-instance/type", ("ip-vrf",), ("vrf",), "one of default, host, ip-vrf, mac-vrf, vpws"),
        ("/interface/description", ("a port", "1"), ({}, [1], "", "x" * 256), "a text of 1 to 255 characters"),
        (
            "/system/name/host-name",
            ("leaf1", "a.b"),
            ("bad name!", "x" * 64),
            "a text of 1 to 63 characters",
        ),
        ("/interface/name", ("ethernet-1/1", "lag7"), ("foo", "ethernet-1/0"), "an interface-all"),
    ],
)
def test_a_value_fits_its_type(path: str, good: tuple[object, ...], bad: tuple[object, ...], words: str) -> None:
    kind = schema().type_of(schema().at(path))
    assert kind is not None
    assert all(fits(value, kind) for value in good)
    assert not any(fits(value, kind) for value in bad)
    assert meaning(kind).startswith(words)


def test_a_refusal_names_its_place_in_cli_words() -> None:
    tree = {"interface": [{"name": "ethernet-1/1", "mtu": 1, "oper-state": "up", "x": 1}]}
    assert plain_refusals(tree) == (
        Refusal(where="/ interface ethernet-1/1 mtu", problem="is 1, which is not 1450 to 9500"),
        Refusal(where="/ interface ethernet-1/1 oper-state", problem="is state, which cannot be configured"),
        Refusal(where="/ interface ethernet-1/1 x", problem="is unknown to SR Linux 25.3.1", is_unknown=True),
    )


def test_below_every_container_a_name_that_the_models_do_not_have_is_refused() -> None:
    for path, node in containers("", schema().nodes):
        tree: Any = {"frob": 1}
        for step in reversed(path.strip("/").split("/")):
            tree = {step: [tree] if schema().keys(path) is not None else tree}
            path = path.rpartition("/")[0]
        assert [one.is_unknown for one in plain_refusals(tree)] == [True], node


def containers(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    """Every container and list of the schema by its path without keys."""
    for name, child in node.items():
        if isinstance(child, dict):
            yield f"{path}/{name}", child
            yield from containers(f"{path}/{name}", child)


def test_a_rule_may_calculate() -> None:
    """Products and remainders bind stronger than sums and differences, and all go from the left (XPath 1.0, 3.5)."""
    for expression in ("2 + 3 * 4 = 14", "9 - 4 - 3 = 2", "7 - 2 * 3 = 1", "9 mod 4 * 2 = 2", "(2 + 3) * 4 = 20"):
        assert holds_at(expression, NodePlace({}, schema().nodes, None)), expression


def test_no_rendered_configuration_is_refused(repository: Path) -> None:
    rendered = sorted((repository / "tests" / "golden" / "configurations").rglob("*.json"))
    files = [file for file in rendered if "srl_nokia-" in file.read_text()]
    assert files
    for file in files:
        assert refusals(file.read_text()) == (), file


def test_every_pattern_and_every_rule_of_the_schema_can_be_evaluated() -> None:
    kinds = [one for kind in schema().types for one in (kind, *kind.get("members", ()))]
    for kind in kinds:
        for pattern in (*kind.get("pattern", ()), *kind.get("not", ())):
            assert fits("", {"type": "string", "pattern": [pattern]}) in (True, False)
        if "path" in kind:
            assert compiled(kind["path"])
    assert all(compiled(expression) for expression, _ in schema().rules)

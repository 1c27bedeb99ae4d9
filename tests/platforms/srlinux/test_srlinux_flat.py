"""The configuration as `info flat from running` prints it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.platforms.srlinux.switches import rail_switch
from tests.platforms.srlinux.test_srlinux_management import STATED

from railfab.errors import ConfigError
from railfab.platforms import admit, platform
from railfab.platforms.srlinux.flat import tree_of_lines
from railfab.platforms.srlinux.tree import startup
from railfab.testing.device_models import device_models

SRLINUX = platform("srlinux")
PROMPT = "--{ running }--[  ]--\nA:leaf1# info flat from running\n\n"


def flat() -> str:
    return startup(SRLINUX.render(rail_switch()))


@given(drawn=st.data())
@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
def test_lines_are_read_as_json_is(drawn: st.DataObject) -> None:
    model = admit(drawn.draw(device_models("srlinux")), SRLINUX)
    tree = SRLINUX.render(model)
    assert SRLINUX.parse(PROMPT + startup(tree)) == model
    assert SRLINUX.differences(startup(tree), SRLINUX.text(tree)) == ()
    assert SRLINUX.refusals is not None
    assert SRLINUX.refusals(startup(tree)) == ()


def test_values_have_the_types_of_their_leaves() -> None:
    text = (
        'set / interface ethernet-1/1 description "to \\"a\\" spine"\n'
        "set / interface ethernet-1/1 mtu 9232\n"
        "set / interface ethernet-1/1 ethernet flow-control receive true\n"
        "set / routing-policy prefix-set own prefix 10.0.0.0/8 mask-length-range 24..32\n"
        "set / system dns server-list [ 10.0.0.1 10.0.0.2 ]\n"
    )
    port, policy, system = tree_of_lines(text).values()
    assert port == [
        {
            "name": "ethernet-1/1",
            "description": 'to "a" spine',
            "mtu": 9232,
            "ethernet": {"flow-control": {"receive": True}},
        }
    ]
    prefix = {"ip-prefix": "10.0.0.0/8", "mask-length-range": "24..32"}
    assert policy == {"prefix-set": [{"name": "own", "prefix": [prefix]}]}
    assert system == {"srl_nokia-dns:dns": {"server-list": ["10.0.0.1", "10.0.0.2"]}}


@pytest.mark.parametrize("line", ["set / system snmp unheard-of 7", "set / unheard-of thing of a kind"])
def test_what_the_schema_does_not_know_is_unmodelled(line: str) -> None:
    found = SRLINUX.parse(f"{flat()}{line}\n")
    assert line in found.unmodelled


def test_another_line_is_an_error_with_its_number() -> None:
    with pytest.raises(ConfigError) as refused:
        SRLINUX.parse(f"{PROMPT}set / system name host-name leaf1\ninterface ethernet-1/1 {{\n")
    assert str(refused.value) == (
        "SR Linux configuration: line 5: 'interface ethernet-1/1 {' sets nothing. "
        "Pass the output of `info flat from running`, or JSON."
    )


def test_all_of_the_management_access_is_read() -> None:
    model = replace(rail_switch(), management=STATED)
    assert SRLINUX.parse(startup(SRLINUX.render(model))) == model


def test_an_entry_of_a_list_that_the_schema_does_not_know_keeps_all_its_lines() -> None:
    lines = (
        "set / system shelf slot a",
        "set / system shelf slot a key x",
        "set / system shelf slot b key y",
        "set / system shelf slot c",
    )
    kept = SRLINUX.parse("\n".join(lines)).unmodelled
    for entry, leaf in (("a", "key x"), ("b", "key y"), ("c", "")):
        assert any(f"slot {entry} {leaf}".strip() in line for line in kept), kept

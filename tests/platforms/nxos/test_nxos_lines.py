"""The table of NX-OS's lines: it has every line that railfab writes, each with its source, and refuses broken ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.platforms.nxos.configurations import INTENTS, NXOS, leaf, texts, with_line

from railfab.platforms import admit
from railfab.platforms.nxos.known_lines import TOP, refusals, sections
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line
from railfab.testing.device_models import device_models
from railfab.testing.platforms import EXAMPLES


def unknown(lines: Sequence[Line], section: str = TOP) -> Iterator[str]:
    """Lines that the table has not, or whose section it does not know."""
    known = sections()[section]
    for line in lines:
        if not any(one.takes(line.text) for one in known.lines):
            yield f"{section}: {line.text}"
        below = known.below(line.text)
        if below is not None:
            yield from unknown(line.children, below)
        elif line.children:
            yield f"{section}: {line.text}: has lines below it"


@given(drawn=st.data())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_line_of_a_drawn_model_is_in_the_table(drawn: st.DataObject) -> None:
    tree = NXOS.render(admit(drawn.draw(device_models("nxos")), NXOS))
    assert list(unknown(tree)) == []


@pytest.mark.parametrize("intent", INTENTS)
def test_every_line_of_a_design_document_is_in_the_table(intent: str) -> None:
    for text in texts(intent).values():
        assert list(unknown(FORMAT.tree(text))) == []
        assert refusals(text) == ()


def test_every_line_of_the_table_has_a_source() -> None:
    assert all(known.source for section in sections().values() for known in section.lines)
    named = {below for section in sections().values() for _, below in section.opens}
    assert named | {TOP} == set(sections())


PORT, BGP = "interface Ethernet1/1", "router bgp 4200001001"
NETWORK = ("policy-map type network-qos RAILFAB", "class type network-qos c-8q-nq3")
QUEUE = ("policy-map type queuing RAILFAB", "class type queuing c-out-8q-q3")
NUMBER, NO_LINE = "has a number that NX-OS does not take", "is no line of NX-OS here"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ((PORT, "mtu 9300"), NUMBER),
        ((PORT, "mtu jumbo"), NO_LINE),
        ((PORT, "fec rs-544"), NO_LINE),
        ((PORT, "speed 450000"), NO_LINE),
        ((PORT, "bfd interval 20 min_rx 20 multiplier 3"), NUMBER),
        ((PORT, "priority-flow-control mode enable"), NO_LINE),
        ((PORT, "priority-flow-control watch-dog-interval 100"), NO_LINE),
        ((PORT, "channel-group 1 mode lacp"), NO_LINE),
        ((PORT, "switchport access vlan 4095"), NUMBER),
        (("interface breakout module 1 port 1 map 400g-4x",), NO_LINE),
        (("feature rdma",), NO_LINE),
        (("vpc domain 2000",), NUMBER),
        (("ip load-sharing address source-destination universal-id 0",), NUMBER),
        (("ip prefix-list a seq 5 permit 10.0.0.0/8 ge 33",), NUMBER),
        (("priority-flow-control watch-dog interval 50",), NUMBER),
        ((BGP, "maximum-paths 64"), NO_LINE),
        ((BGP, "neighbor swp1"), NO_LINE),
        ((BGP, "address-family ipv4 unicast", "maximum-paths 128"), NUMBER),
        ((BGP, "address-family ipv4 unicast", "redistribute direct"), NO_LINE),
        ((BGP, "address-family ipv4 unicast", "redistribute connected route-map a"), NO_LINE),
        ((BGP, "neighbor 100.64.0.14", "route-map a in"), NO_LINE),
        ((BGP, "neighbor 100.64.0.14", "timers connect 10"), NO_LINE),
        ((BGP, "neighbor 100.64.0.14", "address-family ipv4 unicast", "activate"), NO_LINE),
        ((*NETWORK, "pause no-drop"), NO_LINE),
        ((*NETWORK, "pause pfc-cos 8"), NUMBER),
        ((*QUEUE, "bandwidth remaining percent 101"), NUMBER),
        ((*QUEUE, "random-detect ecn minimum-threshold 150 maximum-threshold 1500"), NO_LINE),
        ((*QUEUE, "queue-limit dynamic 11"), NUMBER),
        (("policy-map type qos fabric", "class fabric_queue3", "set qos-group 8"), NUMBER),
        (("system qos", "service-policy type network-qos input RAILFAB"), NO_LINE),
        (("hardware profile dlb", "mode spray"), NO_LINE),
    ],
)
def test_a_line_that_the_switch_does_not_take_is_refused(place: tuple[str, ...], problem: str) -> None:
    _, text = leaf()
    assert [(found.where, found.problem) for found in refusals(with_line(text, *place))] == [
        (": ".join(place), problem)
    ]


def test_a_line_of_a_section_that_others_configure_is_not_judged() -> None:
    _, text = leaf()
    assert refusals(with_line(with_line(text, PORT, "hsrp 10"), "snmp-server location rack 7")) == ()

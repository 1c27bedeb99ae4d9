"""Configurations compared as they are written: what they have, and what is the operator's."""

from __future__ import annotations

import re

import pytest

from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.shared.operator_topics import OperatorTopics

TOPICS = OperatorTopics(FORMAT, (re.compile("username .*"), re.compile("ntp .*")))
RENDERED = "hostname leaf1\n!\ninterface Ethernet1\n   mtu 9214\n   no shutdown\n!\nip routing\n!\nend\n"


@pytest.mark.parametrize(
    "configuration",
    [
        RENDERED,
        f"! Command: show running-config\n! device: leaf1\n!\n{RENDERED}",
        "ip routing\n!\ninterface Ethernet1\n   mtu 9214\n   no shutdown\nhostname leaf1\n",
        RENDERED.replace("!\nip routing", "!\nusername admin secret x\nntp server 192.0.2.9\nip routing"),
    ],
)
def test_a_configuration_has_the_sections_in_any_order_and_the_operators_beside_them(configuration: str) -> None:
    assert TOPICS.is_as_written(configuration, RENDERED)


@pytest.mark.parametrize(
    ("configuration", "rendered"),
    [
        (RENDERED.replace("mtu 9214", "mtu 1500"), RENDERED),
        (RENDERED.replace("ip routing\n", ""), RENDERED),
        (RENDERED.replace("ip routing\n", "ip routing\nip routing vrf a\n"), RENDERED),
        (f"{RENDERED}username admin\n", RENDERED.replace("ip routing", "username root\nip routing")),
        (f"{RENDERED}ntp server 192.0.2.9\n", f"! replaces ntp server 192.0.2.8\n{RENDERED}"),
    ],
    ids=["a line below", "a section less", "a section more", "a topic of the intent", "a topic that is replaced"],
)
def test_a_line_more_or_less_makes_a_difference(configuration: str, rendered: str) -> None:
    assert not TOPICS.is_as_written(configuration, rendered)


@pytest.mark.parametrize(
    ("configuration", "rendered", "is_equal"),
    [
        (RENDERED, f"{RENDERED}lldp timer 30\n", True),
        (RENDERED, f"{RENDERED}lldp timer 40\n", False),
        (f"{RENDERED}lldp timer 40\n", f"{RENDERED}lldp timer 30\n", False),
    ],
    ids=["a default that is not shown", "another value than the default", "the default instead of another value"],
)
def test_a_switch_need_not_show_what_it_has_by_default(configuration: str, rendered: str, is_equal: bool) -> None:
    topics = OperatorTopics(FORMAT, (), frozenset({"lldp timer 30"}))
    assert topics.is_as_written(configuration, rendered) == is_equal


def test_a_text_with_a_banner_or_without_a_form_is_left_to_its_tree() -> None:
    banner = f"{RENDERED}banner motd\nhostname leaf1\nEOF\n"
    assert not TOPICS.is_as_written(banner, banner)
    assert not TOPICS.is_as_written(f"   mtu 1\n{RENDERED}", RENDERED)
    assert FORMAT.written("! a comment\n   mtu 1\n") is None

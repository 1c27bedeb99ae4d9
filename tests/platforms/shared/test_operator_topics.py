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


def test_a_text_with_a_banner_or_without_a_form_is_left_to_its_tree() -> None:
    banner = f"{RENDERED}banner motd\nhostname leaf1\nEOF\n"
    assert not TOPICS.is_as_written(banner, banner)
    assert not TOPICS.is_as_written(f"   mtu 1\n{RENDERED}", RENDERED)
    assert FORMAT.written("! a comment\n   mtu 1\n") is None

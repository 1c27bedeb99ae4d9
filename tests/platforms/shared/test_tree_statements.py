"""A statement of a tree stands once and works in both directions."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from railfab.errors import RailfabError
from railfab.platforms.shared.brace_text import brace_text
from railfab.platforms.shared.edit_commands import statements
from railfab.platforms.shared.tree_statements import (
    NUMBER,
    POSITIVE,
    below,
    flag,
    known,
    leaf,
    sections,
    tree_read,
    tree_written,
    unread,
    values,
)
from railfab.platforms.shared.words import words_of


@dataclass(slots=True, kw_only=True)
class Server:
    level: str | None = leaf("any", known({"informational": "info"}))
    instance: str | None = leaf("routing-instance")


@dataclass(slots=True, kw_only=True)
class Switch:
    """One field of each kind."""

    name: str = leaf("system/host-name", default="")
    ssh: bool = unread("services/ssh")
    enabled: bool = flag("disable", default=True)
    mtu: int | None = leaf("port/mtu", NUMBER)
    hold: int = leaf("port/hold-time up", POSITIVE, default=4)
    order: tuple[str, ...] = values("system/authentication-order")
    server: Server | None = below("server", Server)
    hosts: dict[str, Server] = sections("syslog/host", Server)
    ntp: dict[str, Server] = sections("ntp/server", Server, oneline=True)


SWITCH = Switch(
    name="leaf 1",
    enabled=False,
    mtu=9216,
    hold=7,
    order=("radius", "password"),
    server=Server(),
    hosts={"10.0.0.1": Server(level="informational", instance="mgmt")},
    ntp={"10.0.0.2": Server(), "10.0.0.3": Server(instance="mgmt")},
)
TEXT = """system {
    host-name "leaf 1";
    authentication-order [ radius password ];
}
disable;
port {
    mtu 9216;
    hold-time up 7;
}
server;
syslog {
    host 10.0.0.1 {
        any info;
        routing-instance mgmt;
    }
}
ntp {
    server 10.0.0.2;
    server 10.0.0.3 routing-instance mgmt;
}
"""


def read(text: str) -> tuple[Switch, list[RailfabError]]:
    problems: list[RailfabError] = []
    return tree_read(Switch, words_of(statements(text), problems)), problems


def test_statements_with_the_same_headers_stand_together_and_are_read_back() -> None:
    assert brace_text(tree_written(SWITCH)) == TEXT
    assert read(TEXT) == (SWITCH, [])


def test_defaults_are_not_written_and_what_is_only_written_is_not_read() -> None:
    assert tree_written(Switch()) == ()
    assert brace_text(tree_written(Switch(ssh=True))) == "services {\n    ssh;\n}\n"
    assert read("services { ssh; }") == (Switch(), [])


def test_braces_make_no_difference() -> None:
    assert read("system host-name a; port { hold-time { up 7; } }") == (Switch(name="a", hold=7), [])


@pytest.mark.parametrize("text", ["syslog { host a { any loud; } }", "syslog { host a { louder; } }", "syslog host a"])
def test_what_no_statement_takes_is_skipped(text: str) -> None:
    assert read(f"{text.rstrip(';')};" if not text.endswith("}") else text) == (Switch(hosts={"a": Server()}), [])


def test_a_bad_value_is_a_problem_with_its_path() -> None:
    switch, problems = read("port { mtu big; hold-time up 0; }")
    assert switch == Switch()
    assert list(map(str, problems)) == ["port mtu: 'big' is not a whole number. Use a whole number."]

"""Settings of ports that Linux has: as comments of a configuration, compared with what runs, and set."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from inspect import getsource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.frr import system
from railfab.platforms.frr.system import (
    PortSettings,
    comments,
    pending_commands,
    running_settings,
    settings_in,
    with_running_settings,
    without_settings,
)

FRR_POD = Path(__file__).parents[3] / "labs" / "frr-pod" / "intent.yml"
TEXT = "frr defaults datacenter\n! a comment of a user\nhostname leaf1\n"
names = st.from_regex(r"[a-z]{1,3}[0-9]{1,4}", fullmatch=True)
port_settings = st.dictionaries(names, st.builds(PortSettings, st.integers(68, 65535), st.booleans()), max_size=8)


def links(settings: dict[str, PortSettings]) -> str:
    """`ip -j link show` of a switch whose ports have these settings, and a loopback."""
    ports = [
        {"ifname": name, "mtu": found.mtu_bytes, "flags": ["BROADCAST", *(["UP"] if found.enabled else [])]}
        for name, found in settings.items()
    ]
    return json.dumps([{"ifname": "lo", "mtu": 65536, "flags": ["LOOPBACK", "UP"]}, *ports])


@given(settings=port_settings)
def test_a_configuration_says_the_settings_that_were_written_into_it(settings: dict[str, PortSettings]) -> None:
    assert settings_in(comments(settings) + TEXT) == settings
    assert without_settings(comments(settings) + TEXT) == TEXT
    assert running_settings(links(settings)) == settings


@given(wanted=port_settings, running=port_settings)
def test_what_runs_can_be_restored_from_its_text(
    wanted: dict[str, PortSettings], running: dict[str, PortSettings]
) -> None:
    """The text that is kept before a change says the settings of every port that the change sets."""
    former = with_running_settings(TEXT, links(running), like=comments(wanted) + TEXT)
    changed = running | {port: found for port, found in wanted.items() if port in running}
    assert len(pending_commands(comments(wanted), links(running))) == sum(changed[p] != running[p] for p in running)
    assert pending_commands(comments(wanted), links(changed)) == []
    restored = changed | settings_in(former)
    assert restored == running
    assert pending_commands(former, links(restored)) == []


def test_the_configuration_of_a_fabric_says_the_mtu_of_every_port() -> None:
    fabric = design(FRR_POD)
    text = fabric.texts["pod1-spine1"]
    assert text.splitlines()[:2] == [system.HEADING, "! ip link set dev swp1 mtu 9000 up"]
    ports = [port.name for port, _, _ in fabric.topology.ports_of("pod1-spine1")]
    assert settings_in(text) == dict.fromkeys(ports, PortSettings(9000))


def test_another_setting_of_a_port_is_a_difference() -> None:
    text = design(FRR_POD).texts["pod1-spine1"]
    frr = platform("frr")
    other = text.replace("mtu 9000", "mtu 1500", 1)
    assert other != text
    (found,) = frr.differences(other, text)
    assert "mtu 1500" in found.text
    assert frr.differences(text + "\n", text) == ()


def test_a_disabled_port_is_down() -> None:
    planned = design(FRR_POD).planned_models["pod1-spine1"]
    first, *others = planned.interfaces
    external = platform("frr").external
    assert external is not None
    text = external(replace(planned, interfaces=(replace(first, enabled=False), *others)))
    assert f"! ip link set dev {first.name} mtu 9000 down\n" in text


def test_it_runs_on_switches_with_nothing_but_python() -> None:
    nodes = list(ast.walk(ast.parse(getsource(system))))
    modules = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert modules <= sys.stdlib_module_names


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with two ports."""
    name = "frr-system-test"
    subprocess.run(["ip", "netns", "add", name], check=True)
    add = "link add swp1 type veth peer name swp2\nlink set swp2 mtu 9000 up\n"
    subprocess.run(["ip", "-n", name, "-batch", "-"], input=add, text=True, check=True)
    yield name
    subprocess.run(["ip", "netns", "del", name], check=True)


@pytest.mark.lab
def test_linux_accepts_the_commands_and_then_none_is_pending(namespace: str) -> None:
    def now() -> str:
        show = ["ip", "-n", namespace, "-j", "link", "show"]
        return subprocess.run(show, capture_output=True, text=True, check=True).stdout

    def apply(text: str) -> list[str]:
        pending = pending_commands(text, now())
        for command in pending:
            subprocess.run(["ip", "netns", "exec", namespace, "sh", "-c", command], check=True)
        return pending

    wanted = comments(
        {"swp1": PortSettings(9216), "swp2": PortSettings(9000, enabled=False), "swp9": PortSettings(9216)}
    )
    former = with_running_settings(TEXT, now(), like=wanted)
    before = running_settings(now())
    assert before["swp1"] == PortSettings(1500, enabled=False)
    assert apply(wanted + TEXT) == ["ip link set dev swp1 mtu 9216 up", "ip link set dev swp2 mtu 9000 down"]
    assert running_settings(now())["swp1"] == PortSettings(9216)
    assert apply(wanted + TEXT) == []
    apply(former)
    assert running_settings(now()) == before

"""Names that containerlab, netmiko, NAPALM and ntc-templates have for platforms."""

from __future__ import annotations

import pytest
from netmiko.ssh_dispatcher import CLASS_MAPPER

from railfab.imports.containerlab_kinds import KINDS
from railfab.platforms import platform, platform_names, platforms_called

NETMIKO = {
    "nokia_srl": "srlinux",
    "arista_eos": "eos",
    "cisco_nxos": "nxos",
    "juniper_junos": "junos",
    "cumulus_linux": "cumulus",
    "dell_sonic": "sonic",
    "edgecore_sonic": "sonic",
}
NAPALM = {"eos": "eos", "nxos": "nxos", "nxos_ssh": "nxos", "junos": "junos", "srl": "srlinux"}


@pytest.mark.parametrize(("name", "meant"), [*NETMIKO.items(), *NAPALM.items(), ("nokia_srlinux", "srlinux")])
def test_the_name_of_another_tool_means_the_platform(name: str, meant: str) -> None:
    assert platforms_called(name) == {meant}


def test_each_name_of_netmiko_is_one_of_its_drivers_and_is_known_with_its_suffix() -> None:
    for name, meant in NETMIKO.items():
        assert {name, f"{name}_ssh"} <= CLASS_MAPPER.keys()
        assert platforms_called(f"{name}_ssh") == {meant}


def test_the_kinds_of_containerlab_are_those_of_the_import() -> None:
    for kind, known in KINDS.items():
        assert platforms_called(kind) == {known.platform}, kind


def test_a_platform_is_called_by_its_own_name_and_linux_may_be_several() -> None:
    for name in platform_names():
        assert platforms_called(name) == {name}
        assert name in platform(name).names
    assert platforms_called("linux") == {"cumulus", "frr", "sonic"}
    assert platforms_called("srlunix") == frozenset()

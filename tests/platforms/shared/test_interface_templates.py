"""Names of interfaces in a lab, from templates: the arithmetic of containerlab's kinds, and one name for each port."""

from __future__ import annotations

import pytest

from railfab.lab.containerlab.names import interface_error
from railfab.platforms import InterfaceTemplates

KINDS = {
    "sonic-vs": (
        {"Ethernet{port}": "eth{port/4+1}"},
        {"Ethernet0": "eth1", "Ethernet4": "eth2", "Ethernet252": "eth64"},
    ),
    "juniper_cjunosevolved": ({"et-0/0/{port}": "eth{port+4}"}, {"et-0/0/0": "eth4", "et-0/0/35": "eth39"}),
    "juniper_vjunosevolved": ({"et-0/0/{port}": "eth{port+1}"}, {"et-0/0/0": "eth1", "et-0/0/11": "eth12"}),
    "arista_ceos": (
        {"Ethernet{cage}": "eth{cage}", "Ethernet{cage}/{lane}": "eth{cage}_{lane}"},
        {"Ethernet7": "eth7", "Ethernet7/1": "eth7_1"},
    ),
    "nvidia_cumulusvx": ({"swp{cage}": "swp{cage}"}, {"swp1": "swp1"}),
}
"""Templates by kind (containerlab, docs/manual/kinds/{sonic-vs,cjunosevolved}.md and its interface name patterns)."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_port_has_the_name_that_the_kind_expects(kind: str) -> None:
    templates, expected = KINDS[kind]
    names = InterfaceTemplates(templates)
    assert {name: names.lab(name) for name in expected} == expected
    assert not any(interface_error(kind, wanted) for wanted in expected.values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_in_the_lab_gives_back_the_port(kind: str) -> None:
    """By cage and lane from 1, whatever number the kind begins with."""
    names = InterfaceTemplates(KINDS[kind][0])
    ports = [(cage, lane) for cage in range(1, 65) for lane in (None, 1, 4)]
    given = {port: lab for port in ports if (canonical := names.port(*port)) and (lab := names.lab(canonical))}
    assert given
    assert {port: names.position(lab) for port, lab in given.items()} == {port: port for port in given}


@pytest.mark.parametrize("name", ["eth3", "eth0", "eth", "et-0/0/0", "mgmt0", ""])
def test_a_name_that_no_port_has_gives_no_port(name: str) -> None:
    assert InterfaceTemplates(KINDS["juniper_cjunosevolved"][0]).position(name) is None


@pytest.mark.parametrize("name", ["Ethernet5", "Ethernet", "Ethernet04", "Ethernet4.1", "ethernet4", "eth2", ""])
def test_another_interface_has_no_name(name: str) -> None:
    """Nor has a SONiC port that is no first lane of its cage, for which sonic-vs has no link."""
    assert InterfaceTemplates(KINDS["sonic-vs"][0]).lab(name) is None


@pytest.mark.parametrize("kind", KINDS)
def test_two_ports_never_share_a_name(kind: str) -> None:
    names = InterfaceTemplates(KINDS[kind][0])
    ports = [(cage, lane) for cage in range(1, 65) for lane in (1, 2)]
    canonical = {text.format(cage=cage, lane=lane, port=cage) for text in names.templates for cage, lane in ports}
    given = [name for name in map(names.lab, canonical) if name is not None]
    assert given
    assert len(set(given)) == len(given)


def test_numbers_from_one_do_not_match_zero() -> None:
    names = InterfaceTemplates({"swp{cage}": "swp{cage}"})
    assert names.lab("swp0") is None
    assert str(names) == "swp{cage}"

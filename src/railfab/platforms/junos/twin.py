"""A virtual Junos switch: its CLI, which alone configures it, and OpenConfig state over gNMI."""

from __future__ import annotations

from functools import cache
from typing import Any

from railfab.device import DeviceModel
from railfab.platforms.junos.cli import cli
from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.names import ETHERNET_HEADER_BYTES
from railfab.platforms.junos.parse import parse
from railfab.platforms.junos.pause_defaults import with_partitions
from railfab.platforms.junos.show_system import VERSION
from railfab.platforms.junos.statements import read
from railfab.platforms.shared import openconfig_state
from railfab.platforms.shared.brace_text import brace_text
from railfab.platforms.shared.cli_origin import cli_origin
from railfab.platforms.shared.default_mtu import with_default_mtu
from railfab.platforms.shared.line_datastore import TextDatastore
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.openconfig_ports import OpenConfigPorts
from railfab.platforms.twin_face import TwinFace

FACTORY = """system {{
    host-name {name};
    root-authentication {{
        encrypted-password "*";
    }}
    login {{
        user admin {{
            class super-user;
            authentication {{
                encrypted-password "*";
            }}
        }}
    }}
    services {{
        ssh;
    }}
}}
"""


def _write(text: str, port: str, leaf: str, value: Any) -> str:
    """Set or delete a leaf of a port."""
    tree = Hierarchy.read(text)
    words = {"enabled": ("disable",), "description": ("description", value), "mtu": ("mtu", str(value))}[leaf]
    tree.delete(("interfaces", port, words[0]))
    if value is not None and value is not True:
        tree.set(("interfaces", port, *words))
    return tree.text()


PORTS = OpenConfigPorts(write=_write, mtu_header_bytes=ETHERNET_HEADER_BYTES)
"""Written by a Set (Juniper, OpenConfig User Guide, Mapping OpenConfig Interface Commands).

Junos keeps what OpenConfig has configured in a hierarchy of its own, and these statements are in effect; here they are
in the configuration.
"""


class JunosDatastore(TextDatastore):
    """The configuration in braces. One with the statements of the factory's is that, in any order."""

    def _is_factory(self, configuration: str) -> bool:
        return set(read(configuration)) == set(read(self._factory))


def _datastore(device: str, rendered: tuple[Line, ...]) -> TextDatastore:
    factory = FACTORY.format(name=device)
    given = frozenset(read(factory)) - frozenset(read(brace_text(rendered)))

    def parsed(text: str) -> DeviceModel:
        stated = Hierarchy.read(text)
        for statement in given:
            stated.delete(statement)
        return parse(stated.text())

    def overlaid(running: str, tree: tuple[Line, ...]) -> str:
        merged = Hierarchy.read(running)
        merged.merge(brace_text(tree))
        return merged.text()

    return JunosDatastore(
        device,
        factory=factory,
        parse=parsed,
        shown=lambda text: Hierarchy.read(text).text(),
        overlaid=overlaid,
        ports=PORTS,
    )


DEFAULT_MTU_BYTES = 1500
"""MTU of a routed port (Media MTU Overview: 1514 bytes with the Ethernet header)."""


def in_effect(model: DeviceModel, configuration: str) -> DeviceModel:
    """The model with what the switch does where its configuration states nothing, or shares only."""
    return with_partitions(with_default_mtu(model, DEFAULT_MTU_BYTES), configuration)


@cache
def twin() -> TwinFace:
    """The face of a virtual Junos switch."""
    return TwinFace(
        datastore=_datastore,
        models=openconfig_state.models(VERSION),
        wildcard=openconfig_state.key,
        origins=openconfig_state.ORIGINS,
        commands=cli_origin(__package__),
        cli=cli,
        saves=lambda _configuration: False,
        in_effect=in_effect,
        release=VERSION,
    )

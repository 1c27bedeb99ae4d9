"""A virtual Junos switch: its CLI, which alone configures it, and OpenConfig state over gNMI."""

from __future__ import annotations

from functools import cache

from railfab.device import DeviceModel
from railfab.platforms.junos.cli import cli
from railfab.platforms.junos.hierarchy import Hierarchy
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


class JunosDatastore(TextDatastore):
    """The configuration in braces. One with the statements of the factory's is that, in any order."""

    def model(self, configuration: str) -> DeviceModel | None:
        return None if set(read(configuration)) == set(read(self._factory)) else self._parse(configuration)


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
    )

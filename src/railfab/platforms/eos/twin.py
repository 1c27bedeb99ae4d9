"""A virtual switch with EOS, which the twin serves over SSH."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from railfab.device import DeviceModel
from railfab.platforms.eos.cli import cli
from railfab.platforms.eos.configuration import parse
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.eos.running_text import shown
from railfab.platforms.eos.scoped import OPERATORS
from railfab.platforms.shared.line_datastore import LineDatastore
from railfab.platforms.twin_face import Tree, TwinFace

FACTORY = """\
username admin privilege 15 role network-admin secret *
hostname {name}
interface Management0
   ip address 192.0.2.1/24
management ssh
   idle-timeout 0
"""
"""The operator's settings, with which a switch is reached before the first deploy: a login, the management port."""


def _parse(configuration: str) -> DeviceModel:
    """The model of a running configuration; what has no effect there is not what belongs to the operator."""
    model = parse(configuration)
    lines = (line for line in model.unmodelled if not any(topic.match(line) for topic in OPERATORS))
    return replace(model, unmodelled=tuple(lines))


def _datastore(name: str, _rendered: Tree) -> LineDatastore:
    return LineDatastore(name, FORMAT, factory=FACTORY.format(name=name), parse=_parse, shown=shown)


def _wildcard(_device: str, _name: str, _pattern: str, _labels: Mapping[str, str]) -> None:
    """Its telemetry is not served."""


@cache
def twin() -> TwinFace:
    """The face of a virtual switch with EOS."""
    return TwinFace(datastore=_datastore, models=(), wildcard=_wildcard, cli=cli, saves=lambda _configuration: False)

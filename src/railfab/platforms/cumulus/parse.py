"""Parses NVUE configuration, rendered by railfab or read from a switch, to a device model.

Configuration is read for its effect. Every setting in which it differs from the rendering of the model that it has in
effect is the unmodelled part, so that no setting is lost: a command that sets it, or `nv unset` with one that it
lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from railfab.device import DeviceModel, in_order
from railfab.errors import RailfabError, raise_all
from railfab.platforms.cumulus.balancing import parse_balancing
from railfab.platforms.cumulus.bgp_parse import is_drained, parse_bgp, parse_vrfs
from railfab.platforms.cumulus.interfaces_parse import parse_breakouts, parse_interfaces, parse_vlans
from railfab.platforms.cumulus.management import parse_lldp, parse_management
from railfab.platforms.cumulus.overlay import parse_mlag, parse_vtep
from railfab.platforms.cumulus.policy_parse import CumulusPolicyReader
from railfab.platforms.cumulus.qos_defaults import comparable
from railfab.platforms.cumulus.qos_parse import parse_qos
from railfab.platforms.cumulus.render import render
from railfab.platforms.cumulus.spelling import applied, normal
from railfab.platforms.cumulus.tree import lines_below, read, word
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

PLATFORM_NAME = "cumulus"


def parse(text: str) -> DeviceModel:
    """The device model of a configuration text. Raises ConfigError, or Problems with every error found."""
    configuration = configuration_of(text)
    tree = configuration.tree
    problems: list[RailfabError] = []
    model = _model(ConfigNode(tree, "", problems))
    raise_all(list({str(problem): problem for problem in problems}.values()))
    left = sorted({*configuration.left, *deviations(_effective(tree), _effective(normal(render(model))))})
    return replace(model, unmodelled=tuple(left)) if left else model


def deviations(configured: Mapping[str, Any], wanted: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Commands that turn one tree into another: what it sets otherwise or beyond that one, and what it lacks."""
    for name, child in configured.items():
        at = f"{path} {word(name)}"
        counterpart = wanted.get(name)
        if counterpart is None:
            yield f"nv set{at} {word(child)}" if not isinstance(child, Mapping) else f"nv set{at}"
            if isinstance(child, Mapping):
                yield from (f"nv set {line}" for line in lines_below(child, at.lstrip()))
        elif isinstance(child, Mapping) and isinstance(counterpart, Mapping):
            yield from deviations(child, counterpart, at)
        elif child != counterpart:
            yield from (f"nv set {line}" for line in lines_below({name: child}, path.lstrip()))
    yield from (f"nv unset{path} {word(name)}" for name in wanted if name not in configured)


def _model(root: ConfigNode) -> DeviceModel:
    """The model that a configuration has in effect."""
    breakouts, bgp = parse_breakouts(root), parse_bgp(root)
    interfaces = parse_interfaces(root, breakouts)
    return in_order(
        DeviceModel(
            name=root.child("system").text("hostname") or "",
            platform=PLATFORM_NAME,
            breakouts=breakouts,
            interfaces=interfaces,
            bgp=bgp,
            qos=parse_qos(root, interfaces),
            policies=CumulusPolicyReader(root, bgp.asn if bgp else None).policies(),
            network_instances=tuple(parse_vrfs(root)),
            vlans=tuple(parse_vlans(root)),
            vtep=parse_vtep(root),
            mlag=parse_mlag(root),
            load_balancing=parse_balancing(root),
            management=parse_management(root),
            lldp=parse_lldp(root),
            drain=bgp is not None and is_drained(root),
        )
    )


def _effective(tree: Json) -> Json:
    """The tree with the QoS that it leaves to the switch."""
    return {**tree, "qos": comparable(tree["qos"])} if isinstance(tree.get("qos"), dict) else tree


class CumulusConfiguration(NamedTuple):
    """A text that was read. tree: in today's spelling. absent: settings that it unsets and did not set.

    lines, parts: of the text that are no command, and no operation of NVUE.
    """

    tree: Json
    lines: tuple[str, ...]
    parts: tuple[str, ...]
    absent: tuple[tuple[str, ...], ...]

    @property
    def left(self) -> tuple[str, ...]:
        """Everything of the text that is no setting."""
        unset = (f"nv unset {' '.join(map(word, path))}" for path in self.absent)
        return (*self.lines, *self.parts, *unset)


def tree_of(text: str) -> Json:
    """The tree of a configuration text in today's spelling."""
    return configuration_of(text).tree


@lru_cache(maxsize=4)
def configuration_of(text: str) -> CumulusConfiguration:
    """The configuration of a text, of which an audit asks for parts several times."""
    reading = read(text)
    tree, absent = applied(reading.operations)
    return CumulusConfiguration(tree, reading.lines, reading.parts, absent)

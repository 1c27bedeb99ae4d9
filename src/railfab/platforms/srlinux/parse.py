"""Parses SR Linux configuration, rendered by railfab or read from a device, to a device model.

Managed configuration is read for its effect: a WRED slope that no port uses marks nothing, a port outside the network
instance routes nothing. The lines in which it deviates from the rendering of the model that it has in effect are the
unmodelled part, with every line of what railfab does not manage, so that no leaf is lost.
"""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel, in_order
from railfab.errors import RailfabError, raise_all
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.balancing import parse_balancing
from railfab.platforms.srlinux.bgp_parse import with_bfd
from railfab.platforms.srlinux.drain import DRAIN, is_drained
from railfab.platforms.srlinux.interfaces_parse import parse_interfaces
from railfab.platforms.srlinux.lldp import parse_lldp, with_state
from railfab.platforms.srlinux.management import parse_management
from railfab.platforms.srlinux.overlay import parse_segments, parse_vlans, parse_vnis, parse_vtep
from railfab.platforms.srlinux.policy_parse import SrlinuxPolicyReader
from railfab.platforms.srlinux.qos_parse import parse_qos
from railfab.platforms.srlinux.reading import read_lines, read_paths
from railfab.platforms.srlinux.render import render
from railfab.platforms.srlinux.routing import attached_subinterfaces, parse_bgp, parse_vrfs
from railfab.platforms.srlinux.set_request import effective, without_empty_parts
from railfab.platforms.srlinux.tree import beyond, deviations, lines, stripped, tree_of

PLATFORM_NAME = "srlinux"


def parse(text: str) -> DeviceModel:
    """The device model of a configuration text. Raises ConfigError, or Problems with every error found."""
    return parse_tree(tree_of(text))


def parse_tree(tree: Json, like: Json | None = None) -> DeviceModel:
    """The device model of a configuration as JSON. Raises ConfigError, or Problems with every error found.

    like: a rendered configuration; what of the management access it does not state is unmodelled. None for all of it.
    """
    configuration = effective(tree, like)
    plain = stripped(configuration)
    problems: list[RailfabError] = []
    model = _model(ConfigNode(plain, "", problems))
    raise_all(list({str(problem): problem for problem in problems}.values()))
    rendering = render(model)
    left = [] if rendering == configuration else deviations(with_state(plain), stripped(rendering))
    if configuration != tree and (unmanaged := beyond(stripped(without_empty_parts(tree)), plain)):
        left += lines(unmanaged)
    return replace(model, unmodelled=tuple(sorted(left))) if left else model


def known_lines(tree: Json, like: Json) -> frozenset[str]:
    """The lines of a valid configuration for which the parser has a word.

    It asks for them in this configuration, or for such a line in the rendered one, `like`, or they are in that. A line
    that is in effect in other words, or that has no effect on a switch either, is one of them.
    """
    plain, rendered = (stripped(effective(side, like)) for side in (tree, like))
    return read_lines(plain, read_paths(plain, _parsed) | read_paths(rendered, _parsed)).union(lines(rendered))


def _parsed(plain: Json) -> DeviceModel:
    return _model(ConfigNode(plain, "", []))


def _model(root: ConfigNode) -> DeviceModel:
    """The model that a configuration has in effect."""
    instances = list(root.entries("network-instance", "name"))
    ports = parse_interfaces(root, attached_subinterfaces(instances), parse_segments(root))
    vnis = parse_vnis(root)
    policies = SrlinuxPolicyReader(root.child("routing-policy")).policies()
    drain = is_drained(root, policies, instances)
    model = DeviceModel(
        name=root.at("system", "name").text("host-name") or "",
        platform=PLATFORM_NAME,
        breakouts=ports.breakouts,
        interfaces=ports.interfaces,
        policies=tuple(policy for policy in policies if not (drain and policy.name == DRAIN)),
        network_instances=parse_vrfs(instances, vnis),
        vlans=tuple(parse_vlans(instances, vnis)),
        vtep=parse_vtep(root, ports.interfaces),
        load_balancing=parse_balancing(root),
        management=parse_management(root.child("system")),
        lldp=parse_lldp(root.child("system")),
        bgp=parse_bgp(instances, frozenset(policy.name for policy in policies)),
        qos=parse_qos(root),
        drain=drain,
    )
    return in_order(with_bfd(model, root))

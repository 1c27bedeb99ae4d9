"""Parses CONFIG_DB, rendered by railfab or read from a switch, to a device model.

Tables are read for their effect. The lines in which they deviate from the rendering of the model that they have in
effect are the unmodelled part, with every line of what railfab does not manage, so that no field is lost.
"""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel, in_order
from railfab.errors import RailfabError, raise_all
from railfab.platforms.sonic.balancing import parse_balancing
from railfab.platforms.sonic.bgp_parse import SpeakerReader
from railfab.platforms.sonic.canonical import canonical
from railfab.platforms.sonic.interfaces_parse import InterfaceReader
from railfab.platforms.sonic.management import parse_lldp, parse_management
from railfab.platforms.sonic.overlay import parse_instances, parse_mlag, parse_vnis, parse_vtep
from railfab.platforms.sonic.policy_parse import SonicPolicyReader
from railfab.platforms.sonic.qos import port_rates
from railfab.platforms.sonic.qos_parse import SonicQosReader, parse_silicon
from railfab.platforms.sonic.render import render
from railfab.platforms.sonic.tables import Tables, deviations, row, tree_of

PLATFORM_NAME = "sonic"


def parse(text: str) -> DeviceModel:
    """The device model of a configuration text. Raises ConfigError, or Problems with every error found."""
    return parse_tree(tree_of(text))


def parse_tree(tree: Tables) -> DeviceModel:
    """The device model of CONFIG_DB. Raises Problems with every error found."""
    problems: list[RailfabError] = []
    tree = canonical(tree)
    model = _model(tree, problems)
    raise_all(list({str(problem): problem for problem in problems}.values()))
    left = deviations(tree, render(model))
    return in_order(_with(model, left)) if left else model


def _with(model: DeviceModel, left: list[str]) -> DeviceModel:
    return replace(model, unmodelled=tuple(left))


def _model(tree: Tables, problems: list[RailfabError]) -> DeviceModel:
    vnis, transits = parse_vnis(tree, problems)
    ports = InterfaceReader(tree, problems, transits)
    interfaces = tuple(ports.interfaces())
    speaker = SpeakerReader(tree, problems)
    bgp = speaker.bgp()
    model = DeviceModel(
        name=str(row(tree, "DEVICE_METADATA", "localhost").get("hostname", "")),
        platform=PLATFORM_NAME,
        breakouts=tuple(ports.breakouts()),
        interfaces=interfaces,
        bgp=bgp,
        qos=None,
        policies=SonicPolicyReader(tree, problems, bgp.asn if bgp else None).policies(),
        network_instances=tuple(parse_instances(tree, problems)),
        vlans=tuple(ports.vlans(vnis)),
        vtep=parse_vtep(tree, problems, interfaces),
        mlag=parse_mlag(tree, problems),
        load_balancing=parse_balancing(tree, problems),
        management=parse_management(tree, problems),
        lldp=parse_lldp(tree, problems),
        silicon=parse_silicon(tree, problems),
        drain=bgp is not None and speaker.is_drained(),
    )
    return in_order(_with_qos(model, tree, problems))


def _with_qos(model: DeviceModel, tree: Tables, problems: list[RailfabError]) -> DeviceModel:
    return replace(model, qos=SonicQosReader(tree, problems, model.interfaces, port_rates(model)).qos())

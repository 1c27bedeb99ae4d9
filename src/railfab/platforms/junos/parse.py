"""Parses a Junos configuration, in braces or as `display set`, to a device model.

Parsing is total: a statement is an error only when its value is impossible. What the model cannot express is
unmodelled, and so is a statement that differs from the one by which this platform renders the model, unless only names
of the operator's differ (`other_names`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from railfab.device import DeviceModel, in_order
from railfab.errors import RailfabError, raise_all
from railfab.platforms.differences import Difference
from railfab.platforms.junos import comparison, defaults, effective, statements
from railfab.platforms.junos.other_names import apart
from railfab.platforms.junos.parse_bgp import bgp_of
from railfab.platforms.junos.parse_instances import instances_of, vlans_of, vtep_of
from railfab.platforms.junos.parse_interfaces import breakouts_of, interfaces_of
from railfab.platforms.junos.parse_policy import policies_of
from railfab.platforms.junos.parse_qos import balancing_of, qos_of
from railfab.platforms.junos.render import render
from railfab.platforms.junos.system import MANAGEMENT_STATEMENT, JunosSystem, NativeLldp, lldp_of, management_of
from railfab.platforms.shared.brace_text import shown
from railfab.platforms.shared.edit_commands import WITHOUT_EFFECT
from railfab.platforms.shared.tree_statements import tree_read
from railfab.platforms.shared.words import Words, words_of

NAME = "junos"
MANAGEMENT = ("system", MANAGEMENT_STATEMENT)


def parse(text: str) -> DeviceModel:
    """The model of a configuration text. Raises ConfigError, or Problems with every bad value, each with its path."""
    root, model = _read(text)
    left = apart(effective.read(text), statements.rendered(render(model)), root, model)
    stated = (*left.configured, *defaults.omitted(left.wanted, left.configured))
    rest = [difference.path for difference in statements.differences(stated, left.wanted)]
    return replace(model, unmodelled=tuple(sorted((*rest, *map(shown, left.names)))))


def differences(text: str, rendered: str) -> tuple[Difference, ...]:
    """The statements in which a configuration differs from a rendered one, by more than an operator's names and by
    commands without effect. The instance of the management port is the operator's where the rendered one does not
    state it."""
    root, model = _read(text)
    whole = effective.read(text)
    left = apart(whole, statements.read(rendered), root, model)
    operators = () if MANAGEMENT in left.wanted else (MANAGEMENT,)
    configured = [
        statement for statement in left.configured if statement not in operators and statement[0] not in WITHOUT_EFFECT
    ]
    return comparison.differences(configured, left.wanted, whole=whole)


def model_of(text: str) -> DeviceModel:
    """The model of a text, without what is unmodelled. Raises ConfigError, or Problems."""
    return _read(text)[1]


@lru_cache(maxsize=4)
def _read(text: str) -> tuple[Words, DeviceModel]:
    """The words in effect of a text, and their model without what is unmodelled."""
    problems: list[RailfabError] = []
    root = words_of(effective.read(text), problems)
    model = _model(root)
    raise_all(problems)
    return root, in_order(model)


def _model(root: Words) -> DeviceModel:
    interfaces = interfaces_of(root)
    system = tree_read(JunosSystem, root.at("system"))
    bgp, drain = bgp_of(root, interfaces)
    return DeviceModel(
        name=system.name,
        platform=NAME,
        breakouts=breakouts_of(root),
        interfaces=interfaces,
        bgp=bgp,
        qos=qos_of(root),
        policies=policies_of(root),
        network_instances=instances_of(root),
        vlans=vlans_of(root),
        vtep=vtep_of(root, interfaces),
        load_balancing=balancing_of(root),
        management=management_of(system),
        lldp=lldp_of(tree_read(NativeLldp, root.at("protocols", "lldp"))),
        drain=drain,
    )

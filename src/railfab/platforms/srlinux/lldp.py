"""Renders and parses LLDP: `/system/lldp`."""

from __future__ import annotations

from railfab.device import Lldp
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json

LEAVES = ("admin-state", "hello-timer", "hold-multiplier")
"""Leaves of `/system/lldp` itself that railfab manages."""

_USUAL = Lldp()


def render_lldp(lldp: Lldp) -> Json:
    """LLDP, with intervals where they are not the defaults, and the ports on which it does not run."""
    tree: Json = {"admin-state": "enable" if lldp.enabled else "disable"}
    if lldp.hello_s != _USUAL.hello_s:
        tree["hello-timer"] = str(lldp.hello_s)
    if lldp.hold_multiplier != _USUAL.hold_multiplier:
        tree["hold-multiplier"] = lldp.hold_multiplier
    if lldp.silent:
        tree["interface"] = [{"name": name, "admin-state": "disable"} for name in lldp.silent]
    return tree


def with_state(tree: Json) -> Json:
    """A configuration without module prefixes that states whether LLDP runs: without its container it does not."""
    if "system" not in tree or "lldp" in tree["system"]:
        return tree
    return tree | {"system": tree["system"] | {"lldp": render_lldp(Lldp(enabled=False))}}


def parse_lldp(system: ConfigNode) -> Lldp:
    """LLDP as it is in effect. The container has presence: without it LLDP does not run (srl_nokia-lldp 25.3.1)."""
    node = system.child("lldp")
    if "lldp" not in system.value:
        return Lldp(enabled=False)
    hello_s, multiplier = node.number("hello-timer"), node.number("hold-multiplier")
    ports = node.entries("interface", "name")
    return Lldp(
        enabled=node.enabled(default=True),
        silent=tuple(str(port.value["name"]) for port in ports if not port.enabled(default=True)),
        hello_s=_USUAL.hello_s if hello_s is None else hello_s,
        hold_multiplier=_USUAL.hold_multiplier if multiplier is None else multiplier,
    )

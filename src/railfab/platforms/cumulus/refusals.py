"""Refusals of a configuration by NVUE, and what it does not know.

Paths and values that its model does not have, and settings that exclude each other (Quality of Service, Link Pause,
Egress Scheduler, Flow Control Buffers and PFC Watchdog; EVPN Multihoming; cumulus-linux-517).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from railfab.platforms.contract import Refusal
from railfab.platforms.cumulus.nodes import entries, is_on
from railfab.platforms.cumulus.parse import CumulusConfiguration, configuration_of
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.cumulus.tree import word
from railfab.platforms.shared.config_node import ConfigNode

PHYSICAL = re.compile(r"swp\d+(?:s\d+)?")
WHOLE = 100
"""All of a link, or of the buffer [percent]."""


def refusals(text: str) -> tuple[Refusal, ...]:
    """Refusals of a text by the switch's own model."""
    configuration = configuration_of(text)
    root = ConfigNode(configuration.tree, "", [])
    settings = _below(configuration.tree, model(), "nv set", known=False)
    return (*_unread(configuration), *settings, *_exclusions(root), *_sums(root))


def _unread(configuration: CumulusConfiguration) -> Iterator[Refusal]:
    """Parts of the text that NVUE does not take, of which nothing was read."""
    for part in configuration.parts:
        yield Refusal(where=f"- {part}", problem="is not read: NVUE has the parts header, set and unset")
    for line in configuration.lines:
        yield Refusal(where=line, problem="is no command of NVUE, and is not read", is_unknown=True)


def _exclusions(root: ConfigNode) -> Iterator[Refusal]:
    """Settings that a switch or a port cannot have together."""
    for name, node in entries(root, "interface"):
        qos, at = node.child("qos"), f"nv set interface {name} qos"
        if "profile" in qos.child("link-pause").value and "profile" in qos.child("pfc").value:
            yield Refusal(where=f"{at} link-pause profile", problem="a port with PFC cannot have it")
        if "state" in qos.child("pfc-watchdog").value and not PHYSICAL.fullmatch(name):
            yield Refusal(where=f"{at} pfc-watchdog state", problem="only a physical port can have it")
    if is_on(root.child("mlag")) and is_on(root.at("evpn", "multihoming")):
        yield Refusal(where="nv set evpn multihoming state", problem="a switch with MLAG cannot have it")


def _sums(root: ConfigNode) -> Iterator[Refusal]:
    """Shares of a whole that are more than it."""
    qos = root.child("qos")
    for name, profile in entries(qos, "egress-scheduler"):
        shares = [share for _, queue in entries(profile, "traffic-class") if (share := _share(queue, "bw-percent"))]
        if sum(shares) > WHOLE:
            yield Refusal(where=f"nv set qos egress-scheduler {name}", problem=f"{sum(shares)} percent are shared out")
    pools = [share for _, pool in entries(qos, "traffic-pool") if (share := _share(pool, "memory-percent"))]
    if sum(pools) > WHOLE:
        yield Refusal(where="nv set qos traffic-pool", problem=f"{sum(pools)} percent are shared out")


def _share(node: ConfigNode, leaf: str) -> int:
    percent = node.text(leaf) or ""
    return int(percent) if percent.isdecimal() else 0


def _below(tree: Mapping[str, Any], place: SchemaPlace, path: str, *, known: bool) -> Iterator[Refusal]:
    """Refusals in a container. known: whether the model has every word below it."""
    known = known or place.is_complete
    for name, child in tree.items():
        at = f"{path} {word(name)}"
        below = place.step(name)
        if below is None and place.keys and not place.words:
            yield Refusal(where=at, problem=f"{name!r} is not {_kinds(place)}")
        elif below is None:
            if not place.is_open:
                problem = "the model of NVUE does not have it" if known else "railfab does not know it"
                yield Refusal(where=at, problem=problem, is_unknown=True, is_foreign=not known)
        elif isinstance(child, Mapping):
            if below.value is not None and not (below.words or below.keys):
                yield Refusal(where=at, problem="it has no value")
            else:
                yield from _below(child, below, at, known=known)
        elif below.value is None:
            if not below.is_open:
                yield Refusal(where=at, problem=f"{child!r} is not {_kinds(below)}")
        elif not below.value.take(str(child)):
            yield Refusal(where=at, problem=f"{child!r} is not {below.value.spec}")


def _kinds(place: SchemaPlace) -> str:
    return " or ".join([*place.words, *(values.spec for values, _ in place.keys)])

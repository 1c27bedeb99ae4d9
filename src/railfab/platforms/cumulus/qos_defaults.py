"""QoS of Cumulus Linux that a configuration leaves open: that of the switch, or of `qos roce` in each of its modes.

Source: CumulusNetworks/docs, content/cumulus-linux-515/Layer-1-and-Switch-Ports/Quality-of-Service/
RDMA-over-Converged-Ethernet-RoCE.md (Default RoCE Configuration, Verify RoCE Configuration, Change RoCE Configuration)
and content/cumulus-linux-514, the page above it (Trust DSCP, Congestion Control, Egress Queues, Egress Scheduler).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from railfab.platforms.cumulus.qos import CODE_POINTS, GLOBAL, LOSSLESS_POOL, LOSSY_POOL, PRIORITIES
from railfab.platforms.cumulus.schema import DISABLE, ENABLE, SWITCH
from railfab.platforms.shared.json_tree import Json

LOSSLESS, LOSSY, SINGLE_POOL, MULTI_TC = "lossless", "lossy", "lossless-single-ipool", "lossy-multi-tc"
"""The modes of `qos roce`; the first one is its default."""
CODE_POINTS_PER_PRIORITY = 8
"""By default the switch priority is the upper three bits of the code point."""
ROCE_QUEUES = ("0", "0", "0", "3", "0", "0", "6", "0")
"""The traffic class of each switch priority with `qos roce`."""

RAMP: Json = {"ecn": ENABLE, "red": DISABLE, "probability": "100"}
"""Ramp of a traffic class for which `default-global` states thresholds."""
PAUSED = "switch-priority"
"""The priorities of a profile of PFC; those that are stated replace the default one (Change RoCE Configuration)."""
PAUSE: Json = {"tx": ENABLE, "rx": ENABLE, "cable-length": "10", PAUSED: {}}
"""PFC of `default-global` where it states something."""
TRIMMING: Json = {"state": SWITCH[0], "size": "256", "switch-priority": "4", "remark": {"dscp": "11"}}
"""Packet trimming of `lossy-multi-tc`, `packet-trim-default`."""


def with_defaults(qos: Json) -> Json:
    """`qos` in today's spelling, with what the switch does where it states nothing."""
    mode, both = _mode(qos), dict(qos)
    for feature, profiles in _defaults(mode).items():
        both[feature] = _laid_over(profiles, part(qos, feature))
    if mode is None and part(qos, "egress-scheduler", GLOBAL):
        both["egress-scheduler"] = qos["egress-scheduler"]  # a queue that it does not name has no share
    shares = part(both, "egress-scheduler", GLOBAL, "traffic-class")
    stated = part(qos, "egress-scheduler", GLOBAL, "traffic-class")
    shares.update({name: share for name, share in stated.items() if isinstance(share, dict) and "mode" in share})
    both["mapping"][GLOBAL] = with_code_points(part(both, "mapping", GLOBAL))
    queues = part(both, "congestion-control", GLOBAL, "traffic-class")
    queues.update({name: _laid_over(RAMP, part(queues, name)) for name in queues if "min-threshold" in queues[name]})
    if GLOBAL in part(both, "pfc"):
        priorities = {key: child for key, child in part(qos, "pfc", GLOBAL).items() if key == PAUSED}
        pause = {**PAUSE, **part(both, "pfc", GLOBAL), **priorities}
        both["pfc"] = {**both["pfc"], GLOBAL: pause}
        if mode in (LOSSLESS, SINGLE_POOL):
            both["traffic-pool"] = _laid_over(_pools(part(pause, PAUSED)), part(qos, "traffic-pool"))
    return both


def comparable(qos: Json) -> Json:
    """`qos` with its defaults, and of the priorities with equal effect the smallest one at each code point."""
    both = with_defaults(qos)
    queues = part(both, "egress-queue-mapping", GLOBAL, "switch-priority")
    lossless = part(both, "pfc", GLOBAL, PAUSED)
    effects = {name: (part(queues, name).get("traffic-class"), name in lossless) for name in queues}
    smallest = {name: min(same for same in effects if effects[same] == effects[name]) for name in effects}
    both["mapping"] = {name: _with_priorities(mapping, smallest) for name, mapping in both["mapping"].items()}
    return both


def _with_priorities(mapping: Any, smallest: Mapping[str, str]) -> Any:
    points = part(mapping, "dscp") if isinstance(mapping, dict) else {}
    named = {name: part(points, name).get("switch-priority") for name in points}
    changed = {name: {"switch-priority": smallest.get(str(priority), priority)} for name, priority in named.items()}
    return {**mapping, "dscp": {**points, **changed}} if points else mapping


def part(tree: Mapping[str, Any], *names: str) -> Json:
    """The container at a path; an empty one where there is none."""
    node: Any = tree
    for name in names:
        node = node.get(name) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _mode(qos: Json) -> str | None:
    """The mode of `qos roce`; None where it is off."""
    roce = part(qos, "roce")
    return str(roce.get("mode", LOSSLESS)) if roce.get("state") == SWITCH[0] else None


def _laid_over(defaults: Json, stated: Json) -> Json:
    """Both trees together, of which the second one decides."""
    both = dict(defaults)
    for name, child in stated.items():
        default = both.get(name)
        both[name] = _laid_over(default, child) if isinstance(default, dict) and isinstance(child, dict) else child
    return both


def _defaults(mode: str | None) -> Json:
    if mode is None:
        return {
            "mapping": {GLOBAL: {"trust": "l2", "port-default-sp": "0"}},
            "egress-queue-mapping": {GLOBAL: {"switch-priority": _queues(map(str, PRIORITIES))}},
            "egress-scheduler": {GLOBAL: {"traffic-class": {str(tc): _weighted(12 + tc % 2) for tc in PRIORITIES}}},
            "congestion-control": _congestion("0", kmin=150_000, kmax=1_500_000, pmax=100),
        }
    if mode == MULTI_TC:
        return _multi_tc()
    lossless = mode in (LOSSLESS, SINGLE_POOL)
    pause = {"cable-length": "100", "switch-priority": {"3": {}}}
    shares = {"0": _weighted(50), "3": _weighted(50), "6": {"mode": "strict"}}
    return {
        "mapping": {GLOBAL: {"trust": "both", "port-default-sp": "0"}},
        "egress-queue-mapping": {GLOBAL: {"switch-priority": _queues(ROCE_QUEUES)}},
        "egress-scheduler": {GLOBAL: {"traffic-class": shares}},
        "congestion-control": _congestion("03", kmin=150_000, kmax=1_500_000, pmax=100),
        **({"pfc": {GLOBAL: pause}} if lossless else {}),
    }


def _multi_tc() -> Json:
    """`lossy-multi-tc`: three classes that are trimmed, a fourth for what is left of them."""
    points = dict.fromkeys(CODE_POINTS, 0)
    points.update({1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, **dict.fromkeys(range(11, 41), 4)})
    shares = (4, 8, 18, 22, 22, 22, 4, None)
    return {
        "mapping": {
            GLOBAL: {
                "trust": "both",
                "port-default-sp": "0",
                "dscp": {str(point): {"switch-priority": str(priority)} for point, priority in points.items()},
            }
        },
        "egress-queue-mapping": {GLOBAL: {"switch-priority": _queues(map(str, PRIORITIES))}},
        "egress-scheduler": {GLOBAL: {"traffic-class": {str(tc): _weighted(shares[tc]) for tc in PRIORITIES}}},
        "congestion-control": _congestion("123", kmin=163 * 1024, kmax=234 * 1024, pmax=5),
    }


def _queues(queues: Iterable[str]) -> Json:
    return {str(priority): {"traffic-class": queue} for priority, queue in zip(PRIORITIES, queues, strict=True)}


def _weighted(percent: int | None) -> Json:
    return {"mode": "dwrr"} if percent is None else {"mode": "dwrr", "bw-percent": str(percent)}


def _congestion(queues: str, *, kmin: int, kmax: int, pmax: int) -> Json:
    ramp = {"ecn": ENABLE, "min-threshold": str(kmin), "max-threshold": str(kmax), "probability": str(pmax)}
    return {GLOBAL: {"traffic-class": {str(tc): ramp if str(tc) in queues else {"ecn": DISABLE} for tc in PRIORITIES}}}


def _pools(lossless: Iterable[str]) -> Json:
    pools: Json = {LOSSY_POOL: {"switch-priority": {}}, LOSSLESS_POOL: {"switch-priority": {}}}
    for priority in map(str, PRIORITIES):
        pools[LOSSLESS_POOL if priority in lossless else LOSSY_POOL]["switch-priority"][priority] = {}
    return pools


def with_code_points(mapping: Json) -> Json:
    """A map with the priority of every code point, where it trusts them."""
    named = part(mapping, "dscp")
    if mapping.get("trust") not in ("l3", "both") or len(named) == len(CODE_POINTS):
        return mapping
    default = {str(point): {"switch-priority": str(point // CODE_POINTS_PER_PRIORITY)} for point in CODE_POINTS}
    return {**mapping, "dscp": _laid_over(default, named)}

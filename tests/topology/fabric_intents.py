"""Random fabrics of every design that can be built: for laws."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from railfab.errors import RailfabError
from railfab.intent import FabricIntent
from railfab.topology import Topology, wire

SMALL = ("7220-ixr-d5", "7050dx4-32s", "sn4700")
"""32 cages of 400G that split into 2 x 200G and 4 x 100G."""

BLOCKS = {
    1: [1, 4, 7, 10],
    2: [13, 16, 19, 22],
    3: [25, 28, 31, 34],
    4: [37, 40, 43, 46],
    5: [2, 5, 8, 11],
    6: [14, 17, 20, 23],
    7: [26, 29, 32, 35],
    8: [38, 41, 44, 47],
}
"""Cages of each rail in the design rail-blocks, on switches of 48 cages."""


def fabric(**changes: Any) -> FabricIntent:
    """A pod of two segments on 7220-ixr-d5, as an intent file would say it; `changes` by dotted key."""
    document: dict[str, Any] = {
        "version": 1,
        "fabric": "f",
        "hosts": {"gpus": 8, "nic_ports": 2, "rate_gbps": 100},
        "backend": {
            "segments": {"count": 2, "hosts": 4, "rail_switches": 2, "model": "7220-ixr-d5"},
            "spines": {"count": 4, "rate_gbps": 400, "model": "7220-ixr-d5"},
        },
    }
    for key, value in changes.items():
        _set(document, key.split("__"), deepcopy(value))
    return FabricIntent.model_validate(document)


def _set(document: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        document = document.setdefault(part, {})
    if value is None:
        document.pop(path[-1], None)
    else:
        document[path[-1]] = value


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """An intent's document of any design; not all can be built."""
    nic_ports = draw(st.sampled_from([1, 2, 2, 4]))
    attach = draw(st.sampled_from(["routed", "routed", "vlan", "mlag", "esi"]))
    planes = draw(st.sampled_from([1, 1, nic_ports])) if attach in ("routed", "vlan") else 1
    tiers = draw(st.sampled_from([1, 2, 2, 3]))
    model = draw(st.sampled_from(SMALL))
    backend: dict[str, Any] = {
        "planes": planes,
        "segments": {
            "count": draw(st.integers(1, 2)),
            "hosts": draw(st.integers(1, 3)),
            "rail_switches": draw(st.sampled_from([1, 2, 4, 8])),
            "model": model,
            "ports": draw(st.sampled_from(["by-host", "by-rail"])),
        },
    }
    if tiers > 1:
        spines = draw(st.sampled_from([1, 2, 4]))
        links, bundle = draw(st.sampled_from([1, 2])), draw(st.booleans())
        backend["spines"] = {"count": spines, "links_per_leaf": links, "model": model, "bundle": bundle, **_speed(draw)}
        if draw(st.booleans()):
            del backend["spines"]["links_per_leaf"]
        if tiers > 2:
            groups = draw(st.sampled_from([1, spines]))
            count = groups * draw(st.integers(1, 2))
            backend["super_spines"] = {"count": count, "groups": groups, "links_per_spine": 1, "model": model}
            backend["super_spines"] |= _speed(draw)
            backend["pods"] = draw(st.integers(1, 2))
    profile = {
        "underlay": draw(st.sampled_from(["numbered", "unnumbered"])),
        "control_plane": draw(st.sampled_from(["ebgp", "ibgp", "evpn"])),
        "family": draw(st.sampled_from(["ipv4", "ipv4", "ipv6"])) if attach == "routed" else "ipv4",
    }
    hosts = {"gpus": draw(st.sampled_from([4, 8])), "nic_ports": nic_ports, "rate_gbps": 100, "attach": attach}
    if draw(st.booleans()):
        hosts["nic_per"] = 2
    return {"version": 1, "fabric": "f", "profile": profile, "hosts": hosts, "backend": backend}


def _speed(draw: st.DrawFn) -> dict[str, Any]:
    """Of the links of a tier: whole cages, or four links a cage."""
    return draw(st.sampled_from([{"rate_gbps": 400}, {"rate_gbps": 400}, {"rate_gbps": 100, "breakout": True}]))


@st.composite
def fabrics(draw: st.DrawFn) -> tuple[FabricIntent, Topology]:
    """An intent that can be built, and its topology."""
    intent = FabricIntent.model_validate(draw(documents()))
    topology = wired(intent)
    assume(topology is not None)
    assert topology is not None
    return intent, topology


def wired(intent: FabricIntent) -> Topology | None:
    """None when it cannot be built."""
    try:
        return wire(intent)
    except RailfabError:
        return None


def grown(intent: FabricIntent, what: str) -> FabricIntent:
    """With one more `host`, `segment` or `pod`."""
    backend = intent.backend
    if what == "pod":
        return intent.model_copy(update={"backend": backend.model_copy(update={"pods": backend.pods + 1})})
    field = {"host": "hosts", "segment": "count"}[what]
    segments = backend.segments.model_copy(update={field: getattr(backend.segments, field) + 1})
    return intent.model_copy(update={"backend": backend.model_copy(update={"segments": segments})})

"""Renders and parses network instances: the default one, VRFs and the mac-vrfs of VLANs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from railfab.device import DEFAULT_INSTANCE, Aggregate, BgpSpeaker, DeviceModel, NetworkInstance
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.bgp import render_bgp
from railfab.platforms.srlinux.bgp_parse import SrlinuxSpeaker
from railfab.platforms.srlinux.interfaces_parse import Attached
from railfab.platforms.srlinux.names import subinterface
from railfab.platforms.srlinux.overlay import parse_vrf, render_mac_vrfs, render_vrf_overlay

_TYPE = "srl_nokia-network-instance:"


def render_instances(model: DeviceModel) -> list[Json]:
    """The default network instance, where anything uses it, and the VRFs."""
    default = _instance(DEFAULT_INSTANCE, "default", model)
    if model.bgp is not None:
        router_id = str(model.bgp.router_id) if model.bgp.router_id else None
        default["protocols"] = {"srl_nokia-bgp:bgp": render_bgp(model.bgp, DEFAULT_INSTANCE, router_id)}
    used = "interface" in default or "protocols" in default
    vrfs = [_vrf(instance, model) for instance in model.network_instances]
    return [default] * used + vrfs + render_mac_vrfs(model)


def _instance(name: str, kind: str, model: DeviceModel) -> Json:
    attached = [{"name": subinterface(port.name)} for port in model.interfaces if port.network_instance == name]
    tree: Json = {
        "name": name,
        "type": f"{_TYPE}{kind}",
        "admin-state": "enable",
        # IPv4 packets arrive on unnumbered ports, which have no IPv4 address (RFC 5549).
        "ip-forwarding": {"receive-ipv4-check": False},
    }
    if attached:
        tree["interface"] = attached
    aggregates = (
        [aggregate for aggregate in model.bgp.aggregates if aggregate.network_instance == name] if model.bgp else []
    )
    if aggregates:
        routes = [{"prefix": str(aggregate.prefix), "summary-only": aggregate.summary_only} for aggregate in aggregates]
        tree["srl_nokia-aggregate-routes:aggregate-routes"] = {"route": routes}
    return tree


def _vrf(instance: NetworkInstance, model: DeviceModel) -> Json:
    tree = _instance(instance.name, "ip-vrf", model)
    tree |= render_vrf_overlay(instance)
    if instance.router_id is not None:
        tree["router-id"] = str(instance.router_id)
    if model.bgp is not None and any(neighbor.network_instance == instance.name for neighbor in model.neighbors):
        router_id = instance.router_id or model.bgp.router_id
        speaker = render_bgp(model.bgp, instance.name, str(router_id) if router_id else None)
        tree["protocols"] = tree.get("protocols", {}) | {"srl_nokia-bgp:bgp": speaker}
    return tree


def attached_subinterfaces(instances: list[ConfigNode]) -> Attached:
    """Network instance of every subinterface that an enabled one routes."""
    return {
        str(entry.value["name"]): str(instance.value["name"])
        for instance in instances
        if instance.enabled(default=True) and instance.value.get("type") != "mac-vrf"
        for entry in instance.entries("interface", "name")
    }


def parse_vrfs(instances: list[ConfigNode], vnis: Mapping[str, int]) -> tuple[NetworkInstance, ...]:
    """The VRFs; the default network instance is none. vnis: by VXLAN interface."""
    return tuple(parse_vrf(instance, vnis) for instance in instances if instance.value.get("type") == "ip-vrf")


def parse_bgp(instances: list[ConfigNode], policies: frozenset[str]) -> BgpSpeaker | None:
    """The BGP speaker of the default network instance with the sessions of all; None without one."""
    speakers = {str(instance.value["name"]): SrlinuxSpeaker(instance, policies).bgp() for instance in instances}
    in_order = [speakers.pop(DEFAULT_INSTANCE, None), *speakers.values()]
    running = [speaker for speaker in in_order if speaker is not None]
    if not running:
        return None
    return replace(
        running[0],
        neighbors=tuple(neighbor for speaker in running for neighbor in speaker.neighbors),
        aggregates=tuple(aggregate for instance in instances for aggregate in _aggregates(instance)),
    )


def _aggregates(instance: ConfigNode) -> Iterator[Aggregate]:
    for route in instance.child("aggregate-routes").entries("route", "prefix"):
        prefix = route.network("prefix")
        if prefix is not None and route.enabled(default=True):
            summary_only = route.flag("summary-only", default=False)
            yield Aggregate(prefix=prefix, summary_only=summary_only, network_instance=str(instance.value["name"]))

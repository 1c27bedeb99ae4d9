"""Targets that are known at the start: the switches of an intent, or the hosts of a list without an intent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from railfab.endpoints import Endpoint, Endpoints, Host, load_endpoints, load_hosts
from railfab.endpoints.yaml_file import parse_mapping, read_text
from railfab.platforms import TelemetryMap, has_platform, of_twin, platform, platforms_called
from railfab.telemetry.intended import intended_series
from railfab.telemetry.targets.spec import TargetSpec
from railfab.topology import Topology

TelemetryOf = Callable[[str], TelemetryMap]
"""From the name of a platform to its telemetry map."""


@lru_cache(maxsize=64)
def telemetry_of(platform_name: str, *, twin: bool = False) -> TelemetryMap:
    """The telemetry map of a platform; one without rules for a platform that railfab does not know."""
    if not has_platform(platform_name):
        return TelemetryMap(rules=(), subscriptions=())
    found = platform(platform_name).telemetry
    return of_twin(found) if twin else found


def mapped_telemetry(maps: Mapping[str, TelemetryMap]) -> TelemetryOf:
    """How the telemetry map of a platform is found: that of the user before that of the platform. maps: by platform."""
    if not maps:
        return telemetry_of
    return lambda platform_name: maps[platform_name] if platform_name in maps else telemetry_of(platform_name)


def on_known_platform(endpoint: Endpoint, telemetry: TelemetryOf) -> tuple[Endpoint, TelemetryMap]:
    """The endpoint with railfab's name of its platform where another tool's is written, and its telemetry map.

    A name that has a map of the user, or may mean several platforms, stays.
    """
    found, called = telemetry(endpoint.platform), platforms_called(endpoint.platform)
    if found.subscriptions or found.rules or len(called) != 1:
        return endpoint, found
    (name,) = called
    return replace(endpoint, platform=name), telemetry(name)


def telemetry_of_twin(platform_name: str) -> TelemetryMap:
    """As `telemetry_of`, for virtual switches."""
    return telemetry_of(platform_name, twin=True)


def targets_of_intent(
    topology: Topology,
    endpoints: Endpoints,
    *,
    among: Collection[str] | None = None,
    telemetry: TelemetryOf | None = None,
) -> tuple[TargetSpec, ...]:
    """Every switch of the intent, in its order, also those without an endpoint.

    among: names of the switches that are wanted, where not all are. Labels are those of `fabric_device_info`.
    """
    found, info = endpoints.by_name(), intended_series(topology).series
    read = telemetry or (telemetry_of_twin if endpoints.backend == "twin" else telemetry_of)
    platforms = {
        node.name: found[node.name].platform if node.name in found else node.platform or ""
        for node in topology.switches()
        if among is None or node.name in among
    }
    return tuple(
        TargetSpec(
            name=name,
            platform=name_of_platform,
            endpoint=found.get(name),
            telemetry=read(name_of_platform),
            labels={"fabric": topology.fabric, **dict(info[name][0].labels)},
        )
        for name, name_of_platform in platforms.items()
    )


def targets_of_hosts(path: Path, *, telemetry: TelemetryOf = telemetry_of) -> tuple[TargetSpec, ...]:
    """The hosts of a Nornir hosts.yml, or the nodes of an endpoints file, without an intent.

    Labels are what the file says (`metric_labels` of a host), `platform`, and `groups` as `,leaves,rack1,`: with
    commas on both sides a matcher such as `groups=~".*,rack1,.*"` finds one. Raises EndpointError, or Problems.
    """
    if "nodes" not in parse_mapping(path, read_text(path)).values:
        return tuple(_target_of_host(host, telemetry) for host in load_hosts(path))
    endpoints = load_endpoints(path)
    read = telemetry_of_twin if endpoints.backend == "twin" and telemetry is telemetry_of else telemetry
    return tuple(
        TargetSpec(
            name=node.name,
            platform=node.platform,
            endpoint=node,
            telemetry=found,
            labels={"fabric": endpoints.fabric, "platform": node.platform},
        )
        for node, found in (on_known_platform(node, read) for node in endpoints.nodes)
    )


def _target_of_host(host: Host, telemetry: TelemetryOf) -> TargetSpec:
    endpoint, found = on_known_platform(host.endpoint, telemetry)
    groups = {"groups": f",{','.join(host.groups)},"} if host.groups else {}
    return TargetSpec(
        name=endpoint.name,
        platform=endpoint.platform,
        endpoint=endpoint,
        telemetry=found,
        labels={**host.labels, "platform": endpoint.platform, **groups},
    )

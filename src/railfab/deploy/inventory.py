"""Nornir inventory of a fabric: its switches as hosts, in groups by role, pod, segment, platform and rail.

Registered as `RailfabInventory`, for any Nornir script:

    inventory: {plugin: RailfabInventory, options: {intent: inventory/fabrics/pod64.yml, on: twin, limit: leaf}}
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, cast

from nornir.core.inventory import ConnectionOptions, Defaults, Group, Groups, Host, Hosts, Inventory, ParentGroups
from nornir.core.plugins.connections import ConnectionPlugin, ConnectionPluginRegister

from railfab.deploy.pygnmi_connection import NAME, connection_options, register
from railfab.endpoints import STATE_DIR, Credentials, Endpoint, read_credentials
from railfab.fabric import Design, design, group_names, resolve_endpoints
from railfab.platforms import platform
from railfab.topology import Node

NETMIKO = "netmiko"
"""Name of the connection of nornir_netmiko."""


class RailfabInventory:
    """Nornir inventory plugin.

    intent: path of the intent. on: `twin`, `lab`, a file, or None for the intent's addresses. state: directory of the
    state files of labs and twins. limit: switches or groups, as `--limit` takes them; every switch that it selects must
    have an endpoint.
    """

    def __init__(
        self, intent: str, on: str | None = None, state: str = str(STATE_DIR), limit: str | None = None
    ) -> None:
        self.intent = Path(intent)
        self.on = on
        self.state = Path(state)
        self.limit = limit

    def load(self) -> Inventory:
        """Hosts with endpoints, credentials and groups. Raises RailfabError as `design` and `resolve_endpoints` do."""
        fabric = design(self.intent)
        return inventory_of(fabric, resolve_endpoints(fabric, self.on, self.state, self.limit).nodes)


def inventory_of(fabric: Design, endpoints: tuple[Endpoint, ...]) -> Inventory:
    """The inventory of these endpoints; a host has its endpoint in `data["endpoint"]`.

    Users' own tasks get the connections `netmiko` (with the plugin of nornir_netmiko) and `pygnmi`.
    """
    register()
    _register_netmiko()
    nodes = {node.name: node for node in fabric.topology.switches()}
    names = {endpoint.name: group_names(fabric.topology, nodes[endpoint.name]) for endpoint in endpoints}
    groups = Groups({name: Group(name) for found in names.values() for name in found})
    hosts = Hosts(
        {
            endpoint.name: _host(endpoint, nodes[endpoint.name], [groups[name] for name in names[endpoint.name]])
            for endpoint in endpoints
        }
    )
    return Inventory(hosts=hosts, groups=groups, defaults=Defaults())


def _host(endpoint: Endpoint, node: Node, groups: list[Group]) -> Host:
    credentials = read_credentials(endpoint)
    return Host(
        name=endpoint.name,
        hostname=endpoint.host,
        port=endpoint.ssh_port,
        username=credentials.username,
        password=credentials.password,
        platform=endpoint.platform,
        groups=ParentGroups(groups),
        data={"endpoint": endpoint, "role": str(node.role), "pod": node.pod, "segment": node.segment},
        connection_options={NETMIKO: _netmiko(endpoint, credentials), NAME: connection_options(endpoint)},
    )


@dataclass(frozen=True, eq=False)
class _ImportedOnUse:
    """A connection plugin of another package, which is imported with the first connection.

    Equal to the plugin itself, so that InitNornir may register that later.
    """

    entry_point: EntryPoint

    def __call__(self) -> ConnectionPlugin:
        plugin: type[ConnectionPlugin] = self.entry_point.load()
        return plugin()

    def __eq__(self, plugin: object) -> bool:
        return plugin is self or plugin is self.entry_point.load()

    def __hash__(self) -> int:
        return hash(self.entry_point.load())


def _register_netmiko() -> None:
    """Make nornir_netmiko's connection known to Nornir, as InitNornir does for the plugins of all packages."""
    if NETMIKO in ConnectionPluginRegister.available:
        return
    for entry_point in entry_points(group="nornir.plugins.connections", name=NETMIKO):
        ConnectionPluginRegister.register(NETMIKO, cast(type[ConnectionPlugin], _ImportedOnUse(entry_point)))


def _netmiko(endpoint: Endpoint, credentials: Credentials) -> ConnectionOptions:
    """Options with which users' netmiko tasks connect to the switch: they trust what railfab's own SSH trusts."""
    extras: dict[str, Any] = {
        "ssh_strict": not endpoint.skip_verify,
        "system_host_keys": endpoint.known_hosts is None and not endpoint.skip_verify,
    }
    if endpoint.known_hosts:
        extras |= {"alt_host_keys": True, "alt_key_file": endpoint.known_hosts}
    if credentials.key_file:
        extras |= {"use_keys": True, "key_file": credentials.key_file}
    dialect = platform(endpoint.platform).dialect
    return ConnectionOptions(platform=dialect.netmiko if dialect else None, extras=extras)

"""A virtual SR Linux switch: factory configuration, keys that no label carries, and leaves without a metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from railfab.device import DeviceModel
from railfab.device.diff import ABSENT
from railfab.errors import ConfigError, raise_all
from railfab.gnmi.confirmed import CommitRecord
from railfab.gnmi.paths import ANY, ANY_DEPTH, Element
from railfab.gnmi.target import RequestRefused, YangModel
from railfab.platforms.shared.json_datastore import JsonDatastore
from railfab.platforms.shared.json_tree import Json, bare, member_of
from railfab.platforms.shared.virtual_addresses import discriminator, is_address, link_local, mac_address
from railfab.platforms.srlinux.bgp import US_PER_MS
from railfab.platforms.srlinux.cli import cli
from railfab.platforms.srlinux.constraints import violations
from railfab.platforms.srlinux.drain import frozen_instances, has_groups, overlapping_groups
from railfab.platforms.srlinux.management import GRPC_SERVER
from railfab.platforms.srlinux.mtu import DEFAULTS, with_default_mtus
from railfab.platforms.srlinux.names import cage_of
from railfab.platforms.srlinux.parse import known_lines, parse_tree
from railfab.platforms.srlinux.refusal_texts import unknown_element
from railfab.platforms.srlinux.refusals import plain_refusals
from railfab.platforms.srlinux.schema import names, options, schema
from railfab.platforms.srlinux.tree import entry_keys, lines, stripped
from railfab.platforms.srlinux.twin_leaves import VERSION, date, device_leaves, lag_leaves, port_leaves
from railfab.platforms.twin_face import TwinFace, VirtualSession
from railfab.units import NS_PER_S

MODULES = ("interfaces", "network-instance", "bgp", "bfd", "qos", "routing-policy", "system", "lldp")

ORIGINS = ("srl_nokia", "native")
"""Origins of gNMI paths of Nokia's models: OpenConfig's feature profiles configure SR Linux with the first
(openconfig/featureprofiles, gNSI accounting tests), and gnmic shows its answers under the second. `openconfig` needs
the OpenConfig models, which are not enabled in the factory configuration (srl_nokia-grpc, `yang-models` native)."""

MANAGEMENT = frozenset(("mgmt0", "mgmt"))
"""Interface and network instance of management, part of the factory configuration."""


def factory(name: str) -> Json:
    """The configuration of a switch that has only its name and its management access."""
    grpc_server = {"name": "mgmt", "admin-state": "enable", "network-instance": "mgmt", "services": ["gnmi"]}
    return {
        "srl_nokia-interfaces:interface": [
            {"name": "mgmt0", "admin-state": "enable", "subinterface": [{"index": 0, "admin-state": "enable"}]}
        ],
        "srl_nokia-network-instance:network-instance": [
            {"name": "mgmt", "type": "srl_nokia-network-instance:ip-vrf", "interface": [{"name": "mgmt0.0"}]}
        ],
        "srl_nokia-system:system": {
            "srl_nokia-grpc:grpc-server": [grpc_server],
            "srl_nokia-system-name:name": {"host-name": name},
        },
    }


def configured(tree: Mapping[str, Any]) -> bool:
    """Whether there is an interface or a network instance beside those of management, QoS, BFD or a policy."""
    plain = {bare(name): child for name, child in tree.items()}
    names = {entry.get("name") for part in ("interface", "network-instance") for entry in plain.get(part, [])}
    return bool(names - MANAGEMENT or {"qos", "bfd", "routing-policy"} & plain.keys())


def wildcard(device: str, key: str, pattern: str, labels: Mapping[str, str]) -> str | None:
    """The value that the twin uses for the `*` in this key; None when the rule does not apply to these labels."""
    if key == "peer-address":
        return None if is_address(labels["peer"]) else str(link_local(device, labels["peer"]))
    if key == "local-discriminator":
        return discriminator(device, labels.get("peer", ""))
    if key == "id":
        return mac_address(labels.get("peer_device", ""))
    return "default" if pattern == "*" else None


def session_leaves(device: str, session: VirtualSession) -> dict[str, Any]:
    """The leaves that no metric carries: of the peer, and the timers and the address of BFD."""
    numbered = is_address(session.peer)
    key = session.peer if numbered else f"{link_local(device, session.peer)}%{session.peer}.0"
    neighbor = f"/network-instance[name=default]/protocols/bgp/neighbor[peer-address={key}]"
    admin_state = "enable" if session.enabled else "disable"
    leaves: dict[str, Any] = {f"{neighbor}/peer-as": session.remote_as, f"{neighbor}/admin-state": admin_state}
    if session.peer_router_id is not None:
        leaves[f"{neighbor}/peer-router-id"] = session.peer_router_id
    if session.bfd_up is None:
        return leaves
    number = discriminator(device, session.peer)
    peer = f"/bfd/network-instance[name=default]/peer[local-discriminator={number}]"
    if numbered:
        leaves[f"{peer}/remote-address"] = session.peer
        leaves[f"{peer}/session-state"] = "UP" if session.bfd_up else "DOWN"
    return leaves | {f"{peer}/{leaf}": value for leaf, value in _bfd_timers(session).items() if value is not None}


def _bfd_timers(session: VirtualSession) -> dict[str, int | None]:
    """The timers in use, as srl_nokia-bfd has them [us]; None for those that the far end has not announced."""
    intervals_ms = {
        "active-transmit-interval": session.bfd_transmit_ms,
        "active-receive-interval": session.bfd_receive_ms,
        "remote-minimum-receive-interval": session.bfd_remote_receive_ms,
    }
    in_us = {leaf: None if value is None else value * US_PER_MS for leaf, value in intervals_ms.items()}
    return in_us | {"remote-multiplier": session.bfd_remote_multiplier}


def commit_leaves(records: Sequence[CommitRecord]) -> dict[str, Any]:
    """The state of confirmed commits, as srl_nokia-configuration.yang 25.3.1 has it.

    Its `persist-id` is the "Persistent confirmed commit identifier": the id that a gNMI client gave. Nokia publishes no
    example of it for a commit over gNMI.
    """
    leaves: dict[str, Any] = {}
    for record in records:
        commit = f"/system/configuration/commit[id={record.number}]"
        leaves[f"{commit}/status"] = record.status.value
        if record.id:
            leaves[f"{commit}/persist-id"] = record.id
        leaves[f"{commit}/started"] = date(record.started_ns / NS_PER_S)
        if record.ended_ns is not None:
            leaves[f"{commit}/ended"] = date(record.ended_ns / NS_PER_S)
    return leaves


def _model(tree: Json, rendered: Json, initial: Collection[str]) -> DeviceModel:
    """The model of a configuration with the parts of the management access that a rendered one states.

    Unmodelled are the lines that the parser does not know, and not those that it puts in other words, or that the twin
    itself obeys.
    initial: lines of the factory configuration, which no model has.
    Raises ConfigError, or Problems.
    """
    model = parse_tree(tree, rendered)
    left = [line for line in model.unmodelled if line not in initial and not line.startswith((ABSENT, *OBEYED))]
    known = known_lines(tree, rendered) if left else frozenset()
    return replace(model, unmodelled=tuple(line for line in left if line not in known))


def check(tree: Json) -> None:
    """Raise ConfigError, or Problems, for what Nokia's models refuse of a configuration."""
    plain = stripped(tree)
    refused = plain_refusals(plain) or violations(plain)
    raise_all([ConfigError(refusal.where, refusal.said or refusal.problem, "Correct it") for refusal in refused])


def check_path(device: str, path: tuple[Element, ...]) -> None:
    """Raise RequestRefused for a path of a Set with an element that the configuration does not have."""
    _check_elements(device, path, options)


def check_asked(device: str, path: tuple[Element, ...]) -> None:
    """Raise RequestRefused for a path of a Get or Subscribe with an element that neither configuration nor state has.

    Of what is below a node of the state, the schema knows nothing.
    """
    _check_elements(device, path, names)


def _check_elements(device: str, path: tuple[Element, ...], names_of: Callable[[Any], list[str]]) -> None:
    node: Any = schema().nodes
    for step in path:
        if node is None or step.name in (ANY, ANY_DEPTH):
            return
        known = names_of(node) if isinstance(node, dict) else []
        if step.name not in known:
            raise RequestRefused(device, unknown_element(step.name, known), "Correct the path")
        node = node[step.name]


def _with_profile(tree: Json, rendered: Json) -> Json:
    """A factory configuration with the TLS profile that a rendered one names: its certificate is the operator's."""
    system = stripped(rendered).get("system", {})
    names = {entry.get("tls-profile") for entry in system.get("grpc-server", [])} - {None}
    profiles = {"srl_nokia-tls:tls": {"server-profile": [{"name": name} for name in names]}} if names else {}
    return tree | {"srl_nokia-system:system": tree["srl_nokia-system:system"] | profiles}


def _datastore(name: str, rendered: Json) -> JsonDatastore:
    start = _with_profile(factory(name), rendered)

    def checked(tree: Json) -> None:
        check(tree)
        raise_all(list(_frozen(datastore.running, tree)))

    datastore = JsonDatastore(
        name,
        entry_keys,
        factory=start,
        rendered=rendered,
        configured=configured,
        check=checked,
        check_path=partial(check_path, name),
        modules=schema().namespaces,
        rivals=schema().rivals,
        identities=schema().identity_modules,
        parse=partial(_model, rendered=rendered, initial=frozenset(lines(start))),
    )
    return datastore


def _frozen(running: Json, tree: Json) -> Iterator[ConfigError]:
    """Changes that a switch refuses while it is in maintenance mode. Nokia publishes no text of its answer."""
    if not has_groups(tree):
        return
    plain = stripped(tree)
    remedy = "End maintenance mode in a commit of its own first"
    for name in frozen_instances(stripped(running), plain) if has_groups(running) else ():
        where = f"/ network-instance {name} protocols bgp"
        yield ConfigError(where, "is in maintenance mode, and cannot be modified", remedy)
    for group, rival in overlapping_groups(plain):
        where = f"/ system maintenance group {group} maintenance-mode admin-state"
        problem = f"cannot be enable together with that of group {rival}, which has a BGP session of it"
        yield ConfigError(where, problem, "Disable one of them")


def foreign_ports(tree: Json, cages: Sequence[str]) -> tuple[ConfigError, ...]:
    """The ports of a configuration that are in none of these cages.

    Nokia's pattern of a name admits slots and ports of every chassis; railfab has no recorded answer of a switch.
    """
    names = [str(entry.get("name")) for entry in member_of(tree, "interface", []) if isinstance(entry, dict)]
    known = f"the switch has {cages[0]} to {cages[-1]}" if cages else ""
    return tuple(
        ConfigError(f"/ interface {name}", f"is no port of the switch; {known}", "Correct it")
        for name in names
        if cages and name.startswith("ethernet-") and not _cage(name) & {*cages}
    )


def _cage(name: str) -> set[str]:
    """The cage of a port, whose name may be that of a lane."""
    return {name, cage_of(name)}


OBEYED = (
    *(f"set / system grpc-server {GRPC_SERVER} {leaf} " for leaf in ("admin-state", "network-instance", "tls-profile")),
    f"set / system grpc-server {GRPC_SERVER} gnmi commit-save ",
    "set / system configuration auto-save ",
    *(f"set / system mtu {leaf} " for leaf in DEFAULTS),
)
"""Beginnings of the lines that `serves_gnmi`, `saves` and `with_default_mtus` read: no model has them, and they have an
effect."""


def serves_gnmi(tree: Json) -> bool:
    """Whether the gRPC server of the factory runs, in a network instance and with a TLS profile that exist.

    The reference to a TLS profile has no `require-instance` in srl_nokia-grpc: a missing profile is not refused.
    """
    system = stripped(member_of(tree, "system", {}))
    server: Json = next((entry for entry in system.get("grpc-server", []) if entry.get("name") == GRPC_SERVER), {})
    profiles = {entry.get("name") for entry in system.get("tls", {}).get("server-profile", [])}
    instances = {entry.get("name") for entry in member_of(tree, "network-instance", [])}
    return (
        server.get("admin-state") == "enable"
        and server.get("network-instance") in instances
        and server.get("tls-profile") in {None, *profiles}
    )


def saves(tree: Json) -> bool:
    """Whether each commit over gNMI is saved as the startup configuration.

    srl_nokia-gnmi: commit-save; srl_nokia-configuration: auto-save; both are off unless they are configured.
    """
    system = stripped(member_of(tree, "system", {}))
    server: Json = next((entry for entry in system.get("grpc-server", []) if entry.get("name") == GRPC_SERVER), {})
    settings = (server.get("gnmi", {}).get("commit-save"), system.get("configuration", {}).get("auto-save"))
    return any(value in (True, "true") for value in settings)


@cache
def twin() -> TwinFace:
    """The face of a virtual SR Linux switch."""
    return TwinFace(
        datastore=_datastore,
        models=tuple(YangModel(f"urn:nokia.com:srlinux:srl_nokia-{name}", "Nokia", VERSION) for name in MODULES),
        wildcard=wildcard,
        session_leaves=session_leaves,
        # Nokia's models name the extension: feature gnmi-extensions of srl_nokia-features.yang, "gNMI commit confirmed,
        # depth and config subscription extensions", from 24.7.1 on and in 25.3.1.
        commits=commit_leaves,
        cli=cli,
        check_asked=check_asked,
        serves_gnmi=serves_gnmi,
        port_leaves=port_leaves,
        lag_leaves=lag_leaves,
        device_leaves=device_leaves,
        device_paths=(("system", "configuration"), ("system", "information", "version"), ("platform", "chassis")),
        origins=ORIGINS,
        saves=saves,
        in_effect=with_default_mtus,
        foreign_ports=foreign_ports,
    )

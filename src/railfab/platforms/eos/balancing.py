"""Load balancing: of flowlets (dynamic), of the flows of hosts (cluster), and queue pairs in the hash."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import BalancingMode, DeviceModel, Port, interfaces_of_peers
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.platforms.shared.line_tree import Line

DYNAMIC = "ip hardware fib load-balance distribution dynamic"
CLUSTER = "load-balance cluster"
POLICIES = "load-balance policies"
PROFILE = "load-balance sand profile default"
ROCE = "fields udp dst-port 4791"
QUEUE_PAIR = "payload bytes 5-7"
"""The destination queue pair in the payload of UDP: bytes 5 to 7 of the base transport header (InfiniBand, BTH)."""

LEARNING = Line("flow source learning", (Line("aging timeout 30 seconds"),))


def dynamic_lines(model: DeviceModel) -> Iterator[Line]:
    """Flowlets take the link with the least load (EOS User Manual, Dynamic Load Balancing; Tomahawk 3 and later)."""
    if model.load_balancing is not None and model.load_balancing.mode is BalancingMode.FLOWLET:
        yield Line(DYNAMIC)


def cluster_lines(model: DeviceModel) -> Iterator[Line]:
    """Flows of hosts are learned and dealt out to the uplinks in turn (EOS 4.32.2F, Cluster Load Balancing).

    Each host port is a group of its own. Over VXLAN flows are grouped by the VTEP that they go to.
    """
    if model.load_balancing is None or model.load_balancing.mode is not BalancingMode.COLLECTIVE:
        return
    overlay = model.vtep is not None
    forwarding = "bridged encapsulation vxlan ipv4" if overlay else "routed ipv4"
    lines = (
        f"forwarding type {forwarding}",
        f"destination grouping {'vtep' if overlay else 'prefix length 32'}",
        "load-balance method flow round-robin",
    )
    groups = (Line(f"port group host {name.replace('/', '-')}", (Line(f"interface {name}"),)) for name in _hosts(model))
    yield Line(CLUSTER, (*map(Line, lines), LEARNING, *groups))


def hash_lines(model: DeviceModel) -> Iterator[Line]:
    """The queue pair of RoCEv2 packets in the hash (PyAVD, load_balance.policies.sand_profiles; EOS 4.33.1F, Jericho).

    It is added to the profile of the whole switch, which has the other fields (`show load-balance profile` of a 7280SR:
    `default (global)`, with both addresses, the protocol and both ports on).
    """
    if model.load_balancing is not None and {*model.load_balancing.fields} == QUEUE_PAIR_FIELDS:
        yield Line(POLICIES, (Line(PROFILE, (Line(ROCE, (Line(QUEUE_PAIR),)),)),))


def _hosts(model: DeviceModel) -> Iterator[str]:
    """The ports to hosts: bridged, or with addresses and without a session."""
    peers = set(interfaces_of_peers(model).values())
    for port in model.interfaces:
        if isinstance(port, Port) and port.name not in peers and (port.vlans is not None or port.addresses):
            yield port.name

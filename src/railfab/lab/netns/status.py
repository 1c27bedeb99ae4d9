"""Status of the nodes of an embedded lab."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.lab.contract import NodeStatus
from railfab.lab.netns import namespaces, processes
from railfab.lab.netns.lifecycle import AGENT, server_probes
from railfab.lab.netns.node import DAEMONS
from railfab.lab.netns.runtime import GNMI_PORT, address, node_directory
from railfab.lab.netns.state import LabNode, NetnsState
from railfab.lab.probes import daemon_probe, failed_services

GONE = "gone"
DEGRADED = "degraded"
RUNNING = "running"


def node_statuses(state: NetnsState) -> tuple[NodeStatus, ...]:
    """Status of every node, and of the gNMI agent last."""
    existing = namespaces.namespace_names() if state.boot == processes.boot_id() else set()
    gone = {node.name: reason for node in state.nodes if (reason := _gone(state, node, existing))}
    failed = _failed_services(state, (node for node in state.switches() if node.name not in gone))
    return (*(_node(state, node, gone, failed) for node in state.nodes), _agent(state))


def _gone(state: NetnsState, node: LabNode, existing: set[str]) -> str:
    """Reason why a node does not exist any more; empty when it does."""
    if node.namespace not in existing:
        return f"namespace {node.namespace} does not exist"
    holder = state.process(node.name)
    ended = node.address is not None and (holder is None or not processes.is_running(holder))
    return "its first process has ended" if ended else ""


def _failed_services(state: NetnsState, nodes: Iterable[LabNode]) -> dict[str, list[str]]:
    """FRR daemons and servers that do not answer, by switch; all switches are asked at the same time."""
    probes = []
    for node in nodes:
        sockets = node_directory(state, node.name) / "run-frr"
        probes += [*(daemon_probe(node.name, daemon, sockets) for daemon in DAEMONS), *server_probes(node)]
    return failed_services(probes)


def _node(state: NetnsState, node: LabNode, gone: dict[str, str], failed: dict[str, list[str]]) -> NodeStatus:
    if node.name in gone:
        return _status(node, GONE, gone[node.name])
    if node.address is None:
        return _status(node, RUNNING, f"ip netns exec {node.namespace} COMMAND")
    if node.name in failed:
        services = ", ".join(failed[node.name])
        return _status(node, DEGRADED, f"no answer from {services}; log in {node_directory(state, node.name)}")
    return _status(node, RUNNING, f"ssh {address(node)}, gNMI {address(node)}:{GNMI_PORT}")


def _status(node: LabNode, state: str, detail: str) -> NodeStatus:
    return NodeStatus(name=node.name, kind=node.kind, state=state, address=address(node) or None, detail=detail)


def _agent(state: NetnsState) -> NodeStatus:
    agent = state.process(AGENT)
    running = agent is not None and processes.is_running(agent)
    detail = f"log in {state.runtime / 'agent.log'}"
    return NodeStatus(name=AGENT, kind="agent", state=RUNNING if running else GONE, address=None, detail=detail)

"""Status of the nodes of an embedded lab."""

from __future__ import annotations

from railfab.lab.backend import NodeStatus
from railfab.lab.netns import namespaces, processes
from railfab.lab.netns.lifecycle import AGENT, answers
from railfab.lab.netns.node import failed_daemons
from railfab.lab.netns.runtime import GNMI_PORT, SSH_PORT, address, node_directory
from railfab.lab.netns.state import LabNode, LabState

GONE = "gone"
DEGRADED = "degraded"
RUNNING = "running"


def node_statuses(state: LabState) -> tuple[NodeStatus, ...]:
    """Status of every node, and of the gNMI agent last."""
    existing = namespaces.namespace_names() if state.boot == processes.boot_id() else set()
    return (*(_node(state, node, existing) for node in state.nodes), _agent(state))


def _node(state: LabState, node: LabNode, existing: set[str]) -> NodeStatus:
    if node.namespace not in existing:
        return _status(node, GONE, f"namespace {node.namespace} does not exist")
    if node.address is None:
        return _status(node, RUNNING, f"ip netns exec {node.namespace} COMMAND")
    holder = state.process(node.name)
    if holder is None or not processes.is_running(holder):
        return _status(node, GONE, "its first process has ended")
    failed = _failed_services(state, node)
    if failed:
        return _status(node, DEGRADED, f"no answer from {', '.join(failed)}; log in {node_directory(state, node.name)}")
    return _status(node, RUNNING, f"ssh {address(node)}, gNMI {address(node)}:{GNMI_PORT}")


def _status(node: LabNode, state: str, detail: str) -> NodeStatus:
    return NodeStatus(name=node.name, kind=node.kind, state=state, address=address(node) or None, detail=detail)


def _failed_services(state: LabState, node: LabNode) -> tuple[str, ...]:
    """FRR daemons and servers of a switch that do not accept connections."""
    daemons = failed_daemons(node_directory(state, node.name))
    ports = {"SSH": SSH_PORT, "gNMI": GNMI_PORT}
    return (*daemons, *(name for name, port in ports.items() if not answers(address(node), port)))


def _agent(state: LabState) -> NodeStatus:
    agent = state.process(AGENT)
    running = agent is not None and processes.is_running(agent)
    detail = f"log in {state.runtime / 'agent.log'}"
    return NodeStatus(name=AGENT, kind="agent", state=RUNNING if running else GONE, address=None, detail=detail)

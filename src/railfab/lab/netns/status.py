"""How the nodes of an embedded lab are."""

from __future__ import annotations

from railfab.lab.backend import NodeStatus
from railfab.lab.netns import kernel
from railfab.lab.netns.lifecycle import AGENT, answers
from railfab.lab.netns.node import dead_daemons
from railfab.lab.netns.runtime import GNMI_PORT, SSH_PORT, address, node_root
from railfab.lab.netns.state import LabNode, LabState

GONE = "gone"
DEGRADED = "degraded"
RUNNING = "running"


def node_statuses(state: LabState) -> tuple[NodeStatus, ...]:
    """Every node, and last the gNMI agent."""
    there = kernel.namespaces() if state.boot == kernel.boot_id() else set()
    return (*(_node(state, node, there) for node in state.nodes), _agent(state))


def _node(state: LabState, node: LabNode, there: set[str]) -> NodeStatus:
    if node.namespace not in there:
        return _status(node, GONE, f"no namespace {node.namespace}")
    if node.address is None:
        return _status(node, RUNNING, f"ip netns exec {node.namespace} COMMAND")
    holder = state.process(node.name)
    if holder is None or not kernel.is_running(holder):
        return _status(node, GONE, "its first process has ended")
    silent = _silent(state, node)
    if silent:
        return _status(node, DEGRADED, f"{', '.join(silent)} does not answer; log in {node_root(state, node.name)}")
    return _status(node, RUNNING, f"ssh {address(node)}, gNMI {address(node)}:{GNMI_PORT}")


def _status(node: LabNode, state: str, detail: str) -> NodeStatus:
    return NodeStatus(name=node.name, kind=node.kind, state=state, address=address(node) or None, detail=detail)


def _silent(state: LabState, node: LabNode) -> tuple[str, ...]:
    """What should answer in a switch and does not."""
    daemons = dead_daemons(node_root(state, node.name))
    ports = {"SSH": SSH_PORT, "gNMI": GNMI_PORT}
    return (*daemons, *(name for name, port in ports.items() if not answers(address(node), port)))


def _agent(state: LabState) -> NodeStatus:
    agent = state.process(AGENT)
    running = agent is not None and kernel.is_running(agent)
    detail = f"log in {state.runtime / 'agent.log'}"
    return NodeStatus(name=AGENT, kind="agent", state=RUNNING if running else GONE, address=None, detail=detail)

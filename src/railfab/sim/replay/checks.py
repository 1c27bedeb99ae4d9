"""Checks of a scenario whose values are numbers of the right kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from railfab.errors import RailfabError
from railfab.sim.kernel.records import MAX_HOPS
from railfab.sim.network import Network, Routing
from railfab.sim.replay.parameters import Parameters
from railfab.sim.replay.rows import CableRow, FlowRow
from railfab.sim.replay.tables import CsvTable, Errors

MOST_SLOTS = 1 << 26
"""Most entries of the table of arrivals, which is larger the more the delays differ."""
MOST_PACKETS = (1 << 31) - 1
MOST_ROUTES = 1 << 28
"""Most pairs of a switch and a host."""
MOST_NAMED = 8


def check_links(cables: Sequence[CableRow], table: CsvTable, parameters: Parameters) -> Errors:
    if not cables:
        return [RailfabError(str(table.path), "has no links", "Add a line for each cable")]
    return [
        *_size(table, parameters),
        *_ends(cables, table),
        *_ports(cables, table),
        *_hosts(cables, table, parameters),
        *_packet_times(cables, table, parameters),
        *_delays(cables, table, parameters),
    ]


def _size(table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    switches = len(parameters.switches)
    hosts = parameters.nodes - switches
    if switches * hosts > MOST_ROUTES:
        problem = f"{switches:,} switches with routes to {hosts:,} hosts are too many"
        yield RailfabError(str(table.path.with_name("scenario.json")), problem, "Give fewer nodes")


def _ends(cables: Sequence[CableRow], table: CsvTable) -> Iterator[RailfabError]:
    for row, cable in enumerate(cables):
        if cable.a == cable.b:
            yield RailfabError(table.place(row, "b"), f"connects node {cable.a} with itself", "Name another node")


def _ports(cables: Sequence[CableRow], table: CsvTable) -> Iterator[RailfabError]:
    seen: dict[tuple[int, int], int] = {}
    for row, cable in enumerate(cables):
        for column, port in (("a_port", (cable.a, cable.a_port)), ("b_port", (cable.b, cable.b_port))):
            if port in seen:
                problem = f"port {port[0]}:{port[1]} is in line {table.lines[seen[port]]} too"
                yield RailfabError(table.place(row, column), problem, "Give each cable ports of its own")
            seen.setdefault(port, row)


def _hosts(cables: Sequence[CableRow], table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    switches = set(parameters.switches)
    seen: dict[int, int] = {}
    for row, cable in enumerate(cables):
        for column, node in (("a", cable.a), ("b", cable.b)):
            if node in switches:
                continue
            if node in seen:
                problem = f"host {node} has a second link, the first is in line {table.lines[seen[node]]}"
                remedy = "Give each NIC port a node of its own, or list the node in switches"
                yield RailfabError(table.place(row, column), problem, remedy)
            seen.setdefault(node, row)


def _packet_times(cables: Sequence[CableRow], table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    """Times are rounded down to ns; a link on which a packet takes none would be infinitely fast."""
    octets = parameters.frame_bytes
    for row, cable in enumerate(cables):
        if octets * 8 < cable.rate_gbps:
            problem = f"a packet of {octets} bytes takes less than 1 ns at {cable.rate_gbps:g} Gb/s"
            yield RailfabError(table.place(row, "rate_bps"), problem, "Give a lower rate or a larger payload")


def _delays(cables: Sequence[CableRow], table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    shortest, longest = min(cable.delay_ns for cable in cables), max(cable.delay_ns for cable in cables)
    if 2 * longest / shortest * parameters.nodes > MOST_SLOTS:
        row = next(row for row, cable in enumerate(cables) if cable.delay_ns == longest)
        problem = f"{longest:g} ns is {longest / shortest:.0f} times the shortest delay, {shortest:g} ns"
        yield RailfabError(table.place(row, "delay_ns"), problem, "Give delays that differ less")


def check_flows(flows: Sequence[FlowRow], table: CsvTable, parameters: Parameters) -> Errors:
    if not flows:
        return [RailfabError(str(table.path), "has no flows", "Add a line for each flow")]
    return [
        *_flow_numbers(flows, table),
        *_flow_ends(flows, table, parameters),
        *_flow_packets(flows, table, parameters),
        *_dependencies(flows, table),
    ]


def _flow_numbers(flows: Sequence[FlowRow], table: CsvTable) -> Iterator[RailfabError]:
    seen: dict[int, int] = {}
    for row, flow in enumerate(flows):
        if flow.id in seen:
            problem = f"flow {flow.id} is in line {table.lines[seen[flow.id]]} too"
            yield RailfabError(table.place(row, "flow"), problem, "Give each flow a number of its own")
        seen.setdefault(flow.id, row)


def _flow_ends(flows: Sequence[FlowRow], table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    switches = set(parameters.switches)
    for row, flow in enumerate(flows):
        for column, node in (("src", flow.source), ("dst", flow.target)):
            if node in switches:
                yield RailfabError(table.place(row, column), f"node {node} is a switch", "Name a host")
        if flow.source == flow.target:
            problem = f"flow {flow.id} leads from host {flow.source} to itself"
            yield RailfabError(table.place(row, "dst"), problem, "Name another host")


def _flow_packets(flows: Sequence[FlowRow], table: CsvTable, parameters: Parameters) -> Iterator[RailfabError]:
    for row, flow in enumerate(flows):
        packets = -(-flow.size_bytes // parameters.payload)
        if packets > MOST_PACKETS:
            problem = f"{flow.size_bytes:,} bytes are {packets:,} packets, more than {MOST_PACKETS:,}"
            yield RailfabError(table.place(row, "size_bytes"), problem, "Give a smaller size or a larger payload")


def _dependencies(flows: Sequence[FlowRow], table: CsvTable) -> Iterator[RailfabError]:
    place = {flow.id: row for row, flow in enumerate(flows)}
    after = {flow.id: flow.after for flow in flows if flow.after is not None}
    for flow, other in after.items():
        if other not in place:
            problem = f"flow {flow} starts after flow {other}, which does not exist"
            yield RailfabError(table.place(place[flow], "after"), problem, "Name a flow of this file, or -1")
    for cycle in _cycles(after):
        named = [*map(str, cycle[:MOST_NAMED]), *(["..."] if len(cycle) > MOST_NAMED else []), str(cycle[0])]
        problem = f"flows wait for each other: {' after '.join(named)}"
        yield RailfabError(table.place(place[cycle[0]], "after"), problem, "Let one of them start at a time (after -1)")


def _cycles(after: Mapping[int, int]) -> Iterator[list[int]]:
    """Cycles of flows that each start after the next one."""
    finished: set[int] = set()
    for first in after:
        path: dict[int, None] = {}
        flow: int | None = first
        while flow is not None and flow not in finished and flow not in path:
            path[flow] = None
            flow = after.get(flow)
        if flow in path:
            members = list(path)
            yield members[members.index(flow) :]
        finished.update(path)


def check_reachable(flows: Sequence[FlowRow], table: CsvTable, network: Network, routing: Routing) -> Errors:
    """Hosts without a link, and pairs of hosts without a path. All shortest paths of a pair are equally long."""
    out = np.full(network.nodes, -1)
    out[network.near] = np.arange(network.links)
    source, target = np.array([(flow.source, flow.target) for flow in flows]).T
    node = np.where(out[source] >= 0, network.far[out[source]], -1)
    for _ in range(MAX_HOPS - 1):
        on = np.flatnonzero((node >= 0) & network.is_switch[node])
        group = routing.group[routing.row[node[on]], routing.destination[target[on]]]
        node[on] = -1
        on, group = on[group >= 0], group[group >= 0]
        node[on] = network.far[routing.members[routing.begin[group]]]
    return [
        RailfabError(
            table.place(row, "dst"),
            f"host {flows[row].target} cannot be reached from host {flows[row].source} in {MAX_HOPS} links",
            "Add the missing links to links.csv",
        )
        for row in np.flatnonzero(node != target).tolist()
    ]

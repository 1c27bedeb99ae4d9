"""A scenario folder as a network, routes and flows: `scenario.json`, `links.csv`, `flows.csv`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from railfab.sim.network import Flow, Framing, Network, Routing, plain_network
from railfab.sim.replay.checks import check_flows, check_links, check_reachable
from railfab.sim.replay.parameters import HEADER_BYTES, Parameters, read_parameters
from railfab.sim.replay.routes import shortest_paths
from railfab.sim.replay.rows import RESULTS, CableRow, FlowRow, read_cables, read_flows
from railfab.sim.replay.tables import CsvTable, Errors, raise_found
from railfab.sim.transport import Dcqcn, Recovery, Transport

XON_GAP_BYTES = 2496.0
PRIORITY = 3
"""Queue and PFC priority of all data."""
ACK_BYTES = 60
QUANTUM_PS = 1000
"""The reference rounds times of packets down to whole ns."""
FIRST_SOURCE_PORT, TARGET_PORT = 10_000, 100
NAK_INTERVAL_NS = 500_000.0
KSCALE_GBPS = 25.0
"""With kscale, kmin and kmax are those of a link of this rate."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """A network, its routes, flows and transport, ready for an engine.

    ports: (link,) the node and the number of the port that sends on each link. notes: what the files say without an
    effect, in sentences.
    """

    name: str
    network: Network
    routing: Routing
    framing: Framing
    transport: Transport
    flows: tuple[Flow, ...]
    ports: tuple[tuple[int, int], ...]
    parameters: Parameters
    folder: Path
    notes: tuple[str, ...]

    @property
    def stop_ns(self) -> float:
        return self.parameters.stop_ns


def load(folder: Path) -> Scenario:
    """Read and check a scenario. Raises RailfabError, for several mistakes Problems."""
    errors: Errors = []
    parameters = read_parameters(folder / "scenario.json", errors)
    raise_found(errors, folder)
    cables, cable_table = read_cables(folder / "links.csv", parameters.nodes, errors)
    rows, flow_table = read_flows(folder / "flows.csv", parameters.nodes, errors)
    raise_found(errors, folder)
    errors += check_links(cables, cable_table, parameters)
    errors += check_flows(rows, flow_table, parameters)
    raise_found(errors, folder)
    network = _network(parameters, cables)
    routing = shortest_paths(network.near, network.far, network.is_switch)
    raise_found(check_reachable(rows, flow_table, network, routing), folder)
    return Scenario(
        name=parameters.name,
        network=network,
        routing=routing,
        framing=_framing(parameters),
        transport=_transport(parameters),
        flows=tuple(_flows(rows)),
        ports=tuple(end for cable in cables for end in ((cable.a, cable.a_port), (cable.b, cable.b_port))),
        parameters=parameters,
        folder=folder,
        notes=_notes(folder, parameters, cable_table, flow_table),
    )


def _notes(folder: Path, parameters: Parameters, cables: CsvTable, flows: CsvTable) -> tuple[str, ...]:
    """What is not read, but for what the reference has measured or describes."""
    columns = [name for name in flows.others if name not in RESULTS]
    found = (
        (folder / "scenario.json", "key", parameters.unknown),
        (cables.path, "column", cables.others),
        (flows.path, "column", columns),
    )
    return tuple(
        f"{path}: {kind} {', '.join(names)} is unknown and has no effect." for path, kind, names in found if names
    )


def _framing(parameters: Parameters) -> Framing:
    return Framing(
        payload_bytes=parameters.payload,
        header_bytes=HEADER_BYTES,
        gap_bytes=0,
        ack_bytes=ACK_BYTES,
        ack_every=max(1, -(-parameters.ackint // parameters.payload)),
    )


def _network(parameters: Parameters, cables: Sequence[CableRow]) -> Network:
    is_switch = np.zeros(parameters.nodes, bool)
    is_switch[list(parameters.switches)] = True
    near = np.array([end for cable in cables for end in (cable.a, cable.b)], np.int64)
    far = near.reshape(-1, 2)[:, ::-1].ravel()
    rate = np.repeat([cable.rate_gbps for cable in cables], 2)
    delay = np.repeat([cable.delay_ns for cable in cables], 2)
    plain = plain_network(near, far, is_switch, rate)
    lossless = np.zeros_like(plain.pfc_sent)
    lossless[:, PRIORITY] = True
    into_switch = lossless & is_switch[far][:, None]
    headroom = 3 * rate / 8 * delay + 4 * parameters.frame_bytes
    network = replace(
        plain,
        delay_ns=delay,
        pause_delay_ns=delay,
        queue_of=np.full((len(near), 1), PRIORITY),
        priority_of=np.full((len(near), 1), PRIORITY),
        nic_queue=np.array([PRIORITY]),
        shared_bytes=np.where(is_switch, parameters.buffer, np.inf),
        xoff_alpha=np.where(into_switch, parameters.alpha, 0.0),
        xon_gap_bytes=np.where(lossless, XON_GAP_BYTES, 0.0),
        headroom_bytes=np.where(lossless, headroom[:, None], 0.0),
        pfc_sent=into_switch & parameters.pfc,
        pause_queue=np.where(lossless, PRIORITY, -1),
        hash_seed=np.arange(parameters.nodes),
    )
    return _marking(network, parameters) if parameters.ecn else network


def _marking(network: Network, parameters: Parameters) -> Network:
    """ECN at all ports of switches; with kscale, thresholds in proportion to the rate of the port."""
    marks = np.zeros_like(network.pfc_sent)
    marks[network.is_switch[network.near], PRIORITY] = True
    scale = network.rate_gbps[:, None] / KSCALE_GBPS if parameters.kscale else 1.0
    return replace(
        network,
        kmin_bytes=np.where(marks, parameters.kmin_bytes * scale, np.inf),
        kmax_bytes=np.where(marks, parameters.kmax_bytes * scale, np.inf),
        pmax=np.where(marks, parameters.pmax, 0.0),
    )


def _transport(parameters: Parameters) -> Transport:
    """Loss changes no rate: the reference sends again from the lost packet on, and that is all. Its receivers ask again
    for a packet in an interval of 500 us (`m_nack_interval` of its NIC model)."""
    dcqcn = None
    if parameters.cc:
        dcqcn = Dcqcn(
            alpha_interval_ns=parameters.t_alpha * 1e3,
            cut_interval_ns=parameters.t_dec * 1e3,
            increase_interval_ns=parameters.t_inc * 1e3,
            increase_bytes=0,
            cnp_interval_ns=0.0,
            gain=parameters.g,
            fast_recovery_rounds=parameters.frt,
            additive_gbps=parameters.ai / 1e3,
            hyper_gbps=parameters.hai / 1e3,
            minimum_gbps=parameters.minrate / 1e3,
            clamp_target=parameters.clamp,
        )
    return Transport(
        dcqcn=dcqcn,
        recovery=Recovery.GO_BACK_N,
        nak_interval_ns=NAK_INTERVAL_NS,
        loss_factor=1.0,
        timeout_factor=1.0,
    )


def _address(host: int) -> int:
    return 0x0B000001 + ((host // 256) << 16) + ((host % 256) << 8)


def _flows(rows: Sequence[FlowRow]) -> list[Flow]:
    """The flows, with the addresses and ports that switches hash: the source port counts the flows of a pair."""
    seen: Counter[tuple[int, int]] = Counter()
    found = []
    for row in rows:
        port = FIRST_SOURCE_PORT + seen[row.source, row.target]
        seen[row.source, row.target] += 1
        found.append(
            Flow(
                id=row.id,
                source=row.source,
                target=row.target,
                payload_bytes=row.size_bytes,
                source_word=_address(row.source),
                target_word=_address(row.target),
                entropy=port | TARGET_PORT << 16,
                back_entropy=TARGET_PORT | port << 16,
                start_ns=row.start_ns if row.after is None else 0,
                after=() if row.after is None else (row.after,),
                gap_ns=row.gap_ns,
            )
        )
    return found

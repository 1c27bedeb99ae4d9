"""What a replay reports: the columns of the reference's `seeds.csv`, for each seed and as mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from railfab.sim.counters import Counters, FlowResults
from railfab.sim.kernel.records import DONE
from railfab.sim.network import Network


@dataclass(frozen=True, slots=True)
class SeedResult:
    """jct_ns: when the last flow is done. fct_*: of the flows that are done; None if none is. ecn_marked: marks, of a
    packet that several switches mark all. pause_rx: XOFF frames that ports receive. paused_ns: time that ports are
    paused, over all ports. q_max_bytes: the longest queue of a switch. drops: packets, for whatever reason."""

    seed: int
    jct_ns: float | None
    fct_mean_ns: float | None
    fct_p99_ns: float | None
    ecn_marked: int
    pause_rx: int
    paused_ns: float
    q_max_bytes: int
    drops: int

    @classmethod
    def of(cls, seed: int, flows: FlowResults, counters: Counters, network: Network) -> SeedResult:
        done = flows.state == DONE
        fct = np.sort(flows.finish_ns[done] - flows.start_ns[done])
        from_switch = network.is_switch[network.near]
        drops = (counters.dropped_packets, counters.refused_packets, counters.storm_packets, counters.lost_packets)
        at_nodes = (counters.unrouted_packets, counters.rx_dropped_packets)
        return cls(
            seed=seed,
            jct_ns=float(flows.finish_ns[done].max()) if len(fct) else None,
            fct_mean_ns=float(fct.mean()) if len(fct) else None,
            fct_p99_ns=float(fct[min(len(fct) - 1, len(fct) * 99 // 100)]) if len(fct) else None,
            ecn_marked=int(counters.marked_packets.sum()),
            pause_rx=int(counters.xoff_received.sum()),
            paused_ns=float(counters.paused_ns.sum()),
            q_max_bytes=int(counters.peak_bytes[from_switch].max(initial=0)),
            drops=int(sum(part.sum() for part in (*drops, *at_nodes))),
        )

    def row(self) -> dict[str, float | None]:
        return asdict(self)


COLUMNS = tuple(field.name for field in fields(SeedResult))[1:]


def mean(results: Sequence[SeedResult]) -> dict[str, float | None]:
    """Mean of each column over the seeds that have it."""
    found: dict[str, float | None] = {}
    for name in COLUMNS:
        values = [value for result in results if (value := getattr(result, name)) is not None]
        found[name] = float(np.mean(values)) if values else None
    return found

"""Reads a scenario of tests/reference/simulator (a star) into a network and flows of the engine."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path as FilePath

import numpy as np

from railfab.sim import QUEUES, Dcqcn, Engine, Flow, Framing, Network, Path, Strides, plain_network

SCENARIOS = FilePath(__file__).resolve().parents[1] / "reference" / "simulator" / "scenarios"
XON_GAP_BYTES = 2496.0
"""The reference resumes when the ingress bytes are this far below the threshold."""


def table(name: str, file: str) -> list[dict[str, str]]:
    with (SCENARIOS / name / file).open() as lines:
        return list(csv.DictReader(lines))


def reference_mean(name: str, column: str) -> float:
    """Mean over the reference's seeds."""
    return float(np.mean([float(row[column]) for row in table(name, "seeds.csv")]))


@dataclass(frozen=True)
class Scenario:
    name: str

    @property
    def parameters(self) -> dict[str, float]:
        document = json.loads((SCENARIOS / self.name / "scenario.json").read_text())
        return {**document["params"], "hub": document["switches"][0]}

    @property
    def ends(self) -> list[tuple[int, int]]:
        links = [(int(row["a"]), int(row["b"])) for row in table(self.name, "links.csv")]
        return [way for a, b in links for way in ((a, b), (b, a))]

    @property
    def frame_bytes(self) -> int:
        return int(self.parameters["payload"]) + 48

    def network(self) -> Network:
        """The reference floors packet times to whole ns, which makes its links a little faster than they are called."""
        said, hub = self.parameters, int(self.parameters["hub"])
        rows = [row for row in table(self.name, "links.csv") for _ in range(2)]
        packet_ns = np.array([int(self.frame_bytes * 8e9 / float(row["rate_bps"])) for row in rows], float)
        delay_ns = np.array([float(row["delay_ns"]) for row in rows])
        rate_gbps = self.frame_bytes * 8 / packet_ns
        into_hub = np.array([z == hub for _, z in self.ends])
        network = replace(
            plain_network(rate_gbps),
            delay_ns=delay_ns + packet_ns,
            pause_delay_ns=delay_ns + 0.75 * packet_ns,
            chip=np.where(into_hub, 0, -1),
            shared_bytes=np.where(into_hub, said["buffer"], 0.0),
            xoff_share=np.where(into_hub, said["alpha"], 0.0),
            xoff_bytes=np.where(into_hub, said["alpha"] * said["buffer"], np.inf),
            xon_gap_bytes=np.full(len(rows), XON_GAP_BYTES),
            headroom_bytes=3 * rate_gbps / 8 * delay_ns + 4 * self.frame_bytes,
            pfc_sent=into_hub & bool(said["pfc"]),
            pfc_honoured=np.ones(len(rows), bool),
            pause_queue=np.full(len(rows), 3),
        )
        return self._marking(network, ~into_hub) if said["ecn"] else network

    def _marking(self, network: Network, from_hub: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Network:
        said, queues = self.parameters, np.ones((network.links, QUEUES))
        return replace(
            network,
            kmin_bytes=np.where(from_hub[:, None], said["kmin"] * 1000, np.inf) * queues,
            kmax_bytes=np.where(from_hub[:, None], said["kmax"] * 1000, np.inf) * queues,
            pmax=said["pmax"] * queues,
        )

    def dcqcn(self) -> Dcqcn:
        said = self.parameters
        return Dcqcn(
            enabled=bool(said["cc"]),
            alpha_interval_ns=said["t_alpha"] * 1e3,
            cut_interval_ns=said["t_dec"] * 1e3,
            increase_interval_ns=said["t_inc"] * 1e3,
            cnp_interval_ns=0.0,
            gain=said["g"],
            fast_recovery_rounds=int(said["frt"]),
            additive_gbps=said["ai"] / 1e3,
            hyper_gbps=said["hai"] / 1e3,
            minimum_gbps=said["minrate"] / 1e3,
        )

    def flows(self) -> list[Flow]:
        link, hub = {way: number for number, way in enumerate(self.ends)}, int(self.parameters["hub"])
        return [
            Flow(
                id=int(row["flow"]),
                payload_bytes=float(row["size_bytes"]),
                path=Path(
                    links=(link[int(row["src"]), hub], link[hub, int(row["dst"])]),
                    queues=(3, 3),
                    lossless=(True,),
                    back_ns=2083.0,
                    back=(link[int(row["dst"]), hub] * QUEUES, link[hub, int(row["src"])] * QUEUES),
                ),
            )
            for row in table(self.name, "flows.csv")
        ]

    def run(self, *, seed: int, step_ns: int) -> tuple[list[int], Engine]:
        """Completion times, the last acknowledgement's way back included [ns]; all flows start together."""
        framing = Framing(payload_bytes=int(self.parameters["payload"]), frame_bytes=self.frame_bytes, gap_bytes=0)
        engine = Engine(
            self.network(),
            seed=seed,
            step_ns=step_ns,
            framing=framing,
            dcqcn=self.dcqcn(),
            strides=Strides(longest=0),
        )
        engine.start(self.flows())
        times: list[int] = []
        while engine.active():
            ended = engine.run(1_000_000_000)
            times.extend([engine.now_ns + 2083] * len(ended))
        return times, engine


@cache
def reference_run(name: str, step_ns: int) -> tuple[list[int], Engine]:
    """A run with seed 1, made once for all tests that look at it."""
    return Scenario(name).run(seed=1, step_ns=step_ns)

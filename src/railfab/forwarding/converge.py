"""What the switches would conclude from all their configurations and the state of the links."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from railfab.forwarding.paths import Ground, narrow_ports, sim_path
from railfab.forwarding.ports import Models, port_states
from railfab.forwarding.qos import SwitchEffect, network, switch_effect
from railfab.forwarding.routes import routes
from railfab.forwarding.sessions import BgpSession, sessions
from railfab.forwarding.wiring import Wiring
from railfab.sim import Framing, Network, Path
from railfab.topology import PortKey

ETHERNET_BYTES = 18
"""Header and frame check sequence: what a frame has beyond its IP packet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """The code points hosts send with. seed: of the switches' hashes."""

    dscp: int = 26
    cnp_dscp: int = 48
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """sessions: by device and interface. network: for the simulator."""

    ground: Ground
    sessions: dict[PortKey, BgpSession]
    network: Network
    marking: Marking

    def path(self, source: PortKey, target: PortKey, stream: int = 0) -> Path | str:
        """The way of a transfer, or why there is none."""
        return sim_path(self.ground, source, target, stream, dscp=self.marking.dscp, cnp_dscp=self.marking.cnp_dscp)

    @property
    def effects(self) -> dict[str, SwitchEffect]:
        return self.ground.effects


def conclude(
    wiring: Wiring, models: Models, cut: Collection[PortKey], *, framing: Framing, marking: Marking
) -> Conclusion:
    """Ports, sessions, routes and QoS that follow. cut: ports whose cable is broken."""
    ports = port_states(wiring, models, cut)
    table, found = routes(wiring, models, ports, sessions(wiring, models, ports))
    effects = {name: switch_effect(models.get(name), size) for name, size in wiring.buffer_bytes.items()}
    ground = Ground(
        wiring=wiring,
        models=models,
        ports=ports,
        routes=table,
        effects=effects,
        narrow=narrow_ports(wiring, models, framing.frame_bytes - ETHERNET_BYTES),
        seed=marking.seed,
    )
    return Conclusion(ground=ground, sessions=found, network=network(wiring, ports, effects), marking=marking)

"""How senders set their rate, and how they recover lost packets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from railfab.sim.kernel.records import GO_BACK_N, NO_RECOVERY, SELECTIVE


class Recovery(IntEnum):
    """NONE: nothing is sent again. GO_BACK_N: all from the first lost packet on. SELECTIVE: the lost packets only."""

    NONE = NO_RECOVERY
    GO_BACK_N = GO_BACK_N
    SELECTIVE = SELECTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Dcqcn:
    """Constants of DCQCN (Zhu et al., SIGCOMM 2015, sections 3 and 5).

    alpha_interval_ns: without a notification for this long, alpha decreases. cut_interval_ns: at most one cut in each.
    increase_interval_ns, increase_bytes: timer and byte counter of the increases; 0 bytes: no byte counter.
    cnp_interval_ns: the receiver sends at most one notification a flow in each. fast_recovery_rounds: increases that
    halve the distance to the target before the target rises. additive_gbps, hyper_gbps: rise of the target.
    clamp_target: a cut before the first increase lowers the target too.

    Defaults: those of the paper's deployment.
    """

    alpha_interval_ns: float = 55_000.0
    cut_interval_ns: float = 50_000.0
    increase_interval_ns: float = 55_000.0
    increase_bytes: int = 10_000_000
    cnp_interval_ns: float = 50_000.0
    gain: float = 1 / 256
    fast_recovery_rounds: int = 5
    additive_gbps: float = 0.04
    hyper_gbps: float = 0.4
    minimum_gbps: float = 0.1
    clamp_target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """Rate control and loss recovery of a queue pair.

    dcqcn: None sends at `rate_gbps` all the time (PFC only, or background traffic). rate_gbps: the rate at the start;
    None: of the link. timeout_ns: of the retransmission timer (IBTA local ACK timeout 14: 67 ms). reorder_packets: with
    selective recovery, how far packets may overtake each other before one is taken to be lost. nak_interval_ns: with
    go-back-N, a receiver whose missing packet does not come asks again in this interval while others come (0: never).
    entropies: values of a header field that switches hash, a power of two, which the NIC gives to the packets of a flow
    in turn (host spraying; with Ultra Ethernet the entropy value); 1: all packets of a flow have one.
    loss_factor, timeout_factor: what is left of the rate when packets have to be sent again.
    """

    dcqcn: Dcqcn | None = field(default_factory=Dcqcn)
    rate_gbps: float | None = None
    recovery: Recovery = Recovery.GO_BACK_N
    timeout_ns: float = 67_108_864.0
    reorder_packets: int = 0
    nak_interval_ns: float = 0.0
    entropies: int = 1
    loss_factor: float = 0.5
    timeout_factor: float = 0.5

    def __post_init__(self) -> None:
        if self.entropies < 1 or self.entropies & (self.entropies - 1):
            raise ValueError(f"entropies: {self.entropies} is no power of two")

"""When to leave out what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FastForwardPolicy:
    """What fast-forward may do.

    parking: count the packets of ports that cannot meet a queue. trains: send several frames at a time where senders
    react to marks. repeats: replay a recorded phase where an equal one begins on an idle network.
    settled_ns: flows are simulated frame by frame for this long after a flow has begun or the network has changed.
    look_ns, longest_look_ns: the state is looked at after the first, then at twice the time, up to the second.
    train_share: octets of a train as a share of the least Kmin where its links may congest. least_trains: how many must
    be left to send. shortest_train: shorter ones cost more accuracy than they save.
    recorded, recorded_every: which of equal phases are simulated and recorded. recorded_frames: phases with fewer are
    always simulated.
    """

    parking: bool = True
    trains: bool = True
    repeats: bool = True
    settled_ns: float = 2_000_000.0
    look_ns: float = 150_000.0
    longest_look_ns: float = 5_000_000.0
    train_share: float = 0.15
    least_trains: int = 200
    shortest_train: int = 8
    recorded: tuple[int, ...] = (0, 40, 120, 240)
    recorded_every: int = 150
    recorded_frames: int = 200_000


NEVER = FastForwardPolicy(parking=False, trains=False, repeats=False)
"""Simulate every packet; results are the engine's own to the bit."""

"""What is sent on links that lose everything: the port that they lead to counts none of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from railfab.forwarding.sim_network import ALL_LOST
from railfab.sim import QUEUES, Network
from railfab.twin.attempts import Values


class Unreceived:
    """Counts of one engine that are in what is sent, and in nothing that is received.

    octets, packets: axis (link,). frames, xoffs: pause frames for the near end of a link, which come by the link back;
    axis (link * QUEUES + priority,).
    """

    def __init__(self, links: int) -> None:
        wide = dict.fromkeys(("frames_received", "xoffs"), links * QUEUES)
        self._counts = {name: np.zeros(size) for name, size in {"octets": links, "packets": links, **wide}.items()}
        self._seen = dict(self._counts)

    def add(self, network: Network, sent: Mapping[str, Values]) -> None:
        """Count what is new. network: on which it was sent."""
        losing = network.loss_per_byte >= ALL_LOST
        back = np.repeat(losing.reshape(-1, 2)[:, ::-1].ravel(), QUEUES)
        for name, held in self._counts.items():
            lost = losing if len(held) == len(losing) else back
            self._counts[name] = held + np.where(lost, sent[name] - self._seen[name], 0.0)
            self._seen[name] = sent[name]

    def without(self, sent: Mapping[str, Values]) -> dict[str, Values]:
        """What is received of it, by the names of `Readings`."""
        names = {"octets": "in_octets", "packets": "in_packets"}
        return {names.get(name, name): sent[name] - held for name, held in self._counts.items()}

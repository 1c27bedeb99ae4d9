"""Small networks for the laws: senders around one switch, and two switches in a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from railfab.sim import QUEUES, Flow, Framing, Network, Path, plain_network

LOSSLESS = 3
PLAIN = Framing(payload_bytes=1000, frame_bytes=1000, gap_bytes=0)
"""Octets are payload: closed forms need no headers."""


def star(
    senders: int,
    *,
    rate_gbps: float = 100.0,
    delay_ns: float = 1000.0,
    kmin_bytes: float = np.inf,
    xoff_bytes: float = np.inf,
    xon_gap_bytes: float = 2500.0,
    headroom_bytes: float = 200_000.0,
    pfc: bool = True,
) -> Network:
    """Links 0..n-1 lead from the senders to the switch, n to the receiver; n+1.. are the ways back."""
    links = 2 * (senders + 1)
    into_switch = np.zeros(links, bool)
    into_switch[:senders] = True
    into_switch[senders + 1] = True
    kmin = np.full((links, QUEUES), np.inf)
    kmin[senders, LOSSLESS] = kmin_bytes
    return replace(
        plain_network(np.full(links, rate_gbps), delay_ns=delay_ns),
        kmin_bytes=kmin,
        kmax_bytes=3 * kmin,
        pmax=np.full((links, QUEUES), 0.1),
        xoff_bytes=np.where(into_switch, xoff_bytes, np.inf),
        xon_gap_bytes=np.full(links, xon_gap_bytes),
        headroom_bytes=np.where(into_switch, headroom_bytes, 0.0),
        pfc_sent=into_switch & pfc,
        pfc_honoured=np.ones(links, bool),
        pause_queue=np.full(links, LOSSLESS),
    )


def star_flows(senders: int, payload_bytes: float, *, lossless: bool = True) -> list[Flow]:
    """Every sender to the receiver."""
    queue = LOSSLESS if lossless else 0
    back = (senders + 1) * QUEUES + 6
    return [
        Flow(
            id=sender,
            payload_bytes=payload_bytes,
            path=Path(
                links=(sender, senders),
                queues=(LOSSLESS, queue),
                lossless=(lossless,),
                back_ns=2000.0,
                back=(back, (senders + 2 + sender) * QUEUES + 6),
            ),
        )
        for sender in range(senders)
    ]


def row(rates_gbps: tuple[float, ...]) -> Network:
    """Links in a row of switches; link i leads from node i to node i + 1."""
    return plain_network(np.array(rates_gbps), delay_ns=500.0)

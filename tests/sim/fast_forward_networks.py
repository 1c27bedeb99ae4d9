"""Small networks around one switch for the laws of fast-forward: one receiver, or pairs of NIC ports."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from railfab.sim import Flow, Network, Routing, plain_network


def _around_one_switch(ports: int) -> tuple[Network, Routing]:
    near = np.array([end for port in range(ports) for end in (port, ports)])
    far = near.reshape(-1, 2)[:, ::-1].ravel()
    is_switch = np.arange(ports + 1) == ports
    plain = plain_network(near, far, is_switch, np.full(len(near), 100.0))
    into = np.zeros_like(plain.pfc_sent)
    into[::2, 0] = True
    network = replace(
        plain,
        priority_of=np.zeros((len(near), 1), np.int64),
        kmin_bytes=np.where(into, np.inf, 150e3),
        kmax_bytes=np.where(into, np.inf, 450e3),
        pmax=np.where(into, 0.0, 0.1),
        pfc_sent=into,
        xoff_bytes=np.where(into, 2e6, np.inf),
        headroom_bytes=np.where(into, 400e3, 0.0),
        xon_gap_bytes=np.where(into, 18e3, 0.0),
    )
    row = np.where(is_switch, 0, -1)
    destination = np.where(is_switch, -1, np.arange(ports + 1))
    group = np.arange(ports)[None, :]
    return network, Routing(
        destination=destination,
        row=row,
        group=group,
        begin=np.arange(ports + 1),
        members=2 * np.arange(ports) + 1,
    )


def star(senders: int) -> tuple[Network, Routing]:
    """The last port is the receiver."""
    return _around_one_switch(senders + 1)


def star_flows(senders: int, size: int) -> list[Flow]:
    return [Flow(id=sender, source=sender, target=senders, payload_bytes=size) for sender in range(senders)]


def pairs(count: int) -> tuple[Network, Routing]:
    """Ports 0..n-1 send to ports n..2n-1."""
    return _around_one_switch(2 * count)


def pair_flows(count: int, size: int) -> list[Flow]:
    return [Flow(id=n, source=n, target=count + n, payload_bytes=size) for n in range(count)]

"""The transceivers of the twin: plausible measurements, the same in every run, and a different one for each port."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from railfab.forwarding import Fibre, ForwardingState
from railfab.forwarding.optics import LOSS_OF_SIGNAL_DB
from railfab.platforms import VirtualOptics
from railfab.topology import PortKey

DARK_DBM = -40.0
"""Reading of a receiver without light, the least that modules report [dBm]."""

LANE_GBPS = 100
"""Of an optical lane: 400GBASE-DR4 has four."""


def lanes(rate_gbps: float) -> int:
    return max(1, round(rate_gbps / LANE_GBPS))


def port_optics(state: ForwardingState, key: PortKey) -> VirtualOptics:
    """Launch power 0.3 to 1.7 dBm, from which the receiver loses 0.8 to 1.6 dB, as links of some metres to 500 m do."""
    far = state.links.far_key(state.links.egress[key])
    broken = {key, far} & state.cut or state.fibres.get(key) is Fibre.DARK
    lit = state.own_ports[far[0]][far[1]].admin_up and not broken
    loss_db = state.dirt.get(key, 0.0)
    received = transmit_dbm(far) - 0.8 - 0.8 * _draw(key, "loss") - loss_db
    return VirtualOptics(
        receive_dbm=round(received, 2) if lit and loss_db < LOSS_OF_SIGNAL_DB else DARK_DBM,
        transmit_dbm=transmit_dbm(key) if state.own_ports[key[0]][key[1]].admin_up else DARK_DBM,
        bias_ma=round(55 + 20 * _draw(key, "bias"), 3),
        temperature_celsius=float(round(42 + 12 * _draw(key, "temperature"))),
        volts=round(3.27 + 0.06 * _draw(key, "volts"), 4),
    )


def transmit_dbm(key: PortKey) -> float:
    return round(0.3 + 1.4 * _draw(key, "transmit"), 2)


@lru_cache(maxsize=1 << 17)
def _draw(key: PortKey, what: str) -> float:
    """A number from 0 to 1 that belongs to a port."""
    return int.from_bytes(blake2b(f"{key} {what}".encode(), digest_size=4).digest(), "big") / (1 << 32)

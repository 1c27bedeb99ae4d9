"""Light of the lanes of an optic, as `ethtool -m` prints it: of QSFP and OSFP by channel, of SFP for its only lane.

Source: ethtool 6.1 (Debian 12), qsfp.c, cmis.c and sfpdiag.c; 0 mW is printed as -inf dBm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DARK_DBM = -40.0
"""The least power that an optic states, 0.1 uW; stands for none at all."""
POWER = r"[ ]*(?:\(Channel (\d+)\))?\s*: [\d.]+ mW / (-?[\d.]+|-inf) dBm"
RECEIVED = re.compile(rf"(?:Rcvr signal avg|Receiver signal average) optical power{POWER}", re.IGNORECASE)
SENT = re.compile(rf"(?:Transmit avg optical power|Laser output power){POWER}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OpticLane:
    """A lane that sends or receives light. number: from 1."""

    number: int
    receive_dbm: float
    transmit_dbm: float


def optic_lanes(text: str) -> Sequence[OpticLane]:
    """The lanes in the output of ethtool; none of a copper cable. Lanes that the optic does not use are left out."""
    received, sent = (_powers(pattern, text) for pattern in (RECEIVED, SENT))
    return [
        OpticLane(number, received[number], sent[number])
        for number in sorted(received.keys() & sent.keys())
        if max(received[number], sent[number]) > DARK_DBM
    ]


def _powers(pattern: re.Pattern[str], text: str) -> dict[int, float]:
    return {int(number or 1): max(float(power), DARK_DBM) for number, power in pattern.findall(text)}

"""BGP sessions of a virtual switch as FRR names and times them.

Every link-local address is that of the same MAC address, as in the neighbour table.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from railfab.device import ObservedBgpSession
from railfab.platforms.twin_face import VirtualSession

STATES = {"opensent": "OpenSent", "openconfirm": "OpenConfirm"}
OWN_LINK_LOCAL, PEER_LINK_LOCAL = "fe80::ff:fe00:1", "fe80::ff:fe00:2"
"""Link-local addresses of the MAC addresses 02:00:00:00:00:01 and 02:00:00:00:00:02 (RFC 4291, appendix A)."""
HOUR_S, DAY_S, WEEK_S = 3600, 86_400, 604_800


@dataclass(frozen=True, slots=True, kw_only=True)
class FrrPeer:
    """A BGP session. name: the address or interface of the peer, as the switch names it. device: over which it runs.

    prefixes: received and sent, by address family. established_s: Unix time at which it came up last; None for one that
    never has.
    """

    name: str
    device: str | None
    session: ObservedBgpSession
    timing: VirtualSession
    transitions: int
    established_s: float | None
    prefixes: Mapping[str, tuple[int, int]]

    @property
    def shown_name(self) -> str:
        """The name in a table, with that of the switch where the session has told it."""
        known = self.session.neighbor_device if self.session.established else None
        return f"{known}({self.name})" if known else self.name

    @property
    def state(self) -> str:
        return STATES.get(self.session.state, self.session.state.capitalize())

    @property
    def uptime_s(self) -> int | None:
        return None if self.established_s is None else max(0, int(time.time() - self.established_s))


def uptime_text(seconds: int | None) -> str:
    """Write the age of a session [s] as FRR does; `never` of one that has never been up (bgpd, peer_uptime)."""
    if seconds is None:
        return "never"
    if seconds < DAY_S:
        return f"{seconds // HOUR_S:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    days, hours, minutes = seconds // DAY_S, seconds // HOUR_S % 24, seconds // 60 % 60
    return f"{days}d{hours:02d}h{minutes:02d}m" if seconds < WEEK_S else f"{days // 7:02d}w{days % 7}d{hours:02d}h"

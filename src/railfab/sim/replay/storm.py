"""Pause storms: which port's queue paused which ports, and which of those then paused further ones.

An XOFF is caused by the queue of the switch that holds most bytes of the ingress. If a pause held this queue up while
its first packet waited, the XOFF that paused it is the cause in turn; else this port is the root.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from railfab.sim.replay.saved import Port, SavedPause, SavedRun, port_name


@dataclass(slots=True)
class Branch:
    """A port, and the ports that were paused because of its queue.

    xoffs, paused_ns, first_ns: pauses of this port by its parent's queue; of a root, all pauses of its tree.
    """

    port: Port
    xoffs: int = 0
    paused_ns: float = 0.0
    first_ns: float = float("inf")
    branches: dict[Port, Branch] = field(default_factory=dict)

    def add(self, first_ns: float, paused_ns: float) -> None:
        self.xoffs += 1
        self.paused_ns += paused_ns
        self.first_ns = min(self.first_ns, first_ns)

    def ports(self) -> Iterator[Port]:
        """All ports of the tree."""
        yield self.port
        for branch in self.branches.values():
            yield from branch.ports()

    @property
    def name(self) -> str:
        return port_name(self.port)

    @property
    def ordered(self) -> list[Branch]:
        return sorted(self.branches.values(), key=lambda branch: (-branch.paused_ns, branch.port))


@dataclass(slots=True)
class _Hold:
    """A pause of a port, from the arrival of XOFF to that of XON."""

    pause: SavedPause
    begin_ns: float
    end_ns: float
    way: tuple[Port, ...] = ()
    """Ports from the root to the paused one; empty until it is known."""


def storms(run: SavedRun) -> list[Branch]:
    """The trees of all pause storms of a run, that with the longest pauses first."""
    holds = _holds(run)
    by_port: dict[Port, list[_Hold]] = {}
    for hold in holds:
        by_port.setdefault((hold.pause.peer, hold.pause.peer_port), []).append(hold)
    begins = {port: [hold.begin_ns for hold in found] for port, found in by_port.items()}
    roots: dict[Port, Branch] = {}
    for hold in holds:
        if hold.pause.cause_port is None:
            continue
        cause = (hold.pause.node, hold.pause.cause_port)
        parent = _parent(hold, by_port.get(cause, ()), begins.get(cause, ()))
        _grow(roots, hold, parent.way if parent is not None and parent.way else (cause,))
    return sorted(roots.values(), key=lambda root: (-root.paused_ns, root.port))


def _holds(run: SavedRun) -> list[_Hold]:
    """The pauses in the order of their XOFF; one without XON lasts to the end."""
    found: list[_Hold] = []
    open_holds: dict[Port, _Hold] = {}
    for pause in run.pauses:
        port = (pause.peer, pause.peer_port)
        if pause.kind == "xoff":
            hold = _Hold(pause, pause.arrival_ns, max(run.end_ns, pause.arrival_ns))
            found.append(hold)
            open_holds[port] = hold
        elif (hold_open := open_holds.pop(port, None)) is not None:
            hold_open.end_ns = pause.arrival_ns
    return sorted(found, key=lambda hold: hold.pause.sent_ns)


def _parent(hold: _Hold, held: Sequence[_Hold], begins: Sequence[float]) -> _Hold | None:
    """The latest pause of the queue that caused this one, if it held up the packet that is first in that queue."""
    place = bisect_right(begins, hold.pause.sent_ns) - 1
    if place < 0 or held[place].end_ns < hold.pause.cause_since_ns:
        return None
    return held[place]


def _grow(roots: dict[Port, Branch], hold: _Hold, way: tuple[Port, ...]) -> None:
    """Add a pause to the tree of its root."""
    paused = (hold.pause.peer, hold.pause.peer_port)
    if paused in way:
        way = way[: way.index(paused)]
    hold.way = (*way, paused)
    root = roots.setdefault(hold.way[0], Branch(hold.way[0]))
    root.add(hold.begin_ns, hold.end_ns - hold.begin_ns)
    branch = root
    for port in hold.way[1:]:
        branch = branch.branches.setdefault(port, Branch(port))
    if branch is not root:
        branch.add(hold.begin_ns, hold.end_ns - hold.begin_ns)

"""What is known to follow in a fabric that converges, and when. Times in simulated ns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from railfab.forwarding.route_table import Columns
from railfab.forwarding.sessions import BgpSession, Sessions

SessionKey = tuple[str, str]
"""Device, and key of a neighbour."""


class NextSession(NamedTuple):
    """An end of a session that will have noticed by then how it is. then: what follows for it, if anything does."""

    due_ns: int
    session: BgpSession
    then: NextSession | None = None

    @property
    def last(self) -> BgpSession:
        """The session in the end."""
        return self.then.last if self.then else self.session

    def later(self, by_ns: int) -> NextSession:
        """The same, this much later."""
        return NextSession(self.due_ns + by_ns, self.session, self.then and self.then.later(by_ns))


class Update(NamedTuple):
    """A switch that will have received other routes to these groups of prefixes by then."""

    due_ns: int
    switch: str
    columns: Columns


class Programming(NamedTuple):
    """A switch that will have its next-hop groups in the hardware by then."""

    due_ns: int
    switch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingUpdates:
    """Immutable. updates, programming: those of earlier changes first.

    announced_ns: when a switch last sends routes to a peer, by both; maybe later than now.
    """

    sessions: Mapping[SessionKey, NextSession] = field(default_factory=dict)
    updates: tuple[Update, ...] = ()
    programming: tuple[Programming, ...] = ()
    announced_ns: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def next_ns(self) -> int | None:
        """When something follows next; None when nothing does."""
        due = [follows.due_ns for follows in self.sessions.values()]
        due += [update.due_ns for update in self.updates]
        due += [held.due_ns for held in self.programming]
        return min(due, default=None)

    def postponed(self, earlier: PendingUpdates, by_ns: int) -> PendingUpdates:
        """The same, but what a change has added comes this much later. earlier: what was pending before the change."""
        sessions = {
            key: held if held is earlier.sessions.get(key) else held.later(by_ns) for key, held in self.sessions.items()
        }
        updates, programming = len(earlier.updates), len(earlier.programming)
        added = (update._replace(due_ns=update.due_ns + by_ns) for update in self.updates[updates:])
        programmed = (held._replace(due_ns=held.due_ns + by_ns) for held in self.programming[programming:])
        announced_ns = {
            key: last_ns if last_ns == earlier.announced_ns.get(key) else last_ns + by_ns
            for key, last_ns in self.announced_ns.items()
        }
        return PendingUpdates(
            sessions=sessions,
            updates=(*self.updates[:updates], *added),
            programming=(*self.programming[:programming], *programmed),
            announced_ns=announced_ns,
        )

    def sessions_in_the_end(self, shown: Sessions) -> Sessions:
        """The sessions as their ends will have noticed them. shown: as they have."""
        return laid_over(shown, {key: follows.last for key, follows in self.sessions.items()})


def laid_over(shown: Sessions, others: Mapping[SessionKey, BgpSession]) -> Sessions:
    """The sessions with some of them replaced."""
    found: dict[str, Mapping[str, BgpSession]] = dict(shown)
    for (device, key), session in others.items():
        found[device] = {**found[device], key: session}
    return found


NOTHING_PENDING = PendingUpdates()

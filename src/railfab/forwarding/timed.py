"""Convergence in simulated time: ends of sessions notice, switches tell each other, and hardware is programmed.

`begin` takes a change, `settle` what is due since. A change supersedes what it makes untrue; what is pending of earlier
ones stays. In the end the state is the one that `converge` computes at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from railfab.forwarding.converge import FabricChange, converge, resumed, with_sessions
from railfab.forwarding.pending import NextSession, SessionKey, Update, laid_over
from railfab.forwarding.ports import Configs
from railfab.forwarding.route_steps import step
from railfab.forwarding.routes import RoutingInputs
from railfab.forwarding.session_delays import (
    SessionChange,
    bfd_start_ns,
    connecting,
    delay_ns,
    reopened,
    starts_bfd,
    without_bfd,
)
from railfab.forwarding.sessions import BgpSession
from railfab.forwarding.state import ForwardingState


def begin(state: ForwardingState, change: FabricChange, now_ns: int) -> ForwardingState:
    """The state right after a change at this simulated time, with what follows from it.

    At an exchange of far ends everything is computed anew, and at once.
    """
    if change.exchanged is not None:
        return converge(state, change)
    state = settle(state, now_ns)
    in_the_end = replace(state, sessions=state.pending.sessions_in_the_end(state.sessions))
    after, nodes = with_sessions(in_the_end, change)
    seen = SessionChange(state.configs, after.configs, after.interface_links, change.models.keys(), after.silent)
    noticing = _Noticing(state, after, seen, now_ns)
    shown = {device: noticing.of(device) for device in after.sessions}
    updates = tuple(Update(now_ns, name, state.routes.every) for name in resumed(state, after))
    pending = replace(state.pending, sessions=noticing.pending, updates=state.pending.updates + updates)
    return _with_routes(replace(after, sessions=shown, pending=pending), nodes, state.configs, now_ns)


def settle(state: ForwardingState, now_ns: int) -> ForwardingState:
    """The state at this simulated time; the same object when nothing has followed by then."""
    while (next_ns := state.pending.next_ns) is not None and next_ns <= now_ns:
        due = {key: held for key, held in state.pending.sessions.items() if held.due_ns <= next_ns}
        left = {key: held for key, held in state.pending.sessions.items() if key not in due}
        left |= {key: held.then for key, held in due.items() if held.then}
        state = replace(
            state,
            sessions=laid_over(state.sessions, {key: held.session for key, held in due.items()}),
            pending=replace(state.pending, sessions=left),
        )
        state = _with_routes(state, {device for device, _ in due}, state.configs, next_ns)
    return state


def _with_routes(
    state: ForwardingState, nodes: Collection[str], before_configs: Configs, now_ns: int
) -> ForwardingState:
    """The state with its routes at this time. nodes: switches with another configuration, port or session."""
    inputs = RoutingInputs(state.interface_links, state.configs, state.sessions, state.silent.hung)
    stepped = step(inputs, nodes, state.routes, before_configs, state.pending, now_ns)
    return replace(state, routes=stepped.routes, pending=stepped.pending)


class _Noticing:
    """Which ends of sessions notice a change at once, and when the others do. pending: these."""

    def __init__(self, before: ForwardingState, after: ForwardingState, change: SessionChange, now_ns: int) -> None:
        self._before, self._after, self._change, self._now_ns = before, after, change, now_ns
        self._resumed = resumed(before, after)
        self._reopened = reopened(change)
        self.pending: dict[SessionKey, NextSession] = {}

    def of(self, device: str) -> Mapping[str, BgpSession]:
        """The sessions of a device as it sees them; the same object as before when it sees nothing new."""
        shown, follows = self._before.sessions.get(device, {}), self._after.sessions[device]
        if shown is follows and device not in self._resumed and not self._reopened:
            return shown
        if device in self._after.silent.hung and device not in self._change.changed:
            return shown
        found = {key: self._session(device, key, shown.get(key), session) for key, session in follows.items()}
        return shown if found == shown and list(found) == list(shown) else found

    def _session(self, device: str, key: str, shown: BgpSession | None, follows: BgpSession) -> BgpSession:
        if shown is not None and device in self._resumed and self._has_ended(shown):
            if not follows.established:
                return follows
            shown = connecting(follows, self._change.configs)
        if shown is not None and self._is_reopened(device, key, shown, follows):
            shown = connecting(follows, self._change.configs)
        if shown == follows:
            return follows
        held = self._before.pending.sessions.get((device, key))
        if held is not None and held.last == follows:
            self.pending[device, key] = held
            return shown or follows
        at_first = without_bfd(follows, self._change.configs) if starts_bfd(shown, follows) else follows
        if shown is None and follows.established:
            shown = connecting(follows, self._change.configs)
        delay = delay_ns(shown, follows, self._change)
        if delay is None and shown is not None:
            return shown
        steps = self._steps(delay or 0, at_first, follows)
        if delay and shown is not None:
            self.pending[device, key] = steps
            return shown
        if steps.then is not None:
            self.pending[device, key] = steps.then
        return at_first

    def _steps(self, delay: int, at_first: BgpSession, follows: BgpSession) -> NextSession:
        """A session that comes after this delay, and its BFD, which starts then."""
        due_ns = self._now_ns + delay
        if at_first is follows:
            return NextSession(due_ns, follows)
        start_ns = bfd_start_ns(follows, self._change.configs)
        return NextSession(due_ns, at_first, NextSession(due_ns + start_ns, follows))

    def _is_reopened(self, device: str, key: str, shown: BgpSession, follows: BgpSession) -> bool:
        """Whether a session ends because one of its ends has another OPEN message, and begins again with it."""
        if not self._reopened or not (shown.established and follows.established):
            return False
        ends = {(device, key), (follows.peer_device or "", follows.peer_key or "")}
        return not ends.isdisjoint(self._reopened)

    def _has_ended(self, session: BgpSession) -> bool:
        """Whether the far end has ended a session that a switch kept while it hung."""
        far = self._before.sessions.get(session.peer_device or "", {}).get(session.peer_key or "")
        return session.established and (far is None or not far.established)

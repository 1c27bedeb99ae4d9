"""The gate of the state: what the switches of a wave observe of their links and sessions must not get worse.

What the other end of a link sees is seen from this one too, so that the switches of the wave alone are read. Their
configuration is not read: a commit has read it back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from nornir.core import Nornir

from railfab.deploy.gates.contract import GateFailure
from railfab.deploy.gates.widths import narrowed
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.live_qos import qos_findings
from railfab.deploy.run import readings_of
from railfab.deploy.tasks import observe_kept
from railfab.deploy.verify import live_findings, session_peers
from railfab.device import Observed, interfaces_of_peers
from railfab.errors import RailfabError, raise_all
from railfab.fabric import Design
from railfab.findings import Code, DifferenceCode, Finding, Severity
from railfab.text.counted import counted

SETTLES_WITHIN_S = 30.0
"""Time in which sessions come up after a change [s]."""
POLL_S = 1.0

LINK = (
    DifferenceCode.MISCABLED,
    DifferenceCode.INTERFACE_DOWN,
    DifferenceCode.INTERFACE_DISABLED,
    DifferenceCode.INTERFACE_MISSING,
)
SESSION = (
    DifferenceCode.BGP_WRONG_PEER,
    DifferenceCode.BFD_DOWN,
    DifferenceCode.BGP_DOWN,
    DifferenceCode.BGP_NEIGHBOR_MISSING,
)
"""States of a link and of a session, each worse than those before it: one that is there hides these."""


@dataclass(frozen=True, slots=True)
class KnownState:
    """Errors of one switch by place, the prefixes that each of its sessions receives, and routes by their next hops."""

    errors: Mapping[str, Sequence[str]]
    prefixes: Mapping[str, int]
    widths: Mapping[int, int] | None = None

    def has(self, place: str, code: Code) -> bool:
        """Whether this error, or a worse one of the same link or session, is there."""
        known = self.errors.get(place, ())
        for ladder in (LINK, SESSION):
            if code in ladder:
                return any(worse in known for worse in ladder[ladder.index(code) :])
        return code in known


@dataclass
class StateGate:
    """Compares the live state of switches with the intent, and fails for errors that were not there before the wave.

    kept: the open sessions of the roll-out, which it uses and adds to; the roll-out closes them. within_s: how long it
    waits for new errors to end. stop_requested: ends that wait.
    """

    fabric: Design
    nornir: Nornir
    kept: KeptSessions
    within_s: float = SETTLES_WITHIN_S
    stop_requested: threading.Event = field(default_factory=threading.Event)
    name: str = "state"
    before_undrain: bool = True
    _before: dict[str, KnownState] = field(default_factory=dict, init=False)

    def baseline(self, switches: Sequence[str]) -> None:
        states, unread = self._observe(switches)
        raise_all(list(unread.values()))
        self._before = {name: self._state(name, observed) for name, observed in states.items()}

    def failures(self, switches: Sequence[str]) -> tuple[GateFailure, ...]:
        """New errors that are still there after within_s; waits no longer than until there are none."""
        end = monotonic() + self.within_s
        left = list(switches)
        while True:
            states, unread = self._observe(left)
            failures = {name: tuple(self._new(name, states[name], switches)) for name in states}
            failures |= {name: (self._unread(name, error),) for name, error in unread.items()}
            left = [name for name in left if failures[name]]
            late = monotonic() >= end
            if not left or late or self.stop_requested.wait(POLL_S):
                return tuple(failure for name in left for failure in failures[name])

    def saved(self) -> Any:
        return {
            name: {
                "errors": {place: list(codes) for place, codes in state.errors.items()},
                "prefixes": dict(state.prefixes),
                "widths": None if state.widths is None else dict(state.widths),
            }
            for name, state in self._before.items()
        }

    def restore(self, value: Any) -> None:
        try:
            self._before = {
                name: KnownState(
                    state["errors"],
                    {key: int(count) for key, count in state["prefixes"].items()},
                    _widths(state["widths"]),
                )
                for name, state in value.items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            problem = "what was read before the wave is damaged"
            raise RailfabError(f"gate {self.name}", problem, "Run railfab deploy --abort") from None

    def _observe(self, names: Sequence[str]) -> tuple[Mapping[str, Observed], Mapping[str, RailfabError]]:
        wanted = frozenset(names)
        among = self.nornir.filter(filter_func=lambda host: host.name in wanted)
        read = readings_of(among, observe_kept, kept=self.kept)
        return read.answers, read.unread

    def _state(self, name: str, observed: Observed) -> KnownState:
        errors: dict[str, list[str]] = {}
        for finding in self._errors(name, observed):
            errors.setdefault(finding.where, []).append(str(finding.code))
        return KnownState(errors, _prefixes(observed), observed.next_hop_widths)

    def _errors(self, name: str, observed: Observed) -> Iterator[Finding]:
        model = self.fabric.models[name]
        owned = self.nornir.inventory.hosts[name]["endpoint"].owns_system
        for finding in live_findings(self.fabric, name, observed, owns_system=owned):
            if finding.severity is Severity.ERROR:
                yield finding
        yield from qos_findings(name, model, observed, lambda: model)

    def _new(self, name: str, observed: Observed, wave: Sequence[str]) -> Iterator[GateFailure]:
        """What the baseline does not have; narrower groups of next hops where nothing else is new to explain them."""
        failures = [*self._new_errors(name, observed), *self._without_prefixes(name, observed, wave)]
        return iter(failures or [*self._narrower(name, observed, wave)])

    def _new_errors(self, name: str, observed: Observed) -> Iterator[GateFailure]:
        """Errors that the baseline does not have."""
        before = self._known(name)
        for finding in _causes(self._errors(name, observed)):
            if not before.has(finding.where, finding.code):
                known = ", ".join(before.errors.get(finding.where, ())) or "in order"
                yield self._failure(finding.where, known, str(finding.code), f"{finding.problem}. {finding.remedy}")

    def _without_prefixes(self, name: str, observed: Observed, wave: Sequence[str]) -> Iterator[GateFailure]:
        """Sessions that receive no prefix any more."""
        before, received = self._known(name), _prefixes(observed)
        for place, peer in self._peers(name):
            if peer not in wave and before.prefixes.get(place, 0) > 0 and received.get(place) == 0:
                count = f"{before.prefixes[place]} prefixes"
                problem = f"receives no prefix from {peer}. Check the policies of both ends"
                yield self._failure(f"{name} {place}", count, "0 prefixes", problem)

    def _narrower(self, name: str, observed: Observed, wave: Sequence[str]) -> Iterator[GateFailure]:
        """Routes with fewer next hops than before, as far as the intent has paths.

        Other switches of the wave may be drained: a neighbor then is no next hop, and the routes behind another one are
        narrower too, so that only the loss of a whole width fails.
        """
        before, after, bgp = self._known(name).widths, observed.next_hop_widths, self.fabric.models[name].bgp
        if before is None or after is None or bgp is None:
            return
        peers = [peer for _, peer in self._peers(name)]
        lost = narrowed(
            before,
            after,
            most=min(max(bgp.max_paths, bgp.max_paths_internal), len(bgp.neighbors)),
            drained=sum(peer in wave for peer in peers),
            whole=not {name, *peers}.issuperset(wave),
        )
        if lost is not None:
            yield GateFailure(
                gate=self.name,
                series=f"{name} BGP",
                before=f"{lost.before:,} with {counted(lost.width, 'next hop')}",
                after=f"{lost.after:,} with {counted(lost.wanted, 'next hop')}",
                limit=f"{lost.least:,} after {self.within_s:g} s",
                problem="routes have fewer equal paths. Check maximum paths, AS paths and policies",
            )

    def _known(self, name: str) -> KnownState:
        return self._before.get(name, KnownState({}, {}))

    def _peers(self, name: str) -> Iterator[tuple[str, str]]:
        """The place of each session as in `KnownState.prefixes`, and the switch at the other end."""
        model = self.fabric.models[name]
        peers = session_peers(self.fabric.topology, model, interfaces_of_peers(model))
        for neighbor in model.neighbors:
            yield _place(neighbor.network_instance, neighbor.peer), peers.get(neighbor.key, str(neighbor.peer))

    def _failure(self, place: str, before: str, after: str, problem: str) -> GateFailure:
        return GateFailure(self.name, place, before, after, f"no new error after {self.within_s:g} s", problem)

    def _unread(self, name: str, error: RailfabError) -> GateFailure:
        return self._failure(name, "read", "not read", f"{error.problem}. {error.remedy}")


def _causes(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without those that follow from another one of their place: no session runs over a link that is down."""
    harm: dict[Code, int] = {code: number for number, code in enumerate((*SESSION, *LINK))}
    worst: dict[str, Finding] = {}
    for finding in findings:
        if finding.code not in harm:
            yield finding
        elif finding.where not in worst or harm[finding.code] > harm[worst[finding.where].code]:
            worst[finding.where] = finding
    yield from worst.values()


def _place(network_instance: str, peer: object) -> str:
    return f"{network_instance} {peer}"


def _widths(saved: Any) -> Mapping[int, int] | None:
    return None if saved is None else {int(width): int(count) for width, count in saved.items()}


def _prefixes(observed: Observed) -> dict[str, int]:
    """Prefixes that each established session receives, where the switch reports them."""
    return {
        _place(session.network_instance, session.peer): sum(family.received or 0 for family in session.families)
        for session in observed.sessions
        if session.established and any(family.received is not None for family in session.families)
    }

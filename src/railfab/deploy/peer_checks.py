"""Verification of switches and of their neighbours after work on them: what was not wrong before it."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from railfab.deploy.run import nornir_of
from railfab.deploy.verify import Verification, verify_all
from railfab.endpoints import Endpoints
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.findings import Finding, Severity

POLL_S = 1.0
DRAINED = "drained"
"""Hazard of a configuration that sends traffic elsewhere."""

Wrong = tuple[str, str, str]
"""Code, place and problem of a finding."""


@dataclass(slots=True)
class PeerChecks:
    """Checks of these switches, which are worked on, and of the switches at the other ends of their links.

    endpoints: of all of them, as far as they have any.
    """

    fabric: Design
    endpoints: Endpoints
    names: Sequence[str]
    _before: frozenset[Wrong] = field(default_factory=frozenset)
    _unread: frozenset[str] = field(default_factory=frozenset)

    def read_baseline(self) -> None:
        """Note what is wrong before the work, and is not blamed on it."""
        found = self._verification()
        self._before = frozenset(map(_wrong, _errors(found)))
        self._unread = frozenset(found.unread)

    def failures(self, names: Collection[str], within_s: float, stop_requested: threading.Event) -> Mapping[str, str]:
        """One line for each of these switches with an error that it, or a neighbour about it, did not have before.

        Repeated until there is none, or the time is over: sessions need seconds to come up.
        """
        end_s = time.monotonic() + within_s
        while True:
            wrong = self._failures(names)
            if not wrong or time.monotonic() >= end_s or stop_requested.wait(POLL_S):
                return wrong

    def _failures(self, names: Collection[str]) -> Mapping[str, str]:
        try:
            found = self._verification()
        except RailfabError as error:
            return dict.fromkeys(names, str(error))
        wrong: dict[str, str] = {
            name: str(error) for name, error in found.unread.items() if name not in self._unread and name in names
        }
        for finding in _errors(found):
            if _wrong(finding) not in self._before:
                for name in self._concerned(finding, names):
                    wrong.setdefault(name, str(finding))
        return wrong

    def _concerned(self, found: Finding, names: Collection[str]) -> Collection[str]:
        """The switches that a finding blames: its own, or those to which the port of a neighbour is cabled."""
        if found.switch in names:
            return (found.switch,)
        return [name for name in names if found.where in self._far_ends(name)]

    def _far_ends(self, name: str) -> frozenset[str]:
        return frozenset(f"{peer.node} {peer.name}" for _, peer, _ in self.fabric.topology.ports_of(name))

    def _neighbors(self, name: str) -> frozenset[str]:
        return frozenset(peer.node for _, peer, _ in self.fabric.topology.ports_of(name))

    def _verification(self) -> Verification:
        checked = frozenset(self.names).union(*map(self._neighbors, self.names))
        nodes = tuple(node for node in self.endpoints.nodes if node.name in checked)
        return verify_all(nornir_of(self.fabric, replace(self.endpoints, nodes=nodes)), self.fabric, wait_s=0.0)


def _errors(found: Verification) -> list[Finding]:
    """The errors of a verification; a drain is none, since the switches that are worked on are drained."""
    errors = (finding for finding in found.findings if finding.severity is Severity.ERROR)
    return [finding for finding in errors if str(finding.code) != DRAINED]


def _wrong(found: Finding) -> Wrong:
    return str(found.code), found.where, found.problem

"""Counters that grow with simulated time at a rate that changes with convergence only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from railfab.forwarding import ForwardingState, changed_names
from railfab.forwarding.optics import codewords_per_s, lost_codewords
from railfab.twin.attempts import Values
from railfab.twin.readings import Arrays, places_of
from railfab.twin.recabling import Recabling
from railfab.units import NS_PER_S

ADVERTISEMENT_S = 7.0
"""Mean interval of router advertisements, between the 4 s and 10 s that railfab configures."""


@dataclass(frozen=True, slots=True)
class SteadyCounters:
    """Counts by source, axis (link,): those until since_ns, and their growth per second since then. Immutable."""

    since_ns: int
    base: Mapping[str, Values]
    rates: Mapping[str, Values] = field(default_factory=dict)

    def at(self, now_ns: int) -> Arrays:
        """The counts at this simulated time."""
        return {name: np.floor(values) for name, values in self._exact(now_ns).items()}

    def with_rates(self, rates: Mapping[str, Values], now_ns: int) -> SteadyCounters:
        """The same counts, growing otherwise from this time on."""
        base = self._exact(now_ns)
        return SteadyCounters(
            now_ns, {name: base.get(name, np.zeros_like(rate)) for name, rate in rates.items()}, rates
        )

    def begun_at_zero(self, links: Sequence[int], now_ns: int) -> SteadyCounters:
        """The same counts, but those of the ports that these links leave from 0 on."""
        base = {name: held.copy() for name, held in self._exact(now_ns).items()}
        for name, held in base.items():
            held[places_of(name, links, 1)] = 0.0
        return SteadyCounters(now_ns, base, self.rates)

    def recabled(self, places: Recabling, now_ns: int) -> SteadyCounters:
        """The same counts of the ports after an exchange of cables; they do not grow before `with_rates`."""
        base = places.of(self._exact(now_ns))
        return SteadyCounters(now_ns, base, {name: np.zeros_like(held) for name, held in base.items()})

    def _exact(self, now_ns: int) -> dict[str, Values]:
        seconds = (now_ns - self.since_ns) / NS_PER_S
        return {name: held + self.rates[name] * seconds for name, held in self.base.items()}


def changed_nodes(before: ForwardingState | None, state: ForwardingState) -> tuple[str, ...]:
    """Nodes whose ports, configuration or silent faults are others than before; all of them on other links."""
    if before is None or before.links is not state.links:
        return tuple(state.ports)
    now, then = state.silent, before.silent
    faulty = {*(now.hung ^ then.hung), *(name for name, _ in now.losing ^ then.losing)}
    changed = changed_names(state.ports, before.ports) | changed_names(state.configs, before.configs) | faulty
    return tuple(name for name in state.ports if name in changed) if changed else ()


def steady_rates(
    state: ForwardingState, before: ForwardingState | None = None, held: Mapping[str, Values] | None = None
) -> dict[str, Values]:
    """Per second: `multicast`, frames of LLDP and router advertisements that leave a port by a link, and
    `fec_uncorrected`, codewords that the far end of a link cannot correct; `broadcast` stays at 0.

    held: the rates of the state `before`, to begin from.
    """
    none = np.zeros(len(state.links.near))
    known = held is not None and before is not None and before.links is state.links
    multicast = held["multicast"].copy() if known and held is not None else none.copy()
    for name in changed_nodes(before if known else None, state):
        for interface in state.ports[name]:
            multicast[state.links.egress[name, interface]] = _multicast_rate(state, name, interface)
    sent = {"multicast": multicast, "broadcast": none}
    heard = multicast.copy()
    heard[[state.links.egress[key] ^ 1 for key in state.silent.losing]] = 0.0
    return {**sent, "in_multicast": heard, "in_broadcast": none, "fec_uncorrected": _uncorrected_rates(state)}


def _multicast_rate(state: ForwardingState, name: str, interface: str) -> float:
    config = state.configs.get(name)
    if config is None or not state.ports[name][interface].oper_up or name in state.silent.hung:
        return 0.0
    lldp, held = config.model.lldp, config.interfaces.get(interface)
    advertises = held is not None and held.unnumbered and held.network_instance is not None
    return lldp.runs_on(interface) / max(lldp.hello_s, 1) + advertises / ADVERTISEMENT_S


def _uncorrected_rates(state: ForwardingState) -> Values:
    found = np.zeros(len(state.links.near))
    for key, loss_db in state.dirt.items():
        port = state.port(key)
        if port.oper_up:
            words = codewords_per_s(port.fec, port.rate_gbps) * lost_codewords(port.fec, loss_db)
            found[state.links.egress[key] ^ 1] = words
    return found

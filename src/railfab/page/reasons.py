"""Why a port is as it is now: what its numbers mean against its thresholds, and what its other end does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from railfab.page.frames import POOR_BIT_ERRORS
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates
from railfab.text.counted import counted, listed
from railfab.topology import PortKey
from railfab.twin.status import PassingFlow

BUSY = 0.9
"""Share of its rate from which on a port counts as full."""


def port_reasons(plan: PagePlan, rates: PortRates, number: int) -> Iterator[str]:
    """Sentences about a port; the first says so where nothing is known of it."""
    port = plan.ports[number]
    switch = plan.switches[port.switch].name
    if rates.stale[port.switch]:
        yield f"{switch} sends no samples: nothing is known of the port now."
        return
    if rates.is_up[number] == 0:
        yield f"The port has no link. Check it at both ends: here and at {port.peer} {port.peer_interface}."
    yield from _session_reasons(plan, rates, number)
    yield from _queue_reasons(plan, rates, number)
    yield from _pause_reasons(plan, rates, number)
    if rates.lossless_drops_per_s[number] > 0:
        lost = _many(rates.lossless_drops_per_s[number])
        yield f"It drops {lost} lossless packets a second: PFC did not hold them back."
    elif rates.drops_per_s[number] > 0:
        yield f"It drops {_many(rates.drops_per_s[number])} packets a second."
    if rates.bit_error_ratio[number] > POOR_BIT_ERRORS or rates.uncorrected_per_s[number] > 0:
        ratio = rates.bit_error_ratio[number]
        errors = "" if np.isnan(ratio) else f" ({ratio:.1e} of the bits are wrong before it)"
        yield f"FEC cannot correct all that arrives{errors}: clean or swap the optics of {port.peer}."
    if rates.utilisation[number] >= BUSY:
        yield f"It is full: {rates.utilisation[number]:.0%} of {port.rate_gbps} Gb/s in its busier direction."


def flow_sentences(flows: Sequence[PassingFlow]) -> Iterator[str]:
    """Who sends through a port, and to whom."""
    for kind, passing in (
        ("flow", [each for each in flows if each.payload_bytes is not None]),
        ("background flow", [each for each in flows if each.payload_bytes is None]),
    ):
        if passing:
            sources, targets = _names(each.source for each in passing), _names(each.target for each in passing)
            yield f"It sends {counted(len(passing), kind)} now: from {listed(sources)}, to {listed(targets)}."


def _names(ports: Iterable[PortKey]) -> list[str]:
    return sorted({" ".join(port) for port in ports})


def _session_reasons(plan: PagePlan, rates: PortRates, number: int) -> Iterator[str]:
    for session, is_up in zip(plan.sessions, rates.sessions_up.tolist(), strict=True):
        if session.port == number and is_up == 0:
            yield f"The BGP session with {session.peer} over it is down."


def _queue_reasons(plan: PagePlan, rates: PortRates, number: int) -> Iterator[str]:
    queue_bytes, share = rates.queue_bytes[number], rates.ecn_share[number]
    if np.isnan(queue_bytes):
        return
    kmin, kmax, xoff = plan.bounds[number].tolist()
    held = f"Its queue of RoCE has {queue_bytes / 1000:,.0f} kB"
    if queue_bytes >= xoff:
        yield f"{held}, more than xoff ({xoff / 1000:,.0f} kB): the ports that feed it pause their senders."
    elif queue_bytes >= kmax:
        yield f"{held}, more than Kmax ({kmax / 1000:,.0f} kB): every packet is marked."
    elif queue_bytes >= kmin:
        yield f"{held}, between Kmin ({kmin / 1000:,.0f} kB) and Kmax: a part of the packets is marked."
    elif share > 0:
        yield f"{held}, less than Kmin ({kmin / 1000:,.0f} kB), in the mean; its peaks are higher."
    if share > 0:
        yield f"{share:.1%} of its packets are marked by ECN, and their senders slow down."


def _pause_reasons(plan: PagePlan, rates: PortRates, number: int) -> Iterator[str]:
    frames = rates.pause_frames_per_s[number]
    if not frames > 0:
        return
    port, switch = plan.ports[number], plan.switches[plan.ports[number].switch].name
    yield f"{_many(frames)} pause frames a second are exchanged with {port.peer}."
    of_switch = np.flatnonzero(plan.switch_of_port == port.switch)
    deepest = of_switch[np.nan_to_num(rates.queue_bytes[of_switch], nan=-1.0).argmax()]
    depth = rates.queue_bytes[deepest]
    if depth >= plan.bounds[deepest][0]:
        full = plan.ports[deepest]
        yield f"The deepest queue of {switch} is that of {full.interface} towards {full.peer}: {depth / 1000:,.0f} kB."


def _many(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.1g}"

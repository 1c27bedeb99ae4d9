"""The time from a failure between switches to rerouted traffic, and back."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.platforms.contract import BgpSettings
from railfab.platforms.registry import platform, platform_names
from railfab.topology import Net
from railfab.units import counted

UNPUBLISHED = "plus the time to process the message and to program forwarding tables, which vendors do not publish"


def failover(subject: Subject) -> Iterator[str]:
    """Detection, the reroute of a switch next to a failure and of all others, and the return of a repaired link."""
    if subject.dimensions.spines is None:
        return
    yield _local(subject)
    yield from (_remote(subject, name) for name in _platforms(subject))
    yield from (back for name in _platforms(subject) if (back := _back(subject, name)))


def detection_ms(subject: Subject) -> int:
    """Longest time until a switch detects a lost neighbour while the signal stays [ms]: BFD, else the hold time."""
    profile = subject.intent.profile
    return profile.bfd.interval_ms * profile.bfd.multiplier if profile.bfd else profile.bgp.hold_s * 1000


def _local(subject: Subject) -> str:
    by = "by BFD" if subject.intent.profile.bfd else "by the hold time of BGP"
    return (
        "Local reroute: a switch that loses the signal of a link moves its flows to the other links of the next-hop "
        f"group at once; where the signal stays, it learns of the loss {by}, after at most "
        f"{detection_ms(subject):,} ms."
    )


def _remote(subject: Subject, name: str) -> str:
    hops = 3 if subject.dimensions.supers else 1
    way = "a spine, a super-spine and a spine in turn withdraw" if hops > 1 else "the spine withdraws"
    wait_s, why = _withdrawal_wait_s(subject, name)
    waits = f" + {hops} x {wait_s} s" if wait_s else ""
    total = detection_ms(subject) + hops * wait_s * 1000
    return (
        f"Remote reroute ({name}): when the last link between a spine and a rail switch fails, {way} "
        f"its prefixes from the other rail switches, which send into the loss until then: {detection_ms(subject):,} ms "
        f"of detection{waits} = {total:,} ms at most in {counted(hops, 'message')} ({why}), {UNPUBLISHED}."
    )


def _withdrawal_wait_s(subject: Subject, name: str) -> tuple[int, str]:
    """How long a switch holds a withdrawal back [s], and why."""
    settings, stated = _settings(name), subject.intent.profile.bgp.advertisement_interval_s
    if settings.rapid_withdrawal:
        return 0, "rapid withdrawal: they wait for no timer"
    interval = stated if stated is not None else settings.advertisement_interval_s
    return interval or 0, f"advertisement interval {interval or 0} s"


def _back(subject: Subject, name: str) -> str | None:
    bgp, settings = subject.intent.profile.bgp, _settings(name)
    retry_s = bgp.connect_retry_s or settings.connect_retry_s
    if retry_s is None:
        return None
    stated = bgp.advertisement_interval_s
    interval = (stated if stated is not None else settings.advertisement_interval_s) or 0
    return (
        f"Return of a repaired link ({name}): its session is attempted again within {retry_s} s, and each switch "
        f"announces the prefixes within {interval} s."
    )


def _settings(name: str) -> BgpSettings:
    return platform(name).capabilities.bgp


def _platforms(subject: Subject) -> tuple[str, ...]:
    """The platforms of the backend that railfab renders, in the order of its switches."""
    named = (node.platform for node in subject.topology.switches() if node.net is Net.BACKEND)
    known = platform_names()
    return tuple(dict.fromkeys(name for name in named if name in known))

"""The time from a failure between switches to rerouted traffic, and back."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.documents.explain.subject import Subject
from railfab.platforms.contract import BgpSettings
from railfab.platforms.registry import platform, platform_names
from railfab.text.counted import counted
from railfab.topology import Net

UNPUBLISHED = "plus the time to process the message and to program forwarding tables, which vendors do not publish"


def failover(subject: Subject) -> Iterator[str]:
    """Detection, the reroute of a switch next to a failure and of all others, and the return of a repaired link."""
    if subject.dimensions.spines is None:
        return
    yield _local(subject)
    yield from (_remote(subject, name) for name in _platforms(subject))
    yield from (back for name in _platforms(subject) if (back := _back(subject, name)))


def _local(subject: Subject) -> str:
    profile = subject.intent.profile
    by = "by BFD" if profile.bfd else "by the hold time of BGP"
    return (
        "Local reroute: a switch that loses the signal of a link moves its flows to the other links of the next-hop "
        f"group at once; where the signal stays, it learns of the loss {by}, after at most "
        f"{profile.detection_ms:,} ms."
    )


def _remote(subject: Subject, name: str) -> str:
    hops = 3 if subject.dimensions.supers else 1
    way = "a spine, a super-spine and a spine in turn withdraw" if hops > 1 else "the spine withdraws"
    detection_ms, (wait_s, why) = subject.intent.profile.detection_ms, _withdrawal_wait_s(subject, name)
    waits = f" + {hops} x {wait_s} s" if wait_s else ""
    total = detection_ms + hops * wait_s * 1000
    return (
        f"Remote reroute ({name}): when the last link between a spine and a rail switch fails, {way} "
        f"its prefixes from the other rail switches, which send into the loss until then: {detection_ms:,} ms "
        f"of detection{waits} = {total:,} ms at most in {counted(hops, 'message')} ({why}), {UNPUBLISHED}."
    )


def _withdrawal_wait_s(subject: Subject, name: str) -> tuple[int, str]:
    """Time for which a switch holds a withdrawal back [s], and the reason."""
    if _settings(name).rapid_withdrawal:
        return 0, "rapid withdrawal: they wait for no timer"
    interval_s = _advertisement_interval_s(subject, name)
    return interval_s, f"advertisement interval {interval_s} s"


def _advertisement_interval_s(subject: Subject, name: str) -> int:
    """Shortest time between two updates of a route [s]: as stated, else that of the platform."""
    stated = subject.intent.profile.bgp.advertisement_interval_s
    return (_settings(name).advertisement_interval_s if stated is None else stated) or 0


def _back(subject: Subject, name: str) -> str | None:
    profile = subject.intent.profile
    retry_s = profile.bgp.connect_retry_s or _settings(name).connect_retry_s
    if retry_s is None:
        return None
    held = f" after the {profile.link_hold_up_ms:,} ms that it must stay up" if profile.link_hold_up_ms else ""
    return (
        f"Return of a repaired link ({name}): its session is attempted again within {retry_s} s{held}, and each switch "
        f"announces the prefixes within {_advertisement_interval_s(subject, name)} s."
    )


def _settings(name: str) -> BgpSettings:
    return platform(name).capabilities.bgp


def _platforms(subject: Subject) -> tuple[str, ...]:
    """The platforms of the backend that railfab renders, in the order of its switches."""
    named = (node.platform for node in subject.topology.switches() if node.net is Net.BACKEND)
    known = platform_names()
    return tuple(dict.fromkeys(name for name in named if name in known))

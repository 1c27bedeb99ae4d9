"""Times of the PFC watchdog that platforms round, or have no setting for."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import SwitchBuffers
from railfab.findings import DesignCode, Finding, note
from railfab.intent import FabricIntent, Watchdog
from railfab.platforms import Platform, Support, has_platform, platform
from railfab.platforms.admission import support_of
from railfab.platforms.rounding import WATCHDOG, rounded_up
from railfab.text.remedies import Choice, remedy, values

KEY = "profile.lossless.watchdog"


def watchdog_findings(buffers: tuple[SwitchBuffers, ...], intent: FabricIntent) -> Iterator[Finding]:
    """Note the times that the intent states and a platform of lossless switches rounds, or has no setting for."""
    lossless = intent.profile.lossless
    if lossless is None or not lossless.pfc or lossless.watchdog is None:
        return
    named = {node.platform for kind in buffers for node in kind.switches if node.platform is not None}
    for name in sorted(filter(has_platform, named)):
        yield from _of_platform(lossless.watchdog, platform(name))


def _of_platform(watchdog: Watchdog, platform: Platform) -> Iterator[Finding]:
    step, times = platform.capabilities.steps.get(WATCHDOG, 1), watchdog.model_dump(exclude_unset=True)
    if "recover_ms" in times and _has_one_time(watchdog, platform):
        del times["recover_ms"]
        yield note(
            DesignCode.WATCHDOG_ROUNDED,
            f"{KEY}.recover_ms",
            f"platform {platform.name} has no setting of it, and honours pause frames again after a time of its own",
            remedy(Choice("it", {f"{KEY}.recover_ms": None}, "remove")),
        )
    for name, stated in times.items():
        if (effective := rounded_up(stated, step)) != stated:
            yield note(
                DesignCode.WATCHDOG_ROUNDED,
                f"{KEY}.{name}",
                f"{stated} ms is {effective} ms on platform {platform.name}, which takes multiples of {step} ms",
                remedy(*values(f"{KEY}.{name}", [effective])),
            )


def _has_one_time(watchdog: Watchdog, platform: Platform) -> bool:
    """Whether a platform has a setting for one of the two times only."""
    omits = support_of(platform.capabilities, "watchdog_recovery") is Support.OMITTED
    return omits and watchdog.recover_ms != watchdog.detect_ms

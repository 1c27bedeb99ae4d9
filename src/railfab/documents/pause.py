"""The values of the lossless class that a switch is configured with: its platform may lack a setting for some."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.device import PortThresholds, SwitchBuffers
from railfab.platforms import Support, has_platform, platform
from railfab.platforms.admission import support_of

FEATURES: Mapping[str, str] = {
    "xoff_bytes": "xoff",
    "xon_offset_bytes": "xon_offset",
    "headroom_percent": "headroom_percent",
    "headroom_bytes": "headroom_bytes",
}
"""The feature by which a platform has a setting for each value of PFC."""

RAMP = ("kmin_bytes", "kmax_bytes", "pmax_percent")
NONE = "none"
BY_SWITCH = "by the switch"
"""In place of a value that the switch chooses by itself."""


def is_configured(kind: SwitchBuffers, value: str) -> bool:
    """Whether these switches are configured with a value of `PortThresholds`; also if their platform is not known."""
    if value in RAMP:
        return bool(kind.plan.lossless.ecn)
    if value not in FEATURES:
        return True
    return kind.plan.lossless.pfc and _is_stated(kind, FEATURES[value])


def _is_stated(kind: SwitchBuffers, feature: str) -> bool:
    name = platform_of(kind)
    if not has_platform(name):
        return True
    return support_of(platform(name).capabilities, feature, kind.model.silicon) is Support.YES


def platform_of(kind: SwitchBuffers) -> str:
    return str(kind.switches[0].platform)


def has_headroom(kind: SwitchBuffers) -> bool:
    """Whether these switches are configured with the headroom of a port, in whichever unit."""
    return is_configured(kind, "headroom_bytes") or is_configured(kind, "headroom_percent")


def divides_buffer(kind: SwitchBuffers) -> bool:
    """Whether these switches are configured with their headroom, of each port or of all; also without PFC."""
    pools = ("headroom_pool_bytes", "headroom_pool_percent")
    return not kind.plan.lossless.pfc or has_headroom(kind) or any(_is_stated(kind, pool) for pool in pools)


def ramp_texts(kind: SwitchBuffers, port: PortThresholds) -> tuple[str, str, str]:
    """Kmin and Kmax in kB, and Pmax, as tables show them."""
    if not kind.plan.lossless.ecn:
        return NONE, NONE, NONE
    return f"{port.kmin_bytes / 1000:g}", f"{port.kmax_bytes / 1000:g}", f"{port.pmax_percent} %"


def xoff_text(kind: SwitchBuffers, port: PortThresholds) -> str:
    """XOFF in kB, as tables show it."""
    return f"{port.xoff_bytes / 1000:g}" if is_configured(kind, "xoff_bytes") else _instead(kind)


def headroom_text(kind: SwitchBuffers, configured: str) -> str:
    """The headroom of a port as tables show it. configured: its text where the switch is configured with it."""
    return configured if has_headroom(kind) else _instead(kind)


def _instead(kind: SwitchBuffers) -> str:
    return BY_SWITCH if kind.plan.lossless.pfc else NONE

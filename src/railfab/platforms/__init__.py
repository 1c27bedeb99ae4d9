"""Switch operating systems: one folder each, found by name, mostly data."""

from railfab.platforms.admission import admit
from railfab.platforms.contract import (
    Capabilities,
    Confidence,
    Dialect,
    LabFacts,
    Platform,
    Session,
    Support,
    TelemetryMap,
    TelemetryRule,
    Tree,
)
from railfab.platforms.design import Design, design, refusals, render_text
from railfab.platforms.registry import platform, platform_names
from railfab.platforms.targets import resolve_endpoints

__all__ = [
    "Capabilities",
    "Confidence",
    "Design",
    "Dialect",
    "LabFacts",
    "Platform",
    "Session",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "Tree",
    "admit",
    "design",
    "platform",
    "platform_names",
    "refusals",
    "render_text",
    "resolve_endpoints",
]

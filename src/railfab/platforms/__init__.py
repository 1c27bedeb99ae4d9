"""Switch operating systems: one subpackage each, found by name, mostly data."""

from railfab.platforms.admission import admit
from railfab.platforms.contract import (
    Capabilities,
    ChangeName,
    Confidence,
    Dialect,
    Identity,
    LabFacts,
    Pending,
    Platform,
    Running,
    Session,
    Staged,
    Support,
    TelemetryMap,
    TelemetryRule,
    Tree,
    Verb,
)
from railfab.platforms.registry import platform, platform_names

__all__ = [
    "Capabilities",
    "ChangeName",
    "Confidence",
    "Dialect",
    "Identity",
    "LabFacts",
    "Pending",
    "Platform",
    "Running",
    "Session",
    "Staged",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "Tree",
    "Verb",
    "admit",
    "platform",
    "platform_names",
]

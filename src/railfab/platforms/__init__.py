"""Switch operating systems: one subpackage each, found by name, mostly data."""

from railfab.platforms.admission import admit
from railfab.platforms.contract import (
    Capabilities,
    ChangeName,
    Confidence,
    Dialect,
    Identity,
    LabFacts,
    Operation,
    Pending,
    Platform,
    Running,
    Session,
    Staged,
    Support,
    TelemetryMap,
    TelemetryRule,
    Tree,
)
from railfab.platforms.registry import platform, platform_names

__all__ = [
    "Capabilities",
    "ChangeName",
    "Confidence",
    "Dialect",
    "Identity",
    "LabFacts",
    "Operation",
    "Pending",
    "Platform",
    "Running",
    "Session",
    "Staged",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "Tree",
    "admit",
    "platform",
    "platform_names",
]

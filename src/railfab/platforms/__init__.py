"""Switch operating systems: one subpackage each, found by name, mostly data."""

from railfab.platforms.admission import admit
from railfab.platforms.contract import (
    Capabilities,
    Confidence,
    Datastore,
    Dialect,
    LabFacts,
    Platform,
    Session,
    SubscriptionMode,
    Support,
    TelemetryMap,
    TelemetryRule,
    TelemetrySubscription,
    Tree,
    TwinFace,
    VirtualDevice,
    VirtualSession,
)
from railfab.platforms.interface_templates import InterfaceTemplates
from railfab.platforms.registry import platform, platform_names

__all__ = [
    "Capabilities",
    "Confidence",
    "Datastore",
    "Dialect",
    "InterfaceTemplates",
    "LabFacts",
    "Platform",
    "Session",
    "SubscriptionMode",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "TelemetrySubscription",
    "Tree",
    "TwinFace",
    "VirtualDevice",
    "VirtualSession",
    "admit",
    "platform",
    "platform_names",
]

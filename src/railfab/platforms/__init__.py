"""Switch operating systems: one subpackage each, found by name, mostly data."""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use
from railfab.platforms.admission import admit
from railfab.platforms.contract import Capabilities, Dialect, LabFacts, Platform, Refusal, Support
from railfab.platforms.interface_templates import InterfaceTemplates
from railfab.platforms.registry import has_platform, platform, platform_names, platforms_called

if TYPE_CHECKING:
    from railfab.platforms.differences import Difference, Side
    from railfab.platforms.image import Image
    from railfab.platforms.session import ChangeName, Identity, Pending, Running, Session, Staged, Verb
    from railfab.platforms.telemetry_map import (
        SIMULATED_TIME,
        Confidence,
        QueueNames,
        SubscriptionMode,
        TelemetryMap,
        TelemetryRule,
        TelemetrySubscription,
        has_simulated_time,
        of_twin,
    )
    from railfab.platforms.twin_face import (
        Datastore,
        RouteCounts,
        Tree,
        TwinFace,
        VirtualArpEntry,
        VirtualChassis,
        VirtualDevice,
        VirtualLag,
        VirtualMember,
        VirtualNeighbor,
        VirtualOptics,
        VirtualPort,
        VirtualReading,
        VirtualRoute,
        VirtualSession,
        VirtualTimers,
    )
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "differences": ("Difference", "Side"),
            "image": ("Image",),
            "session": ("ChangeName", "Identity", "Pending", "Running", "Session", "Staged", "Verb"),
            "telemetry_map": (
                "SIMULATED_TIME",
                "Confidence",
                "QueueNames",
                "SubscriptionMode",
                "TelemetryMap",
                "TelemetryRule",
                "TelemetrySubscription",
                "has_simulated_time",
                "of_twin",
            ),
            "twin_face": (
                "Datastore",
                "RouteCounts",
                "Tree",
                "TwinFace",
                "VirtualArpEntry",
                "VirtualChassis",
                "VirtualDevice",
                "VirtualLag",
                "VirtualMember",
                "VirtualNeighbor",
                "VirtualOptics",
                "VirtualPort",
                "VirtualReading",
                "VirtualRoute",
                "VirtualSession",
                "VirtualTimers",
            ),
        },
    )

__all__ = [
    "SIMULATED_TIME",
    "Capabilities",
    "ChangeName",
    "Confidence",
    "Datastore",
    "Dialect",
    "Difference",
    "Identity",
    "Image",
    "InterfaceTemplates",
    "LabFacts",
    "Pending",
    "Platform",
    "QueueNames",
    "Refusal",
    "RouteCounts",
    "Running",
    "Session",
    "Side",
    "Staged",
    "SubscriptionMode",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "TelemetrySubscription",
    "Tree",
    "TwinFace",
    "Verb",
    "VirtualArpEntry",
    "VirtualChassis",
    "VirtualDevice",
    "VirtualLag",
    "VirtualMember",
    "VirtualNeighbor",
    "VirtualOptics",
    "VirtualPort",
    "VirtualReading",
    "VirtualRoute",
    "VirtualSession",
    "VirtualTimers",
    "admit",
    "has_platform",
    "has_simulated_time",
    "of_twin",
    "platform",
    "platform_names",
    "platforms_called",
]

"""Fabrics and jobs that a user wrote as YAML, read into frozen models. No other package reads these files."""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use
from railfab.intent.backend import Backend, Growth, Segments, Spines, Subnets, SuperSpines
from railfab.intent.catalogue import CatalogueFile, InterfaceNames, SwitchEntry
from railfab.intent.fabric import FabricIntent, Target
from railfab.intent.hosts import Hosts, ModelSize, ScaleUp
from railfab.intent.load import json_schema, load_intent, load_job, load_mappings
from railfab.intent.networks import (
    AccessLeaves,
    AccessSpines,
    Frontend,
    Management,
    Services,
    Storage,
    Tenant,
    vlan_name,
)
from railfab.intent.profile import (
    Addresses,
    Bfd,
    Bgp,
    Hash,
    Lossless,
    Profile,
    Ramp,
    RoceTraffic,
    RoleRamps,
    StorageClass,
    SwitchRole,
    Trimming,
    UltraEthernet,
    Watchdog,
)

if TYPE_CHECKING:
    from railfab.intent.job import AtMost, Collective, Compute, Job, Phase, Traffic
    from railfab.intent.telemetry import OwnMetric, PlatformTelemetry, RuleEntry, SubscriptionEntry, TelemetryFile
    from railfab.intent.training import Accelerator, ModelShape, Parallelism, Placement
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "job": ("AtMost", "Collective", "Compute", "Job", "Phase", "Traffic"),
            "telemetry": ("OwnMetric", "PlatformTelemetry", "RuleEntry", "SubscriptionEntry", "TelemetryFile"),
            "training": ("Accelerator", "ModelShape", "Parallelism", "Placement"),
        },
    )

__all__ = [
    "Accelerator",
    "AccessLeaves",
    "AccessSpines",
    "Addresses",
    "AtMost",
    "Backend",
    "Bfd",
    "Bgp",
    "CatalogueFile",
    "Collective",
    "Compute",
    "FabricIntent",
    "Frontend",
    "Growth",
    "Hash",
    "Hosts",
    "InterfaceNames",
    "Job",
    "Lossless",
    "Management",
    "ModelShape",
    "ModelSize",
    "OwnMetric",
    "Parallelism",
    "Phase",
    "Placement",
    "PlatformTelemetry",
    "Profile",
    "Ramp",
    "RoceTraffic",
    "RoleRamps",
    "RuleEntry",
    "ScaleUp",
    "Segments",
    "Services",
    "Spines",
    "Storage",
    "StorageClass",
    "Subnets",
    "SubscriptionEntry",
    "SuperSpines",
    "SwitchEntry",
    "SwitchRole",
    "Target",
    "TelemetryFile",
    "Tenant",
    "Traffic",
    "Trimming",
    "UltraEthernet",
    "Watchdog",
    "json_schema",
    "load_intent",
    "load_job",
    "load_mappings",
    "vlan_name",
]

"""What a user wrote: fabrics and jobs as YAML, read into frozen models. No other room reads a user's YAML of these."""

from railfab.intent.fabric import (
    Backend,
    Bfd,
    FabricIntent,
    Hosts,
    Lossless,
    Profile,
    Segments,
    Spines,
    Target,
)
from railfab.intent.job import Collective, Compute, Job, Phase, Traffic
from railfab.intent.load import json_schema, load_intent, load_job

__all__ = [
    "Backend",
    "Bfd",
    "Collective",
    "Compute",
    "FabricIntent",
    "Hosts",
    "Job",
    "Lossless",
    "Phase",
    "Profile",
    "Segments",
    "Spines",
    "Target",
    "Traffic",
    "json_schema",
    "load_intent",
    "load_job",
]

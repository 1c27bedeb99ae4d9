"""From symptoms to ranked causes with evidence: one engine for all who ask why a fabric or a job is slow."""

from railfab.diagnosis.doctor import METRICS, diagnose
from railfab.diagnosis.model import Evidence, FabricDiagnosis, FaultPlace, RankedCause, Symptom
from railfab.diagnosis.observations import Observations
from railfab.diagnosis.window import TelemetryWindow, read_window

__all__ = [
    "METRICS",
    "Evidence",
    "FabricDiagnosis",
    "FaultPlace",
    "Observations",
    "RankedCause",
    "Symptom",
    "TelemetryWindow",
    "diagnose",
    "read_window",
]

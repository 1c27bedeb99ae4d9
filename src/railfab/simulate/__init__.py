"""A job on a design without a twin: collectives on the links of the fabric, at max-min fair rates."""

from railfab.simulate.details import OperationDetail, OperationWait
from railfab.simulate.faults import faults
from railfab.simulate.job import Contention, FabricEstimate, simulate_job
from railfab.simulate.sweep import SweepResult, SweepRun, sweep

__all__ = [
    "Contention",
    "FabricEstimate",
    "OperationDetail",
    "OperationWait",
    "SweepResult",
    "SweepRun",
    "faults",
    "simulate_job",
    "sweep",
]

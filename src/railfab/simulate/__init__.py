"""A job on a design without a twin: collectives on the links of the fabric, at max-min fair rates."""

from railfab.simulate.details import OperationDetail, OperationWait
from railfab.simulate.difference import NamedRun, OperationDifference, differences
from railfab.simulate.faults import faults
from railfab.simulate.job import Contention, FabricEstimate, simulate_job
from railfab.simulate.pictures import write_pictures
from railfab.simulate.sweep import SweepResult, SweepRun, sweep
from railfab.simulate.sweep_picture import write_distribution
from railfab.simulate.tables import write_results, write_tables

__all__ = [
    "Contention",
    "FabricEstimate",
    "NamedRun",
    "OperationDetail",
    "OperationDifference",
    "OperationWait",
    "SweepResult",
    "SweepRun",
    "differences",
    "faults",
    "simulate_job",
    "sweep",
    "write_distribution",
    "write_pictures",
    "write_results",
    "write_tables",
]

"""A job on a design without a twin: collectives on the links of the fabric, at max-min fair rates or in packets.

A run that is kept needs no numerics: what computes is imported on use.
"""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use
from railfab.simulate.contention import Contention
from railfab.simulate.results import FabricEstimate

if TYPE_CHECKING:
    from railfab.simulate.details import OperationDetail, OperationWait
    from railfab.simulate.difference import NamedRun, OperationDifference, differences
    from railfab.simulate.job import simulate_job
    from railfab.simulate.named_faults import faults
    from railfab.simulate.pictures import write_pictures
    from railfab.simulate.several_jobs import SharedCall, SharedJob, VaryingStep, simulate_jobs
    from railfab.simulate.sweep_picture import write_distribution
    from railfab.simulate.sweeps import SweepResult, SweepRun, sweep
    from railfab.simulate.tables import write_results, write_tables
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "details": ("OperationDetail", "OperationWait"),
            "difference": ("NamedRun", "OperationDifference", "differences"),
            "named_faults": ("faults",),
            "job": ("simulate_job",),
            "pictures": ("write_pictures",),
            "several_jobs": ("SharedCall", "SharedJob", "VaryingStep", "simulate_jobs"),
            "sweeps": ("SweepResult", "SweepRun", "sweep"),
            "sweep_picture": ("write_distribution",),
            "tables": ("write_results", "write_tables"),
        },
    )

__all__ = [
    "Contention",
    "FabricEstimate",
    "NamedRun",
    "OperationDetail",
    "OperationDifference",
    "OperationWait",
    "SharedCall",
    "SharedJob",
    "SweepResult",
    "SweepRun",
    "VaryingStep",
    "differences",
    "faults",
    "simulate_job",
    "simulate_jobs",
    "sweep",
    "write_distribution",
    "write_pictures",
    "write_results",
    "write_tables",
]

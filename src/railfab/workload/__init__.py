"""Jobs: phases and training steps as transfers and operations, a run on an engine, and durations in closed form.

The closed form needs no numerics: what runs on an engine is imported on use.
"""

from typing import TYPE_CHECKING

from railfab.import_on_use import imported_on_use
from railfab.workload.closed_form import CollectiveTime, JobEstimate, RecordedJob, estimate
from railfab.workload.operations import OPERATIONS
from railfab.workload.ranks import RanksByHost
from railfab.workload.stages import stages
from railfab.workload.transfer import Stage, Transfer

if TYPE_CHECKING:
    from railfab.workload.algorithms import ALGORITHMS, Algorithm, TransferRounds, transfer_rounds
    from railfab.workload.background_traffic import Background, background
    from railfab.workload.mapping import MappedRounds, mapped
    from railfab.workload.run import JobRun, JobStatus, JobSteps, Step, StepProgress
    from railfab.workload.staged_job import StagedJob, staged
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "algorithms": ("ALGORITHMS", "Algorithm", "TransferRounds", "transfer_rounds"),
            "background_traffic": ("Background", "background"),
            "mapping": ("MappedRounds", "mapped"),
            "run": ("JobRun", "JobStatus", "JobSteps", "Step", "StepProgress"),
            "staged_job": ("StagedJob", "staged"),
        },
    )

__all__ = [
    "ALGORITHMS",
    "OPERATIONS",
    "Algorithm",
    "Background",
    "CollectiveTime",
    "JobEstimate",
    "JobRun",
    "JobStatus",
    "JobSteps",
    "MappedRounds",
    "RanksByHost",
    "RecordedJob",
    "Stage",
    "StagedJob",
    "Step",
    "StepProgress",
    "Transfer",
    "TransferRounds",
    "background",
    "estimate",
    "mapped",
    "staged",
    "stages",
    "transfer_rounds",
]

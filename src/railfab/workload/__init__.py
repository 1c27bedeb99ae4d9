"""Jobs: phases and training steps as transfers and operations, a run on an engine, and durations in closed form."""

from railfab.workload.background import Background, background
from railfab.workload.closed_form import CollectiveTime, JobEstimate, estimate
from railfab.workload.operations import OPERATIONS
from railfab.workload.run import JobRun, JobStatus, Step
from railfab.workload.stages import Stage, stages
from railfab.workload.transfer import Transfer

__all__ = [
    "OPERATIONS",
    "Background",
    "CollectiveTime",
    "JobEstimate",
    "JobRun",
    "JobStatus",
    "Stage",
    "Step",
    "Transfer",
    "background",
    "estimate",
    "stages",
]

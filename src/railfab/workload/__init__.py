"""Jobs: collectives and traffic patterns as stages of transfers, and a run of them on an engine."""

from railfab.workload.background import Background, background
from railfab.workload.operations import OPERATIONS
from railfab.workload.run import JobRun, JobStatus, Step
from railfab.workload.stages import Stage, stages
from railfab.workload.transfer import Transfer

__all__ = ["OPERATIONS", "Background", "JobRun", "JobStatus", "Stage", "Step", "Transfer", "background", "stages"]

"""Jobs held against a fabric before anything of them runs."""

from __future__ import annotations

from pathlib import Path

from railfab.errors import IntentError
from railfab.fabric.design import naming
from railfab.intent import FabricIntent, Job
from railfab.topology import Topology
from railfab.workload import stages
from railfab.workload.recorded import load_any_job


def fitting_job(path: Path, topology: Topology, intent: FabricIntent) -> Job:
    """The job described in a file, which a twin of a fabric can run.

    Raises IntentError, or Problems, with file and line: for every fault of the file, for a job that another tool
    recorded, and for what the fabric has too few hosts or GPUs for.
    """
    job, document = load_any_job(path)
    if not isinstance(job, Job):
        problem = "a twin runs phases and models, and a recorded job has neither"
        raise IntentError(str(path), problem, "Use `railfab simulate`, which runs it")
    with naming(document):
        stages(job, topology, intent)
    return job

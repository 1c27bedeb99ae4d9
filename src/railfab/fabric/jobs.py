"""Jobs held against a fabric before anything of them runs."""

from __future__ import annotations

from pathlib import Path

from railfab.fabric.design import naming
from railfab.intent import FabricIntent, Job
from railfab.topology import Topology
from railfab.workload import RecordedJob, stages
from railfab.workload.recorded import load_any_job


def fitting_job(path: Path, topology: Topology, intent: FabricIntent) -> Job | RecordedJob:
    """The job described in a file, which a twin of a fabric can run.

    Raises IntentError, or Problems, with file and line: for every fault of the file, and for what the fabric has too
    few hosts or GPUs for.
    """
    job, document = load_any_job(path)
    with naming(document):
        stages(job, topology, intent)
    return job

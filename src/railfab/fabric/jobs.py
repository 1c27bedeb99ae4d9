"""Jobs held against a fabric before anything of them runs."""

from __future__ import annotations

from pathlib import Path

from railfab.fabric.design import naming
from railfab.intent import Job
from railfab.intent.load import load_job_file
from railfab.topology import Topology
from railfab.workload import stages


def fitting_job(path: Path, topology: Topology) -> Job:
    """The job of phases described in a file, which the hosts of a fabric can run.

    Raises IntentError, or Problems, with file and line: for every fault of the file, for a model, and for what the
    fabric has too few hosts or GPUs for.
    """
    job, document = load_job_file(path)
    with naming(document):
        stages(job, topology)
    return job

"""Jobs that other tools wrote down: Chakra execution traces, and workload texts of AICB and SimAI."""

from railfab.workload.recorded.files import job_files, load_any_job

__all__ = ["job_files", "load_any_job"]

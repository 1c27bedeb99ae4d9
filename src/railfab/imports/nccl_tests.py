"""Results of nccl-tests, as text or JSON.

Source: NVIDIA/nccl-tests 2.19.6 (a0b82b2), src/util.cu and src/common.cu, whose JSON has format version 3.
"""

from __future__ import annotations

from pathlib import Path

from railfab.imports import nccl_tests_json, nccl_tests_text
from railfab.imports.document import read_text
from railfab.imports.nccl_tests_run import OTHER_FILE
from railfab.workload.measured_run import MeasuredRun
from railfab.yaml_reader.files import Unread

MAX_BYTES = 200_000_000
"""Of a file: more than 16,384 ranks with all environment variables need."""
REMEDIES = dict.fromkeys(Unread, OTHER_FILE)


def read_nccl_tests(path: Path) -> MeasuredRun:
    """The run in a file. Raises SourceError, with file and line, for what is no whole run of a known operation."""
    text = read_text(path, MAX_BYTES, REMEDIES)
    if text.lstrip().startswith("{"):
        return nccl_tests_json.parsed(path, text)
    return nccl_tests_text.parsed(path, text)

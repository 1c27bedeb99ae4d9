"""Starter jobs, with comments: the training step of each model by name, and phases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from railfab.errors import IntentError
from railfab.text.counted import listed
from railfab.text.display import display
from railfab.yaml_reader.packaged import packaged

PHASES = "phases"


@cache
def starter_jobs() -> Mapping[str, Mapping[str, Any]]:
    """Every starter by name: `when` says what it is for, the rest fills its text."""
    jobs: dict[str, dict[str, Any]] = packaged(__package__, "jobs.yml")
    return jobs


def starter_job(name: str) -> str:
    """The text of a job. Raises IntentError for an unknown name."""
    if name not in starter_jobs():
        raise IntentError(
            f"--job {display(name)}", "no starter has this name", f"Use one of {listed(tuple(starter_jobs()))}"
        )
    template = files(__package__).joinpath("phases.yml" if name == PHASES else "training.yml")
    values = {key: str(value) for key, value in starter_jobs()[name].items()}
    lines = Template(template.read_text(encoding="utf-8")).substitute(values, job=name, model=name).splitlines()
    return "".join(f"{_in_column(line)}\n" for line in lines)


def _in_column(line: str) -> str:
    """The line with its comment in the column of the others, where there is room."""
    key, mark, comment = line.partition(" #")
    return f"{key.rstrip():26} #{comment}" if mark and key.strip() else line

"""Runs of a job on a design that are kept on disk: one with the same inputs and software is read, and not computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from railfab.errors import RailfabError
from railfab.simulate.contention import Contention
from railfab.simulate.inputs import inputs_digest, software_version
from railfab.simulate.kept_files import KeptFiles, folder_beside_kernels
from railfab.simulate.results import FabricEstimate
from railfab.workload import JobEstimate

Runs = tuple[FabricEstimate, ...]
Kept = tuple[
    str, tuple[tuple[int, JobEstimate, tuple[Contention, ...], tuple[str, ...], int, tuple[str, ...], bool], ...]
]
"""Name of the fabric, and of each run its seed, step, contentions, operations in closed form, slow links, how switches
choose links, and whether NICs take packets in any order."""


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """The runs of one command. digest: of its inputs."""

    files: KeptFiles
    digest: str

    @classmethod
    def of(
        cls, intent: Path, job: Path, options: Iterable[str], *, folder: Path | None, version: str
    ) -> KeptRuns | None:
        """The runs with these inputs; None where files cannot be read. version: of the software."""
        try:
            return cls(KeptFiles(folder, version), f"run-{inputs_digest(intent, job, options)}")
        except (OSError, RailfabError):
            return None

    @classmethod
    def beside_kernels(cls, intent: Path, job: Path, options: Iterable[str]) -> KeptRuns | None:
        """Those beside the compiled kernels that this software has computed."""
        return cls.of(intent, job, options, folder=folder_beside_kernels(), version=software_version())

    def read(self) -> tuple[str, Runs] | None:
        """The name of the fabric, and the runs; None where they are not kept."""
        content = self.files.read(self.digest)
        return None if content is None else _decoded(content)

    def write(self, fabric: str, runs: Runs) -> None:
        """Keep runs without details, if what is read again is equal to them."""
        kept = tuple(
            (run.seed, run.step, run.contentions, run.unfollowed, run.slow_links, run.balancing, run.reorders)
            for run in runs
        )
        content = _adapter().dump_json((fabric, kept))
        if _decoded(content) == (fabric, runs):
            self.files.write(self.digest, content)


@cache
def _adapter() -> TypeAdapter[Kept]:
    return TypeAdapter(Kept)


def _decoded(content: bytes) -> tuple[str, Runs] | None:
    try:
        fabric, kept = _adapter().validate_json(content)
    except ValidationError:
        return None
    runs = (
        FabricEstimate(
            seed=seed,
            step=step,
            contentions=held,
            unfollowed=unfollowed,
            slow_links=slow_links,
            balancing=balancing,
            reorders=reorders,
        )
        for seed, step, held, unfollowed, slow_links, balancing, reorders in kept
    )
    return fabric, tuple(runs)

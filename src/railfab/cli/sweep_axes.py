"""What `railfab sweep` tries: settings of the intent, placements, failures and seeds, each with each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import Output, stop_at_errors
from railfab.cli.simulate_options import SimulationTier
from railfab.errors import RailfabError, each, raise_all
from railfab.fabric import Design, design
from railfab.fabric.design import naming
from railfab.intent.settings import alternatives, set_keys

if TYPE_CHECKING:
    from railfab.simulate import SweepRun

FailuresOf = Callable[[Design], Iterable[tuple[str, ...]]]
"""Faults at once of each run of a design."""
OF_PACKETS = "profile.lossless"
"""Key of the intent, below which only packets see what changes: thresholds, PFC and ECN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxes:
    """Settings that are tried together, placements (empty: that of the job), seeds and tier."""

    settings: tuple[tuple[str, ...], ...]
    placements: tuple[str, ...]
    seeds: int
    tier: SimulationTier

    @classmethod
    def read(cls, settings: Iterable[str], placement: str | None, seeds: int, tier: SimulationTier) -> SweepAxes:
        """The axes of options. Raises IntentError for what is no setting."""
        return cls(
            settings=tuple(product(*map(alternatives, settings))),
            placements=tuple(placement.split(",")) if placement else ("",),
            seeds=seeds,
            tier=tier,
        )

    def unseen(self) -> tuple[str, ...]:
        """The keys with several values that the tier does not see."""
        if self.tier is SimulationTier.PACKETS:
            return ()
        keys = set_keys([text for settings in self.settings for text in settings])
        return tuple(key for key in keys if key == OF_PACKETS or key.startswith(f"{OF_PACKETS}."))

    def runs(
        self, fabric: Design, job: Path, failures: FailuresOf, accept: AcceptOption, output: Output
    ) -> Iterator[SweepRun]:
        """All runs of a design, after a check of the job and of every fault with each of the settings."""
        from railfab.simulate import SweepRun

        intent, asked = str(fabric.path.absolute()), str(job.absolute())
        for settings in self.settings:
            changed = _changed(fabric, settings, accept, output)
            failed = tuple(failures(changed))
            for placement in self.placements:
                _check(changed, job, placement, failed)
                for faults, seed in product(failed, range(1, self.seeds + 1)):
                    yield SweepRun(intent, asked, seed, faults, str(self.tier), settings, placement)


def _changed(fabric: Design, settings: tuple[str, ...], accept: AcceptOption, output: Output) -> Design:
    """A design with other values of keys of its intent. Raises RailfabError for values that it cannot have."""
    if not settings:
        return fabric
    with _naming_settings(settings):
        changed = design(fabric.path, settings=settings)
        stop_at_errors(changed, accept, output)
    return changed


@contextmanager
def _naming_settings(settings: Sequence[str]) -> Iterator[None]:
    """Put settings in front of the place of an error."""
    try:
        yield
    except RailfabError as raised:
        options = " ".join(f"--set {text}" for text in settings)
        stated = [error for error in each(raised) if error.where.startswith("--set ")]
        raise_all(stated or [error.changed(where=f"{options}: {error.where}") for error in each(raised)])


def _check(fabric: Design, job: Path, placement: str, failures: Iterable[tuple[str, ...]]) -> None:
    """Raise RailfabError for a design without routes, and a job, placement or fault that cannot be on it."""
    from railfab.fabric.routed import require_routes
    from railfab.simulate import faults
    from railfab.simulate.sweeps import placed
    from railfab.workload import estimate
    from railfab.workload.recorded import load_any_job

    require_routes(fabric)
    wanted, document = load_any_job(job)
    wanted = placed(wanted, placement)
    with naming(document):
        estimate(wanted, fabric.intent, fabric.topology)
    for failure in failures:
        faults(failure, fabric.topology)

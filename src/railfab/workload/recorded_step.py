"""A step that another tool recorded, as a twin needs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from railfab.intent import FabricIntent

if TYPE_CHECKING:
    from railfab.workload.group_calls import StepTransfers
    from railfab.workload.mapping import HostPorts


class RecordedStep(Protocol):
    """A step that another tool recorded. job: its name. path: as the user names it."""

    @property
    def job(self) -> str: ...

    @property
    def path(self) -> Path: ...

    def ranks(self, gpus: int) -> int:
        """Number of its ranks on a fabric with so many GPUs. Raises IntentError where those are too few."""
        ...

    def step_transfers(self, intent: FabricIntent, hosts: HostPorts) -> StepTransfers:
        """The step as transfers. hosts: with a GPU for each rank. Raises IntentError for one that has too many."""
        ...

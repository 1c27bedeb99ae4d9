"""The contract of a source: what it reads, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from railfab.errors import RailfabError
from railfab.page.columns import Numbers, VectorLayout


class SourceUnreadable(RailfabError):
    """A source cannot be read now."""


@dataclass(frozen=True, slots=True)
class FabricReading:
    """What a source knows at one moment, for every port, switch and session of the plan; NaN where it knows nothing.

    at_s: Unix time, by the clock of the source. ports, switches: by the names of `PORT_COLUMNS` and `SWITCH_COLUMNS`.
    sessions: 1 of those that are up.
    """

    at_s: float
    ports: Mapping[str, Numbers]
    switches: Mapping[str, Numbers]
    sessions: Numbers

    @property
    def sampled_s(self) -> Numbers:
        """When each switch took its last sample [s, Unix time]; NaN before the first."""
        arrived_s, lag_s = self.switches["arrived_s"], self.switches["lag_s"]
        return np.where(arrived_s > 0, arrived_s - np.nan_to_num(lag_s), np.nan)

    @property
    def overloaded(self) -> bool:
        """Whether the collector reads so late that no switch can be judged."""
        return bool((self.switches["overloaded"] > 0).any())


class PageSource(Protocol):
    """Reads the series of a fabric."""

    @property
    def name(self) -> str:
        """The word for it in the page: `twin`, `lab`, `prometheus`."""
        ...

    @property
    def interval_s(self) -> float:
        """Time between two samples of a switch [s]."""
        ...

    def read(self) -> FabricReading:
        """What is known now. Raises SourceUnreadable."""
        ...


def reading_of(layout: VectorLayout, vector: Numbers, at_s: float) -> FabricReading:
    """The reading of a vector."""
    return FabricReading(at_s, layout.of_ports(vector), layout.of_switches(vector), layout.of_sessions(vector))

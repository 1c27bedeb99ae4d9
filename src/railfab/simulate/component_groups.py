"""The groups of a component: when each ends at max-min fair rates, and in packets where these are not simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from railfab.simulate.ordered import Floats, Numbers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FairTimes:
    """An operation at max-min fair rates. seconds: (group,) [s]. carrier_s: (carrier,) when the last flow of each ends
    [s]. peak: (link,) as of `meeting_links`."""

    seconds: Floats
    carrier_s: Floats
    peak: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ComponentGroups:
    """Groups of a component. numbers: (group,) of the operation. place: (carrier,) the group of each, from 0.

    fair_s: (group,) when it has ended what is in the component at max-min fair rates [s]; not what it has in others.
    """

    numbers: Numbers
    place: Numbers
    fair_s: Floats

    @classmethod
    def of(cls, members: Numbers, group_of: Numbers, fair: FairTimes) -> ComponentGroups:
        """Those of these carriers. group_of: (carrier,) of the operation."""
        numbers, place = np.unique(group_of[members], return_inverse=True)
        seconds = np.zeros(len(numbers))
        np.maximum.at(seconds, place, fair.carrier_s[members])
        return cls(numbers, place, np.minimum(seconds, fair.seconds[numbers]))

    @property
    def slowest_s(self) -> float:
        """When the slowest group has ended at max-min fair rates [s]."""
        return float(self.fair_s.max())

    def ratios(self, ends: Floats) -> Floats:
        """Times over those at max-min fair rates, by rank: of the fastest ones first, of the slowest ones last.

        ends: (group,) [s].
        """
        ratios: Floats = np.sort(ends) / np.sort(self.fair_s)
        return ratios

    def expected(self, ratios: Sequence[Floats]) -> Floats:
        """(group,) when groups have ended in packets [s], if they take as many times as long as groups of the same rank
        do in the mean of some components. ratios: of each of these."""
        rank = np.linspace(1.0, 0.0, len(self.fair_s))[::-1]
        at_rank = [np.interp(rank, np.linspace(0.0, 1.0, len(held)), held) for held in ratios]
        ends = np.empty(len(self.fair_s))
        order = np.argsort(self.fair_s)
        ends[order] = self.fair_s[order] * np.mean(at_rank, axis=0)
        return ends

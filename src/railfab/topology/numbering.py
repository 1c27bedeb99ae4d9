"""The AS plan, after RFC 7938 section 5.2: one number for all super-spines of a plane, one for the spines of a pod, one
for each leaf; with iBGP one for all. Private numbers of RFC 6996, each computed from the numbers of its node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from railfab.topology.dimensions import Dimensions

FIRST_LEAF, LAST = 4_200_000_000, 4_294_967_294
"""First and last private AS number of four bytes."""
SPINES = 65_000
"""The spines of pod p have 65000 + p, the super-spines 65000."""
TWO_BYTE_PODS = 500
WIDE_SPINES = 4_290_000_000
"""Used instead of 65000 if there are more pods than two-byte numbers. The AS numbers of other networks are higher."""


@dataclass(frozen=True)
class AsPlan:
    """AS numbers by plane, pod and leaf, which all count from 1."""

    plan: Dimensions

    @cached_property
    def pod_width(self) -> int:
        """Numbers reserved per pod: a power of ten, at least 1000, more than the largest number of leaves."""
        digits = max(3, len(str(self.plan.growth_leaves)))
        return int(10**digits)

    @cached_property
    def _ibgp(self) -> int | None:
        profile = self.plan.intent.profile
        return profile.asn if profile.control_plane == "ibgp" else None

    @cached_property
    def _spines(self) -> int:
        pods = self.plan.growth_pods * self.plan.intent.backend.planes
        return SPINES if pods <= TWO_BYTE_PODS else WIDE_SPINES

    def leaf(self, plane: int, pod: int, leaf: int) -> int:
        return self._ibgp or FIRST_LEAF + self._pod(plane, pod) * self.pod_width + leaf

    def spine(self, plane: int, pod: int) -> int:
        """AS number of all spines of a pod: they share one, so that leaves do not send routes from spine to spine."""
        return self._ibgp or self._spines + self._pod(plane, pod)

    def super_spine(self, plane: int) -> int:
        return self._ibgp or self._spines - (plane - 1)

    def _pod(self, plane: int, pod: int) -> int:
        return (plane - 1) * self.plan.growth_pods + pod

    @property
    def suffices(self) -> bool:
        """Whether all leaves of the largest size have a number below those of spines and other networks."""
        return self._ibgp is not None or self.last_leaf <= WIDE_SPINES - self.plan.intent.backend.planes

    @cached_property
    def last_leaf(self) -> int:
        """The AS number of the last leaf at the largest size of the fabric."""
        return self.leaf(self.plan.intent.backend.planes, self.plan.growth_pods, self.plan.growth_leaves)

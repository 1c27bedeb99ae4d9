"""A job scheduler as a gate of a roll-out: it keeps jobs away from hosts, and says what runs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from railfab.errors import RailfabError


class SchedulerError(RailfabError):
    """A scheduler cannot be asked, does not know a host, or refuses a request."""


class Scheduler(Protocol):
    """A scheduler whose nodes are hosts of the plan. Hosts are named as in the plan.

    reason: the ID of a deploy, by which every process finds what that deploy holds. Each call ends within a bound and
    raises SchedulerError where the scheduler does not answer, knows a host not, or refuses the request.
    """

    @property
    def name(self) -> str:
        """The kind of the scheduler, for messages."""
        ...

    def hold(self, hosts: Sequence[str], reason: str) -> Mapping[str, str]:
        """Start no new job on these hosts. Twice is as once.

        Returns the hosts that somebody else had taken out before, with who or why; they stay as they are.
        """
        ...

    def busy(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """What runs on those of these hosts where something does."""
        ...

    def held(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """The reasons of railfab for those of these hosts that it holds."""
        ...

    def release(self, hosts: Sequence[str], reason: str) -> tuple[str, ...]:
        """Let jobs start again on those of these hosts that are held for this reason; returns them."""
        ...

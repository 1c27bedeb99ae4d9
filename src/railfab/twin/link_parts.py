"""The part of a link that a fault concerns."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from railfab.topology import PortKey


class Direction(StrEnum):
    """The fibres of a cable, as seen from the port that names it."""

    BOTH = "both"
    RECEIVE = "receive"
    TRANSMIT = "transmit"


class LinkPart(NamedTuple):
    """detected: whether a receiver that gets nothing notices, so that both ports go down; else both stay up."""

    direction: Direction = Direction.BOTH
    detected: bool = True

    def receivers(self, near: PortKey, far: PortKey) -> Iterator[PortKey]:
        """The ports that the fibres lead to."""
        if self.direction is not Direction.TRANSMIT:
            yield near
        if self.direction is not Direction.RECEIVE:
            yield far


WHOLE_LINK = LinkPart()

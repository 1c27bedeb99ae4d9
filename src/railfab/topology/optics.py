"""The cable or optic of each link, and the size and power of storage servers."""

from __future__ import annotations

from collections.abc import Callable

from railfab.intent import FabricIntent
from railfab.topology.equipment import Media
from railfab.topology.model import Link, Topology
from railfab.topology.signals import LinkMatch, LinkMatcher

SERVER_UNITS, SERVER_W = 2, 1200
"""Height [U] and largest power [W] of a storage server (general knowledge: 2 U with 24 NVMe drives)."""

LinkMedia = Callable[[Link], Media | None]


def link_media(topology: Topology, intent: FabricIntent) -> LinkMedia:
    """A function from a link to its medium: the one of the shortest reach that connects its ends. None where no known
    medium does, which the checks report."""
    matcher = LinkMatcher(topology, intent)

    def of(link: Link) -> Media | None:
        found = matcher.of(link)
        return found.media if isinstance(found, LinkMatch) else None

    return of


def media_name(media: Media | None) -> str:
    return media.name if media else "unknown"

"""What each link is made of, and the storage servers that no catalogue describes."""

from __future__ import annotations

from collections.abc import Callable

from railfab.intent import FabricIntent
from railfab.topology.equipment import Media
from railfab.topology.model import Link, Topology
from railfab.topology.signals import Joint, Joints

SERVER_UNITS, SERVER_W = 2, 1200
"""Of a storage server: height [U] and the most that it takes [W] (general knowledge: 2 U with 24 NVMe drives)."""

LinkMedia = Callable[[Link], Media | None]


def link_media(topology: Topology, intent: FabricIntent) -> LinkMedia:
    """What a link is made of: the medium of the shortest reach that joins its ends. None where nothing known does,
    which the checks report."""
    joints = Joints(topology, intent)

    def of(link: Link) -> Media | None:
        found = joints.of(link)
        return found.media if isinstance(found, Joint) else None

    return of


def media_name(media: Media | None) -> str:
    return media.name if media else "unknown"

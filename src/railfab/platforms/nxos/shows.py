"""State of a virtual switch with NX-OS as it shows it, as text and as JSON."""

from __future__ import annotations

from railfab.platforms.nxos.shows_addresses import AddressShows
from railfab.platforms.nxos.shows_interfaces import InterfaceShows
from railfab.platforms.nxos.shows_policies import PolicyShows
from railfab.platforms.nxos.shows_qos import QosShows
from railfab.platforms.nxos.shows_routes import RouteShows
from railfab.platforms.nxos.shows_routing import RoutingShows
from railfab.platforms.nxos.shows_system import SystemShows


class NxosShows(SystemShows, InterfaceShows, RoutingShows, AddressShows, QosShows, PolicyShows, RouteShows):
    """Commands that show state; NxosCli derives from it."""

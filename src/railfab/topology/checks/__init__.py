"""Checks of a design that can be built: their findings are errors and warnings."""

from railfab.topology.checks.capacity import Capacity, capacities
from railfab.topology.checks.run import findings

__all__ = ["Capacity", "capacities", "findings"]

"""Checks of a design that can be built: their findings are errors and warnings."""

from railfab.topology.checks.capacity import Capacity, capacities
from railfab.topology.checks.drains import drain_alternatives, drain_findings
from railfab.topology.checks.run import findings

__all__ = ["Capacity", "capacities", "drain_alternatives", "drain_findings", "findings"]

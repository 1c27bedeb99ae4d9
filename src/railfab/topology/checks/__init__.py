"""What a careful colleague would say of a fabric that can be built."""

from railfab.topology.checks.capacity import Capacity, capacities
from railfab.topology.checks.run import findings

__all__ = ["Capacity", "capacities", "findings"]

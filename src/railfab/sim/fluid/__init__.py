"""Flows as fluids: max-min fair shares of links, and the ends of flows that wait for one another."""

from railfab.sim.fluid.run import FluidFlows, fluid_ends, fluid_rates

__all__ = ["FluidFlows", "fluid_ends", "fluid_rates"]

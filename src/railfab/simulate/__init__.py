"""A job on a design without a twin: collectives on the links of the fabric, at max-min fair rates."""

from railfab.simulate.job import Contention, FabricEstimate, simulate_job

__all__ = ["Contention", "FabricEstimate", "simulate_job"]

"""Fast-forward: long-lasting traffic without every packet. docs/fast-forward.md states what that costs in accuracy."""

from railfab.sim.fast_forward.engine import FastForward
from railfab.sim.fast_forward.policy import NEVER, FastForwardPolicy

__all__ = ["NEVER", "FastForward", "FastForwardPolicy"]

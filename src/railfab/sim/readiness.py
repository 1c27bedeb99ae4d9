"""Whether the simulator starts at once and runs compiled; else why not, as a sentence with what it costs.

Apart from `jit`, whose text is part of what a compiled kernel belongs to: another figure here compiles nothing anew.
"""

from __future__ import annotations

from railfab.compiled import WHY_INTERPRETED, cache_base, is_filled
from railfab.sim.jit import DIRECTORY

INTERPRETED_FACTOR = 200
"""How many times slower the interpreted kernel is; measured in benchmarks/simulator.md."""

COMPILE_S = 30
"""Seconds that compiling the kernel takes; measured in benchmarks/simulator.md."""


def is_ready() -> bool:
    """Whether the kernel starts at once: compiled code is there from earlier, or nothing is compiled."""
    if WHY_INTERPRETED:
        return True
    return DIRECTORY is not None and is_filled(DIRECTORY)


def slowness() -> str | None:
    """Why the simulator starts or runs slower than it can, as a sentence; None where it does not."""
    if WHY_INTERPRETED:
        return f"The simulator runs about {INTERPRETED_FACTOR} times slower than compiled: {WHY_INTERPRETED}."
    if is_ready():
        return None
    if DIRECTORY:
        return f"The simulator is compiled once, which takes about {COMPILE_S} s."
    where = cache_base() or "a home directory"
    return (
        f"The simulator is compiled at every start, which takes about {COMPILE_S} s: {where} cannot be written. "
        "Set XDG_CACHE_HOME to a directory that can."
    )

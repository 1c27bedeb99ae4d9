"""The kernel of the simulator: what compiles it, and how it runs where nothing is compiled."""

from __future__ import annotations

from pathlib import Path

from railfab.compiled import Kernel, called, inlined
from railfab.compiled.intrinsics import from_start, prefetch
from railfab.sim.interpreted import on_python_objects

__all__ = ["DIRECTORY", "called", "compiled", "from_start", "inlined", "prefetch"]

_FOLDER = Path(__file__).resolve().parent
_KERNEL = Kernel(_FOLDER / "jit.py", *(_FOLDER / "kernel").glob("*.py"), interpreted=on_python_objects)
DIRECTORY = _KERNEL.directory
compiled = _KERNEL.compiled

"""What compiles this kernel, and how it runs where nothing is compiled: on memoryviews, whose numbers are Python's."""

from __future__ import annotations

from pathlib import Path

from railfab.compiled import Kernel, called, inlined
from railfab.compiled.interpreted import on_memoryviews
from railfab.compiled.intrinsics import copy, from_start, load64, prefetch

__all__ = ["DIRECTORY", "called", "compiled", "copy", "from_start", "inlined", "load64", "prefetch"]


_FOLDER = Path(__file__).resolve().parent
_KERNEL = Kernel(*_FOLDER.glob("*.py"), interpreted=on_memoryviews)
DIRECTORY = _KERNEL.directory
compiled = _KERNEL.compiled

"""Kernels: functions that numba compiles where it is installed, and that run interpreted where it is not."""

from railfab.compiled.cache import cache_base, is_filled
from railfab.compiled.kernel import WHY_INTERPRETED, Kernel, called, inlined

__all__ = ["WHY_INTERPRETED", "Kernel", "cache_base", "called", "inlined", "is_filled"]

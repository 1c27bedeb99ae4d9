"""Kernels: functions that numba compiles where it is installed, and that run interpreted where it is not.

Where compiled code is kept is known without numba: what compiles is imported on use.
"""

from typing import TYPE_CHECKING

from railfab.compiled.cache import cache_base, is_filled
from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.compiled.kernel import WHY_INTERPRETED, Kernel, called, inlined
else:
    __getattr__ = imported_on_use(__name__, {"kernel": ("WHY_INTERPRETED", "Kernel", "called", "inlined")})

__all__ = ["WHY_INTERPRETED", "Kernel", "cache_base", "called", "inlined", "is_filled"]

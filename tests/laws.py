"""How many examples a law draws: a fifth in `make test`, all of them in `make laws`."""

from __future__ import annotations

import os

IN_FULL = "RAILFAB_EXAMPLES" in os.environ
FEWEST = 3


def examples(in_full: int) -> int:
    """That many, or a fifth of them."""
    return in_full if IN_FULL else max(FEWEST, in_full // 5)

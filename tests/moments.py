"""Moments at which tests kill something: a few in `make test`, all of them in `make kills`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Moment = TypeVar("Moment")


def moments(every: Sequence[Moment], few: Sequence[Moment]) -> Sequence[Moment]:
    """Those to test: a few of them, unless RAILFAB_MOMENTS is `all`."""
    assert set(few) <= set(every)
    return every if os.environ.get("RAILFAB_MOMENTS") == "all" else few

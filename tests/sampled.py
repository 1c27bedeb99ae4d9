"""Cases of which `make test` tries a few, and `make matrix` the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest


def sampled(every: Iterable[Any], few: Collection[Any]) -> list[Any]:
    """Parameters of a test; those that are not among the few are marked `matrix`.

    A tuple is the values of several parameters. Of a mapping the keys are the names of the cases.
    """
    named = every if isinstance(every, Mapping) else dict.fromkeys(every)
    assert set(few) <= set(named), set(few) - set(named)
    return [
        pytest.param(
            *(_values(named[case]) if named is every else _values(case)),
            id=case if named is every else None,
            marks=() if case in few else pytest.mark.matrix,
        )
        for case in named
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)

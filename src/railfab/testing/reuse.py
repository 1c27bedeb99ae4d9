"""Strategies that are made once. Hypothesis validates each new one, which takes longer than to draw from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

from hypothesis import strategies as st

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
MOST_KEPT = 4096


def reused(function: Callable[P, S]) -> Callable[P, S]:
    """Let a function return its earlier result for the same arguments, which are hashable."""
    return cast(Callable[P, S], lru_cache(MOST_KEPT, typed=True)(function))


@reused
def optional(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    """None, or what the strategy draws."""
    return st.none() | strategy


@reused
def either(value: T, strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """This value, or what the strategy draws."""
    return st.just(value) | strategy

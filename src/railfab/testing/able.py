"""What models of the laws may have: the features of a platform, with its limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping


class Able(frozenset[str]):
    """Names of features. limits, least: the largest and smallest values that the platform takes, by name."""

    limits: Mapping[str, int]
    least: Mapping[str, int]

    def __new__(cls, features: Iterable[str], *, limits: Mapping[str, int], least: Mapping[str, int]) -> Able:
        able = super().__new__(cls, features)
        able.limits, able.least = limits, least
        return able

    def __eq__(self, value: object) -> bool:
        """Whether features are equal, and so are the limits, for strategies are kept by them."""
        limits = (value.limits, value.least) if isinstance(value, Able) else (self.limits, self.least)
        return super().__eq__(value) and limits == (self.limits, self.least)

    __hash__ = frozenset.__hash__


def most(able: Collection[str], name: str, otherwise: int) -> int:
    """The largest value to draw: `otherwise`, or less where the platform has a limit."""
    return min(otherwise, able.limits.get(name, otherwise)) if isinstance(able, Able) else otherwise


def least(able: Collection[str], name: str, otherwise: int) -> int:
    """The smallest value to draw: `otherwise`, or more where the platform has a minimum."""
    return max(otherwise, able.least.get(name, otherwise)) if isinstance(able, Able) else otherwise

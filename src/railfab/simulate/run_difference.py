"""Two runs of the same collective: the differences of their bandwidths that are more than noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, exp, log, pi, sin, sqrt
from statistics import mean, variance

from railfab.workload.measured_run import MeasuredRun, MeasuredSize

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeDifference:
    """A size of two runs. ratio: of the bandwidths, after over before, in the geometric mean of out-of-place and
    in-place. noise: factor by which the ratio may differ from 1 without meaning; None where it is not known."""

    size_bytes: int
    before_bytes_per_s: float
    after_bytes_per_s: float
    ratio: float
    noise: float | None

    @property
    def differs(self) -> bool:
        return self.noise is not None and not 1 / self.noise <= self.ratio <= self.noise


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """Two runs. ratio: in the geometric mean of the sizes that bandwidth limits; least, most: its interval of
    confidence. None: fewer than two such sizes.
    """

    before: str
    after: str
    sizes: tuple[SizeDifference, ...]
    ratio: float | None
    least: float | None
    most: float | None


def run_difference(before: MeasuredRun, after: MeasuredRun, bandwidth_sizes: Sequence[int]) -> RunDifference:
    """The differences of the sizes that both runs have.

    A size has a logarithm of the ratio for out-of-place and in-place, in each cycle. Noise is their variance about the
    mean of their size, pooled over the sizes that bandwidth limits, and over the others, or that of the iterations
    where these were recorded and vary more. Student's t for all sizes together (Bonferroni).
    """
    paired = {
        size.size_bytes: pairs
        for size in before.sizes
        if (pairs := _pairs(size, next((each for each in after.sizes if each.size_bytes == size.size_bytes), None)))
    }
    logs = {size: [log(late / early) for early, late in pairs] for size, pairs in paired.items()}
    noise: dict[int, float | None] = {}
    for pool in ([s for s in logs if s in bandwidth_sizes], [s for s in logs if s not in bandwidth_sizes]):
        noise.update(_noise({size: logs[size] for size in pool}, len(logs), before, after))
    sizes = tuple(
        SizeDifference(
            size_bytes=size,
            before_bytes_per_s=mean(early for early, _ in paired[size]),
            after_bytes_per_s=mean(late for _, late in paired[size]),
            ratio=exp(mean(logs[size])),
            noise=noise[size],
        )
        for size in logs
    )
    means = [mean(logs[size]) for size in logs if size in bandwidth_sizes]
    whole = mean(means) if len(means) > 1 else None
    span = t_quantile(1 - (1 - CONFIDENCE) / 2, len(means) - 1) * sqrt(variance(means) / len(means)) if whole else 0.0
    return RunDifference(
        before=before.source,
        after=after.source,
        sizes=sizes,
        ratio=None if whole is None else exp(whole),
        least=None if whole is None else exp(whole - span),
        most=None if whole is None else exp(whole + span),
    )


def _pairs(before: MeasuredSize, after: MeasuredSize | None) -> list[tuple[float, float]]:
    """Bandwidths of a size in both runs: out-of-place with out-of-place, in the order of the cycles."""
    if after is None:
        return []
    pairs: list[tuple[float, float]] = []
    for in_place in (False, True):
        halves = [
            [each.bus_bytes_per_s for each in size.valid if each.in_place is in_place] for size in (before, after)
        ]
        pairs += zip(*halves, strict=False)
    return pairs


def _noise(
    logs: Mapping[int, Sequence[float]], tests: int, before: MeasuredRun, after: MeasuredRun
) -> dict[int, float | None]:
    """The factor of each size that noise reaches; None where no size has two measurements."""
    freedom = sum(len(of_size) - 1 for of_size in logs.values())
    if freedom == 0:
        return dict.fromkeys(logs)
    pooled = sum(sum((each - mean(of_size)) ** 2 for each in of_size) for of_size in logs.values()) / freedom
    t = t_quantile(1 - (1 - CONFIDENCE) / (2 * tests), freedom)
    return {
        size: exp(t * sqrt(max(pooled, _of_iterations(size, before) + _of_iterations(size, after)) / len(of_size)))
        for size, of_size in logs.items()
    }


def _of_iterations(size_bytes: int, run: MeasuredRun) -> float:
    """Variance of the logarithm of a mean time, of its iterations; 0 without their record."""
    variations = [
        each.variation
        for size in run.sizes
        if size.size_bytes == size_bytes
        for each in size.valid
        if each.variation is not None
    ]
    return max(variations) ** 2 / run.iterations if variations and run.iterations else 0.0


def t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t with a whole number of degrees of freedom, for a probability above 0.5.

    Its distribution: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + _within(middle, freedom)) / 2 < probability else (low, middle)
    return sqrt(freedom) * sin(low) / cos(low)


def _within(angle: float, freedom: int) -> float:
    """Probability that t is nearer to 0 than tan(angle) times the root of its degrees of freedom."""
    odd = freedom % 2
    term, total = (cos(angle), 0.0) if odd else (1.0, 0.0)
    for step in range(1 + odd, freedom, 2):
        total += term
        term *= step / (step + 1) * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total

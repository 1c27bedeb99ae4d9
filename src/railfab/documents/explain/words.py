"""How an explanation says numbers."""

from __future__ import annotations

from collections.abc import Sequence

from railfab.units import counted

__all__ = ["capacity", "counted", "joined", "kilobytes", "listed", "megabytes", "ranges", "ratio"]


def capacity(gbps: float) -> str:
    """`400 Gb/s`, `3.2 Tb/s`"""
    return f"{gbps:g} Gb/s" if gbps < 1000 else f"{gbps / 1000:,.10g} Tb/s"


def ratio(down: float, up: float) -> str:
    """`1:1, non-blocking`, `2:1`"""
    return f"{down / up:.4g}:1" + (", non-blocking" if down <= up else "")


def kilobytes(size_bytes: float) -> str:
    return f"{size_bytes / 1000:,.6g} kB"


def megabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def ranges(numbers: Sequence[int]) -> str:
    """`1-8`, `1, 4, 7`; runs of three or more are drawn together."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def listed(what: str, numbers: Sequence[int]) -> str:
    """`rail 1`, `rails 1-8`"""
    return f"{what}{'s' if len(set(numbers)) > 1 else ''} {ranges(numbers)}"


def joined(parts: Sequence[str]) -> str:
    """`a, b and c`"""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

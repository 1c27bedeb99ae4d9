"""Format numbers and lists for an explanation."""

from __future__ import annotations

from collections.abc import Sequence


def capacity(gbps: float) -> str:
    """Bandwidth, such as `400 Gb/s` or `3.2 Tb/s`."""
    return f"{gbps:g} Gb/s" if gbps < 1000 else f"{gbps / 1000:,.10g} Tb/s"


def ratio(down: float, up: float) -> str:
    """Oversubscription, such as `1:1, non-blocking` or `2:1`."""
    return f"{down / up:.4g}:1" + (", non-blocking" if down <= up else "")


def kilobytes(size_bytes: float) -> str:
    return f"{size_bytes / 1000:,.6g} kB"


def megabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.1f} MB"


def ranges(numbers: Sequence[int]) -> str:
    """Numbers, such as `1-8` or `1, 4, 7`; three or more consecutive ones as a range."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def numbered(what: str, numbers: Sequence[int]) -> str:
    """Numbers with their noun, such as `rail 1` or `rails 1-8`."""
    return f"{what}{'s' if len(set(numbers)) > 1 else ''} {ranges(numbers)}"


def joined(parts: Sequence[str]) -> str:
    """A list in a sentence, such as `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

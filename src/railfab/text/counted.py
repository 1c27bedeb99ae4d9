"""Numbers with their nouns, and lists of names."""

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 finding`, `2 findings`, `1,024 switches`."""
    plural = {
        "rail switch": "rail switches",
        "switch": "switches",
        "leaf": "leaves",
        "class": "classes",
        "process": "processes",
        "prefix": "prefixes",
    }.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"


LISTED = 8
"""Names that a message lists before it counts the rest."""


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """Names with commas; of more than `most`, the first of them and the number of the others."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"

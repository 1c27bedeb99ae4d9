"""Widths of lines of text, so that they fit their boxes in a browser."""

from __future__ import annotations

PRINTABLE = "".join(map(chr, range(32, 127)))
WIDEST = 1000
"""Of a letter that the tables lack [1/1000 em]."""
SLACK = 1.01
"""Browsers round the width of a letter, depending on the size of the font and the screen."""


def _table(advances: str, further: dict[str, int]) -> dict[str, int]:
    return {**dict(zip(PRINTABLE, map(int, advances.split()), strict=True)), **further}


REGULAR = _table(
    """
    318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636
    636 636 636 636 636 636 636 337 337 838 838 838 531 1000 684 686 698 770 632
    575 775 752 295 295 656 557 863 748 787 603 787 695 635 611 732 684 989 685
    611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278 579
    278 974 634 612 635 635 411 521 392 634 592 818 592 592 525 636 337 636 838
    """,
    {"·": 318, "×": 838, "–": 500},
)
"""Advance widths of DejaVu Sans 2.37, as a browser measures them [1/1000 em]."""
BOLD = _table(
    """
    348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696
    696 696 696 696 696 696 696 400 400 838 838 838 580 1000 774 762 734 830 683
    683 821 837 372 372 775 637 995 837 850 733 850 770 720 682 812 774 1103 771
    724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 712 343 343 665
    343 1042 712 687 716 716 493 595 478 712 652 924 645 652 582 712 365 712 838
    """,
    {"·": 380, "×": 838, "–": 500},
)
"""The same of DejaVu Sans Bold."""


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Width of a line of text in DejaVu Sans, the widest font of the style sheet's list; size: of the font [px]."""
    advances = BOLD if bold else REGULAR
    return sum(advances.get(letter, WIDEST) for letter in text) * size / 1000 * SLACK


def truncated(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The line, shortened with an ellipsis to fit the width [px]."""
    if width_of(text, size, bold=bold) <= width:
        return text
    kept = len(text)
    while kept > 1 and width_of(text[:kept] + "…", size, bold=bold) > width:
        kept -= 1
    return text[:kept].rstrip(" ,-") + "…"

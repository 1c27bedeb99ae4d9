"""Lines beside a tier, of which there may be too many."""

from __future__ import annotations

from railfab.draw.counts import shortened


def test_three_lines_stay_and_of_four_the_last_two_are_counted_together() -> None:
    lines = [("12 x 400G", 12), ("4 x 200G", 4), ("2 x 100G", 2), ("1 x 50G", 1)]
    assert shortened(lines[:3], "cables") == ["12 x 400G", "4 x 200G", "2 x 100G"]
    assert shortened(lines, "cables") == ["12 x 400G", "4 x 200G", "3 other cables"]

"""Texts have enough contrast on light and on dark pages."""

from __future__ import annotations

import re

import pytest
from tests.draw.pictures import Design

from railfab.draw import topology_svg
from railfab.draw.palette import PLANE_COLOURS, RAIL_COLOURS, contrast, readable_ink

LEAST = 4.5
"""WCAG 2.1, 1.4.3, for text of this size."""
PAGES = {"light": "#ffffff", "dark": "#0d1117"}


def colours(scheme: str) -> dict[str, str]:
    """Fill colour of each class in the style sheet of a picture, for light or dark pages."""
    sheet = topology_svg(Design().topology()).split("<style>")[1].split("</style>")[0]
    light, dark = sheet.split("@media(prefers-color-scheme:dark)")
    rules = re.findall(r"([^{}]+){fill:(#\w{6})", light if scheme == "light" else dark)
    return {name.strip(): fill for names, fill in rules for name in names.split(",")}


@pytest.mark.parametrize("scheme", PAGES)
def test_text_has_contrast_on_the_page_and_on_boxes(scheme: str) -> None:
    found = colours(scheme)
    assert found[".page"] == PAGES[scheme]
    for ground in (".page", ".leaf", ".spine", ".super", ".hosts", ".bare"):
        for ink in ("text", ".name", ".head", ".title"):
            assert contrast(found[ink], found[ground]) >= LEAST, (ink, ground)


@pytest.mark.parametrize("colour", [*RAIL_COLOURS, *PLANE_COLOURS])
def test_text_has_contrast_on_the_colours_of_rails_and_planes(colour: str) -> None:
    assert contrast(readable_ink(colour), colour) >= LEAST


def test_no_two_rails_or_planes_share_a_colour() -> None:
    assert len({*RAIL_COLOURS, *PLANE_COLOURS}) == len(RAIL_COLOURS) + len(PLANE_COLOURS) == 16


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#ffffff", "#ffffff", 1.0),
        ("#777777", "#ffffff", 4.48),
        ("#0000ff", "#ffffff", 8.59),
    ],
)
def test_contrast_ratios_are_the_published_ones(one: str, other: str, ratio: float) -> None:
    """Black, white, a grey just below the limit, and blue."""
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)

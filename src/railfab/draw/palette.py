"""Colours of pictures on light and on dark pages, and the contrast of text on them."""

from __future__ import annotations

RAIL_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a600", "#8464aa")
"""Okabe and Ito's palette for colour-blind readers; the yellow is darkened for contrast on white."""
PLANE_COLOURS = ("#0969da", "#bc4c00", "#1a7f37", "#8250df", "#9a6700", "#bf3989", "#1b7c83", "#cf222e")
LIGHT_INK, DARK_INK = "#ffffff", "#0d1117"
LIGHT_MARK, DARK_MARK = "#cf222e", "#ff7b72"
"""Of the mark of a design with findings."""

LIGHT = {
    "page": "#ffffff",
    "card": "#f6f8fa",
    "edge": "#8c959f",
    "frame": "#d0d7de",
    "note": "#57606a",
    "name": "#24292f",
}
DARK = {
    "page": "#0d1117",
    "card": "#161b22",
    "edge": "#6e7681",
    "frame": "#3d444d",
    "note": "#9da7b3",
    "name": "#e6edf3",
}

SHAPES = """
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.head{font-size:18px;font-weight:600}
.name,.title{font-weight:600}
.name,.note,.chip,.bar{text-anchor:middle}
.note,.side,.bar,.end{font-size:11px}
.end{text-anchor:end}
.chip{font-size:10px;font-weight:600}
.spine,.super{stroke-width:1.5}
.frame,.cable,.strand{fill:none}
.cable{stroke-opacity:.75}
.strand{stroke-opacity:.85}
.frame{stroke-width:1.25}
"""


def style(*, findings: bool = False) -> str:
    """Style sheet of a picture: shapes, then colours for light pages and for dark pages.

    findings: add the rules of the mark of a design with findings.
    """
    light, dark = _colours(LIGHT), _colours(DARK)
    if not findings:
        return f"{SHAPES}{light}@media(prefers-color-scheme:dark){{\n{dark}}}\n"
    light, dark = f"{light}.mark{{fill:{LIGHT_MARK}}}\n", f"{dark}.mark{{fill:{DARK_MARK}}}\n"
    return f"{SHAPES}.mark{{font-weight:600;text-anchor:end}}\n{light}@media(prefers-color-scheme:dark){{\n{dark}}}\n"


def _colours(scheme: dict[str, str]) -> str:
    return (
        f"text{{fill:{scheme['note']}}}\n"
        f".head,.name,.title{{fill:{scheme['name']}}}\n"
        f".page{{fill:{scheme['page']}}}\n"
        f".super,.spine,.leaf,.hosts{{fill:{scheme['card']};stroke:{scheme['edge']}}}\n"
        f".bare{{fill:{scheme['card']};stroke:{scheme['frame']}}}\n"
        f".trunk{{fill:{scheme['edge']}}}\n"
        f".empty{{fill:none;stroke:{scheme['frame']}}}\n"
        f".frame{{stroke:{scheme['frame']}}}\n"
        f".cable{{stroke:{scheme['edge']}}}\n"
    )


def rail_colour(rail: int) -> str:
    return RAIL_COLOURS[(rail - 1) % len(RAIL_COLOURS)]


def plane_colour(plane: int) -> str:
    return PLANE_COLOURS[(plane - 1) % len(PLANE_COLOURS)]


def readable_ink(colour: str) -> str:
    """Ink with the higher contrast on a colour."""
    return max((LIGHT_INK, DARK_INK), key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21; text needs 4.5. WCAG 2.1, 1.4.3 and "relative luminance"."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[index : index + 2], 16) / 255) for index in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

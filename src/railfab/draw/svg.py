"""The few SVG elements that pictures here are made of, as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y of its upper left corner, to the right and downwards [px]."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """One element. Content is SVG already; attributes are escaped; `class_` is `class`, `a_b` is `a-b`."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_number(value))}" for name, value in attributes.items()
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def words(x: float, y: float, text: str, class_: str) -> str:
    """A line of text whose baseline begins (or, by its class, has its middle) at x, y."""
    return element("text", escape(text), x=x, y=y, class_=class_)


def title(text: str) -> str:
    """What a reader sees on pointing at the element, and what a screen reader says."""
    return element("title", escape(text))


def rectangle(box: Box, class_: str, *content: str, radius: float = 6, **attributes: str) -> str:
    named = {"class_": class_, **attributes} if class_ else attributes
    return element("rect", *content, x=box.x, y=box.y, width=box.width, height=box.height, rx=radius, **named)


def document(box: Box, name: str, style: str, body: Iterable[str]) -> str:
    """A whole picture, one element a line. name: its accessible name."""
    size = f"{_number(box.x)} {_number(box.y)} {_number(box.width)} {_number(box.height)}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{_number(box.width)}"'
        f' height="{_number(box.height)}" role="img" aria-label={quoteattr(name)}>'
    )
    return "\n".join((head, f"<style>{style}</style>", *body, "</svg>", ""))


NARROW, WIDE = frozenset(" ijltfrIJ.,:;'|!/()[]-·"), frozenset("mwMWGOQD%@+<=>&×…~#")


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a line is in DejaVu Sans [px], the widest of the fonts that a page may take; others need less."""
    em = sum(0.42 if letter in NARROW else 0.9 if letter in WIDE else 0.64 for letter in text)
    return em * size * (1.1 if bold else 1.0)


def fitted(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """The line, or as much of it as fits with an ellipsis [px]."""
    if width_of(text, size, bold=bold) <= width:
        return text
    kept = len(text)
    while kept > 1 and width_of(text[:kept] + "…", size, bold=bold) > width:
        kept -= 1
    return text[:kept].rstrip(" ,-") + "…"


def _number(value: str | float) -> str:
    """Coordinates with one decimal at most, so that the same picture is the same text everywhere."""
    return value if isinstance(value, str) else f"{round(value, 1):g}"

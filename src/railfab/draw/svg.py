"""SVG elements as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from railfab.text.printable import printable


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle. x, y: of its upper left corner; y grows downwards [px]."""

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
    """One element. content: SVG, not escaped; attributes are escaped; `class_` is `class`, `a_b` is `a-b`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_number(value))}"' for name, value in attributes.items()
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def text_line(x: float, y: float, text: str, class_: str) -> str:
    """A line of text. x, y: start of the baseline, or its middle or end, depending on the class."""
    return element("text", escape(printable(text), quote=False), x=x, y=y, class_=class_)


def title(text: str) -> str:
    """Tooltip of an element, also read by screen readers."""
    return element("title", escape(printable(text), quote=False))


def rectangle(box: Box, class_: str, *content: str, radius: float = 6, **attributes: str) -> str:
    named = {"class_": class_, **attributes} if class_ else attributes
    return element("rect", *content, x=box.x, y=box.y, width=box.width, height=box.height, rx=radius, **named)


def document(box: Box, name: str, style: str, body: Iterable[str]) -> str:
    """A complete SVG document, one element a line. name: its accessible name."""
    size = f"{_number(box.x)} {_number(box.y)} {_number(box.width)} {_number(box.height)}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" width="{_number(box.width)}"'
        f' height="{_number(box.height)}" role="img" aria-label="{escape(printable(name))}">'
    )
    return "\n".join((head, f"<style>{style}</style>", *body, "</svg>", ""))


def _number(value: str | float) -> str:
    """Text of an attribute; numbers with at most one decimal, so that the output is the same on every machine."""
    return printable(value) if isinstance(value, str) else f"{round(value, 1):g}"

"""rich's console, of which no character of a switch, a file or a user can control the terminal or is markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from railfab.app.escaped import escaped
from railfab.text.printable import printable_lines


class PrintableConsole(Console):
    """A console whose output is printable text, new lines, and the styles and cursor movements of rich itself.

    A text is escaped before it is wrapped, so that its width is right; everything else as it is written.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, emoji=False, markup=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str(printable_lines(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        whole = escaped(renderable, printable_lines) if isinstance(renderable, Text) else renderable
        for segment in super().render(whole, options):
            yield segment if segment.control else Segment(printable_lines(segment.text), segment.style)

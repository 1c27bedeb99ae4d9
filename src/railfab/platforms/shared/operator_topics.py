"""Lines of a configuration that are the operator's, where the intent does not state them.

A topic is a pattern of top-level lines. One of which a rendered configuration has a line is the intent's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from railfab.platforms.shared.line_tree import Line, LineFormat

REPLACES = "! replaces "
"""Beginning of a comment with a line of a topic that the text around it removes; see `former_text`."""


@dataclass(frozen=True, slots=True)
class OperatorTopics:
    """form: of the configurations. patterns: of the topics. hidden: top-level lines that a switch need not show."""

    form: LineFormat
    patterns: Sequence[re.Pattern[str]]
    hidden: frozenset[str] = frozenset()

    def stated(self, rendered: str) -> list[str]:
        """The top-level lines of a rendered configuration, and those that its comments name."""
        return [*_replaced_lines(rendered), *(line.text for line in self.form.tree(rendered))]

    def scoped(self, configuration: str, rendered: str, is_more: Callable[[Line], bool] = lambda _line: False) -> str:
        """A configuration without what is the operator's. is_more: whether a line is by another rule than its topic."""
        lines = self.form.tree(configuration)
        return self.form.text(self._without_operators(lines, self.stated(rendered), is_more))

    def is_as_written(
        self, configuration: str, rendered: str, is_more: Callable[[Line], bool] = lambda _line: False
    ) -> bool:
        """Whether a configuration has each section of a rendered one as it is written, and else the operator's alone.

        This is fast; a configuration with the same settings may be written in another way.
        """
        present, wanted = self.form.written(configuration), self.form.written(rendered)
        if present is None or wanted is None or (wanted - present).keys() - self.hidden:
            return False
        rest = self.form.tree("\n".join((present - wanted).elements()))
        stated = [*_replaced_lines(rendered), *(section.partition("\n")[0] for section in wanted)]
        return not self._without_operators(rest, stated, is_more)

    def _without_operators(
        self, lines: tuple[Line, ...], stated: Sequence[str], is_more: Callable[[Line], bool]
    ) -> tuple[Line, ...]:
        @cache
        def is_foreign(topic: re.Pattern[str]) -> bool:
            return not any(map(topic.fullmatch, stated))

        def is_operators(line: Line) -> bool:
            topics = (topic for topic in self.patterns if topic.fullmatch(line.text))
            return is_more(line) or any(map(is_foreign, topics))

        return tuple(line for line in lines if not is_operators(line))

    def replaced(self, rendered: str) -> str:
        """Comments that name the lines of topics of a rendered configuration.

        A text with them removes these topics from a switch, where without a line of them it would keep them.
        """
        texts = dict.fromkeys(self.stated(rendered))
        lines = [text for text in texts if any(topic.fullmatch(text) for topic in self.patterns)]
        return "".join(REPLACES + line.replace("\n", "\\n") + "\n" for line in lines)


def _replaced_lines(rendered: str) -> list[str]:
    """The lines that comments of a rendered configuration name; see `OperatorTopics.replaced`."""
    if REPLACES not in rendered:
        return []
    comments = [line for line in rendered.splitlines() if line.startswith(REPLACES)]
    return [line.removeprefix(REPLACES).replace("\\n", "\n") for line in comments]

"""`configure terminal` of a virtual switch: lines that arrive together take effect together."""

from __future__ import annotations

from collections.abc import Sequence

from railfab.errors import RailfabError
from railfab.platforms.shared.line_tree import LineFormat
from railfab.platforms.shared.typed_lines import LineRules, TypedLines
from railfab.platforms.twin_face import VirtualDevice

LEAVE: tuple[str, ...] = ()
"""The step that leaves a section."""


class TerminalConfiguration:
    """The running configuration with typed lines, as TypedLines has them; they take effect with `apply`.

    A step is a line, with those of a literal that it begins, or LEAVE.
    """

    def __init__(self, device: VirtualDevice, form: LineFormat, rules: LineRules) -> None:
        self._device = device
        self._form = form
        self._rules = rules
        self._steps: list[tuple[str, ...]] = []
        self._headers: tuple[str, ...] = ()
        self._begin()

    def _begin(self) -> None:
        """Take the running configuration, in the present section."""
        self._running = self._device.running()
        self._typed = self._with(())
        self._text = self._typed.text()

    def _with(self, steps: Sequence[tuple[str, ...]]) -> TypedLines:
        """The running configuration after some steps."""
        typed = TypedLines(self._form, self._rules, self._running)
        for header in self._headers:
            typed.take(header)
        for step in steps:
            if step == LEAVE:
                typed.leave()
            for line in step:
                typed.take(line)
        return typed

    @property
    def place(self) -> str:
        return self._typed.place

    @property
    def section(self) -> tuple[str, ...]:
        return self._typed.section

    @property
    def in_literal(self) -> bool:
        return self._typed.in_literal

    def value(self, word: str) -> str | None:
        return self._typed.value(word)

    def take(self, line: str) -> None:
        """Take a line, which waits until `apply`."""
        if not self._steps and self._device.running() != self._running:
            self._begin()
        in_literal = self.in_literal
        self._typed.take(line)
        if in_literal:
            self._steps[-1] += (line,)
        else:
            self._steps.append((line,))

    def leave(self) -> bool:
        """Leave the present section; False at the top."""
        left = self._typed.leave()
        if left:
            self._steps.append(LEAVE)
        return left

    def apply(self) -> list[RailfabError]:
        """Have the lines that wait take effect, and drop those that the switch refuses; the errors of these."""
        errors: list[RailfabError] = []
        if not self._steps or self.in_literal:
            return errors
        while (text := self._typed.text()) != self._text:
            try:
                self._device.replace(text)
                self._text = text
            except RailfabError as error:
                errors.append(error)
                self._drop_cause()
        self._steps.clear()
        self._running, self._headers = self._device.running(), self._typed.headers
        return errors

    def _drop_cause(self) -> None:
        """Drop the first step after which the configuration is not valid; all, if each of them can be parsed."""
        valid, refused = 0, len(self._steps)
        if self._is_valid(refused):
            del self._steps[:]
        else:
            while refused - valid > 1:
                middle = (valid + refused) // 2
                valid, refused = (middle, refused) if self._is_valid(middle) else (valid, middle)
            del self._steps[valid]
        self._typed = self._with(self._steps)

    def _is_valid(self, steps: int) -> bool:
        try:
            self._device.check(self._with(self._steps[:steps]).text())
        except RailfabError:
            return False
        return True

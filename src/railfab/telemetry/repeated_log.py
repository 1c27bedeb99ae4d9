"""Logging of what repeats: the first time, after a change, and then every few minutes with a count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

AGAIN_AFTER_S = 300.0


class RepeatedLog:
    """Warnings of one target. device: its name, an attribute of the records. now_s: a monotonic clock [s]."""

    def __init__(self, logger: logging.Logger, device: str = "", now_s: Callable[[], float] = time.monotonic) -> None:
        self._logger = logging.LoggerAdapter(logger, {"device": device})
        self._now_s = now_s
        self._text = ""
        self._logged_s = float("-inf")
        self._held_back = 0

    def info(self, text: str, *arguments: object) -> None:
        """Log what does not repeat."""
        self._logger.info(text, *arguments)

    def warning(self, text: str, *, again: bool = False, cause: BaseException | None = None) -> None:
        """Log a text, unless it is the one of the last few minutes. again: log it in any case. cause: an error whose
        traceback is logged with it."""
        now_s = self._now_s()
        if text == self._text and not again and now_s - self._logged_s < AGAIN_AFTER_S:
            self._held_back += 1
            self._logger.debug("%s", text)
            return
        times = (
            f" ({self._held_back + 1} times since this was last logged)"
            if self._held_back and text == self._text
            else ""
        )
        self._text, self._logged_s, self._held_back = text, now_s, 0
        self._logger.warning("%s%s", text, times, exc_info=cause)

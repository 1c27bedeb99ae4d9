"""Warnings of a problem that lasts: logged once, after a change, and then every few minutes with a count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

AGAIN_AFTER_S = 300.0


@dataclass(slots=True)
class _Logged:
    text: str
    at_s: float
    held_back: int = 0


class RepeatedWarnings:
    """Warnings about one subject.

    device: its name, an attribute of the records. prefix: begins each text. now_s: a monotonic clock [s].
    """

    def __init__(
        self,
        logger: logging.Logger,
        device: str = "",
        *,
        prefix: str = "",
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logging.LoggerAdapter(logger, {"device": device})
        self._prefix = prefix
        self._now_s = now_s
        self._logged: dict[str, _Logged] = {}

    def info(self, text: str, *arguments: object) -> None:
        """Log what does not repeat."""
        self._logger.info("%s" + text, self._prefix, *arguments)

    def warning(self, text: str, *, reason: str = "", again: bool = False, cause: BaseException | None = None) -> None:
        """Log a text, unless it was the last one and that within AGAIN_AFTER_S.

        reason: of a problem whose texts differ, as in a number: within AGAIN_AFTER_S, one text of each is logged.
        again: log it in any case. cause: an error whose traceback is logged with it.
        """
        now_s, before = self._now_s(), self._logged.get(reason)
        repeats = before is not None and (before.text == text or reason != "")
        if before is not None and repeats and not again and now_s - before.at_s < AGAIN_AFTER_S:
            before.held_back += 1
            self._logger.debug("%s%s", self._prefix, text)
            return
        times = before.held_back + 1 if before is not None and repeats and before.held_back else 0
        count = f" ({times} times since this was last logged)" if times else ""
        self._logged[reason] = _Logged(text, now_s)
        self._logger.warning("%s%s%s", self._prefix, text, count, exc_info=cause)

    def end(self, reason: str, text: str) -> None:
        """Log that a problem is over, where it was logged."""
        if self._logged.pop(reason, None) is not None:
            self.info("%s", text)

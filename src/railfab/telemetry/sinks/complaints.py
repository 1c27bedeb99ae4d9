"""Log lines of a sink: one when something is wrong, one when it is over, and not one for each attempt."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

AGAIN_S = 300.0
"""A problem that lasts is logged again after so long."""


class Complaints:
    """The problems of one sink. receiver: where it sends, as it may be logged."""

    def __init__(
        self, logger: logging.Logger, receiver: str, *, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._logger = logger
        self._receiver = receiver
        self._now_s = monotonic_s
        self._logged_s: dict[str, float] = {}

    def say(self, reason: str, text: str) -> None:
        """Log a problem, unless one of this reason was logged within AGAIN_S."""
        now_s = self._now_s()
        if now_s - self._logged_s.get(reason, -AGAIN_S) >= AGAIN_S:
            self._logged_s[reason] = now_s
            self._logger.warning("%s: %s", self._receiver, text)

    def over(self) -> None:
        """Log that samples arrive again, if the last word was a problem. Refused samples come and go, and stay said."""
        if self._logged_s.pop("unreachable", None) is not None:
            self._logger.info("%s: takes samples again", self._receiver)

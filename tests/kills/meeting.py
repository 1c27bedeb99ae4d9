"""A place where a deploy waits at a step until a test has done something to it, its switches or its disk."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import TracebackType


class Meeting(AbstractContextManager["Meeting"]):
    """Does one thing when a deploy gets to its step, and lets it continue. address: where the deploy says so.

    reached: whether it got there, and `age_s` how long ago [s].
    """

    def __init__(self, happen: Callable[[], None]) -> None:
        self._happen = happen
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listening.bind("")
        self._listening.listen()
        self.address = self._listening.getsockname().decode().removeprefix("\0")
        self.reached = threading.Event()
        self._reached_s = math.inf
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def age_s(self) -> float:
        return time.monotonic() - self._reached_s

    def _serve(self) -> None:
        with suppress(OSError):
            deploy, _ = self._listening.accept()
            with deploy:
                try:
                    self._happen()
                except BaseException as error:  # noqa: BLE001 - raised in the thread of the test
                    self._error = error
                self._reached_s = time.monotonic()
                self.reached.set()
                deploy.send(b"1")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()
        if self._error is not None:
            raise self._error

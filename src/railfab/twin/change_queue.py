"""Changes of a fabric that wait for its convergence: those that come while another converges converge together."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from railfab.device import DeviceModel
from railfab.forwarding import FabricChange
from railfab.topology import PortKey

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Request:
    """A change that waits for its convergence. failure: the error that prevented it."""

    change: FabricChange
    done: bool = False
    failure: Exception | None = None


class ChangeQueue:
    """Hands changes to `converge`, from one thread at a time. fabric: name for the log. Thread-safe."""

    def __init__(self, fabric: str, converge: Callable[[FabricChange], None]) -> None:
        self._fabric = fabric
        self._converge = converge
        self._requests: list[_Request] = []
        self._requesting, self._converging = threading.Lock(), threading.Lock()

    def apply(self, change: FabricChange) -> None:
        """Wait until a change has taken effect. Raises the error of its convergence."""
        request = _Request(change)
        with self._requesting:
            self._requests.append(request)
        with self._converging:
            while not request.done:
                self._serve_requests()
        if request.failure is not None:
            raise request.failure

    def between(self, work: Callable[[], None]) -> bool:
        """Do work while nothing converges; false, and nothing done, while something does. Never waits."""
        if not self._converging.acquire(blocking=False):
            return False
        try:
            work()
        finally:
            self._converging.release()
        return True

    def _serve_requests(self) -> None:
        """Converge what waits, together; an exchange of cables alone."""
        with self._requesting:
            exchanges = (place for place, held in enumerate(self._requests) if held.change.exchanged is not None)
            count = next(exchanges, len(self._requests)) or 1
            requests, self._requests = self._requests[:count], self._requests[count:]
        try:
            self._converge(merged([request.change for request in requests]))
        except Exception as error:  # any defect: left to this thread alone, the other callers would wait for ever
            logger.exception("%s: convergence failed", self._fabric)
            for request in requests:
                request.failure = error
        for request in requests:
            request.done = True


def merged(changes: Sequence[FabricChange]) -> FabricChange:
    """Several changes, in their order, as one: what comes later counts. One that exchanges cables is alone.

    Of a cable that is cut or restored each of them names both ends.
    """
    if len(changes) == 1:
        return changes[0]
    models: dict[str, DeviceModel | None] = {}
    cut: frozenset[PortKey] = frozenset()
    restored: frozenset[PortKey] = frozenset()
    slow: dict[PortKey, float] = {}
    for change in changes:
        models.update(change.models)
        slow.update(change.slow)
        cut, restored = (cut - change.restored) | change.cut, (restored - change.cut) | change.restored
    dirt = {key: loss_db for change in changes for key, loss_db in change.dirt.items()}
    flapped = next((change.flapped for change in reversed(changes) if change.flapped is not None), None)
    fibres = {key: fibre for change in changes for key, fibre in change.fibres.items()}
    faults = {name: fault for change in changes for name, fault in change.switch_faults.items()}
    return FabricChange(models, cut, restored, slow, dirt, flapped, fibres=fibres, switch_faults=faults)

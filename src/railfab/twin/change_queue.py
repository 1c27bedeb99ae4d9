"""Changes of a fabric that wait for its convergence: those that come while another converges converge together.

A change may also wait for those that are announced, such as configurations that are being parsed: most convergences of
a first deploy would else be for a few switches each. It waits the longer the longer a convergence takes, for a second
at most, and not at all for a change that comes alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from railfab.device import DeviceModel
from railfab.forwarding import FabricChange
from railfab.topology import PortKey

logger = logging.getLogger(__name__)

MOST_WAIT_S = 1.0
"""Maximum time that a change waits for announced ones [s]."""
WAIT_OF_CONVERGENCE = 10
"""The same in durations of the last convergence, which so takes a tenth of the time of a stream of changes."""


@dataclass(slots=True)
class _Request:
    """A change that waits for its convergence. announced: by the thread of this number; None for one that was not.

    failure: the error that prevented it.
    """

    change: FabricChange
    announced: int | None
    done: bool = False
    failure: Exception | None = None


class ChangeQueue:
    """Hands changes to `converge`, from one thread at a time. fabric: name for the log. Thread-safe."""

    def __init__(self, fabric: str, converge: Callable[[FabricChange], None]) -> None:
        self._fabric = fabric
        self._converge = converge
        self._requests: list[_Request] = []
        self._announced: set[int] = set()
        self._arriving = threading.Condition()
        self._leading, self._converging = threading.Lock(), threading.Lock()
        self._took_s = 0.0

    @contextmanager
    def announced(self) -> Iterator[None]:
        """Announce a change that the thread will apply, or will not: others that were announced may wait for it."""
        thread = threading.get_ident()
        with self._arriving:
            self._announced.add(thread)
        try:
            yield
        finally:
            self._withdraw([thread])

    def apply(self, change: FabricChange) -> None:
        """Wait until a change has taken effect. Raises the error of its convergence."""
        thread = threading.get_ident()
        with self._arriving:
            request = _Request(change, thread if thread in self._announced else None)
            self._requests.append(request)
            self._arriving.notify_all()
        with self._leading:
            while not request.done:
                self._wait_for_announced()
                with self._converging:
                    self._serve_requests()
        if request.failure is not None:
            raise request.failure

    def _withdraw(self, threads: Iterable[int | None]) -> None:
        """Remove threads from those that have announced a change."""
        with self._arriving:
            self._announced.difference_update(threads)
            self._arriving.notify_all()

    def _wait_for_announced(self) -> None:
        """Wait until each announced change is there, or one that was not announced, but not for long."""
        with self._arriving:
            self._arriving.wait_for(self._is_complete, min(MOST_WAIT_S, WAIT_OF_CONVERGENCE * self._took_s))

    def _is_complete(self) -> bool:
        threads = {request.announced for request in self._requests}
        return None in threads or threads >= self._announced

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
        with self._arriving:
            exchanges = (place for place, held in enumerate(self._requests) if held.change.exchanged is not None)
            count = next(exchanges, len(self._requests)) or 1
            requests, self._requests = self._requests[:count], self._requests[count:]
        began_s = time.monotonic()
        try:
            self._converge(merged([request.change for request in requests]))
        except Exception as error:  # any defect: left to this thread alone, the other callers would wait for ever
            logger.exception("%s: convergence failed", self._fabric)
            for request in requests:
                request.failure = error
        self._took_s = time.monotonic() - began_s
        self._withdraw(request.announced for request in requests)
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
    reduced = _latest_last(change.reduced for change in changes)
    dirt = {key: loss_db for change in changes for key, loss_db in change.dirt.items()}
    flapped = next((change.flapped for change in reversed(changes) if change.flapped is not None), None)
    fibres = {key: fibre for change in changes for key, fibre in change.fibres.items()}
    faults = {name: fault for change in changes for name, fault in change.switch_faults.items()}
    return FabricChange(
        models=models,
        cut=cut,
        restored=restored,
        slow=slow,
        reduced=reduced,
        dirt=dirt,
        flapped=flapped,
        fibres=fibres,
        switch_faults=faults,
    )


def _latest_last(rates: Iterable[Mapping[PortKey, float]]) -> dict[PortKey, float]:
    """The latest rate that each port was given, in the order of these: of two ends of a cable the later one counts."""
    latest: dict[PortKey, float] = {}
    for given in rates:
        latest = {**{key: rate_gbps for key, rate_gbps in latest.items() if key not in given}, **given}
    return latest

"""Runs of Nornir tasks over the switches of a fabric, and the outcome of each switch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import Host
from nornir.core.state import GlobalState
from nornir.core.task import AggregatedResult, MultiResult, Result, Task

from railfab.deploy.inventory import inventory_of
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.runner import StoppableRunner
from railfab.deploy.tasks import IsOwn, Keep, configure, inspect, preview, read_running
from railfab.device import Observed
from railfab.endpoints import Endpoints
from railfab.errors import DeviceError, NotRolledBack, RailfabError, raise_all
from railfab.fabric import Design, require_sessions
from railfab.platforms import ChangeName, Running

logger = logging.getLogger(__name__)
logging.getLogger("nornir.core.task").setLevel(
    logging.CRITICAL
)  # failed hosts are reported by Outcome, not by a traceback

WORKERS = 16
"""Switches handled in parallel; more than about 8 a core did not connect reliably on a busy machine."""

T = TypeVar("T")

OnDone = Callable[[str], None]
"""Called with the name of each switch when its task is done."""
OnResult = Callable[[str, MultiResult], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The change that a deploy would make on one switch. text: what it replaces. candidate: what it would run then.

    reverted: a pending change, undone. drained: whether a verb has drained the switch, which the change keeps.
    """

    name: str
    text: str
    candidate: str
    diff: str
    reverted: ChangeName | None = None
    drained: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.diff)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Outcome of one switch. error: one line, when failed. unsettled: failed, and may run part of the change.

    drained: whether a verb has drained the switch, which the change kept. wave: in which the switch was, 0 without
    waves. reverted: changed, and returned to what it ran before. begun: whether its wave has begun.
    """

    name: str
    changed: bool
    failed: bool
    diff: str
    error: str | None = None
    unsettled: bool = False
    drained: bool = False
    wave: int = 0
    reverted: bool = False
    begun: bool = True

    @property
    def result(self) -> str:
        """`changed`, `no change`, `failed`, `unsettled`, `reverted` or `not begun`."""
        if self.failed:
            return "unsettled" if self.unsettled else "failed"
        if not self.begun:
            return "not begun"
        return "reverted" if self.reverted else "changed" if self.changed else "no change"


def nornir_of(fabric: Design, endpoints: Endpoints, stop_requested: threading.Event | None = None) -> Nornir:
    """A Nornir over these switches. stop_requested: when set, a run gives up switches that do not answer.

    Raises UnsupportedFeature, or Problems, for each platform that has no sessions.
    """
    require_sessions((endpoint.name, endpoint.platform) for endpoint in endpoints.nodes)
    return Nornir(
        inventory=inventory_of(fabric, endpoints.nodes),
        runner=StoppableRunner(WORKERS, stop_requested),
        config=Config(),
        data=GlobalState(),
    )


def preview_all(
    nornir: Nornir,
    configurations: Mapping[str, str],
    on_done: OnDone,
    *,
    is_own: IsOwn | None = None,
    kept: KeptSessions | None = None,
) -> list[Preview]:
    """Changes that these configurations would make.

    is_own, kept: see `tasks.preview`. Raises RailfabError when a switch cannot be read, or has a pending change.
    """
    result = _run(nornir, preview, _named(on_done), configurations=configurations, is_own=is_own, kept=kept)
    raise_all(_errors(result))
    return [_preview(name, result[name][0]) for name in nornir.inventory.hosts]


def _preview(name: str, found: Result) -> Preview:
    running, staged = found.result
    return Preview(
        name=name,
        text=staged.former,
        candidate=staged.text,
        diff=staged.diff,
        reverted=getattr(found, "reverted", None),
        drained=running.drained,
    )


def apply_all(
    nornir: Nornir,
    configurations: Mapping[str, str],
    change: ChangeName,
    on_outcome: Callable[[Outcome], None],
    *,
    approved: Mapping[str, str] | None = None,
    former: Mapping[str, str] | None = None,
    keep: Keep | None = None,
    kept: KeptSessions | None = None,
    stays_open: bool = False,
    is_own: IsOwn | None = None,
    stop_requested: threading.Event | None = None,
    abandoned: threading.Event | None = None,
) -> list[Outcome]:
    """Configure each switch with its text. A failed switch is rolled back, or unsettled; the others continue.

    change: name of the change on every switch. on_outcome: called with each outcome as it comes, in the thread of its
    switch. approved, former: the reviewed differences, and what each switch ran then. keep: stores the running
    configuration before it is replaced. kept, stays_open, is_own: see `tasks.configure`. stop_requested: when set, no
    further switch is changed. abandoned: when set, a switch that is lost during a change is not waited for.
    """
    arguments = {
        "configurations": configurations,
        "change": change,
        "approved": approved,
        "former": former,
        "keep": keep,
        "kept": kept,
        "stays_open": stays_open,
        "is_own": is_own,
        "stop_requested": stop_requested,
        "abandoned": abandoned,
    }
    return outcomes_of(nornir, configure, on_outcome, **arguments)


def outcomes_of(
    nornir: Nornir, task: Callable[..., Result], on_outcome: Callable[[Outcome], None], **arguments: Any
) -> list[Outcome]:
    """Run a task whose result is Running on every switch; on_outcome: see `apply_all`."""
    outcomes: dict[str, Outcome] = {}

    def done(name: str, results: MultiResult) -> None:
        outcomes[name] = _outcome(name, results)
        on_outcome(outcomes[name])

    result = _run(nornir, task, done, **arguments)
    return [outcomes.get(name) or _outcome(name, result[name]) for name in nornir.inventory.hosts]


@dataclass(frozen=True, slots=True)
class Readings(Generic[T]):
    """What switches answered, and the error of each that could not be read, both by name."""

    answers: Mapping[str, T]
    unread: Mapping[str, RailfabError]


def read_configurations(fabric: Design, endpoints: Endpoints) -> Readings[Running]:
    """The running configuration of each switch. Raises RailfabError when none can be read."""
    return _required(readings_of(nornir_of(fabric, endpoints), read_running))


def inspect_all(nornir: Nornir, on_done: OnDone) -> Readings[tuple[Running, Observed]]:
    """Running configuration and live state of each switch. Raises RailfabError when none can be read."""
    return _required(readings_of(nornir, inspect, on_done))


def readings_of(
    nornir: Nornir, task: Callable[..., Result], on_done: OnDone = lambda _name: None, **arguments: Any
) -> Readings[Any]:
    """Run a task that reads on every switch."""
    result = _run(nornir, task, _named(on_done), **arguments)
    unread = {name: _error(name, results) for name, results in result.items() if results.failed}
    return Readings({name: found[0].result for name, found in result.items() if name not in unread}, unread)


def _required(read: Readings[T]) -> Readings[T]:
    """These readings. Raises RailfabError when there are none."""
    if not read.answers:
        raise_all(list(read.unread.values()))
    return read


def _run(nornir: Nornir, task: Callable[..., Result], on_result: OnResult, **arguments: Any) -> AggregatedResult:
    """Run a task on every host, also on those that failed in an earlier run."""
    nornir.data.reset_failed_hosts()
    return nornir.with_processors([_Reporter(on_result)]).run(task=task, **arguments)


def _named(on_done: OnDone) -> OnResult:
    return lambda name, _results: on_done(name)


def _outcome(name: str, results: MultiResult) -> Outcome:
    if results.failed:
        error = _error(name, results)
        unsettled = not isinstance(results[0].exception, RailfabError) or isinstance(error, NotRolledBack)
        return Outcome(name=name, changed=False, failed=True, diff="", error=str(error), unsettled=unsettled)
    done = results[0]
    return Outcome(name=name, changed=done.changed, failed=False, diff=done.diff, drained=done.result.drained)


def _errors(result: AggregatedResult) -> list[RailfabError]:
    return [_error(name, results) for name, results in result.items() if results.failed]


def _error(name: str, results: MultiResult) -> RailfabError:
    """The error of a failed host; the traceback of an error that is not a RailfabError is logged."""
    error = results[0].exception
    if isinstance(error, RailfabError):
        return error
    logger.error("%s: %s", name, results[0].result)
    return DeviceError(
        name, f"failed unexpectedly ({type(error).__name__}: {error})", "Report this as a bug of railfab"
    )


class _Reporter:  # nornir.core.processor.Processor
    """Nornir processor that calls on_result for each finished host."""

    def __init__(self, on_result: OnResult) -> None:
        self._on_result = on_result

    def task_started(self, task: Task) -> None: ...

    def task_completed(self, task: Task, result: AggregatedResult) -> None: ...

    def task_instance_started(self, task: Task, host: Host) -> None: ...

    def task_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None:  # noqa: ARG002
        self._on_result(host.name, result)

    def subtask_instance_started(self, task: Task, host: Host) -> None: ...

    def subtask_instance_completed(self, task: Task, host: Host, result: MultiResult) -> None: ...

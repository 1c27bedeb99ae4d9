"""Drains of switches by a verb, beside those of the intent: the task, its checks, and a run over switches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from nornir.core import Nornir
from nornir.core.task import Result, Task

from railfab.deploy.run import Outcome, nornir_of, outcomes_of, readings_of
from railfab.deploy.tasks import Keep, open_session, read_running, refuse_pending
from railfab.endpoints import Endpoints
from railfab.errors import DeviceError, NotRolledBack, RailfabError, Unreachable, UnsupportedFeature, raise_all
from railfab.fabric import Design, present_endpoints
from railfab.findings import Finding
from railfab.platforms import Running, Session, Verb, platform
from railfab.topology import drain_alternatives, drain_findings


def operate(
    task: Task,
    verb: Verb,
    keep: Keep | None = None,
    stop_requested: threading.Event | None = None,
    again: bool = False,
) -> Result:
    """Drain one switch, or end its drain, and read it back; the result is what runs then: Running.

    A drain that ends is saved: a deploy in the meantime has saved the configuration of the next boot with it.
    keep: stores what ran before. stop_requested: when set, the switch is left alone. again: also where the switch says
    that it is done, because a drain that was cut off may have left its mark. Raises DeviceError; NotRolledBack where
    the switch may be drained or not.
    """
    name = task.host.name
    with open_session(task) as session:
        running = session.running()
        refuse_pending(name, running.pending)
        if _is_done(task, running, verb) and not again:
            return Result(host=task.host, result=running, changed=False, diff="")
        if stop_requested is not None and stop_requested.is_set():
            raise DeviceError(name, "skipped: a stop was requested", f"Run railfab {verb} again for it")
        if keep is not None:
            keep(name, running.text)
        try:
            session.operate(verb)
            if verb is Verb.UNDRAIN:
                _save(name, session, "is undrained")
            after = session.running()
        except Unreachable as error:
            problem = f"{error.problem}, and may or may not have done the {verb}"
            raise NotRolledBack(
                name, problem, f"Run railfab {verb} again, which changes nothing that is done"
            ) from error
    if not _is_done(task, after, verb):
        problem = f"accepted the {verb}, and does not report it, so that a deploy would not keep it"
        raise NotRolledBack(name, problem, "Check its running configuration")
    return Result(host=task.host, result=after, changed=True, diff="")


def _save(name: str, session: Session, state: str) -> None:
    """Save what runs for the next boot, on a switch that does not do so by itself. state: how it is, for the error."""
    try:
        session.operate(Verb.SAVE)
    except UnsupportedFeature:
        return
    except Unreachable:
        raise
    except DeviceError as error:
        problem = f"{state}, and has not saved that for the next boot: {error.problem}"
        raise NotRolledBack(name, problem, error.remedy) from error


def save_running(task: Task) -> Result:
    """Save what one switch runs for its next boot; the result is that: Running.

    Raises DeviceError, also while a change is pending, and NotRolledBack where it cannot be saved.
    """
    name = task.host.name
    with open_session(task) as session:
        running = session.running()
        refuse_pending(name, running.pending)
        _save(name, session, "runs its new configuration")
    return Result(host=task.host, result=running, changed=False, diff="")


def _is_done(task: Task, running: Running, verb: Verb) -> bool:
    """Whether the switch is as the verb leaves it; not so where its configuration alone drains it."""
    if verb is Verb.DRAIN:
        return running.drained
    return not running.drained and not platform(task.host["endpoint"].platform).parse(running.text).drain


def operate_all(
    nornir: Nornir,
    verb: Verb,
    on_outcome: Callable[[Outcome], None],
    *,
    keep: Keep | None = None,
    stop_requested: threading.Event | None = None,
    again: bool = False,
) -> list[Outcome]:
    """Drain each switch, or end its drain; see `operate`. `Outcome.drained` is how it is then."""
    arguments = {"verb": verb, "keep": keep, "stop_requested": stop_requested, "again": again}
    return outcomes_of(nornir, operate, on_outcome, **arguments)


def save_all(nornir: Nornir) -> list[Outcome]:
    """Save what each switch runs; see `save_running`."""
    return outcomes_of(nornir, save_running, lambda _outcome: None)


def check_verb(fabric: Design, names: Iterable[str], verb: Verb) -> None:
    """Raise RailfabError, or Problems, for each switch that no verb can drain, or whose drain it cannot end."""
    errors: list[RailfabError] = []
    for name in names:
        model = fabric.models[name]
        if not model.neighbors:
            problem = "has no BGP session, by which a drain moves traffic"
            errors.append(RailfabError(name, problem, "End the jobs of its hosts before you work on it"))
        elif verb is Verb.UNDRAIN and model.drain:
            remedy = f"Remove it from `drain` in {fabric.path}, then deploy, or undrain it"
            errors.append(RailfabError(name, "is drained by the intent", remedy))
    raise_all(errors)


def drained_now(fabric: Design, endpoints: Endpoints) -> frozenset[str]:
    """The switches that a verb has drained. Raises RailfabError, or Problems, where one cannot be read."""
    read = readings_of(nornir_of(fabric, endpoints), read_running)
    raise_all(list(read.unread.values()))
    return frozenset(name for name, running in read.answers.items() if running.drained)


def remaining_traffic(
    fabric: Design, names: Iterable[str], on: str | None, state: Path
) -> tuple[tuple[Finding, ...], tuple[RailfabError, ...]]:
    """The findings about traffic that stays on switches when these are drained, beside those that are drained already.

    Reads the switches that can take their traffic; one that cannot be read counts as drained, and its error is told.
    """
    return remaining_in_turn(fabric, (frozenset(names),), on, state)


def remaining_in_turn(
    fabric: Design, domains: Sequence[frozenset[str]], on: str | None, state: Path
) -> tuple[tuple[Finding, ...], tuple[RailfabError, ...]]:
    """As `remaining_traffic`, for groups of switches that are drained one after the other; each finding once."""
    endpoints, _ = present_endpoints(fabric, on, state)
    alternatives = frozenset[str]().union(*(drain_alternatives(fabric.topology, domain) for domain in domains))
    nodes = tuple(
        node for node in endpoints.nodes if node.name in alternatives and platform(node.platform).session is not None
    )
    read = readings_of(nornir_of(fabric, replace(endpoints, nodes=nodes)), read_running)
    drained = {name for name, running in read.answers.items() if running.drained} | read.unread.keys()
    before = drained | set(fabric.intent.drain)
    found = (drain_findings(fabric.topology, before - domain, domain) for domain in domains)
    findings = dict.fromkeys(finding for domain in found for finding in domain)
    return tuple(findings), tuple(read.unread.values())

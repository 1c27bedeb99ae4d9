"""What the page can do to a twin; each action answers with the command that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from railfab.endpoints import state_option
from railfab.errors import RailfabError
from railfab.fabric import fitting_job
from railfab.page.plan import PagePlan
from railfab.twin import Control, Direction, SwitchOperation

MOST_LOSS_DB, MOST_RATE_GBPS = 60.0, 9999.0
NO_JOB = "none"
"""In place of the name of a job: the hosts send nothing."""
Answer = dict[str, Any]
Body = Mapping[str, Any]


class ActionError(RailfabError):
    """An action that cannot be carried out as it was asked for."""


class TwinActions:
    """Jobs, faults and cables of a running twin. jobs: files of jobs by name. state: the twin's directory."""

    def __init__(self, plan: PagePlan, control: Control, *, state: Path, jobs: Mapping[str, Path]) -> None:
        self._plan, self._control, self._state, self.jobs = plan, control, state, jobs
        self._kinds: Mapping[str, Callable[[Body], str]] = {
            "optic": self._optic,
            "host": self._host,
            "switch": self._switch,
        }

    def job(self, body: Body) -> Answer:
        """Start a job in place of the one that runs, or end that. body: `job`, a name of `jobs`, or `none`."""
        name, design = _text(body, "job"), self._plan.design
        path = self.jobs.get(name)
        if path is None and name != NO_JOB:
            raise ActionError("job", f"{name!r} is no job of this page", f"Use one of {', '.join(self.jobs)}, {NO_JOB}")
        self._control.switch_job(None if path is None else fitting_job(path, design.topology, design.intent))
        return self._did(f"twin {shlex.quote(str(design.path))} --job {shlex.quote(str(path or NO_JOB))}")

    def fault(self, body: Body) -> Answer:
        """Make or undo a fault. body: `kind` optic (node, interface, loss_db), host (host, rx_gbps or null) or switch
        (switch, operation)."""
        kind = _text(body, "kind")
        if kind not in self._kinds:
            raise ActionError("kind", f"{kind!r} is no kind of fault", f"Use one of {', '.join(self._kinds)}")
        return self._did(self._kinds[kind](body))

    def cable(self, body: Body) -> Answer:
        """Cut or restore a cable (`node`, `interface`, `up`), or one fibre (`direction` receive or transmit); or
        exchange two cables (`node`, `interface`, `other_node`, `other_interface`)."""
        node, interface = _text(body, "node"), _text(body, "interface")
        if "other_node" in body:
            far = _text(body, "other_node"), _text(body, "other_interface")
            self._control.exchange_cables((node, interface), far)
            return self._did(f"twin cable {_words(node, interface, *far)}")
        is_up, direction = _truth(body, "up"), _choice(body, "direction", Direction, Direction.BOTH)
        self._control.set_link(node, interface, up=is_up, direction=direction)
        option = "" if direction is Direction.BOTH else f" --direction {direction}"
        return self._did(f"twin link {_words(node, interface, 'up' if is_up else 'down')}{option}")

    def _optic(self, body: Body) -> str:
        node, interface = _text(body, "node"), _text(body, "interface")
        loss_db = _number(body, "loss_db", MOST_LOSS_DB)
        self._control.set_optic_loss(node, interface, loss_db=loss_db)
        return f"twin fault {_words(node, interface)} --optic-loss {loss_db:g}"

    def _host(self, body: Body) -> str:
        host = _text(body, "host")
        rate = None if body.get("rx_gbps") is None else _number(body, "rx_gbps", MOST_RATE_GBPS)
        self._control.set_host_rate(host, rate)
        return f"twin host {_words(host)} {'all' if rate is None else f'{rate:g}'}"

    def _switch(self, body: Body) -> str:
        name, operation = _text(body, "switch"), _choice(body, "operation", SwitchOperation)
        self._control.operate(name, operation)
        return f"twin switch {_words(name)} {operation}"

    def _did(self, arguments: str) -> Answer:
        return {"command": f"railfab {arguments}{state_option(self._state)}"}


def _words(*names: str) -> str:
    return shlex.join(names)


def _text(body: Body, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise ActionError(key, "it is missing, or no text", f"Send {key} as text")
    return value


def _truth(body: Body, key: str) -> bool:
    value = body.get(key)
    if not isinstance(value, bool):
        raise ActionError(key, "it is missing, or neither true nor false", f"Send {key} as true or false")
    return value


def _number(body: Body, key: str, most: float) -> float:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ActionError(key, f"{str(value)[:40]!r} is no number from 0 to {most:g}", f"Send {key} as such a number")
    return float(value)


def _choice(body: Body, key: str, words: Any, default: Any = None) -> Any:
    value = body.get(key, default)
    try:
        return words(value)
    except ValueError:
        known = ", ".join(words)
        raise ActionError(key, f"{str(value)[:40]!r} is none of {known}", "Use one of them") from None

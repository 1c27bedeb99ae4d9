"""A change of ECN thresholds from the page: another intent, the difference that it makes, and its deploy."""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from railfab.deploy import nornir_of, preview_all
from railfab.endpoints import state_option, write_private
from railfab.errors import RailfabError
from railfab.fabric import Design, design, session_endpoints
from railfab.intent.settings import with_settings
from railfab.page.actions import ActionError
from railfab.page.event_log import EntryKind, EntrySeverity, EventLog

FOLDER = "page"
MOST_PROPOSALS = 16
KEYS = ("rate_gbps", "kmin_bytes", "kmax_bytes", "pmax_percent")


@dataclass(frozen=True, slots=True)
class _Proposal:
    """An intent with other thresholds. command: that deploys it."""

    path: Path
    command: tuple[str, ...]


class ThresholdChange:
    """Proposes thresholds, shows what they change on each switch, and deploys them as the command line would."""

    def __init__(self, fabric: Design, *, state: Path, log: EventLog) -> None:
        self._fabric, self._state, self._log = fabric, state, log
        self._numbers, self._proposals = count(1), dict[str, _Proposal]()
        self._lock = threading.Lock()
        self._running: subprocess.Popen[str] | None = None

    def propose(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The difference that thresholds of ports of one speed make. body: KEYS. Raises RailfabError."""
        rate_gbps, kmin, kmax, pmax = (_whole(body, key) for key in KEYS)
        ramp = {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_percent": pmax}
        setting = f"profile.lossless.ecn={yaml.safe_dump(self._ramps() | {rate_gbps: ramp}, default_flow_style=True)}"
        with self._lock:
            identity = str(next(self._numbers))
            path = self._written(identity, setting)
            changed = design(path)
            changed.check()
            endpoints = session_endpoints(changed, "twin", self._state)
            previews = preview_all(nornir_of(changed, endpoints), changed.configurations(), lambda _: None)
            command = ("deploy", str(path), "--on", "twin", "--yes", *shlex.split(state_option(self._state)))
            self._proposals[identity] = _Proposal(path, command)
            while len(self._proposals) > MOST_PROPOSALS:
                self._proposals.pop(next(iter(self._proposals))).path.unlink(missing_ok=True)
        diffs = [{"switch": each.name, "diff": each.diff} for each in previews if each.diff]
        return {"id": identity, "diffs": diffs, "command": f"railfab {shlex.join(command)}"}

    def deploy(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Deploy a proposal, in waves and with gates. body: `id`, and `accept_cut` for a change that cuts hosts off.

        Raises RailfabError.
        """
        with self._lock:
            proposal = self._proposals.get(str(body.get("id")))
            if proposal is None:
                raise ActionError("id", f"{str(body.get('id'))[:40]!r} is no proposal", "Propose thresholds first")
            command = (*proposal.command, *(("--accept", "cut") if body.get("accept_cut") is True else ()))
            if self._running is not None and self._running.poll() is None:
                raise ActionError("deploy", "another deploy of this page is running", "Wait for its end")
            self._running = subprocess.Popen(
                [sys.executable, "-m", "railfab", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
            threading.Thread(target=self._follow, args=(self._running,), daemon=True).start()
        return {"command": f"railfab {shlex.join(command)}", "started": True}

    def _follow(self, running: subprocess.Popen[str]) -> None:
        """Tell how a deploy has ended."""
        said = running.communicate()[1].strip().splitlines()
        title = "thresholds are deployed" if running.returncode == 0 else "thresholds were not deployed everywhere"
        severity = EntrySeverity.INFO if running.returncode == 0 else EntrySeverity.WARNING
        self._log.tell(EntryKind.DEPLOY, title, text=said[-1] if said and running.returncode else "", severity=severity)

    def _ramps(self) -> dict[int, dict[str, int]]:
        """The ramps that the intent states. Raises ActionError without a lossless class."""
        lossless = self._fabric.intent.profile.lossless
        if lossless is None or lossless.ecn is False:
            raise ActionError("threshold", "the intent marks no packets", "Set profile.lossless.ecn to true in it")
        return {} if lossless.ecn is True else {rate: ramp.model_dump() for rate, ramp in lossless.ecn.items()}

    def _written(self, identity: str, setting: str) -> Path:
        document = with_settings(self._fabric.document, [setting])
        path = self._state / FOLDER / f"{self._fabric.intent.fabric}-{identity}.yml"
        try:
            write_private(path, yaml.safe_dump(document.content, sort_keys=False))
        except OSError as error:
            raise RailfabError(str(path), f"cannot be written ({error.strerror})", "Name another --state") from None
        return path


def _whole(body: Mapping[str, Any], key: str) -> int:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 10**9:
        raise ActionError(key, f"{str(value)[:40]!r} is no whole number above 0", f"Send {key} as such a number")
    return value

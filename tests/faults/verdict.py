"""What Prometheus said of each mistake that was tried on a platform: `verdicts/PLATFORM.json`, a line each.

The pages of docs are written from it; a run of some mistakes replaces their lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from tests.faults.judge import SYMPTOM
from tests.faults.mistakes import FOLDER, Mistake
from tests.faults.trial import AFTER_S, Trial

VERDICTS = FOLDER / "verdicts"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a trial.

    made: day of the trial. commit: of the clone. fired: simulated seconds from the mistake until an alert fired, or
    until the symptom held under the name of that; None where the time was not kept. lasted_s: simulated time after the
    mistake, or without one. refused: what the switch said, when it refused the mistake.
    """

    made: date
    commit: str
    fired: Mapping[str, float | None] = field(default_factory=dict)
    lasted_s: float = AFTER_S
    refused: str = ""

    @classmethod
    def of(cls, trial: Trial, fired: Mapping[str, float | None], made: date, commit: str) -> Verdict:
        """Return the verdict on a trial in which these fired."""
        return cls(made, commit, fired, trial.ended_s - trial.made_s, trial.refused)

    def problem(self, mistake: Mistake) -> str:
        """Why this is not what the list says of a mistake; empty when it is."""
        if self.refused:
            return f"refused: {self.refused[-160:]}"
        early = [name for name, after_s in self.fired.items() if after_s is not None and after_s < 0]
        if early:
            return f"fired before: {', '.join(early)}"
        if mistake.alert and mistake.alert not in self.fired:
            return "did not fire"
        if mistake.symptom and SYMPTOM not in self.fired:
            return "no symptom"
        unrelated = self.unrelated(mistake)
        return f"unrelated: {', '.join(unrelated)}" if unrelated else ""

    def unrelated(self, mistake: Mistake) -> list[str]:
        """Alerts that neither say what the mistake is nor follow from it."""
        configured = CONFIGURED if mistake.edits or mistake.texts else ()
        return sorted(self.fired.keys() - {SYMPTOM, mistake.alert, *mistake.also, *configured})


CONFIGURED = ("FabricConfigurationDrift", "FabricConfigurationHazard")
"""Alerts that every changed configuration may raise."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All verdicts on a platform by mistake. machine: its processors and the versions that matter, of the last run."""

    machine: str
    by_mistake: Mapping[str, Verdict]

    @classmethod
    def read(cls, served: str, folder: Path = VERDICTS) -> Verdicts:
        """The verdicts that are kept of a platform."""
        path = folder / f"{served}.json"
        document = json.loads(path.read_text()) if path.exists() else {"machine": "", "verdicts": {}}
        return cls(document["machine"], {name: _verdict(fields) for name, fields in document["verdicts"].items()})

    def write(self, served: str, folder: Path = VERDICTS) -> None:
        """Replace the verdicts of a platform."""
        lines = [f"  {json.dumps(name)}: {json.dumps(_fields(verdict))}" for name, verdict in self.by_mistake.items()]
        text = ",\n".join(lines)
        (folder / f"{served}.json").write_text(
            f'{{"machine": {json.dumps(self.machine)},\n "verdicts": {{\n{text}\n }}}}\n'
        )


def _fields(verdict: Verdict) -> dict[str, Any]:
    fired = {name: None if after_s is None else round(after_s) for name, after_s in sorted(verdict.fired.items())}
    stated = {"made": str(verdict.made), "commit": verdict.commit, "fired": fired}
    return (
        stated
        | ({"refused": verdict.refused} if verdict.refused else {})
        | ({"lasted_s": round(verdict.lasted_s)} if verdict.lasted_s != AFTER_S else {})
    )


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    return Verdict(**{**fields, "made": date.fromisoformat(fields["made"])})

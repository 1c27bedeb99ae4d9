"""Three jobs on a healthy fabric that has just been deployed, in simulated time, which raise no alert in Prometheus.

python -m tests.faults.healthy [SECONDS]     simulated time of each job, 600 s
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.judge import Judge, wanted_metrics
from tests.faults.mistakes import jobs
from tests.faults.trial import Rack, Trial
from tests.twin.twins import switch

from railfab.dashboards import ALERTS
from railfab.deploy import apply_all, new_change, nornir_of, preview_all
from railfab.platforms import platform

JOBS = ("ring", "incast", "allreduce")
"""Of jobs.yml: ring AllReduce after compute, an incast each second beside compute, AllReduce without pause."""
SLOPE = (
    "/qos/buffer-management/queue-management-profile[name={}]"
    "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]/min-threshold"
)
PROFILES = ("100g-5m", "400g-40m")
OTHER_KMIN = '"100000"'
SECONDS = 600.0
"""Three jobs of ten minutes."""


@dataclass(frozen=True, slots=True)
class Alarms:
    """Alerts of a trial and the simulated time at which each first fired, or was first pending [s]."""

    fired: Mapping[str, float]
    pending: Mapping[str, float]


def redeploy(rack: Rack) -> None:
    """Deploy the intent to every switch, over another Kmin."""
    for name in rack.fabric.models:
        with switch(rack.twin, name) as found:
            found.set(update=[(SLOPE.format(profile), OTHER_KMIN) for profile in _profiles(rack, name)])
    texts = {name: _text(rack, name) for name in rack.fabric.models}
    shown = preview_all(nornir_of(rack.fabric, rack.twin.endpoints), texts, lambda _: None)
    approved = {one.name: one.diff for one in shown}
    done = apply_all(
        nornir_of(rack.fabric, rack.twin.endpoints), texts, new_change(), lambda _: None, approved=approved
    )
    assert [(one.name, one.error) for one in done if one.failed or not one.changed] == []


def _profiles(rack: Rack, name: str) -> list[str]:
    qos = rack.fabric.models[name].qos
    return [profile.name for profile in qos.profiles] if qos else []


def _text(rack: Rack, name: str) -> str:
    model = rack.fabric.models[name]
    found = platform(model.platform)
    return found.text(found.render(model))


def alarms(judge: Judge, place: int, trial: Trial) -> Alarms:
    """What fired in a trial, and what would have without its `for`."""
    fired = {alert.alert: judge.fires(place, alert, trial.ended_s) for alert in ALERTS}
    held = {alert.alert: judge.fires(place, replace(alert, lasting=None), trial.ended_s) for alert in ALERTS}
    return Alarms(
        {name: at_s for name, at_s in fired.items() if at_s is not None},
        {name: at_s for name, at_s in held.items() if at_s is not None and fired[name] is None},
    )


def deployed(rack: Rack, job: str, seconds: float) -> Trial:
    """A job for this simulated time [s], after a deploy."""
    redeploy(rack)
    return rack.healthy(jobs()[job], seconds)


def tried(seconds: float) -> list[tuple[Trial, Alarms]]:
    """Each job for this simulated time [s], with what a real Prometheus makes of it."""
    with tempfile.TemporaryDirectory() as state, Rack(Path(state), wanted_metrics()) as rack:
        trials = [deployed(rack, name, seconds) for name in JOBS]
    with tempfile.TemporaryDirectory() as folder, Judge(Path(folder), [trial.scrapes for trial in trials]) as judge:
        return [(trial, alarms(judge, place, trial)) for place, trial in enumerate(trials)]


def line(trial: Trial, found: Alarms) -> str:
    """A trial in a sentence."""
    last_s, _ = trial.scrapes[-1]
    fired = ", ".join(f"{name} at {at_s:.0f} s" for name, at_s in found.fired.items()) or "no alert"
    pending = ", ".join(f"{name} at {at_s:.0f} s" for name, at_s in found.pending.items()) or "none"
    return f"{last_s:.0f} s of {trial.mistake.title}, {len(trial.scrapes)} scrapes: {fired}; pending: {pending}"


def main(arguments: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    found = tried(float(arguments[0]) if arguments else SECONDS)
    sys.stdout.writelines(f"{line(*one)}\n" for one in found)
    return int(any(one.fired for _, one in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

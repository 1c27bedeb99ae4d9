"""Three jobs on a healthy fabric, in simulated time, which raise no false alert in Prometheus.

Each begins after a deploy where railfab has sessions of the platform; else on switches that were started configured.

python -m tests.faults.healthy [SECONDS [PLATFORM ...]]     simulated time of each job, 600 s; on all of the twin's
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.judge import Judge, wanted_metrics
from tests.faults.mistakes import jobs
from tests.faults.trial import Rack, Trial, rack_of

from railfab.dashboards import ALERTS
from railfab.deploy import apply_all, new_change, nornir_of
from railfab.fabric.design import Design
from railfab.intent import Ramp
from railfab.platforms import platform, platform_names
from railfab.topology import wire

SERVED = tuple(name for name in platform_names() if (twin := platform(name).twin) is not None and twin().models)
"""Platforms that the twin serves over gNMI, which the collector needs."""
JOBS = ("ring", "incast", "allreduce")
"""Of jobs.yml: ring AllReduce after compute, an incast each second beside compute, AllReduce without pause."""
OTHER_RAMP = Ramp(kmin_bytes=100_000, kmax_bytes=1_000_000)
SECONDS = 600.0
"""Three jobs of ten minutes."""


@dataclass(frozen=True, slots=True)
class Alarms:
    """Alerts of a trial and the simulated time at which each first fired, or was first pending [s]."""

    fired: Mapping[str, float]
    pending: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """A healthy trial on switches of a platform, with its alerts."""

    platform: str
    trial: Trial
    alarms: Alarms

    @property
    def is_wrong(self) -> bool:
        """Whether an alert fired that should not."""
        return not self.alarms.fired.keys() <= set(self.trial.mistake.also)

    def __str__(self) -> str:
        last_s, _ = self.trial.scrapes[-1]
        what = f"{self.platform}: {last_s:.0f} s of {self.trial.mistake.title}, {len(self.trial.scrapes)} scrapes"
        fired, pending = _times(self.alarms.fired), _times(self.alarms.pending)
        return f"{what}: {fired or 'no alert'}; pending: {pending or 'none'}"


def _times(alerts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} at {at_s:.0f} s" for name, at_s in alerts.items())


def redeploy(rack: Rack) -> None:
    """Deploy the intent to every switch, over ECN thresholds that it does not have."""
    for fabric in (with_ramp(rack.fabric, OTHER_RAMP), rack.fabric):
        outcomes = apply_all(
            nornir_of(fabric, rack.twin.endpoints), fabric.configurations(), new_change(), lambda _: None
        )
        assert [(switch.name, switch.error) for switch in outcomes if switch.failed or not switch.changed] == []


def with_ramp(fabric: Design, ramp: Ramp) -> Design:
    """The same fabric with this ECN ramp on its ports of every speed."""
    profile = fabric.intent.profile
    assert profile.lossless is not None
    ramps = {link.rate_gbps: ramp for link in fabric.topology.links}
    lossless = profile.lossless.model_copy(update={"ecn": ramps})
    intent = fabric.intent.model_copy(update={"profile": profile.model_copy(update={"lossless": lossless})})
    return Design(document=fabric.document, intent=intent, topology=wire(intent))


def alarms(judge: Judge, place: int, trial: Trial) -> Alarms:
    """What fired in a trial, and what would have without its `for`."""
    fired = {alert.alert: judge.fires(place, alert, trial.ended_s) for alert in ALERTS}
    held = {alert.alert: judge.fires(place, replace(alert, lasting=None), trial.ended_s) for alert in ALERTS}
    return Alarms(
        {name: at_s for name, at_s in fired.items() if at_s is not None},
        {name: at_s for name, at_s in held.items() if at_s is not None and fired[name] is None},
    )


def tried(platforms: Sequence[str], names: Sequence[str], seconds: float) -> list[Judged]:
    """Each of these jobs for this simulated time [s] on each platform, judged by a real Prometheus."""
    trials = [(name, trial) for name in platforms for trial in _trials(name, names, seconds)]
    scrapes = [trial.scrapes for _, trial in trials]
    with tempfile.TemporaryDirectory() as folder, Judge(Path(folder), scrapes) as judge:
        return [Judged(name, trial, alarms(judge, place, trial)) for place, (name, trial) in enumerate(trials)]


def _trials(served: str, names: Sequence[str], seconds: float) -> list[Trial]:
    with tempfile.TemporaryDirectory() as state, Rack(rack_of(served), Path(state), wanted_metrics()) as rack:
        return [_healthy(rack, served, name, seconds) for name in names]


def _healthy(rack: Rack, served: str, job: str, seconds: float) -> Trial:
    if platform(served).session is not None:
        redeploy(rack)
    return rack.healthy(jobs()[job], seconds)


def main(arguments: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    judged = tried(arguments[1:] or SERVED, JOBS, float(arguments[0]) if arguments else SECONDS)
    sys.stdout.writelines(f"{trial}\n" for trial in judged)
    return int(any(trial.is_wrong for trial in judged))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

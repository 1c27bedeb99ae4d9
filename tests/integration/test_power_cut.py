"""Many targets lose power at once and come back: no storm of connections, and all are in sync soon.

64 targets and short times; 256 and those of `railfab collect` with RAILFAB_POWER_CUT=full, as `make soak` sets it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.integration.faulty_targets import hosts, mappings, targets
from tests.sampled import sampled

from railfab.gnmi.certificates import Authority
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.telemetry import Collector, RetryPolicy
from railfab.telemetry.dials import BURST_S
from railfab.telemetry.targets import targets_of_hosts

NS = 1e9
MOST_OF_A_DIAL = 2
"""Connections of a dial that fails: a port that closes at once is asked what it speaks."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Targets, the times of a cut [s], and within which all are back."""

    targets: int
    interval_s: float
    policy: RetryPolicy
    dark_s: float
    back_within_s: float


SCALED = Case(
    targets=64,
    interval_s=1.0,
    policy=RetryPolicy(first_s=0.1, most_s=3.0, dial_timeout_s=2.0, dials=8, dials_per_s=30.0),
    dark_s=7.0,
    back_within_s=9.0,
)
FULL = Case(targets=256, interval_s=2.0, policy=RetryPolicy(), dark_s=120.0, back_within_s=75.0)
CUTS = (("dark", ""), ("closed", ""), ("closed", "tls"))
IS_FULL = os.environ.get("RAILFAB_POWER_CUT") == "full"
CASE = FULL if IS_FULL else SCALED
ALL_CUTS = (*CUTS, ("dark", "tls")) if IS_FULL else CUTS


@pytest.mark.timeout(900 if IS_FULL else 180)
@pytest.mark.parametrize(
    ("cut", "tls"), sampled(ALL_CUTS, few=ALL_CUTS if IS_FULL else [("dark", ""), ("closed", "tls")])
)
def test_targets_that_lose_power_together_come_back_without_a_storm(tmp_path: Path, cut: str, tls: str) -> None:
    """dark: they fall silent and answer no connection. closed: they end all, and each new one at once."""
    ca = authority(tmp_path) if tls else None
    faults = f":tls={tmp_path / 'identity.pem'}" if tls else ""
    with targets(tmp_path, CASE.interval_s, *(f"leaf{place}{faults}" for place in range(CASE.targets))) as running:
        telemetry = telemetry_maps([mappings(tmp_path)])["eos"]
        specs = targets_of_hosts(hosts(tmp_path, running.ports, ca), telemetry=lambda _: telemetry)
        with Collector(specs, interval_s=CASE.interval_s, policy=CASE.policy) as collector:
            assert collector.wait_until_up(60)
            began_s = time.time()
            running.power(cut)
            _wait(collector, up=0, within_s=5 * CASE.interval_s + CASE.policy.dial_timeout_s + 10)
            down_s = time.time() - began_s
            time.sleep(max(0.0, began_s + CASE.dark_s - time.time()))
            assert collector.value("fabric_collector_session_up") == 0
            assert collector.value("fabric_collector_series") == 0
            running.power("on")
            restored_s = time.time()
            _wait(collector, up=CASE.targets, within_s=2 * CASE.back_within_s)
            back_s = time.time() - restored_s
            lag_s = collector.value("fabric_collector_lag_seconds")
    dials = [entry for entry in running.entries() if "dial" in entry and entry["at"] / NS > began_s]
    _report(f"{cut} {tls}", dials, down_s, back_s, lag_s)
    assert back_s < CASE.back_within_s + lag_s
    assert max(entry["making"] for entry in dials) <= CASE.policy.dials
    times_s = sorted(entry["at"] / NS for entry in dials)
    assert all(place <= _most(at_s - began_s) for place, at_s in enumerate(times_s, start=1))
    for first, begin_s in enumerate(times_s):
        counted = enumerate(times_s[first:], start=1)
        assert all(count <= _most(at_s - begin_s, waiting=CASE.policy.dials) for count, at_s in counted)
    if cut == "dark":
        assert max(entry["making"] for entry in dials) == CASE.policy.dials


def _most(passed_s: float, *, waiting: int = 0) -> float:
    """Connections that are accepted within a time at most, at any moment of a run.

    waiting: dials that had begun before it, whose connections a target on a busy machine accepts later.
    """
    return MOST_OF_A_DIAL * (CASE.policy.dials_per_s * (passed_s + BURST_S) + 1 + waiting)


def authority(folder: Path) -> Path:
    """The CA of identity.pem, a certificate and its key."""
    issued = Authority("power cut")
    identity, ca = issued.issue("leaf"), folder / "ca.pem"
    (folder / "identity.pem").write_bytes(identity.certificate + identity.key)
    ca.write_bytes(issued.certificate)
    return ca


def _wait(collector: Collector, *, up: int, within_s: float) -> None:
    until_s = time.monotonic() + within_s
    while (found := collector.value("fabric_collector_session_up")) != up:
        assert time.monotonic() < until_s, f"{found} of {CASE.targets} are up"
        time.sleep(0.2)


def _report(cut: str, dials: list[dict[str, Any]], down_s: float, back_s: float, lag_s: float) -> None:
    if not IS_FULL:
        return
    seconds = Counter(int(entry["at"] / NS) for entry in dials)
    after = Counter(int(entry["at"] / NS) for entry in dials if entry["dial"] == "on")
    most = f"{max(seconds.values())} in a second ({max(after.values())} after the power)"
    sys.stdout.write(
        f"\n{CASE.targets} targets, {cut}: all down after {down_s:.1f} s, all back {back_s:.1f} s after the power; "
        f"{len(dials)} connections, at most {most}, at most {max(entry['making'] for entry in dials)} in the making; "
        f"lag {lag_s:.2f} s\n"
    )

"""From readings to what a browser is sent: rates, quantised columns, differences, history. Nothing runs but numpy."""

from __future__ import annotations

import json
from base64 import b64decode
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.diagnosis.observed import diagnosed, observations
from tests.twin.twins import pod64, until

from railfab.deploy import Journal
from railfab.deploy.steps import StepKind, StepState
from railfab.diagnosis import FabricDiagnosis
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.page import doctor_rounds
from railfab.page.columns import PORT_COLUMNS, SWITCH_COLUMNS, VectorLayout
from railfab.page.deploy_watch import DeployWatch
from railfab.page.doctor_rounds import DoctorRounds
from railfab.page.event_log import EventLog
from railfab.page.frames import LOSSLESS, LOSSY, UNKNOWN, FrameEncoder, ShownState, quantised
from railfab.page.history import MOST_BYTES, History
from railfab.page.plan import PagePlan
from railfab.page.rates import PortRates, RateMeter
from railfab.page.reasons import port_reasons
from railfab.page.security import RequestDeclined
from railfab.page.sources.contract import FabricReading
from railfab.page.totals import PaceMeter, totals_document

LATER_S = 9e9
LARGE = Path(__file__).parents[2] / "inventory" / "fabrics" / "gpu1024.yml"


@cache
def plan() -> PagePlan:
    return PagePlan(pod64())


@cache
def large() -> PagePlan:
    return PagePlan(design(LARGE))


def reading(plan: PagePlan, at_s: float, **ports: float | np.ndarray) -> FabricReading:
    """A reading in which every switch has just sampled, all ports are up, and counters are these."""
    count, switches = len(plan.ports), len(plan.switches)
    given = {"is_up": 1.0, **ports}
    of_ports = {
        column.name: np.broadcast_to(np.asarray(given.get(column.name, 0.0), float), count).copy()
        for column in PORT_COLUMNS
    }
    of_switches = {column.name: np.zeros(switches) for column in SWITCH_COLUMNS}
    of_switches |= {"arrived_s": np.full(switches, at_s), "simulated_s": np.full(switches, np.nan)}
    of_switches["is_streaming"] += 1
    return FabricReading(at_s, of_ports, of_switches, np.ones(len(plan.sessions)))


def rates(plan: PagePlan, second: FabricReading, first: FabricReading | None = None) -> PortRates:
    meter = RateMeter(plan, 1.0)
    meter.add(first or reading(plan, second.at_s - 1))
    return meter.add(second)


def test_a_rate_is_the_growth_between_two_samples_of_the_switch() -> None:
    shown = rates(plan(), reading(plan(), 11.0, transmit_bytes=1e9, receive_bytes=5e8))
    assert shown.transmit_gbps == pytest.approx(8.0)
    assert shown.utilisation == pytest.approx(8.0 / plan().rate_gbps)
    assert shown.rail_gbps == pytest.approx(8.0 * np.bincount(plan().rail_of_port[plan().rail_of_port >= 0]))


def test_a_rate_of_a_twin_is_of_simulated_time() -> None:
    first, second = reading(plan(), 10.0), reading(plan(), 11.0, transmit_bytes=1e9)
    first.switches["simulated_s"][:], second.switches["simulated_s"][:] = 4.0, 4.1
    assert rates(plan(), second, first).transmit_gbps == pytest.approx(80.0)


def test_a_counter_that_was_reset_counts_from_zero() -> None:
    shown = rates(plan(), reading(plan(), 11.0, transmit_bytes=1e9), reading(plan(), 10.0, transmit_bytes=7e9))
    assert shown.transmit_gbps == pytest.approx(8.0)


def test_the_first_sample_has_no_rate_and_is_unknown_instead_of_idle() -> None:
    columns = quantised(plan(), RateMeter(plan(), 1.0).add(reading(plan(), 10.0)))
    assert set(columns["utilisation"].tolist()) == {UNKNOWN}
    assert set(columns["drops"].tolist()) == {UNKNOWN}
    assert set(columns["state"].tolist()) == {ShownState.UP}


def test_half_a_silent_fabric_is_stale_and_never_healthy() -> None:
    meter = RateMeter(plan(), 1.0)
    silent = np.arange(len(plan().switches)) % 2 == 0
    for second in range(10):
        now = reading(plan(), 100.0 + second, transmit_bytes=1e9 * second)
        now.switches["arrived_s"][silent] = 100.0
        shown = meter.add(now)
    of_silent = silent[plan().switch_of_port]
    columns = quantised(plan(), shown)
    assert set(columns["state"][of_silent].tolist()) == {ShownState.STALE}
    assert set(columns["state"][~of_silent].tolist()) == {ShownState.UP}
    for name in ("utilisation", "queue", "ecn", "pause", "drops"):
        assert set(columns[name][of_silent].tolist()) == {UNKNOWN}, name
        assert UNKNOWN not in columns[name][~of_silent], name
    totals = totals_document(plan(), shown, None, None)
    assert totals["stale"] == [node.name for node, is_silent in zip(plan().switches, silent, strict=True) if is_silent]
    assert totals["targets_up"] == (~silent).sum()
    assert totals["sessions_up"] < totals["sessions"]


def test_a_fabric_that_never_answered_is_stale() -> None:
    layout = VectorLayout(plan())
    nothing = np.full(layout.size, np.nan)
    now = FabricReading(5.0, layout.of_ports(nothing), layout.of_switches(nothing), layout.of_sessions(nothing))
    shown = RateMeter(plan(), 1.0).add(now)
    assert set(quantised(plan(), shown)["state"].tolist()) == {ShownState.STALE}
    assert totals_document(plan(), shown, None, "no data")["rail_gbps"] == [None] * len(plan().rails)
    assert list(port_reasons(plan(), shown, 0)) == [
        f"{plan().switches[0].name} sends no samples: nothing is known of the port now."
    ]


@pytest.mark.parametrize(
    ("share", "step"),
    [("zero", 0), ("kmin", 80), ("kmax", 160), ("xoff", 250), ("above", 250)],
)
def test_a_queue_is_shown_between_its_thresholds(share: str, step: int) -> None:
    kmin, kmax, xoff = plan().bounds.T
    depth = {"zero": 0.0 * kmin, "kmin": kmin, "kmax": kmax, "xoff": xoff, "above": 3 * xoff}[share]
    shown = rates(plan(), reading(plan(), 11.0, queue_bytes=depth))
    assert set(quantised(plan(), shown)["queue"].tolist()) == {step}


def test_what_is_little_is_not_shown_as_nothing() -> None:
    shown = rates(plan(), reading(plan(), 11.0, marked_packets=1, sent_packets=1e6, pauses_sent=0.001))
    columns = quantised(plan(), shown)
    assert set(columns["ecn"].tolist()) == {1}
    assert set(columns["pause"].tolist()) == {1}


def test_drops_of_a_lossless_class_are_told_from_others() -> None:
    assert set(quantised(plan(), rates(plan(), reading(plan(), 11.0, drops=5)))["drops"].tolist()) == {LOSSY}
    lossless = rates(plan(), reading(plan(), 11.0, drops=5, lossless_drops=5))
    assert set(quantised(plan(), lossless)["drops"].tolist()) == {LOSSLESS}
    assert any("lossless" in line for line in port_reasons(plan(), lossless, 0))


def test_packets_that_a_queue_and_its_port_count_are_dropped_once() -> None:
    now = reading(plan(), 11.0, drops=5, transmit_discards=7, ingress_drops=2, receive_discards=1)
    assert set(rates(plan(), now).drops_per_s.tolist()) == {9.0}
    now = reading(plan(), 11.0, drops=np.nan, transmit_discards=7, ingress_drops=np.nan, receive_discards=np.nan)
    before = reading(plan(), 10.0, drops=np.nan, ingress_drops=np.nan, receive_discards=np.nan)
    assert set(rates(plan(), now, before).drops_per_s.tolist()) == {7.0}


def test_a_diagnosis_that_fails_leaves_the_one_before_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_rounds, "AGAIN_AFTER_S", 0.0)
    answers: list[FabricDiagnosis | RailfabError] = [
        diagnosed(observations(pod64())),
        RailfabError("prometheus", "does not answer", "Check that it runs"),
    ]

    def diagnose(_: float) -> FabricDiagnosis:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, RailfabError):
            raise answer
        return answer

    rounds = DoctorRounds(diagnose)
    until(lambda: bool(documents(rounds)))
    until(lambda: documents(rounds)[0]["problem"] == "prometheus: does not answer. Check that it runs.")
    assert documents(rounds)[0]["switches"] == 8


def test_a_diagnosis_takes_the_window_of_its_page_and_says_so() -> None:
    asked: list[float] = []

    def diagnose(window_s: float) -> FabricDiagnosis:
        asked.append(window_s)
        return diagnosed(observations(pod64()))

    rounds = DoctorRounds(diagnose, 186.0)
    with pytest.raises(RequestDeclined, match="takes about 186 s"):
        rounds.document()
    until(lambda: asked == [186.0])


def documents(rounds: DoctorRounds) -> list[dict[str, Any]]:
    """The document of a diagnosis; none while there is none."""
    with suppress(RequestDeclined):
        return [rounds.document()]
    return []


def test_the_worst_state_of_a_port_is_shown() -> None:
    now = reading(plan(), 11.0)
    now.ports["is_up"][0] = 0
    now.sessions[:] = 0
    now.switches["drained"][plan().ports[-1].switch] = 1
    states = quantised(plan(), rates(plan(), now))["state"]
    assert states[0] == ShownState.DOWN
    assert states[plan().sessions[0].port] == ShownState.SESSION_DOWN
    assert states[-1] == ShownState.DRAINED


def test_poor_optics_are_shown() -> None:
    states = quantised(plan(), rates(plan(), reading(plan(), 11.0, uncorrected_codewords=3)))["state"]
    assert set(states.tolist()) == {ShownState.POOR_OPTICS}


def test_differences_bring_a_browser_to_the_whole_frame() -> None:
    encoder, draw = FrameEncoder(), np.random.default_rng(7)
    names = ("utilisation", "state")
    known: dict[str, np.ndarray] = {}
    columns = {name: draw.integers(0, 250, 5000).astype(np.uint8) for name in names}
    kinds = []
    for tick in range(20):
        changed = draw.integers(0, 5000, 4000 if tick == 10 else 50)
        for name in names:
            columns[name] = columns[name].copy()
            columns[name][changed] = draw.integers(0, 250, len(changed))
        whole, delta = (json.loads(text) for text in encoder.encode(columns, tick, float("nan")))
        kinds.append(delta["full"])
        for name in names:
            if delta["full"]:
                known[name] = np.frombuffer(b64decode(delta["columns"][name]), np.uint8).copy()
            else:
                index = np.frombuffer(b64decode(delta["columns"][name]["index"]), "<u2")
                known[name][index] = np.frombuffer(b64decode(delta["columns"][name]["value"]), np.uint8)
            assert (known[name] == columns[name]).all()
            assert b64decode(whole["columns"][name]) == columns[name].tobytes()
    assert kinds == [tick in (0, 10) for tick in range(20)]


def test_history_of_1024_gpus_has_half_an_hour_in_its_memory() -> None:
    history = History(large(), 1.0)
    held = sum(column.nbytes for column in vars(history).values() if isinstance(column, np.ndarray))
    assert held < 1.1 * MOST_BYTES
    assert history.rows * history.row_s == pytest.approx(1800)


def test_history_has_the_numbers_of_ports_switches_and_the_order_of_time() -> None:
    history = History(large(), 1.0)
    meter = RateMeter(large(), 1.0)
    for second in range(2400):
        if second % 40 == 0 or second == 2399:
            history.add(meter.add(reading(large(), float(second), queue_bytes=1000.0 * second, transmit_bytes=second)))
    past = history.of_port("queue_bytes", 5)
    assert past.at_s[-1] == 2399
    assert past.values[-1] == pytest.approx(2_399_000, rel=0.01)
    assert (np.diff(past.at_s) > 0).all()
    assert len(past.at_s) <= history.rows
    assert history.of_switch("sessions_up", 0).values[-1] == sum(session.switch == 0 for session in large().sessions)
    with pytest.raises(KeyError):
        history.of_port("nothing", 0)


def test_the_pace_is_that_of_the_last_seconds() -> None:
    meter = PaceMeter()
    paces = [meter.add(float(at_s), at_s * (1.0 if at_s < 20 else 0.5)) for at_s in range(19)]
    assert paces[0] is None
    assert paces[-1] == pytest.approx(1.0)
    assert meter.add(19.0, float("nan")) is None


def test_a_deploy_of_before_the_page_has_the_times_of_its_begin_its_waves_and_its_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "pod64")
    with journal.open("deploy") as entry:
        entry.plan('{"waves": [1, 2]}', {"leaf1": "new"})
        entry.keep("leaf1", "old")
        for wave in (1, 2):
            entry.steps.write(StepKind.WAVE, StepState.DONE, wave=wave)
        entry.finish({"leaf1": "changed"})
    log = EventLog(clock=lambda: LATER_S)
    DeployWatch("pod64", tmp_path / "pod64.yml", tmp_path, log).watch(rates(plan(), reading(plan(), 10.0)))
    titles = [each["title"] for each in log.between(0, LATER_S - 1)]
    (record,) = journal.deploys()
    assert len(titles) == 4
    assert titles[0].startswith(f"deploy {record.deploy} by ")
    assert f"deploy {record.deploy}: wave 2 of 2 is done" in titles
    assert log.between(LATER_S, LATER_S) == []

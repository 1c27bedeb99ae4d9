"""Pushes of edited configurations in waves: what breaks RoCE is stopped at the canary and reverted, the rest passes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

import pytest
from tests.integration.observed_twin import GATED, INCAST, ObservedTwin, observed
from tests.integration.pushes import CONFIGURATION, GATES, HARMFUL, HARMLESS, STATE, TELEMETRY, Push, gates_against
from tests.sampled import sampled
from tests.twin.qos_twin import FAR_LEAF, LEAF

from railfab.deploy import (
    Journal,
    KeptSessions,
    Outcome,
    Rollout,
    RolloutResult,
    RolloutSettings,
    Wave,
    apply_all,
    new_change,
    nornir_of,
    plan_of,
    preview_all,
)
from railfab.deploy.gates import ConfigurationGate, Gate, StateGate, TelemetryGate, source_of
from railfab.endpoints import Endpoints

SETTLES_WITHIN_S = 12.0
"""Sessions that BFD has ended are back by then, and what is broken stays so."""
SEEDED = GATED.replace("links_per_leaf: 1", "links_per_leaf: 2") + "profile: {hash: {seed: 10}}\n"
"""With two links from each rail switch to each spine, so that spines have a choice of paths, too."""
LEAVES = (LEAF, FAR_LEAF)


class Silent:
    """Observes a roll-out and says nothing."""

    def approves(self, wave: Wave) -> bool:
        return True

    def begins(self, wave: Wave) -> None: ...

    def says(self, line: str) -> None: ...

    def changing(self, wave: Wave) -> AbstractContextManager[Callable[[Outcome], None]]:
        return nullcontext(lambda _outcome: None)

    def ends(self, wave: Wave, stopped: str) -> None: ...


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObservedTwin]:
    with observed(tmp_path_factory.mktemp("pushes"), SEEDED) as running:
        running.run(INCAST)
        yield running


@pytest.fixture
def healed(twin: ObservedTwin) -> Iterator[None]:
    """Gives the leaves the intent again after the test."""
    yield
    nornir = nornir_of(twin.fabric, leaves(twin))
    outcomes = apply_all(nornir, twin.fabric.texts, new_change(), lambda _outcome: None)
    assert not any(outcome.failed for outcome in outcomes)


def leaves(twin: ObservedTwin) -> Endpoints:
    by_name = twin.qos.twin.endpoints.by_name()
    return Endpoints(fabric="small", backend="twin", nodes=tuple(by_name[name] for name in LEAVES))


def running(twin: ObservedTwin) -> dict[str, str]:
    return {name: switch.running() for name, switch in twin.qos.twin._switches.items()}


def rolled_out(twin: ObservedTwin, push: Push, gates: Sequence[str]) -> RolloutResult:
    """The end of a roll-out of the edited configurations of both rail switches, checked by these gates."""
    endpoints, stop = leaves(twin), threading.Event()
    texts = {name: push.edited(twin.fabric.texts[name]) for name in LEAVES}
    journal, nornir = Journal(twin.qos.state, "small"), nornir_of(twin.fabric, endpoints)
    source = source_of(twin.fabric, twin.url)
    assert source is not None
    with journal.open("deploy") as entry, KeptSessions(entry.change) as kept:
        previews = preview_all(nornir, texts, lambda _name: None)
        plan = plan_of(twin.fabric, previews, "deploy", drain=False)
        former = {preview.name: preview.text for preview in previews}
        every: tuple[Gate, ...] = (
            ConfigurationGate(twin.fabric, texts, former),
            StateGate(twin.fabric, nornir, kept, within_s=SETTLES_WITHIN_S),
            TelemetryGate(twin.fabric, source),
        )
        result = Rollout(
            twin.fabric,
            endpoints,
            plan,
            texts,
            former,
            entry,
            Silent(),
            RolloutSettings(gates=[gate for gate in every if gate.name in gates]),
            journal.is_own,
            stop,
            {preview.name: preview.diff for preview in previews},
            kept,
        ).run()
        assert not any(map(kept.take, LEAVES))
        entry.finish({outcome.name: outcome.result for outcome in result.outcomes}, result.stopped)
    return result


def assert_stopped_and_reverted(result: RolloutResult) -> None:
    first, second = sorted(result.outcomes, key=lambda outcome: outcome.wave)
    assert result.at_gate
    assert (first.wave, first.reverted, first.failed) == (1, True, False)
    assert (second.wave, second.begun, second.changed) == (2, False, False)


FEW_HARMFUL = ("one path", "PFC off on every port", "wrong AS", "RoCE by DSCP 46 instead of 26")
FEW_HARMLESS = ("Kmin and Kmax a tenth higher", "BFD each 400 ms instead of 300")


@pytest.mark.parametrize("name", sampled(HARMFUL.keys(), FEW_HARMFUL))
def test_a_harmful_push_is_stopped_at_the_canary_and_reverted(twin: ObservedTwin, healed: None, name: str) -> None:
    before = running(twin)
    result = rolled_out(twin, HARMFUL[name], GATES)
    assert_stopped_and_reverted(result)
    assert running(twin) == before
    assert {failure.gate for failure in result.failures} >= set(gates_against(name))


@pytest.mark.parametrize("name", sampled(HARMFUL.keys(), ()))
def test_without_the_gate_of_the_configuration_the_others_stop_what_they_can(
    twin: ObservedTwin, healed: None, name: str
) -> None:
    before, against = running(twin), set(gates_against(name)) - {CONFIGURATION}
    result = rolled_out(twin, HARMFUL[name], (STATE, TELEMETRY))
    assert {failure.gate for failure in result.failures} == against
    if against:
        assert_stopped_and_reverted(result)
        assert running(twin) == before
    else:
        assert result.stopped == ""


@pytest.mark.parametrize("name", sampled(HARMLESS.keys(), FEW_HARMLESS))
def test_a_harmless_push_passes(twin: ObservedTwin, healed: None, name: str) -> None:
    before = running(twin)
    result = rolled_out(twin, HARMLESS[name], GATES)
    assert (result.stopped, result.failures) == ("", ())
    assert {switch for switch, text in running(twin).items() if text != before[switch]} == set(LEAVES)

"""The gate of the state, on a twin: what was wrong before a wave passes, what is new fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.device.planned import with_bgp
from tests.forwarding.fabrics import inside, with_policy
from tests.integration.switches.racks import deployed
from tests.twin.small_fabric import DOWNLINK, INTENT, LEAF, OTHER_LEAF, OTHER_SPINE, OTHER_UPLINK, SPINE, UPLINK, small

from railfab.deploy import KeptSessions, new_change
from railfab.deploy.gates import StateGate
from railfab.deploy.run import nornir_of
from railfab.device import Action, DeviceModel, Policy, PolicyRule
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.platforms import Session, platform
from railfab.twin import Twin

WAVE = (LEAF, SPINE)


@pytest.fixture
def twin(tmp_path: Path) -> Iterator[Twin]:
    with Twin(small(), state=tmp_path, base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def kept() -> Iterator[KeptSessions]:
    with KeptSessions(new_change()) as sessions:
        yield sessions


def gate_of(twin: Twin, kept: KeptSessions, within_s: float = 0) -> StateGate:
    return StateGate(small(), nornir_of(small(), twin.endpoints), kept, within_s=within_s)


def text(model: DeviceModel) -> str:
    system = platform(model.platform)
    return system.text(system.render(model))


def configure(twin: Twin, model: DeviceModel) -> None:
    deployed(twin.endpoints.by_name()[model.name], text(model), "gate")


def test_a_link_that_was_down_before_passes_and_another_one_fails_also_in_the_process_that_resumes(
    twin: Twin, kept: KeptSessions
) -> None:
    twin.set_link(OTHER_LEAF, UPLINK, up=False)
    gate = gate_of(twin, kept, within_s=20)
    gate.baseline(WAVE)
    assert gate.failures(WAVE) == ()
    twin.set_link(LEAF, OTHER_UPLINK, up=False)
    resumed = gate_of(twin, kept)
    resumed.restore(json.loads(json.dumps(gate.saved())))
    (failure,) = resumed.failures(WAVE)
    assert failure.line == (
        f"gate state: {LEAF} {OTHER_UPLINK}: is down, its link to {OTHER_SPINE} does not work. Check the cable and the"
        " far end (before in order, after interface-down, limit no new error after 0 s)"
    )
    twin.set_link(LEAF, OTHER_UPLINK, up=True)
    resumed.within_s = 20
    assert resumed.failures(WAVE) == ()


def test_fewer_equal_paths_fail_also_in_the_process_that_resumes(twin: Twin, kept: KeptSessions) -> None:
    gate = gate_of(twin, kept)
    gate.baseline([LEAF])
    model = small().models[LEAF]
    assert model.bgp is not None
    configure(twin, with_bgp(model, max_paths=1))
    resumed = gate_of(twin, kept)
    resumed.restore(json.loads(json.dumps(gate.saved())))
    assert [failure.line for failure in resumed.failures([LEAF])] == [
        f"gate state: {LEAF} BGP: routes have fewer equal paths. Check maximum paths, AS paths and policies "
        "(before 1 with 2 next hops, after 0 with 2 next hops, limit 1 after 0 s)"
    ]
    assert resumed.failures(WAVE[:1]) != ()
    assert gate.failures(WAVE) == ()  # the spine may be drained
    configure(twin, model)
    assert resumed.failures([LEAF]) == ()


def test_fewer_paths_that_the_intent_wants_pass(twin: Twin, kept: KeptSessions, tmp_path: Path) -> None:
    gate = gate_of(twin, kept)
    gate.baseline([LEAF])
    path = tmp_path / "fewer.yml"
    path.write_text(INTENT.replace("profile:\n", "profile:\n  bgp: {max_paths: 1}\n"))
    gate.fabric = design(path)
    configure(twin, gate.fabric.models[LEAF])
    assert gate.failures([LEAF]) == ()


def test_a_wrong_as_and_exchanged_cables_fail(twin: Twin, kept: KeptSessions) -> None:
    gate = gate_of(twin, kept)
    gate.baseline(WAVE)
    model = small().models[LEAF]
    first, *rest = model.neighbors
    configure(twin, with_bgp(model, neighbors=(replace(first, remote_as=64999), *rest)))
    assert [(failure.series, failure.after) for failure in gate.failures(WAVE)] == [
        (f"{LEAF} {first.peer}", "bgp-down")
    ]
    configure(twin, model)
    gate.within_s = 20
    assert gate.failures(WAVE) == ()
    gate.within_s = 0
    twin.exchange_cables((LEAF, UPLINK), (OTHER_LEAF, UPLINK))
    assert "miscabled" in {failure.after for failure in gate.failures(WAVE)}


def test_a_policy_that_denies_what_a_session_received_fails_though_the_session_is_up(
    repository: Path, tmp_path: Path, kept: KeptSessions
) -> None:
    rack = design(repository / "tests" / "deploy" / "rack_sonic.yml")
    leaf = "pod1-seg1-leaf1"
    with Twin(rack, state=tmp_path, base_port=0, configured=True) as twin:
        gate = StateGate(rack, nornir_of(rack, twin.endpoints), kept, within_s=0)
        gate.baseline((leaf,))
        nothing = Policy(name="nothing", rules=(), default=Action.DENY)
        configure(twin, with_policy(rack.models[leaf], "import", nothing))
        (failure,) = gate.failures((leaf,))
        assert (failure.after, failure.problem.partition(". ")[0]) == (
            "0 prefixes",
            f"receives no prefix from {SPINE}",
        )


def test_a_policy_that_prefers_one_spine_for_most_routes_fails_where_no_drain_explains_it(
    repository: Path, tmp_path: Path, kept: KeptSessions
) -> None:
    path = tmp_path / "rack.yml"
    intent = (repository / "tests" / "deploy" / "rack_sonic.yml").read_text()
    path.write_text(intent.replace("spines: {count: 1", "spines: {count: 2"))
    rack, leaf, peer_of_spines = design(path), "pod1-seg1-leaf1", "pod1-seg1-leaf2"
    with Twin(rack, state=tmp_path, base_port=0, configured=True) as twin:
        gate = StateGate(rack, nornir_of(rack, twin.endpoints), kept, within_s=0)
        gate.baseline((leaf,))
        model = rack.models[leaf]
        hosts = PolicyRule(action=Action.PERMIT, prefixes=inside("0.0.0.0/0", ge=31, le=31), set_local_preference=200)
        rest = PolicyRule(action=Action.PERMIT)
        policy = Policy(name="nearer", rules=(hosts, rest))
        configure(twin, with_policy(model, "import", policy, only=model.neighbors[0].key))
        (failure,) = gate.failures((leaf,))
        assert (failure.before, failure.after) == ("3 with 2 next hops", "1 with 2 next hops")
        assert gate.failures((leaf, peer_of_spines)) == ()


def test_a_switch_that_does_not_answer_is_no_baseline_and_fails_the_gate(twin: Twin, kept: KeptSessions) -> None:
    gate = gate_of(twin, kept)
    gate.baseline(WAVE)
    twin.stop_switch(SPINE)
    (failure,) = gate.failures(WAVE)
    assert (failure.series, failure.after) == (SPINE, "not read")
    with pytest.raises(RailfabError, match=f"^{SPINE}: "):
        gate.baseline(WAVE)


def test_the_first_wave_of_a_factory_fabric_passes_though_its_peers_have_no_sessions_yet(
    tmp_path: Path, kept: KeptSessions
) -> None:
    with Twin(small(), state=tmp_path, base_port=0) as twin:
        gate = gate_of(twin, kept)
        gate.baseline(WAVE)
        assert any("bgp-neighbor-missing" in codes for codes in gate.saved()[LEAF]["errors"].values())
        for name in WAVE:
            configure(twin, small().models[name])
        assert gate.failures(WAVE) == ()
        gate.baseline(WAVE)
        twin.set_link(SPINE, DOWNLINK, up=False)
        assert gate.failures(WAVE) != ()


def test_both_readings_are_made_in_the_session_that_was_kept(twin: Twin, kept: KeptSessions) -> None:
    gate = gate_of(twin, kept)
    gate.baseline(WAVE)
    opened = {name: session_of(kept, name) for name in WAVE}
    gate.failures(WAVE)
    assert {name: session_of(kept, name) for name in WAVE} == opened


def session_of(kept: KeptSessions, name: str) -> Session:
    """The session of a switch, which stays kept."""
    session = kept.take(name)
    assert session is not None
    kept.keep(name, session.session, session.opened, session.staged)
    return session.session


def test_a_saved_baseline_that_is_damaged_is_refused(twin: Twin, kept: KeptSessions) -> None:
    with pytest.raises(RailfabError, match=r"^gate state: what was read before the wave is damaged\. Run railfab"):
        gate_of(twin, kept).restore([1])

"""A diagnosis names the cause of what a fabric shows, and nothing where all is as intended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests import commands
from tests.diagnosis.observed import diagnosed, intended_state, observations, with_interface
from tests.diagnosis.trials import expected_codes, expected_of
from tests.faults.mistakes import Mistake, mistakes
from tests.faults.translation import LISTED, NotExpressible, _edits, _store, rack, translated

from railfab.deploy import DeployRecord
from railfab.deploy.gates import TelemetrySeries
from railfab.diagnosis import FabricDiagnosis, Observations, TelemetryWindow
from railfab.diagnosis.catalogue import causes
from railfab.diagnosis.model import EvidenceKind
from railfab.fabric import Design
from railfab.fabric.nic_agreement import NicStates
from railfab.hosts.nic_states import NicState
from railfab.hosts.ports import every_roce_port

PLATFORMS = ("srlinux", "eos", "sonic", "junos")
SAMPLE = ("srlinux", "eos")
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
UPLINK, DOWNLINK, HOST_PORT = "ethernet-1/32", "ethernet-1/1", "ethernet-1/1/2"
FLOWS = {"fabric_interface_transmit_packets_total": 5000.0, "fabric_interface_receive_packets_total": 5000.0}


@pytest.fixture(scope="module")
def fabric() -> Design:
    return rack(LISTED)


def codes(diagnosis: FabricDiagnosis) -> list[str]:
    return [cause.code for cause in diagnosis.causes]


@pytest.mark.parametrize("served", PLATFORMS)
def test_nothing_is_named_where_all_is_as_intended(served: str) -> None:
    found = diagnosed(observations(rack(served)))
    assert found.healthy
    assert (found.read, found.switches) == (4, 4)


def test_a_switch_of_which_no_sample_arrives_is_unknown_and_the_fabric_not_healthy(fabric: Design) -> None:
    seen = diagnosed(observations(fabric, stale={LEAF}, uncollected={SPINE}))
    assert (seen.healthy, seen.causes, seen.read, seen.sampled, seen.switches) == (False, (), 4, 2, 4)
    assert seen.unread == {
        LEAF: f"{LEAF}: no sample of it arrived in this time. Use a longer --for, or check the collector",
        SPINE: f"{SPINE}: the telemetry has no series of it. Check that a collector collects from it, and the URL",
    }


def test_telemetry_alone_names_causes_and_leaves_every_configuration_unknown(fabric: Design) -> None:
    paused = {("fabric_pfc_receive_frames_total", LEAF, HOST_PORT): 1e6}
    seen = diagnosed(replace(observations(fabric, counted=paused), inspected={}))
    assert codes(seen) == ["slow-host"]
    assert (seen.read, seen.sampled, seen.unread.keys()) == (0, 4, fabric.models.keys())
    assert not diagnosed(replace(observations(fabric), inspected={})).healthy


def test_a_silent_switch_that_nobody_tried_to_read_has_no_broken_access(fabric: Design) -> None:
    seen = diagnosed(replace(observations(fabric, silent={SPINE}), inspected={}))
    assert (seen.causes, [each.place.switch for each in seen.unexplained]) == ((), [SPINE])


def test_what_is_wrong_is_named_beside_what_is_unknown(fabric: Design) -> None:
    seen = diagnosed(observations(fabric, down={(LEAF, UPLINK)}, uncollected=set(fabric.models) - {LEAF}))
    assert codes(seen) == ["link-cut"]
    assert (seen.sampled, len(seen.unread)) == (1, 3)


def test_a_window_without_any_reading_is_unknown(fabric: Design) -> None:
    seen = diagnosed(replace(observations(fabric), window=TelemetryWindow([])))
    assert not seen.healthy
    assert seen.unread.keys() == fabric.models.keys()


def alert(name: str, state: str = "firing", **place: str) -> TelemetrySeries:
    labels = {"alertname": name, "alertstate": state, "severity": "critical", **place}
    return TelemetrySeries("ALERTS", tuple(sorted(labels.items())))


def with_alerts(seen: Observations, *alerts: TelemetrySeries) -> Observations:
    first, last = seen.window.readings
    values = {**last.values, **dict.fromkeys(alerts, 1.0)}
    return replace(seen, window=TelemetryWindow([first, replace(last, values=values)]))


def test_an_alert_of_a_cause_is_evidence_and_one_without_a_cause_is_said(fabric: Design) -> None:
    of_link = alert("FabricLinkDown", device=LEAF, interface=UPLINK)
    elsewhere = alert("FabricHostPauses", device="pod1-seg2-leaf1", interface=HOST_PORT)
    pending = alert("FabricLinkFlap", "pending", device=LEAF, interface=UPLINK)
    of_job = alert("FabricJobSlow", job_id="made")
    seen = diagnosed(with_alerts(observations(fabric, down={(LEAF, UPLINK)}), of_link, elsewhere, pending, of_job))
    assert codes(seen) == ["link-cut"]
    texts = {str(each.place): each.text for each in seen.causes[0].evidence if each.kind is EvidenceKind.ALERT}
    assert texts == {f"{LEAF} {UPLINK}": "has the alert FabricLinkDown", "job made": "has the alert FabricJobSlow"}
    assert [(str(each.place), each.text) for each in seen.unexplained] == [
        (f"pod1-seg2-leaf1 {HOST_PORT}", "has the alert FabricHostPauses")
    ]
    alone = diagnosed(with_alerts(observations(fabric), elsewhere))
    assert (alone.healthy, alone.causes, len(alone.unexplained)) == (False, (), 1)


def test_an_alert_of_a_job_is_evidence_of_what_slows_jobs_down_and_one_of_no_place_of_nothing(fabric: Design) -> None:
    of_job, of_nothing = alert("FabricJobSlow", job_id="made"), alert("FabricRecordingFailed")
    seen = diagnosed(with_alerts(observations(fabric, silent={LEAF}, unread={LEAF}), of_job, of_nothing))
    slows = {cause.code: any(each.kind is EvidenceKind.ALERT for each in cause.evidence) for cause in seen.causes}
    assert slows == {"control-plane": True}
    without = diagnosed(with_alerts(observations(fabric, silent={LEAF}), of_job, of_nothing))
    assert [cause.code for cause in without.causes] == ["telemetry-server"]
    assert not any(each.kind is EvidenceKind.ALERT for each in without.causes[0].evidence)
    assert {each.text for each in without.unexplained} == {
        "has the alert FabricJobSlow",
        "has the alert FabricRecordingFailed",
    }


def nics_of(fabric: Design, **wrong: object) -> NicStates:
    """The NICs of all hosts as the intent wants them; that at HOST_PORT of LEAF with these values."""
    lossless = fabric.intent.profile.lossless
    assert lossless is not None
    ports = {}
    for port in every_roce_port(fabric.topology, fabric.intent):
        state = NicState(
            host=port.host,
            nic=port.name,
            pfc=frozenset({lossless.priority}),
            trusts_dscp=True,
            roce_dscps=frozenset({lossless.dscp}),
            ecn=True,
            cnp_dscp=lossless.cnp_dscp,
            mtu_bytes=port.mtu,
            cable_m=port.cable_m,
        )
        changed = wrong if (port.switch, port.switch_port) == (LEAF, HOST_PORT) else {}
        ports[port.host, port.name] = replace(state, **changed)  # type: ignore[arg-type]
    return NicStates(ports, frozenset(host for host, _ in ports))


WRONG_NICS: tuple[tuple[dict[str, object], str, str], ...] = (
    ({"pfc": frozenset()}, "nic-pfc", "fabric_pfc_dropped_packets_total"),
    ({"trusts_dscp": False}, "nic-trust", "fabric_pfc_receive_frames_total"),
    ({"roce_dscps": frozenset({24})}, "nic-dscp", "fabric_pfc_receive_frames_total"),
    ({"ecn": False}, "nic-ecn", "fabric_pfc_dropped_packets_total"),
    ({"mtu_bytes": 1500}, "nic-mtu", "fabric_interface_receive_discards_total"),
    ({"cable_m": 1}, "nic-cable", "fabric_pfc_receive_frames_total"),
)


@pytest.mark.parametrize(("wrong", "code", "metric"), WRONG_NICS, ids=[code for _, code, _ in WRONG_NICS])
def test_a_wrong_setting_of_a_nic_is_named_first_whether_it_shows_or_not(
    fabric: Design, wrong: dict[str, object], code: str, metric: str
) -> None:
    nics = nics_of(fabric, **wrong)
    for counted in ({}, {(metric, LEAF, HOST_PORT): 5e6}):
        found = diagnosed(replace(observations(fabric, counted=counted), nics=nics))
        assert (found.causes[0].code, found.healthy) == (code, False)
        host = next(peer.node for port, peer, _ in fabric.topology.ports_of(LEAF) if port.name == HOST_PORT)
        assert str(found.causes[0].places[0]) == host
        assert found.causes[0].evidence[0].source == f"agent of {host}"


def test_nics_as_intended_name_nothing_and_hosts_without_a_document_are_unknown(fabric: Design) -> None:
    nics = nics_of(fabric)
    assert diagnosed(replace(observations(fabric), nics=nics)).healthy
    lost, *others = sorted(nics.hosts)
    half = NicStates({key: state for key, state in nics.ports.items() if key[0] != lost}, frozenset(others))
    found = diagnosed(replace(observations(fabric), nics=half))
    assert (found.healthy, found.causes) == (False, ())
    assert [*found.unread] == [lost]
    assert found.unread[lost].startswith(f"{lost}: there is no document of its NICs")


def test_large_numbers_are_written_as_people_do(fabric: Design) -> None:
    paused = {("fabric_pfc_receive_frames_total", LEAF, HOST_PORT): 94_940.0 * 20}
    (cause,) = diagnosed(observations(fabric, counted=paused)).causes
    assert "94,940 frames/s" in cause.evidence[0].text


@pytest.mark.parametrize("code", sorted(causes()))
def test_the_next_command_of_a_cause_parses(code: str) -> None:
    words = {"intent": "labs/srl-pod/intent.yml", "on": " --on twin", "hosts": " --hosts documents", "switch": SPINE}
    commands.parse(causes()[code].next.format(**words))


def _texts(mistake: Mistake, served: str) -> dict[str, str]:
    """Configurations of the switches with a mistake."""
    if served != LISTED:
        return dict(translated(mistake, served).texts)
    return {name: (store := _store(name)[0]).text(store.edited(_edits(edits))) for name, edits in mistake.edits.items()}


CONFIGURED = [mistake for mistake in mistakes() if mistake.edits and mistake.id in expected_codes()]


@pytest.mark.parametrize(
    "served", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.matrix) for name in PLATFORMS]
)
def test_the_setting_that_differs_is_named_first(served: str) -> None:
    tried, wrong = 0, {}
    for mistake in CONFIGURED:
        with suppress(NotExpressible):
            found = diagnosed(observations(rack(served), texts=_texts(mistake, served)))
            tried += 1
            if not (
                expected_of(mistake, rack(served)).is_named(found, 1) and all(cause.evidence for cause in found.causes)
            ):
                wrong[mistake.id] = codes(found)
    assert wrong == {}
    assert tried > len(CONFIGURED) / 2


def test_every_fault_of_the_list_has_a_right_cause_and_every_code_is_known() -> None:
    without = {mistake.id for mistake in mistakes()} - expected_codes().keys()
    assert without == {"unmodelled"}
    assert frozenset().union(*expected_codes().values()) <= causes().keys()


def test_a_link_that_is_down_at_both_ends_is_cut(fabric: Design) -> None:
    (cause,) = diagnosed(observations(fabric, down={(LEAF, UPLINK)})).causes
    assert (cause.code, [str(place) for place in cause.places]) == ("link-cut", [f"{LEAF} {UPLINK}"])
    assert {str(symptom.kind) for symptom in cause.explains} == {"link-down"}


def test_links_of_one_switch_that_are_down_together_are_one_cause(fabric: Design) -> None:
    found = diagnosed(observations(fabric, down={(LEAF, f"ethernet-1/{port}") for port in (29, 30, 31)}))
    assert codes(found) == ["link-cut"]
    assert len(found.causes[0].places) == 3


def test_a_link_that_is_down_because_an_end_is_disabled_is_no_cut_cable(fabric: Design) -> None:
    texts = _texts(next(mistake for mistake in mistakes() if mistake.id == "uplink-disabled"), LISTED)
    state = with_interface(intended_state(fabric, LEAF, {(LEAF, UPLINK)}), UPLINK, enabled=False)
    found = diagnosed(observations(fabric, texts=texts, down={(LEAF, UPLINK)}, states={LEAF: state}))
    assert codes(found) == ["port-off"]
    assert found.unexplained == ()


def test_a_receiver_without_light_whose_peer_has_some_is_dark(fabric: Design) -> None:
    power = {
        ("fabric_optic_receive_power_dbm", LEAF, UPLINK): -40.0,
        ("fabric_optic_receive_power_dbm", SPINE, DOWNLINK): -2.0,
    }
    (cause,) = diagnosed(observations(fabric, down={(LEAF, UPLINK)}, gauges=power)).causes
    assert (cause.code, str(cause.places[0])) == ("dark-fibre", f"{LEAF} {UPLINK}")


def test_a_port_that_receives_nothing_of_what_its_peer_sends_loses_it(fabric: Design) -> None:
    counted = {
        (metric, name, port): value
        for metric, value in FLOWS.items()
        for name, port in ((LEAF, UPLINK), (SPINE, DOWNLINK))
    }
    assert diagnosed(observations(fabric, counted=counted)).healthy
    counted["fabric_interface_receive_packets_total", LEAF, UPLINK] = 0.0
    (cause,) = diagnosed(observations(fabric, counted=counted)).causes
    assert (cause.code, str(cause.places[0])) == ("one-way-loss", f"{LEAF} {UPLINK}")


def test_a_link_that_lost_its_sessions_within_the_window_loses_what_one_end_does_not_receive(fabric: Design) -> None:
    counted = {("fabric_interface_transmit_packets_total", SPINE, DOWNLINK): 5000.0}
    counted["fabric_interface_receive_packets_total", LEAF, UPLINK] = 2000.0
    assert diagnosed(observations(fabric, counted=counted)).healthy
    seen = observations(fabric, counted=counted)
    last = seen.window.readings[1]
    down = {
        TelemetrySeries("fabric_bgp_session_up", (("device", name), ("peer", port))): 0.0
        for name, port in ((LEAF, UPLINK), (SPINE, DOWNLINK))
    }
    window = TelemetryWindow([seen.window.readings[0], replace(last, values={**last.values, **down})])
    (cause,) = diagnosed(replace(seen, window=window)).causes
    assert (cause.code, str(cause.places[0])) == ("one-way-loss", f"{LEAF} {UPLINK}")
    assert {str(symptom.kind) for symptom in cause.explains} == {"bgp-down"}


def test_packets_that_exceed_the_mtu_of_a_port_are_no_loss_in_one_direction(fabric: Design) -> None:
    texts = _texts(next(mistake for mistake in mistakes() if mistake.id == "mtu-one-uplink"), LISTED)
    sent = {("fabric_interface_transmit_packets_total", SPINE, DOWNLINK): 5000.0}
    counted = {**sent, ("fabric_interface_receive_packets_total", LEAF, UPLINK): 0.0}
    assert codes(diagnosed(observations(fabric, texts=texts, counted=counted))) == ["mtu"]


def test_bit_errors_come_before_the_flaps_that_they_cause(fabric: Design) -> None:
    gauges = {("fabric_interface_pre_fec_ber_ratio", LEAF, f"ethernet-1/{port}"): 1e-12 for port in (29, 30, 31)}
    gauges["fabric_interface_pre_fec_ber_ratio", LEAF, UPLINK] = 1e-5
    flaps = {("fabric_interface_carrier_transitions_total", LEAF, UPLINK): 6.0}
    (cause,) = diagnosed(observations(fabric, gauges=gauges, counted=flaps)).causes
    assert cause.code == "optic"
    assert {str(symptom.kind) for symptom in cause.explains} == {"bit-errors", "link-flap"}


def test_a_host_that_pauses_its_switch_is_slow_and_one_that_triggers_the_watchdog_is_stuck(fabric: Design) -> None:
    paused = {("fabric_pfc_receive_frames_total", LEAF, HOST_PORT): 4000.0}
    (cause,) = diagnosed(observations(fabric, counted=paused)).causes
    assert (cause.code, cause.places[0].host) == ("slow-host", "pod1-seg1-host1")
    storm = {**paused, ("fabric_pfc_watchdog_storms_detected_total", LEAF, HOST_PORT): 1.0}
    assert codes(diagnosed(observations(fabric, counted=storm))) == ["stuck-nic"]


def test_a_silent_switch_is_without_power_where_its_links_are_down_and_hangs_where_they_are_up(fabric: Design) -> None:
    ports = {(SPINE, port.name) for port, _, _ in fabric.topology.ports_of(SPINE)}
    off = diagnosed(observations(fabric, silent={SPINE}, unread={SPINE}, down=ports))
    assert codes(off) == ["switch-down"]
    assert (off.read, off.switches, off.healthy) == (3, 4, False)
    assert codes(diagnosed(observations(fabric, silent={SPINE}, unread={SPINE}))) == ["control-plane"]
    assert codes(diagnosed(observations(fabric, silent={SPINE}))) == ["telemetry-server"]
    assert codes(diagnosed(with_sessions(observations(fabric, silent={SPINE}, unread={SPINE})))) == ["telemetry-server"]
    assert codes(diagnosed(observations(fabric, unread={SPINE}))) == ["management-access"]


def with_sessions(seen: Observations) -> Observations:
    """The same with telemetry of BGP sessions, all of which are up."""
    up = {
        TelemetrySeries("fabric_bgp_session_up", (("device", name), ("peer", peer))): 1.0
        for name, peer in seen.session_ports
    }
    first, last = seen.window.readings
    return replace(seen, window=TelemetryWindow([first, replace(last, values={**last.values, **up})]))


def test_a_session_that_is_opened_again_within_the_window_is_no_cause(fabric: Design) -> None:
    seen = observations(fabric, silent={SPINE})
    first = seen.window.readings[0]
    up = TelemetrySeries("fabric_collector_session_up", (("device", SPINE),))
    again = TelemetryWindow([replace(first, values={**first.values, up: 1.0}), seen.window.readings[1]])
    found = diagnosed(replace(seen, window=again))
    assert (found.causes, found.symptoms, set(found.unread)) == ((), (), {SPINE})


def test_a_switch_that_began_to_hang_within_the_window_hangs(fabric: Design) -> None:
    seen = observations(fabric, silent={SPINE}, unread={SPINE})
    first = seen.window.readings[0]
    up = TelemetrySeries("fabric_collector_session_up", (("device", SPINE),))
    window = TelemetryWindow([replace(first, values={**first.values, up: 1.0}), seen.window.readings[1]])
    assert codes(diagnosed(replace(seen, window=window))) == ["control-plane"]


def test_two_plugs_that_are_swapped_are_named_together(fabric: Design) -> None:
    links = {port.name: peer for port, peer, _ in fabric.topology.ports_of(LEAF)}
    first, second = "ethernet-1/29", UPLINK
    leaf = intended_state(fabric, LEAF)
    for port, seen in ((first, links[second]), (second, links[first])):
        leaf = with_interface(leaf, port, neighbor_device=seen.node, neighbor_interface=seen.name)
    states = {LEAF: leaf}
    for port, near in ((first, second), (second, first)):
        peer = links[port]
        state = states.get(peer.node) or intended_state(fabric, peer.node)
        states[peer.node] = with_interface(state, peer.name, neighbor_device=LEAF, neighbor_interface=near)
    (cause,) = diagnosed(observations(fabric, states=states)).causes
    assert cause.code == "cables-swapped"
    assert {f"{LEAF} {first}", f"{LEAF} {second}"} <= {str(place) for place in cause.places}


def test_drops_that_nothing_explains_are_not_forgotten(fabric: Design) -> None:
    drops = {("fabric_pfc_dropped_packets_total", LEAF, UPLINK): 50.0}
    found = diagnosed(observations(fabric, counted=drops))
    assert found.causes == ()
    assert [str(symptom.kind) for symptom in found.unexplained] == ["lossless-drops"]
    assert not found.healthy


def test_a_cause_that_accounts_for_what_is_seen_comes_before_one_that_does_not(fabric: Design) -> None:
    listed = {mistake.id: mistake for mistake in mistakes()}
    texts = {**_texts(listed["timers"], LISTED), **_texts(listed["dscp-spine"], LISTED)}
    drops = {("fabric_pfc_dropped_packets_total", LEAF, UPLINK): 50.0}
    found = diagnosed(observations(fabric, texts=texts, counted=drops))
    assert codes(found) == ["classifier", "bgp-timers"]
    assert found.causes[0].confidence > found.causes[1].confidence


def deploy(number: int, began: str) -> DeployRecord:
    return DeployRecord(
        deploy=f"deploy{number}", user="kim", host="control1", verb="deploy", began=began, results={LEAF: "changed"}
    )


def test_the_newest_deploy_to_a_switch_speaks_for_a_cause_in_its_configuration(fabric: Design) -> None:
    """The journal has the oldest first, and times of damaged records that are none."""
    texts = _texts(next(mistake for mistake in mistakes() if mistake.id == "uplink-disabled"), LISTED)
    (switch,) = texts
    now = datetime.now(UTC)
    records = [
        replace(deploy(place, began), results={switch: "changed"})
        for place, began in enumerate(
            ["", "2026-13-01", *((now - timedelta(minutes=age)).isoformat() for age in (50, 10))]
        )
    ]
    found = diagnosed(replace(observations(fabric, texts=texts), deploys=tuple(records)))
    history = [each.text for each in found.causes[0].evidence if each.kind is EvidenceKind.HISTORY]
    assert [text.split(" ")[1] for text in history] == ["deploy3"]
    damaged = diagnosed(replace(observations(fabric, texts=texts), deploys=tuple(records[:2])))
    assert not any(each.kind is EvidenceKind.HISTORY for each in damaged.causes[0].evidence)

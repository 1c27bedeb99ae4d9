"""Three mistakes of the list raise the right alert and no other; the list is complete and well-formed.

`make faults` tries all of them, under their jobs; docs/faults.md is its result. The three need no job, and share a twin
and a Prometheus: a link that flaps, a Set over gNMI that a recording rule shows, and one that is a drift alone. Two are
tried on another platform, whose configurations are pushed by a session of a deploy; `make matrix` tries each.
`make soak-twin` tries healthy jobs on each platform; `make matrix` the beginning of one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from tests.dashboards.promql_labels import labels_of
from tests.faults.healthy import SERVED, tried
from tests.faults.held_out import changed, held_out
from tests.faults.judge import Judge, held, verdicts, wanted_metrics
from tests.faults.matrix import NEEDED_SHARE, PAGE, listed_on, page, page_of, platform_page, platforms, problems, result
from tests.faults.mistakes import jobs, mistakes, omitted
from tests.faults.translation import LISTED, inexpressible, merged, rack, translated
from tests.faults.trial import HARDWARE, INTERVAL_S, SCRAPE_S, SPEED, Rack, in_simulated_time, rack_of
from tests.faults.verdict import Verdict, Verdicts
from tests.sampled import sampled

from railfab.dashboards import ALERTS
from railfab.platforms import platform

NAMES = {alert.alert for alert in ALERTS}
LEAF = "pod1-seg1-leaf1"
OTHERS = [name for name in SERVED if name not in (LISTED, "eos")]
TWO = ("uplink-disabled", "peer-as")
THREE = ("flap", "loopback-removed", "timers")
HEALTHY_S = 90.0
"""Simulated time in which an alert fires that holds for 30 s, on a rate over a minute."""
BEFORE_S, AFTER_S = 20.0, 90.0
"""Simulated time; the slowest of their alerts fires 75 s after the mistake."""


@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_three_mistakes_raise_the_right_alert_and_no_other(tmp_path: Path) -> None:
    chosen = [mistake for mistake in mistakes() if mistake.id in THREE]
    assert len({mistake.alert for mistake in chosen}) == len(THREE)
    (tmp_path / "state").mkdir()
    (tmp_path / "prometheus").mkdir()
    wanted = wanted_metrics(mistake.symptom for mistake in chosen if mistake.symptom)
    with Rack(rack_of(), tmp_path / "state", wanted) as rack:
        trials = [rack.tried(mistake, BEFORE_S, AFTER_S, idle=True) for mistake in chosen]
    with Judge(tmp_path / "prometheus", [trial.scrapes for trial in trials]) as judge:
        found = verdicts(judge, trials)
    assert problems(trials, found) == {}


@pytest.mark.prometheus
@pytest.mark.timeout(600)
@pytest.mark.parametrize("served", sampled([name for name in SERVED if name != LISTED], few=("eos",)))
def test_two_mistakes_over_ssh_raise_the_right_alert_and_no_other_on_each_platform(served: str, tmp_path: Path) -> None:
    chosen = [translated(mistake, served) for mistake in mistakes() if mistake.id in TWO]
    (tmp_path / "state").mkdir()
    (tmp_path / "prometheus").mkdir()
    wanted = wanted_metrics(mistake.symptom for mistake in chosen)
    with Rack(rack_of(served), tmp_path / "state", wanted) as rack:
        trials = [rack.tried(mistake, BEFORE_S, AFTER_S, idle=True) for mistake in chosen]
    with Judge(tmp_path / "prometheus", [trial.scrapes for trial in trials]) as judge:
        found = verdicts(judge, trials)
    assert len(trials) == len(TWO)
    assert problems(trials, found) == {}


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.matrix)])
@pytest.mark.parametrize("served", [name for name in SERVED if name != LISTED])
def test_thirty_mistakes_of_the_list_are_mistakes_of_each_platform(served: str, every: int) -> None:
    there = [translated(mistake, served) for mistake in mistakes()[::every] if not inexpressible(mistake, served)]
    pushed = [mistake for mistake in there if mistake.texts]
    assert len(pushed) >= 30 / every
    for mistake in pushed:
        assert not mistake.edits
        for name, text in mistake.texts.items():
            assert platform(served).parse(text) != rack(served).models[name]
    for mistake in there:
        if mistake.symptom:
            labels_of(mistake.symptom)
            assert "ethernet-1" not in mistake.symptom


def test_a_mistake_that_a_platform_cannot_show_by_a_metric_is_tried_for_the_alert_that_it_can_raise() -> None:
    listed = next(mistake for mistake in mistakes() if mistake.id == "pfc-off-uplink")
    assert "fabric_pfc_dropped_packets_total" in listed.symptom
    there = translated(listed, "junos")
    assert (there.alert, there.symptom) == ("FabricConfigurationHazard", "")
    assert "counts packets dropped" in there.silence


@pytest.mark.parametrize("served", ["nxos", "junos", "cumulus", "sonic"])
def test_held_out_mistakes_are_configurations_that_the_platform_reads_and_nobody_intends(served: str) -> None:
    held = held_out(served)
    assert len(held) >= 3
    assert len({mistake.id for mistake in (*mistakes(), *held)}) == len(mistakes()) + len(held)
    for mistake in held:
        assert {mistake.alert, *mistake.also} <= NAMES
        assert mistake.job in jobs()
        for name, text in mistake.texts.items():
            assert platform(served).parse(text) is not None
            assert text != rack(served).configurations()[name]


def test_a_held_out_mistake_is_changed_in_its_section_only() -> None:
    text = "interface 1\n  mtu 9216\ninterface 2\n  mtu 9216\ninterface 3\n  mtu 9216\n"
    assert changed(text, "interface 2\n", "9216", "1500") == text.replace("2\n  mtu 9216", "2\n  mtu 1500")
    with pytest.raises(ValueError, match="has no 'shutdown' there"):
        changed(text, "interface 2\n", "shutdown", "no shutdown")


def test_a_merge_of_three_keeps_what_only_the_base_has_and_takes_what_changed() -> None:
    base, before = rack("eos").models[LEAF], rack(LISTED).models[LEAF]
    assert merged(base, before, before) is base
    after = replace(before, drain=True, interfaces=before.interfaces[1:])
    changed = merged(base, before, after)
    assert changed.drain
    assert changed.interfaces == base.interfaces
    assert merged(before, before, after) == after


@pytest.mark.matrix
@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_a_healthy_job_on_sonic_raises_no_alert() -> None:
    (judged,) = tried(("sonic",), ("ring",), HEALTHY_S)
    assert judged.alarms.fired == {}, str(judged)
    assert judged.trial.scrapes[-1][0] > HEALTHY_S - 2 * SCRAPE_S


def test_the_rack_has_switches_of_each_platform_that_the_twin_serves() -> None:
    assert HARDWARE.keys() == set(SERVED)
    for name in SERVED:
        assert {model.platform for model in rack_of(name).models.values()} == {name}


def test_every_path_is_sampled_several_times_after_a_mistake() -> None:
    """Also those that state a least interval: 10 s on the wall were more than the time of a trial."""
    subscriptions = in_simulated_time(platform("srlinux").telemetry, SPEED).subscriptions
    assert any(subscription.min_interval_s for subscription in subscriptions)
    assert all(subscription.every_s(INTERVAL_S) * SPEED <= AFTER_S / 5 for subscription in subscriptions)


def test_there_are_eighty_and_each_has_a_name_of_its_own() -> None:
    names = [mistake.id for mistake in mistakes()]
    assert len(names) >= 80
    assert len(set(names)) == len(names)
    assert len({mistake.title for mistake in mistakes()}) >= 80


def test_each_mistake_names_a_job_and_alerts_that_exist() -> None:
    for mistake in mistakes():
        assert mistake.job in jobs(), mistake.id
        assert {mistake.alert, *mistake.also} <= NAMES, mistake.id
        assert mistake.alert not in mistake.also, mistake.id
        made = (mistake.edits, mistake.links, mistake.slow_hosts, mistake.optics, mistake.dark, mistake.losing)
        assert any((*made, mistake.silent, mistake.hung, mistake.unpowered, mistake.exchanged)), mistake.id
        if mistake.symptom:
            labels_of(mistake.symptom)


def test_an_incident_is_in_the_list_or_omitted_for_a_reason_and_never_both() -> None:
    names = [incident.id for incident in omitted()]
    incidents = {mistake.source for mistake in mistakes() if mistake.source.startswith("I")}
    assert incidents.isdisjoint(names)
    assert sorted({*incidents, *names}) == [f"I{number:02}" for number in range(1, 85)]
    assert len(set(names)) == len(names)
    assert {incident.same for incident in omitted()} - {""} <= {mistake.id for mistake in mistakes()}
    assert all(incident.same or incident.reason for incident in omitted())


@pytest.mark.parametrize("served", [LISTED, "eos", *(pytest.param(name, marks=pytest.mark.matrix) for name in OTHERS)])
def test_the_page_of_a_platform_is_what_its_verdicts_say(served: str) -> None:
    """`python -m tests.faults --pages` puts right a page that was changed."""
    shown = result(served)
    tried = [row.mistake.id for row in shown.rows]
    assert set(tried) == Verdicts.read(served).by_mistake.keys()
    assert len(shown.listed) >= 30
    assert sum(not row.problem for row in shown.listed) >= NEEDED_SHARE * len(shown.listed)
    if served != LISTED:
        assert page_of(served).read_text() == platform_page(shown)


@pytest.mark.matrix
def test_the_page_of_the_list_has_the_figures_of_each_platform() -> None:
    elsewhere = [result(served) for served in platforms() if served != LISTED]
    assert {shown.platform for shown in elsewhere} == {name for name in SERVED if name != LISTED}
    assert PAGE.read_text() == page(result(LISTED), elsewhere)


def test_the_page_ends_with_the_omitted_incidents() -> None:
    written = PAGE.read_text().splitlines()
    assert written[-len(omitted()) - 4] == "## Incidents that are not in the list, and why"
    same = 'symptom and alert are those of "a host takes nothing from its NIC any more"'
    assert f"| I35 | host hangs with its NIC alive | {same} |" in written
    assert all(len(line.split(" | ")) == 3 for line in written[-len(omitted()) :])


def test_verdicts_are_read_as_they_were_written_and_counted_in_the_figures(tmp_path: Path) -> None:
    made = date(2026, 1, 1)
    verdicts = {
        "uplink-disabled": Verdict(made, "0", {"symptom": 5.0, "FabricPortDisabled": 60.0, "FabricLinkDown": None}),
        "peer-as": Verdict(made, "0", {"FabricPrefixesLost": 5.0}, 40.0, "refused by the switch"),
    }
    Verdicts("a machine", verdicts).write("eos", tmp_path)
    assert Verdicts.read("eos", tmp_path) == Verdicts("a machine", verdicts)
    shown = result("eos", tmp_path)
    assert [row.problem for row in shown.rows] == ["", "refused: refused by the switch"]
    figures = f"| [eos](faults-eos.md) | 2 | 1 | {len(listed_on('eos')) - 2} | {len(shown.reasons)} |"
    assert figures in page(result("nxos", tmp_path), [shown]).splitlines()
    assert "`flap`" in platform_page(shown).partition("## Not tried yet")[2]


def test_an_alert_fires_once_its_expression_has_held_for_its_time() -> None:
    assert held([0, 15, 30, 45], 30) == [30, 45]
    assert held([0, 15, 45, 60], 30) == []
    assert held([0, 30], 0) == [0, 30]

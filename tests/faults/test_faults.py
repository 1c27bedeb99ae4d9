"""The list of mistakes is complete and well-formed.

`make faults` tries all of them.
"""

from __future__ import annotations

import pytest
from tests.dashboards.promql_labels import labels_of
from tests.faults.judge import held
from tests.faults.mistakes import Mistake, jobs, mistakes

from railfab.dashboards import ALERTS

NAMES = {alert.alert for alert in ALERTS}


def test_there_are_eighty_and_each_has_a_name_of_its_own() -> None:
    names = [mistake.id for mistake in mistakes()]
    assert len(names) >= 80
    assert len(set(names)) == len(names)
    assert len({mistake.title for mistake in mistakes()}) >= 80


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.id)
def test_a_mistake_names_a_job_and_alerts_that_exist(mistake: Mistake) -> None:
    assert mistake.job in jobs()
    assert {mistake.alert, *mistake.also} <= NAMES
    assert mistake.alert not in mistake.also
    made = (mistake.edits, mistake.links, mistake.slow_hosts, mistake.optics, mistake.dark, mistake.losing)
    assert any((*made, mistake.silent, mistake.hung, mistake.unpowered))
    if mistake.symptom:
        labels_of(mistake.symptom)


def test_an_alert_fires_once_its_expression_has_held_for_its_time() -> None:
    assert held([0, 15, 30, 45], 30) == [30, 45]
    assert held([0, 15, 45, 60], 30) == []
    assert held([0, 30], 0) == [0, 30]

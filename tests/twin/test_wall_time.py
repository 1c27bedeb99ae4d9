"""Time stamps in the leaves of a twin that falls behind the wall clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest
from tests.twin.small_fabric import DOWNLINK, LEAF, OTHER_SPINE, SPINE, UPLINK, small
from tests.twin.twins import made_job, switch, until

from railfab.twin import Twin
from railfab.twin.status import SwitchOperation

LONG = made_job(phases=[{"collective": {"op": "allreduce", "bytes": "100GB"}}])
CPU, SLIPPED_S, ACCURACY_S = 0.05, 2.5, 1.5


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A twin that has fallen behind the wall clock."""
    state = tmp_path_factory.mktemp("state")
    with Twin(small(), state=state, base_port=0, configured=True, job=LONG, cpu=CPU) as twin:
        until(lambda: twin.status().slipped_s > SLIPPED_S)
        yield twin


def is_since(began_s: float, date: str) -> bool:
    """Whether a date of a leaf is of the time that has passed since then, of whatever length."""
    return began_s - ACCURACY_S < datetime.fromisoformat(date).timestamp() < time.time() + ACCURACY_S


def test_ports_and_neighbours_change_at_wall_time(late: Twin) -> None:
    with switch(late, LEAF) as leaf:
        began_s = time.time()
        late.set_link(LEAF, UPLINK, up=False)
        assert is_since(began_s, leaf.value(f"/interface[name={UPLINK}]/last-change"))
        began_s = time.time()
        late.set_link(LEAF, UPLINK, up=True)
        neighbors = f"/system/lldp/interface[name={UPLINK}]/neighbor[id=*]/first-message"
        assert is_since(began_s, leaf.value(neighbors))


def test_a_switch_boots_at_wall_time(late: Twin) -> None:
    began_s = time.time()
    late.operate(OTHER_SPINE, SwitchOperation.OFF)
    late.operate(OTHER_SPINE, SwitchOperation.ON)
    with switch(late, OTHER_SPINE) as spine:
        for path in ("/system/information/last-booted", "/platform/chassis/last-booted"):
            assert is_since(began_s, spine.value(path)), path


def test_a_time_stamp_lasts_although_the_twin_falls_further_behind(late: Twin) -> None:
    first_message = f"/system/lldp/interface[name={DOWNLINK}]/neighbor[id=*]/first-message"
    with switch(late, SPINE) as spine:
        before = spine.value(first_message)
        time.sleep(1.0)
        assert spine.value(first_message) == before

"""The page of a twin as a browser meets it: real servers, real events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.page.live_page import Events, LivePage, live_page
from tests.twin.qos_twin import LEAF, RECEIVER_PORT

from railfab.page.frames import UNKNOWN, ShownState


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    with live_page(tmp_path_factory.mktemp("page")) as running:
        yield running


def all_up(events: Events) -> bool:
    totals = events.seen.get("totals", {})
    return totals.get("targets_up") == 4 and totals["sessions_up"] == totals["sessions"] and totals["marks_per_s"]


def test_the_fabric_is_that_of_the_intent(shown: LivePage) -> None:
    fabric = shown.get("api/fabric")
    assert (fabric["fabric"], fabric["source"]) == ("small", "twin")
    assert [switch["name"] for switch in fabric["switches"]] == [each.name for each in shown.design.topology.switches()]
    receiver = next(port for port in fabric["ports"] if port["interface"] == RECEIVER_PORT and port["switch"] == 0)
    assert receiver["peer"] == {"node": "pod1-seg1-host1", "interface": "rail1"}
    assert len(fabric["ports"]) == 2 * (8 + 2 + 2)
    assert fabric["bounds"]["100"]["kmin_bytes"] < fabric["bounds"]["100"]["xoff_bytes"]


def test_a_browser_sees_the_incast_in_the_port_where_it_meets(shown: LivePage) -> None:
    fabric = shown.get("api/fabric")
    receiver = next(
        place for place, port in enumerate(fabric["ports"]) if (port["switch"], port["interface"]) == (0, RECEIVER_PORT)
    )
    with shown.events() as events:
        assert events.next()[0] == "hello"
        events.until(all_up)
        events.until(lambda now: now.columns["ecn"][receiver] not in (0, UNKNOWN))
        assert events.frames[0] is True
        assert False in events.frames
        assert set(events.columns["state"].tolist()) == {ShownState.UP}
        assert events.columns["utilisation"][receiver] == max(events.columns["utilisation"].tolist())
        events.until(lambda now: now.seen.get("job", {}).get("last"))
    job = events.seen["job"]
    assert job["job"] == "made"
    assert job["slowest"]["target"].startswith("pod1-seg1-host1 ")
    assert job["step_s"] > job["communication_s"] > 0
    series = shown.get(f"api/series?metric=ecn_share&switch={LEAF}&interface={RECEIVER_PORT}")
    assert len(series["columns"][0]) == len(series["columns"][1])
    assert max(value or 0.0 for value in series["columns"][1]) > 0

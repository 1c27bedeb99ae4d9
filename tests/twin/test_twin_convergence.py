"""A failure takes time to be noticed, and until then packets are lost: over gNMI, in simulated time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.twin.small_fabric import DOWNLINK, LEAF, OTHER_SPINE, OTHER_UPLINK, SPINE, UPLINK, small
from tests.twin.test_port_mistakes import LONG, mistake, session, statistics
from tests.twin.twins import elapsed_s, pass_time, switch, until

from railfab.twin import Twin

DETECTION_S, CONNECT_RETRY_S = 0.9, 10.0
"""Three intervals of 300 ms, as in the intent; and what railfab configures on SR Linux."""
SENDING_S = 0.1
"""Simulated time after which a port with a flow has sent far more than one with acknowledgements, whenever each is read
[s]."""
SPINES = {SPINE: UPLINK, OTHER_SPINE: OTHER_UPLINK}
"""The ports of LEAF that lead to the spines."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(small(), state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


def busiest(twin: Twin) -> str:
    """The spine that sends most to LEAF."""
    sent = {}
    for spine in SPINES:
        with switch(twin, spine) as found:
            sent[spine] = statistics(found, DOWNLINK)["out-octets"]
    assert max(sent.values()) > 0
    return max(sent, key=lambda spine: sent[spine])


def test_a_spine_sends_to_a_disabled_subinterface_until_bfd_notices(twin: Twin) -> None:
    twin.switch_job(LONG)
    pass_time(twin, SENDING_S)
    name = busiest(twin)
    port = SPINES[name]
    with switch(twin, LEAF) as leaf, switch(twin, name) as spine:
        lost, began_s = statistics(leaf, port)["in-discarded-packets"], twin.status().simulated_s
        unit = f"/interface[name={port}]/subinterface[index=0]/admin-state"
        with mistake(leaf, update=[(unit, '"disable"')]):
            assert session(leaf, port)["session-state"] == "idle"
            until(lambda: session(spine, DOWNLINK)["session-state"] != "established")
            assert elapsed_s(twin, began_s) >= DETECTION_S
            assert statistics(leaf, port)["in-discarded-packets"] > lost
        until(lambda: session(spine, DOWNLINK)["session-state"] == "established")
    twin.switch_job(None)


def test_packets_to_a_cut_port_are_dropped_until_the_hardware_knows(twin: Twin) -> None:
    with switch(twin, LEAF) as leaf:
        before = {port: statistics(leaf, port) for port in SPINES.values()}
        twin.switch_job(LONG)
        pass_time(twin, SENDING_S)
        port = max(before, key=lambda port: statistics(leaf, port)["out-octets"] - before[port]["out-octets"])
        twin.control.set_link(LEAF, port, up=False)
        assert session(leaf, port)["session-state"] == "idle"
        until(lambda: statistics(leaf, port)["out-discarded-packets"] > before[port]["out-discarded-packets"])
        twin.switch_job(None)
        began_s = twin.status().simulated_s
        twin.control.set_link(LEAF, port, up=True)
        until(lambda: session(leaf, port)["session-state"] == "established")
        assert elapsed_s(twin, began_s) >= CONNECT_RETRY_S, "no end was configured, so each waits to try again"

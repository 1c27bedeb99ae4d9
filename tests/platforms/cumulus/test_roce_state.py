"""PFC, ECN and DSCP of ports from the operational values of RoCE."""

from __future__ import annotations

import json
from typing import Any

import pytest

from railfab.platforms.cumulus.roce_state import RoceOperation, roce_ports

DOES: dict[str, Any] = {
    "congestion-control": {"congestion-mode": "ecn, absolute", "enabled-tc": "0,3"},
    "pfc": {"pfc-priority": "3", "rx-enabled": "yes", "tx-enabled": "yes"},
    "prio-map": {"cnp": {"dscp": "48", "switch-prio": 6}, "roce": {"dscp": "26", "switch-prio": 3}},
    "tc-map": {"cnp": {"switch-prio": 6, "traffic-class": 6}, "roce": {"switch-prio": 3, "traffic-class": 3}},
}
"""Values of NVIDIA's page "RDMA over Converged Ethernet"."""


def read(**changes: Any) -> RoceOperation:
    status = {"swp16": {"qos": {"roce": {"status": {**DOES, **changes}}}}}
    return roce_ports(json.dumps(status))["swp16"]


def test_a_port_does_what_its_status_says() -> None:
    assert read() == RoceOperation(frozenset({3}), frozenset({0, 3}), {26: 3, 48: 6})


@pytest.mark.parametrize("way", ["rx-enabled", "tx-enabled"])
def test_a_port_that_only_sends_or_only_obeys_does_no_pfc(way: str) -> None:
    assert read(pfc={**DOES["pfc"], way: "no"}).pfc == frozenset()


def test_a_value_that_is_written_otherwise_is_not_reported() -> None:
    assert read(pfc={"pfc-priority": "3", "rx-enabled": {}, "tx-enabled": "yes"}).pfc is None
    assert read(**{"congestion-control": {"enabled-tc": {"3": {}}}}).ecn is None
    assert read(**{"congestion-control": {}}).ecn is None
    assert read(**{"prio-map": {"roce": "26"}}).dscp is None


@pytest.mark.parametrize("shown", ["", "Error: The requested item does not exist.", "[]", '{"swp1": {}}'])
def test_a_switch_without_roce_reports_nothing(shown: str) -> None:
    assert roce_ports(shown) == {}

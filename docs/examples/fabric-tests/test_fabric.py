"""Tests of a fabric, to copy with conftest.py and to extend: its design, its switches, and the loss of a spine."""

from railfab.deploy import inspect, verify_all
from railfab.findings import Severity
from railfab.topology import Role
from railfab.twin import SwitchOperation


def wrong(findings):
    return [finding.line for finding in findings if finding.severity is not Severity.NOTE]


def unverified(nornir, fabric):
    """Findings about the switches, and the errors of those that cannot be read."""
    verification = verify_all(nornir, fabric, wait_s=30)
    return wrong(verification.findings) + [str(error) for error in verification.unread.values()]


def test_the_design_has_no_findings_but_notes(fabric):
    assert wrong(fabric.findings) == []


def test_the_switches_are_as_the_intent_says(fabric, nornir):
    assert unverified(nornir, fabric) == []


def test_every_leaf_has_a_session_while_one_spine_is_off(fabric, twin, nornir):
    spines = [node.name for node in fabric.topology.switches() if node.role is Role.SPINE]
    assert spines, "the fabric has no spine: remove this test"
    for spine in spines:
        twin.operate(spine, SwitchOperation.OFF)
        results = nornir.filter(role=str(Role.LEAF)).run(inspect)
        twin.operate(spine, SwitchOperation.ON)
        results.raise_on_error()
        for leaf, result in results.items():
            _running, observed = result[0].result
            assert any(session.established for session in observed.sessions), f"{leaf} has none without {spine}"
        assert unverified(nornir, fabric) == []

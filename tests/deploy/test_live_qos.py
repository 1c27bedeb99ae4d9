"""Findings of verify about what ports do with PFC, ECN and DSCP, whatever they are configured for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from railfab.deploy.live_qos import qos_findings
from railfab.device import DeviceModel, Observed, ObservedInterface, operations
from railfab.fabric import Design, design

LEAF, PORT = "pod1-seg1-leaf1", "ethernet-1/32"
LOSSLESS_QUEUE, LOSSLESS_PRIORITY, ROCE_DSCP = 3, 3, 26
Change = Callable[[ObservedInterface], ObservedInterface]


@pytest.fixture(scope="module")
def model(repository: Path) -> DeviceModel:
    fabric: Design = design(repository / "inventory" / "fabrics" / "pod64.yml")
    return fabric.models[LEAF]


def doing(model: DeviceModel, change: Change = lambda port: port) -> Observed:
    """Ports that do what the model states; the change is of one."""
    ports = [
        ObservedInterface(name=name, oper_up=True, pfc=port.pfc, ecn=port.ecn, dscp=port.dscp)
        for name, port in operations(model).items()
    ]
    assert PORT in {port.name for port in ports}
    return Observed(interfaces=tuple(change(port) if port.name == PORT else port for port in ports), sessions=())


def without_pfc(model: DeviceModel) -> DeviceModel:
    """The model with PFC switched off on the port."""
    assert model.qos is not None
    ports = tuple(replace(port, pfc=()) if port.interface == PORT else port for port in model.qos.ports)
    return replace(model, qos=replace(model.qos, ports=ports))


def lines(model: DeviceModel, observed: Observed, running: DeviceModel | None) -> list[str]:
    return [str(finding) for finding in qos_findings(LEAF, model, observed, lambda: running)]


def test_the_lossless_class_is_what_a_port_is_expected_to_do(model: DeviceModel) -> None:
    port = operations(model)[PORT]
    assert port.pfc == {LOSSLESS_PRIORITY}
    assert LOSSLESS_QUEUE in port.ecn
    assert port.dscp[ROCE_DSCP] == LOSSLESS_QUEUE
    assert port.dscp[0] != LOSSLESS_QUEUE


def test_ports_that_do_what_they_are_configured_for_have_no_findings(model: DeviceModel) -> None:
    def unread() -> DeviceModel:
        raise AssertionError("the running configuration is parsed only for a port that differs")

    assert list(qos_findings(LEAF, model, doing(model), unread)) == []


def test_code_points_of_a_class_without_a_queue_are_not_judged(model: DeviceModel) -> None:
    assert model.qos is not None
    mistaken = replace(model, qos=replace(model.qos, default_class="unknown"))
    moved = doing(model, lambda port: replace(port, dscp={0: LOSSLESS_QUEUE}))
    assert lines(model, moved, mistaken) == []


def test_what_a_switch_does_not_report_is_not_judged(model: DeviceModel) -> None:
    silent = doing(model, lambda port: replace(port, pfc=None, ecn=None, dscp=None))
    assert lines(model, silent, model) == []


INACTIVE: dict[str, tuple[Change, str]] = {
    "pfc": (
        lambda port: replace(port, pfc=frozenset()),
        "operates PFC on no priority, its configuration states priority 3. Check DCBX and the far end, then the log.",
    ),
    "more pfc": (
        lambda port: replace(port, pfc=frozenset((3, 4))),
        "operates PFC on priority 3 and 4, its configuration states priority 3. "
        "Check DCBX and the far end, then the log.",
    ),
    "ecn": (
        lambda port: replace(port, ecn=frozenset()),
        "marks packets of no queue, its configuration states queue 3. Check the log of the switch.",
    ),
    "dscp": (
        lambda port: replace(port, dscp={ROCE_DSCP: 0}),
        "puts DSCP 26 into queue 0, its configuration states 3. Check the log of the switch.",
    ),
}


@pytest.mark.parametrize(("change", "problem"), INACTIVE.values(), ids=INACTIVE)
def test_what_a_port_is_configured_for_and_does_not_do_is_a_finding(
    model: DeviceModel, change: Change, problem: str
) -> None:
    assert lines(model, doing(model, change), model) == [f"{LEAF} {PORT}: {problem}"]


def test_a_port_that_does_what_a_wrong_configuration_states_is_a_finding_about_that_alone(model: DeviceModel) -> None:
    obedient = doing(without_pfc(model))
    assert lines(model, obedient, model) != []
    assert lines(model, obedient, without_pfc(model)) == []


def test_a_configuration_that_cannot_be_read_is_a_finding_elsewhere(model: DeviceModel) -> None:
    assert lines(model, doing(without_pfc(model)), None) == []

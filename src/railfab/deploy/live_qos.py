"""Findings about QoS that is configured on a port and does not operate, such as PFC that DCBX has negotiated off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.device import DeviceModel, Observed, ObservedInterface, PortOperation, operations
from railfab.findings import DifferenceCode, Finding, error

CHECK_LOG = "Check the log of the switch"


def qos_findings(
    name: str, intended: DeviceModel, observed: Observed, running: Callable[[], DeviceModel | None]
) -> Iterator[Finding]:
    """Ports that differ from the intent and from the running configuration.

    A port that does what a wrong configuration states is a finding about that configuration.

    running: the model of the running configuration, read for the first port that differs; None where it has none.
    """
    reporting = [interface for interface in observed.interfaces if _reports(interface)]
    expected = operations(intended) if reporting else {}
    differing = [
        interface
        for interface in reporting
        if interface.name in expected and any(_differences(name, interface, expected[interface.name]))
    ]
    if differing and (model := running()) is not None:
        configured = operations(model)
        for interface in differing:
            if interface.name in configured:
                yield from _differences(name, interface, configured[interface.name])


def _reports(interface: ObservedInterface) -> bool:
    """Whether the switch tells what the port does."""
    return not (interface.pfc is None and interface.ecn is None and interface.dscp is None)


def _differences(name: str, interface: ObservedInterface, wanted: PortOperation) -> Iterator[Finding]:
    where = f"{name} {interface.name}"
    if interface.pfc is not None and interface.pfc != wanted.pfc:
        problem = f"operates PFC on {_priorities(interface.pfc)}, its configuration states {_priorities(wanted.pfc)}"
        yield error(DifferenceCode.PFC_INACTIVE, where, problem, "Check DCBX and the far end, then the log")
    if interface.ecn is not None and interface.ecn != wanted.ecn:
        problem = f"marks packets of {_queues(interface.ecn)}, its configuration states {_queues(wanted.ecn)}"
        yield error(DifferenceCode.ECN_INACTIVE, where, problem, CHECK_LOG)
    for point, queue in sorted((interface.dscp or {}).items()):
        if queue != wanted.dscp.get(point, queue):
            problem = f"puts DSCP {point} into queue {queue}, its configuration states {wanted.dscp[point]}"
            yield error(DifferenceCode.DSCP_INACTIVE, where, problem, CHECK_LOG)


def _priorities(priorities: frozenset[int]) -> str:
    return f"priority {_listed(priorities)}" if priorities else "no priority"


def _queues(queues: frozenset[int]) -> str:
    return f"queue {_listed(queues)}" if queues else "no queue"


def _listed(numbers: frozenset[int]) -> str:
    return " and ".join(map(str, sorted(numbers)))

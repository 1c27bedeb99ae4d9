"""Queues of a virtual Junos switch: `show interfaces queue`, and their summary in `show interfaces extensive`.

Form: Juniper, Microburst Detection and Avoidance on QFX5K (2025), which has no counter of tail drops; `ECN-CE` lines as
readers of QFX switches in public repositories take them.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.platforms.junos.answers import Tree
from railfab.platforms.junos.port_state import FIRST_INDEX, FIRST_SNMP_INDEX, QueueState, ShownPort

MOST_CLASSES, MOST_QUEUES = 16, 12
"""Forwarding classes and queues of a QFX, as one of release 17.2 gives them in JSON (OpenDaylight NIC, its tests)."""
_QUEUE = "fabric_queue_"


def brief_queue(queue: QueueState) -> Tree:
    """A queue in `show interfaces extensive`."""
    sent, dropped = (queue.counters[f"{_QUEUE}{name}_packets_total"] for name in ("transmit", "dropped"))
    return {
        "queue-number": queue.number,
        "forwarding-class-name": queue.forwarding_class,
        "queue-counters-queued-packets": sent + dropped,
        "queue-counters-trans-packets": sent,
        "queue-counters-total-drop-packets": dropped,
    }


def queues_tree(state: ShownPort) -> Tree:
    """A port in `show interfaces queue`."""
    return {
        "name": state.port.name,
        "oper-status": state.link,
        "local-index": FIRST_INDEX + state.index,
        "snmp-index": FIRST_SNMP_INDEX + state.index,
        **({"description": state.description} if state.description else {}),
        "queue-counters": {
            "interface-cos-summary": {
                "intf-cos-forwarding-classes-supported": MOST_CLASSES,
                "intf-cos-forwarding-classes-in-use": len(state.queues),
                "intf-cos-queue-type": "Egress queues",
                "intf-cos-num-queues-supported": MOST_QUEUES,
                "intf-cos-num-queues-in-use": len(state.queues),
            },
            "queue": [_queue(queue) for queue in state.queues],
        },
    }


def _queue(queue: QueueState) -> Tree:
    sent, dropped = (queue.counters[f"{_QUEUE}{name}_bytes_total"] for name in ("transmit", "dropped"))
    brief = dict(brief_queue(queue))
    return {
        **brief,
        "queue-counters-queued-bytes": sent + dropped,
        "queue-counters-trans-bytes": sent,
        "queue-counters-total-drop-bytes": dropped,
    }


def queues_text(state: ShownPort) -> Iterator[str]:
    """A port in the text of `show interfaces queue`."""
    tree = queues_tree(state)
    yield f"Physical interface: {state.port.name}, {enabled(state)}, Physical link is {state.link.capitalize()}"
    yield f"  Interface index: {tree['local-index']}, SNMP ifIndex: {tree['snmp-index']}"
    if state.description:
        yield f"  Description: {state.description}"
    counted = len(state.queues)
    yield f"Forwarding classes: {MOST_CLASSES} supported, {counted} in use"
    yield f"Egress queues: {MOST_QUEUES} supported, {counted} in use"
    for queue in state.queues:
        yield from _queue_text(queue)


def _queue_text(queue: QueueState) -> Iterator[str]:
    tree = _queue(queue)
    yield f"Queue: {queue.number}, Forwarding classes: {queue.forwarding_class}"
    yield "  Queued:"
    yield _counted("Packets", tree["queue-counters-queued-packets"])
    yield _counted("Bytes", tree["queue-counters-queued-bytes"])
    yield "  Transmitted:"
    yield _counted("Packets", tree["queue-counters-trans-packets"])
    yield _counted("Bytes", tree["queue-counters-trans-bytes"])
    yield "    Tail-dropped packets : Not Available"
    yield _counted("Total-dropped packets", tree["queue-counters-total-drop-packets"])
    yield _counted("Total-dropped bytes", tree["queue-counters-total-drop-bytes"])
    yield _counted("ECN-CE packets", queue.counters[f"{_QUEUE}ecn_marked_packets_total"])
    yield _counted("ECN-CE bytes", queue.counters[f"{_QUEUE}ecn_marked_bytes_total"])


def _counted(name: str, value: int) -> str:
    return f"    {name:<21}:{value:>22}"


def enabled(state: ShownPort) -> str:
    """The administrative state of a port as text."""
    return "Enabled" if state.admin == "up" else "Administratively down"

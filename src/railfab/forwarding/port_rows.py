"""What ports do with packets, as rows of numbers: equal ports of a fabric share a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from railfab.device import Scheduling
from railfab.forwarding.links import LinkTable
from railfab.forwarding.ports import PortStates
from railfab.forwarding.qos import PortEffect, SwitchEffect
from railfab.sim import QUEUES
from railfab.topology import PortKey
from railfab.units import NS_PER_MS

NIC_QUEUES = (3, 6, 0)
"""Queues of a NIC, of RoCE data, of CNPs, and of what is best effort. Their numbers mean nothing elsewhere."""

XON_GAP_BYTES = 18_432.0
"""XON is two jumbo frames below XOFF, so that a port does not send XOFF again at once."""

EGRESS = (
    "kmin_bytes",
    "kmax_bytes",
    "pmax",
    "limit_bytes",
    "limit_alpha",
    "wred",
    "strict",
    "weight",
    "watchdog_detect_ns",
    "watchdog_restore_ns",
    "pause_queue",
)
"""Fields of a row of a port that sends, by queue (pause_queue: by priority), as `sim.Network` has them."""

INGRESS = ("pfc_sent", "xoff_bytes", "xoff_alpha", "xon_gap_bytes", "headroom_bytes", "queue_of", "priority_of")
"""Fields of a row of a port that receives, by priority (queue_of, priority_of: by traffic class)."""

Row = NDArray[np.float64]
"""(field, QUEUES)."""

_EGRESS_DEFAULTS = (np.inf, np.inf, 0.0, np.inf, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0)
_INGRESS_DEFAULTS = (0.0, np.inf, 0.0, XON_GAP_BYTES, 0.0, 0.0, -1.0)


class Rows:
    """Distinct rows and their numbers. It only grows, so that numbers stay valid."""

    def __init__(self, first: Row) -> None:
        self._numbers = {first.tobytes(): 0}
        self._rows = [first]
        self._table = first[None]

    def number(self, row: Row) -> int:
        found = self._numbers.setdefault(row.tobytes(), len(self._rows))
        if found == len(self._rows):
            self._rows.append(row)
        return found

    @property
    def table(self) -> NDArray[np.float64]:
        """(row, field, QUEUES)."""
        if len(self._table) < len(self._rows):
            self._table = np.stack(self._rows)
        return self._table


@dataclass(frozen=True, kw_only=True, eq=False)
class PortRows:
    """Axis (link,): the number of the row of the port that it leaves, of the one that it leads to, and its rate.

    A link is up or down with the port that it leaves.
    """

    egress_rows: Rows
    ingress_rows: Rows
    egress: NDArray[np.int64]
    ingress: NDArray[np.int64]
    rate_gbps: NDArray[np.float64]
    up: NDArray[np.bool_]

    def ingress_field(self, name: str) -> NDArray[np.float64]:
        """(link, QUEUES) one of the fields `INGRESS`."""
        return np.asarray(self.ingress_rows.table[:, INGRESS.index(name)][self.ingress])

    def egress_field(self, name: str) -> NDArray[np.float64]:
        """(link, QUEUES) one of the fields `EGRESS`."""
        return np.asarray(self.egress_rows.table[:, EGRESS.index(name)][self.egress])


def no_rows(links: LinkTable, priority: int) -> PortRows:
    """All ports as those of NICs, and down. Pause frames of this priority stop RoCE data; NICs ignore the others."""
    count = len(links.near)
    egress, ingress = _filled(_EGRESS_DEFAULTS), _filled(_INGRESS_DEFAULTS)
    egress[EGRESS.index("pause_queue"), priority] = NIC_QUEUES[0]
    return PortRows(
        egress_rows=Rows(egress),
        ingress_rows=Rows(ingress),
        egress=np.zeros(count, np.int64),
        ingress=np.zeros(count, np.int64),
        rate_gbps=np.zeros(count),
        up=np.zeros(count, bool),
    )


def port_rows(
    links: LinkTable,
    ports: PortStates,
    effects: Mapping[str, SwitchEffect],
    dscps: tuple[int, ...],
    touched: Iterable[PortKey],
    before: PortRows,
) -> PortRows:
    """The rows with those of touched ports found again. dscps: of the traffic classes that hosts send.

    The same object as before when nothing differs.
    """
    egress, ingress = before.egress.copy(), before.ingress.copy()
    rate_gbps, up = before.rate_gbps.copy(), before.up.copy()
    numbers: dict[tuple[str, int], tuple[int, int]] = {}
    for key in touched:
        name, interface = key
        link, state = links.egress[key], ports[name][interface]
        rate_gbps[link], up[link] = state.rate_gbps, state.oper_up
        if name in effects:
            port = effects[name].port(interface)
            place = (name, id(port))
            if place not in numbers:
                numbers[place] = (
                    before.egress_rows.number(_egress_row(effects[name], port)),
                    before.ingress_rows.number(_ingress_row(port, dscps)),
                )
            egress[link], ingress[link ^ 1] = numbers[place]
    pairs = ((egress, before.egress), (ingress, before.ingress), (rate_gbps, before.rate_gbps), (up, before.up))
    if all(np.array_equal(now, then) for now, then in pairs):
        return before
    return PortRows(
        egress_rows=before.egress_rows,
        ingress_rows=before.ingress_rows,
        egress=egress,
        ingress=ingress,
        rate_gbps=rate_gbps,
        up=up,
    )


def _filled(defaults: tuple[float, ...]) -> Row:
    return np.tile(np.array(defaults)[:, None], QUEUES)


def _egress_row(switch: SwitchEffect, port: PortEffect) -> Row:
    """Marking, limits and scheduling of the queues, and which of them a pause frame stops."""
    row = _filled(_EGRESS_DEFAULTS)
    kmin, kmax, pmax, limit, share, wred, strict, weight, detect, restore, pause_queue = row
    limit[:] = switch.lossy_bytes
    for found in switch.classes:
        strict[found.queue] = found.scheduling is Scheduling.STRICT
        weight[found.queue] = found.weight or 1
    for found in port.own:
        if switch.watchdog and found.obeyed_priority in port.pfc:
            detect[found.queue] = switch.watchdog.detect_ms * NS_PER_MS
            restore[found.queue] = switch.watchdog.recover_ms * NS_PER_MS
    for effect in port.queues:
        queue = effect.queue
        kmin[queue], kmax[queue], pmax[queue] = effect.kmin_bytes, effect.kmax_bytes, effect.pmax
        limit[queue], share[queue], wred[queue] = effect.limit_bytes, effect.limit_share, effect.wred
    for priority in range(QUEUES):
        queue_of = port.paused_queue(priority)
        pause_queue[priority] = -1 if queue_of is None else queue_of
    return row


def _ingress_row(port: PortEffect, dscps: tuple[int, ...]) -> Row:
    """The class of packets, and their buffer; without PFC it drops where it would send a pause frame."""
    row = _filled(_INGRESS_DEFAULTS)
    sent, xoff, share, _, headroom, queue_of, priority_of = row
    for effect in port.pauses:
        priority = effect.priority
        sent[priority] = priority in port.pfc
        xoff[priority], share[priority] = effect.xoff_bytes, effect.xoff_share
        headroom[priority] = effect.headroom_bytes
    for number, dscp in enumerate(dscps):
        found = port.classes.get(dscp, port.default)
        queue_of[number] = found.queue
        priority_of[number] = -1 if found.pfc_priority is None else found.pfc_priority
    return row

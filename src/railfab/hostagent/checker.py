"""One comparison of a host with its plan: finds the NICs, reads settings, links, GIDs and neighbours."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railfab.hostagent.document import (
    VERSION,
    HostDocument,
    NicDocument,
    NicGid,
    NicNeighbor,
    NicSetting,
)
from railfab.hostagent.ethtool import ethtool_of
from railfab.hostagent.last_good import LastGood
from railfab.hostagent.link import LinkFiles
from railfab.hostagent.optics import OpticLane, optic_lanes
from railfab.hostagent.programs import MeteredSystem
from railfab.hosts.lldp import COMMAND, LldpTextError, lldp_neighbors
from railfab.hosts.nic import (
    HostPort,
    Impossible,
    Row,
    System,
    Unreadable,
    compared,
    devices,
    ports_and_faults,
    rows_of,
    text_or,
)

EMPTY_GIDS = 8
"""Empty entries of a GID table, which has 256, after which no more are read."""
BOOT_ID = "/proc/sys/kernel/random/boot_id"
NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


@dataclass(frozen=True, slots=True)
class HostCheck:
    """What a comparison has shown: the document, the ports that it found, and when it was made (Unix time) [s].

    lost: settings that are no more as wanted since the last boot; None where that is not known. optics: lanes of each
    NIC whose optic says its light.
    """

    document: HostDocument
    ports: Sequence[HostPort]
    checked_s: float
    lost: Sequence[Row] | None
    optics: Mapping[str, Sequence[OpticLane]]


class HostChecker:
    """Compares a host. settings: of nic.json. host: its name in the plan. last_good: None keeps nothing."""

    def __init__(
        self, settings: Mapping[str, Any], host: str, system: System, last_good: LastGood | None = None
    ) -> None:
        self._settings, self._host, self._system = dict(settings), host, system
        self._last_good = last_good
        self._interfaces: list[str] = []
        self._places = {wanted["name"]: wanted for wanted in settings["ports"]}

    def check(self) -> HostCheck:
        """Compare now. What cannot be read is a fault of the document, or an unknown setting, and the rest goes on."""
        self._forget_outputs()
        ports, faults = self._ports()
        self._interfaces = [port.interface for port in ports]
        rows = [compared(row, self._system) for row in rows_of(self._settings, ports, self._system)]
        neighbors, more = self._neighbors()
        lost, problems = self._lost(rows)
        checked_s = time.time()
        document = HostDocument(
            version=VERSION,
            fabric=str(self._settings["fabric"]),
            host=self._host,
            checked=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(checked_s)),
            nics=tuple(self._nic(port, rows, neighbors.get(port.interface)) for port in ports),
            settings=tuple(_setting(row) for row in rows if _of_host(row)),
            faults=(*faults, *more, *problems, *_unknown(rows)),
        )
        return HostCheck(document, ports, checked_s, lost, {port.name: self._lanes(port) for port in ports})

    def _forget_outputs(self) -> None:
        """Have programs run again: of a host those that cost little, or whose outputs are old."""
        if isinstance(self._system, MeteredSystem):
            self._system.forget(self._interfaces)
        else:
            self._system.outputs.clear()

    def _ports(self) -> tuple[list[HostPort], list[str]]:
        try:
            return ports_and_faults(self._settings, self._system)
        except Impossible as error:
            return [], str(error).splitlines()

    def _lost(self, rows: Sequence[Row]) -> tuple[Sequence[Row] | None, list[str]]:
        """Settings that the last boot lost; faults."""
        if self._last_good is None:
            return None, []
        try:
            boot = self._system.text(BOOT_ID)
        except Unreadable as error:
            return None, [f"what a reboot loses is not known: {error}"]
        lost = self._last_good.lost(rows, boot)
        line = [f"{_named(lost)} lost at the last boot"] if lost else []
        return lost, line + [problem for problem in [self._last_good.problem] if problem]

    def _neighbors(self) -> tuple[Mapping[str, NicNeighbor], list[str]]:
        """The neighbour of each interface; faults. Of several neighbours of an interface the first counts."""
        try:
            entries = [*lldp_neighbors(self._system.output(COMMAND.split()))]
        except Unreadable as error:
            return {}, [f"neighbours are not known: {error}"]
        except LldpTextError as error:
            return {}, [f"neighbours are not known: the output of lldpcli {error}"]
        return {entry.nic: NicNeighbor(entry.device, entry.port) for entry in reversed(entries)}, []

    def _nic(self, port: HostPort, rows: Sequence[Row], neighbor: NicNeighbor | None) -> NicDocument:
        place, files = self._places[port.name], LinkFiles(port, self._system)
        try:
            return NicDocument(
                nic=port.name,
                interface=port.interface,
                rdma=port.values.get("rdma"),
                model=port.model,
                family=port.family,
                rail=place["rail"],
                plane=place["plane"],
                neighbor=neighbor,
                link=files.link(ethtool_of(port.interface, self._system)),
                pcie=files.pcie(),
                gids=tuple(self._gids(port)),
                settings=tuple(_setting(row) for row in rows if row.port is port and not _of_host(row)),
            )
        finally:
            files.close()

    def _lanes(self, port: HostPort) -> Sequence[OpticLane]:
        """The lanes of the optic; none of a copper cable, and where ethtool may not read it."""
        try:
            return optic_lanes(self._system.output(["ethtool", "-m", port.interface]))
        except Unreadable:
            return ()

    def _gids(self, port: HostPort) -> Iterator[NicGid]:
        """The entries of the port's GID table that have an address."""
        table = f"/sys/class/infiniband/{port.values.get('rdma')}/ports/1"
        empty = 0
        for index in sorted(map(int, filter(str.isdecimal, devices(f"{table}/gids", self._system)))):
            gid = text_or(f"{table}/gids/{index}", self._system)
            empty = empty + 1 if gid in ("", NO_GID) else 0
            if empty == EMPTY_GIDS:
                return
            if not empty:
                yield NicGid(index, text_or(f"{table}/gid_attrs/types/{index}", self._system), gid)


def _of_host(row: Row) -> bool:
    return bool(row.setting.get("whole_host"))


def _setting(row: Row) -> NicSetting:
    """A compared row. What cannot be read is unknown; what the host need not have is as wanted."""
    is_known = row.ok or row.found is not None
    return NicSetting(row.setting["name"], row.wanted, row.found, row.ok if is_known else None, row.problem)


def _unknown(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each reason why settings are unknown."""
    unread: dict[str, list[Row]] = {}
    for row in rows:
        if not row.ok and row.found is None:
            unread.setdefault(str(row.problem), []).append(row)
    for problem, group in unread.items():
        yield f"{_named(group)} cannot be compared: {problem}"


def _named(rows: Sequence[Row]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{rows[0].setting['name']} of {rows[0].nic}{more}"

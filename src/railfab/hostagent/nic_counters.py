"""The counters of one port, as sources of samples: open files of its RDMA device, and statistics of its interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from railfab.hostagent.counters import Counter, CounterPlace, counters_of
from railfab.hostagent.ethtool import ethtool_of
from railfab.hostagent.exposition import Source
from railfab.hostagent.host_files import KeptFile
from railfab.hosts.nic import HostPort, System, Unreadable


class NicCounters:
    """Reads the counters of one port. Those that its driver does not have are left out."""

    def __init__(self, port: HostPort, system: System) -> None:
        self._counters = tuple(counters_of(port.family))
        self._port, self._ethtool = port, ethtool_of(port.interface, system)
        self._statistics: Mapping[str, int | str] = {}
        self._files = dict(self._existing_files(system))
        self._problem = ""
        self._names = self._existing_names()
        self._wanted = frozenset(self._names.values())

    def sources(self) -> Iterator[tuple[Counter, Source]]:
        """What gives the value of each counter after `refresh`."""
        for counter, file in self._files.items():
            yield counter, scaled(file.number, counter.scale)
        for counter, name in self._names.items():
            yield counter, scaled(partial(self._statistic, name), counter.scale)

    def refresh(self) -> None:
        """Read the statistics of the interface, all at once."""
        try:
            self._statistics, self._problem = self._ethtool.values(self._wanted), ""
        except Unreadable as error:
            self._statistics, self._problem = {}, f"statistics of {self._port.name} cannot be read: {error}"

    def problems(self) -> Iterator[str]:
        """What could not be read last, a line each."""
        if self._problem:
            yield self._problem
        yield from (f"{self._port.name}: {file.problem}" for file in self._files.values() if file.problem)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    def _statistic(self, name: str) -> bytes | None:
        value = self._statistics.get(name)
        return None if value is None else str(value).encode()

    def _existing_names(self) -> dict[Counter, str]:
        """The name of each counter that the interface has now: mlx5 has those of PFC only while it is on."""
        try:
            existing = set(self._ethtool.names())
        except Unreadable:  # reading them says why
            return {}
        wanted = (counter for counter in self._counters if counter.place is CounterPlace.STATISTICS)
        named = ((counter, next((name for name in counter.names if name in existing), "")) for counter in wanted)
        return {counter: name for counter, name in named if name}

    def _existing_files(self, system: System) -> Iterator[tuple[Counter, KeptFile]]:
        """The file of each counter that the driver has."""
        if (rdma := self._port.values.get("rdma")) is None:
            return
        port = system.path(f"/sys/class/infiniband/{rdma}/ports/1")
        for counter in self._counters:
            if counter.place is not CounterPlace.STATISTICS:
                paths: Iterator[Path] = (port / counter.place / name for name in counter.names)
                if (path := next((path for path in paths if path.is_file()), None)) is not None:
                    yield counter, KeptFile(path)


def scaled(source: Source, scale: float) -> Source:
    """A source of values times a scale."""
    if scale == 1:
        return source

    def value() -> bytes | None:
        number = source()
        return None if number is None else repr(int(number) * scale).encode()

    return value

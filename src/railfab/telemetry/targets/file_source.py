"""A list of targets in a file that may change: hosts.yml with its groups and defaults, or an endpoints file."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

from railfab.endpoints.inventory_files import read_files
from railfab.telemetry.targets.known import targets_of_hosts
from railfab.telemetry.targets.spec import TargetSpec

INTERVAL_S = 5.0


class FileSource:
    """Reads the file at each poll, and parses it when its content is another. parse: to a list of targets.

    Contents are compared, not times: a file can change twice within the resolution of its time stamp.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[[Path], tuple[TargetSpec, ...]] = targets_of_hosts,
        *,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self.name = str(path)
        self.interval_s = interval_s
        self._path = path
        self._parse = parse
        self._digest = b""

    async def poll(self) -> tuple[TargetSpec, ...] | None:
        """The targets, or None while the content is that of the last good list. Raises EndpointError, or Problems."""
        return await asyncio.to_thread(self._poll)

    def _poll(self) -> tuple[TargetSpec, ...] | None:
        digest = hashlib.blake2b(repr(read_files(self._path)).encode()).digest()
        if digest == self._digest:
            return None
        found = self._parse(self._path)
        self._digest = digest
        return found

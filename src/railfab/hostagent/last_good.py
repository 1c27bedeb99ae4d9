"""Which settings were as wanted, and in which boot of the host: it tells what a reboot lost from what was changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from railfab.hosts.nic import Row

FILE = "agent-settings.json"
VERSION = 1


class LastGood:
    """Kept in a file of a folder, which is made where it is missing.

    problem: why the file could not be read or written; empty where it could.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self.problem = ""
        self._boots = self._read()

    def lost(self, rows: Iterable[Row], boot: str) -> list[Row]:
        """Rows that differ now and were last as wanted in another boot. boot: the identifier of the present one.

        A row that is unknown keeps what is known of it.
        """
        before, lost = dict(self._boots), []
        for row in rows:
            name = f"{row.nic} {row.setting['name']}"
            if row.ok:
                self._boots[name] = boot
            elif row.found is not None and self._boots.get(name, boot) != boot:
                lost.append(row)
        if self._boots != before:
            self._write()
        return lost

    def _read(self) -> dict[str, str]:
        try:
            document = json.loads(self._path.read_text())
            boots = document["good"]
            if document["version"] == VERSION and all(isinstance(boot, str) for boot in boots.values()):
                return dict(boots)
            self.problem = f"{self._path} is of another version, and begun again"
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self.problem = f"{self._path} cannot be read, and is begun again"
        return {}

    def _write(self) -> None:
        """Write the file as a whole."""
        part = self._path.with_suffix(".part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"version": VERSION, "good": self._boots}, indent=1) + "\n")
            part.replace(self._path)
            self.problem = ""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.problem = f"{self._path} cannot be written ({reason}): what a reboot loses is not known"

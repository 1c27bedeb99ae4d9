"""Files of a host that are read again and again, such as counters of sysfs, which stay open between two readings."""

from __future__ import annotations

import errno
import os
from pathlib import Path

MOST_BYTES = 4096
"""A file of sysfs has one page at most."""
GONE = (errno.ENODEV, errno.ESTALE, errno.ENXIO)
"""Errors of an open file whose device was unplugged, or whose driver was loaded again since."""


class KeptFile:
    """One file. A device that was unplugged has no value; one that comes back is opened again."""

    __slots__ = ("_descriptor", "path", "problem")

    def __init__(self, path: Path) -> None:
        self.path, self._descriptor, self.problem = path, -1, ""

    def __del__(self) -> None:
        self.close()

    def number(self) -> bytes | None:
        """The digits in the file; None where there are none, and `problem` says why."""
        content = self.read()
        if content is None:
            return None
        digits = content.strip()
        if digits.isdigit():
            return digits
        self.problem = f"{self.path} has no number"
        return None

    def read(self) -> bytes | None:
        """The content; None where it cannot be read, and `problem` says why."""
        try:
            content = self._content()
        except OSError as error:
            self.close()
            self.problem = f"{self.path} cannot be read ({(error.strerror or str(error)).lower()})"
            return None
        self.problem = ""
        return content

    def _content(self) -> bytes:
        if self._descriptor >= 0:
            try:
                return os.pread(self._descriptor, MOST_BYTES, 0)
            except OSError as error:
                if error.errno not in GONE:
                    raise
                self.close()
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._descriptor, MOST_BYTES, 0)

    def close(self) -> None:
        """Close the file until it is read again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

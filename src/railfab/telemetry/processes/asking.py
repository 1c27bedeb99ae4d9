"""HTTP requests to a process, over its Unix socket."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, responses
from pathlib import Path
from types import MappingProxyType

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Asked:
    """What a process answered. status: 0 when it did not; then `problem` says why."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    problem: str = ""

    @property
    def is_well(self) -> bool:
        """Whether it answers that all is as it should be."""
        return self.status == HTTPStatus.OK

    @property
    def status_line(self) -> str:
        """The status with its name, as WSGI wants it."""
        return f"{self.status} {responses.get(self.status, '')}"


def ask(
    path: Path, page: str, *, within_s: float, method: str = "GET", headers: Mapping[str, str] = NO_HEADERS
) -> Asked:
    """The whole answer. within_s: for each part of it that arrives [s]."""
    connection = _Connection(path, within_s)
    try:
        connection.request(method, page, headers=dict(headers))
        answer = connection.getresponse()
        return Asked(answer.status, dict(answer.getheaders()), answer.read())
    except (FileNotFoundError, ConnectionRefusedError):
        return Asked(0, problem="does not run")
    except TimeoutError:
        return Asked(0, problem=f"no answer within {within_s:g} s")
    except (OSError, HTTPException) as error:
        return Asked(0, problem=f"no answer ({(getattr(error, 'strerror', None) or str(error)).lower()})")
    finally:
        connection.close()


class _Connection(HTTPConnection):
    def __init__(self, path: Path, within_s: float) -> None:
        super().__init__("localhost", timeout=within_s)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket instead of a port."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))

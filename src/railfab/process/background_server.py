"""An HTTP server that serves from a thread of its own."""

from __future__ import annotations

import threading
from socketserver import TCPServer
from types import TracebackType
from typing import Self


class BackgroundServer:
    """Serves while its context lasts. The server already listens; thread: name of the thread."""

    def __init__(self, server: TCPServer, *, thread: str) -> None:
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, name=thread, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        host, port = map(str, self._server.server_address[:2])
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

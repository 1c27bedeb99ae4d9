"""A real Prometheus on a free port, for tests that ask it."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml
from tests.ports import free_port

PATIENCE_S = 40.0


class Prometheus:
    """One server on a free port, with the rules in the folder; what it is asked is answered as JSON.

    config: its configuration. options: more of its command line.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], *options: str) -> None:
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        self.address = f"127.0.0.1:{free_port()}"
        arguments = (f"--config.file={file}", f"--storage.tsdb.path={folder / 'tsdb'}", *options)
        command = ["prometheus", *arguments, f"--web.listen-address={self.address}", "--log.level=error"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(10)

    def ask(self, path: str, **query: str) -> Any:
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)["data"]

    def query(self, expr: str) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = self.ask("query", query=expr)["result"]
        except OSError:  # not listening yet
            return []
        return found

    def eventually(self, expr: str, *, empty: bool = False) -> list[dict[str, Any]]:
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s:
            found = self.query(expr)
            if bool(found) != empty:
                return found
            time.sleep(0.3)
        raise AssertionError(f"{expr}: {'still there' if empty else 'nothing'} after {PATIENCE_S} s")

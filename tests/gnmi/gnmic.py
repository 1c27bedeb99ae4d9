"""gnmic in a process, as a client of one of our servers."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from railfab.endpoints import Credentials

WITHIN_S = 60.0


@dataclass(frozen=True)
class Gnmic:
    """gnmic with the address, CA and login of one target."""

    address: str
    ca: str
    login: Credentials

    def _command(self, *arguments: str, encoding: str = "json_ietf") -> tuple[list[str], dict[str, str]]:
        command = ["gnmic", *arguments, "--address", self.address, "--tls-ca", self.ca, "--encoding", encoding]
        login = {"GNMIC_USERNAME": self.login.username, "GNMIC_PASSWORD": self.login.password}
        return command, {**os.environ, **login}

    def run(self, *arguments: str, encoding: str = "json_ietf") -> str:
        """What it prints. Fails where it does."""
        done = self.attempt(*arguments, encoding=encoding)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def attempt(self, *arguments: str, encoding: str = "json_ietf") -> subprocess.CompletedProcess[str]:
        command, environment = self._command(*arguments, encoding=encoding)
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WITHIN_S)

    def updates(self, *arguments: str) -> dict[str, Any]:
        """Values by path, of a Get or of a subscription that ends."""
        events = json.loads(self.run(*arguments, "--format", "event") or "[]")
        return {path: value for event in events for path, value in event["values"].items()}

    @contextmanager
    def subscribed(self, *arguments: str) -> Iterator[Subscribed]:
        """A subscription that continues."""
        command, environment = self._command("subscribe", *arguments)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
            try:
                yield Subscribed(process)
            finally:
                process.kill()


@dataclass
class Subscribed:
    """A running subscription. said: its lines so far."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.said.append(line)

    def wait(self, true: Callable[[list[str]], bool]) -> list[str]:
        """The lines once this holds for them."""
        until_s = time.monotonic() + WITHIN_S
        while not true(found := list(self.said)):
            assert time.monotonic() < until_s, "".join(found)
            time.sleep(0.05)
        return found

    def answer(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()

"""A small twin with its page, and a browser's half of the conversation."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.twin.qos_twin import small
from tests.twin.twins import made_job

from railfab.app.page import PageOptions, page
from railfab.fabric import Design
from railfab.page.server import PageServer
from railfab.page.settings import PageAddress
from railfab.twin import Twin

WITHIN_S = 120
INTERVAL_S, CHECK_INTERVAL_S = 0.5, 2.0
INCAST = made_job(
    phases=[
        {"compute": {"ms": 40}},
        {"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}},
    ]
)
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the server, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Events:
    """A stream of server-sent events, and what a browser knows after them."""

    stream: Any
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    seen: dict[str, Document] = field(default_factory=dict)
    log: list[Document] = field(default_factory=list)
    frames: list[bool] = field(default_factory=list)
    received: int = 0

    def next(self) -> tuple[str, Document]:
        """The next event, applied to what is known."""
        name, text = "", ""
        while line := self.stream.readline().decode():
            self.received += len(line)
            key, _, value = line.rstrip("\n").partition(": ")
            if key == "event":
                name = value
            elif key == "data":
                text = value
            elif not line.strip() and name:
                break
        document = json.loads(text)
        self.seen[name] = document
        if name == "log":
            self.log.append(document)
        if name == "frame":
            self.frames.append(document["full"])
            self._apply(document)
        return name, document

    def until(self, condition: Callable[[Events], bool]) -> None:
        """Read until something holds."""
        while True:
            self.next()
            if condition(self):
                return

    def _apply(self, frame: Document) -> None:
        for name, held in frame["columns"].items():
            if frame["full"]:
                self.columns[name] = np.frombuffer(b64decode(held), np.uint8).copy()
            else:
                index = np.frombuffer(b64decode(held["index"]), "<u2")
                self.columns[name][index] = np.frombuffer(b64decode(held["value"]), np.uint8)


@dataclass(slots=True)
class LivePage:
    """A running page. twin: behind it."""

    server: PageServer
    design: Design
    twin: Twin
    state: Path

    @property
    def url(self) -> str:
        return self.server.url.partition("#")[0]

    @property
    def token(self) -> str:
        return self.server.url.partition("#token=")[2]

    def ask(self, path: str, body: Any = None, **headers: str) -> Answer:
        """GET, or POST of a JSON body."""
        data = None if body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if body is not None else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, data, {**kind, **named})
        try:
            with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
                return Answer(answer.status, dict(answer.headers.items()), answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, dict(error.headers.items()), error.read())

    def get(self, path: str) -> Any:
        """A document."""
        answer = self.ask(path)
        assert answer.status == 200, answer.body
        return answer.document

    @contextmanager
    def events(self) -> Iterator[Events]:
        """A browser that listens."""
        with urllib.request.urlopen(self.url + "events", timeout=WITHIN_S) as stream:
            yield Events(stream)


@contextmanager
def live_page(folder: Path, **options: Any) -> Iterator[LivePage]:
    """A twin of a small fabric under an incast, and its page."""
    design = small(folder)
    intervals = {"interval_s": INTERVAL_S, "check_interval_s": CHECK_INTERVAL_S}
    chosen = PageOptions(on="twin", state=folder, address=PageAddress("127.0.0.1", 0), **intervals, **options)
    with Twin(design, state=folder, base_port=0, configured=True, job=INCAST) as twin, page(design, chosen) as server:
        yield LivePage(server, design, twin, folder)

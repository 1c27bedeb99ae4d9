"""The control server of a twin: status, jobs, links and switches over HTTP, and metrics for Prometheus."""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import ValidationError

from railfab.errors import LabError, RailfabError
from railfab.intent import Job
from railfab.platforms.shared.virtual_images import ImageBoot, ImageFile
from railfab.process.background_server import BackgroundServer
from railfab.topology import PortKey
from railfab.twin.control import RECORDED
from railfab.twin.link_parts import Direction
from railfab.twin.status import PassingFlow, SwitchOperation, TwinStatus
from railfab.workload import RecordedJob
from railfab.workload.recorded import load_any_job

logger = logging.getLogger(__name__)

MAX_BYTES = 1 << 20

Action = Callable[[], Any]
"""Carries out a request that has been read; its result is the answer."""


class Controlled(Protocol):
    """The operations of a twin that the server offers."""

    def status(self) -> TwinStatus: ...

    def flows_through(self, node: str, interface: str) -> tuple[PassingFlow, ...]: ...

    def switch_job(self, job: Job | RecordedJob | None) -> None: ...

    def set_link(
        self,
        node: str,
        interface: str,
        *,
        up: bool,
        direction: Direction = Direction.BOTH,
        detected: bool = True,
    ) -> None: ...

    def set_host_rate(self, host: str, rx_gbps: float | None, *, interface: str | None = None) -> None: ...

    def exchange_cables(self, one: PortKey, other: PortKey) -> None: ...

    def set_optic_loss(self, node: str, interface: str, *, loss_db: float) -> None: ...

    def operate(self, name: str, operation: SwitchOperation) -> None: ...

    def offer_image(self, name: str, place: str, image: ImageFile) -> None: ...

    def replace_device(self, name: str, release: str = "") -> None: ...


class ControlServer(BackgroundServer):
    """An HTTP server on a free port of 127.0.0.1; a context manager. All paths but /metrics need the token."""

    def __init__(self, twin: Controlled, registry: CollectorRegistry) -> None:
        self.token = secrets.token_urlsafe(32)
        handler = type("Handler", (_ControlHandler,), {"twin": twin, "registry": registry, "token": self.token})
        super().__init__(ThreadingHTTPServer(("127.0.0.1", 0), handler), thread="railfab-control")


class _ControlHandler(BaseHTTPRequestHandler):
    """One request."""

    twin: Controlled
    registry: CollectorRegistry
    token: str
    server_version = "railfab"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._send(HTTPStatus.OK, generate_latest(self.registry), CONTENT_TYPE_LATEST)
        elif self._allowed():
            self._answer({"/status": lambda _: lambda: asdict(self.twin.status())})

    def do_POST(self) -> None:
        if self._allowed():
            self._answer(
                {
                    "/flows": self._flows,
                    "/job": self._job,
                    "/link": self._link,
                    "/cable": self._cable,
                    "/optic": self._optic,
                    "/host": self._host,
                    "/switch": self._switch,
                    "/image": self._image,
                    "/device": self._device,
                }
            )

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log line for a request."""

    def _flows(self, body: Any) -> Action:
        node, interface = str(body["node"]), str(body["interface"])
        return lambda: [asdict(flow) for flow in self.twin.flows_through(node, interface)]

    def _job(self, body: Any) -> Action:
        if isinstance(body, dict) and RECORDED in body:
            path = Path(str(body[RECORDED]))
            return lambda: self.twin.switch_job(load_any_job(path)[0])
        job = None if body is None else Job.model_validate(body)
        return lambda: self.twin.switch_job(job)

    def _link(self, body: Any) -> Action:
        node, interface, up = str(body["node"]), str(body["interface"]), bool(body["up"])
        direction, detected = Direction(body.get("direction", Direction.BOTH)), bool(body.get("detected", True))
        return lambda: self.twin.set_link(node, interface, up=up, direction=direction, detected=detected)

    def _host(self, body: Any) -> Action:
        host, interface, rx_gbps = str(body["host"]), body["interface"], body["rx_gbps"]
        rate = None if rx_gbps is None else float(rx_gbps)
        if rate is not None and not rate >= 0:
            raise ValueError(f"{rate} is no rate")
        return lambda: self.twin.set_host_rate(host, rate, interface=interface)

    def _cable(self, body: Any) -> Action:
        (node, interface), (other_node, other_interface) = body["one"], body["other"]
        one, other = (str(node), str(interface)), (str(other_node), str(other_interface))
        return lambda: self.twin.exchange_cables(one, other)

    def _optic(self, body: Any) -> Action:
        node, interface, loss_db = str(body["node"]), str(body["interface"]), float(body["loss_db"])
        return lambda: self.twin.set_optic_loss(node, interface, loss_db=loss_db)

    def _switch(self, body: Any) -> Action:
        name, operation = str(body["name"]), SwitchOperation(body["operation"])
        return lambda: self.twin.operate(name, operation)

    def _image(self, body: Any) -> Action:
        name, place = str(body["switch"]), str(body["place"])
        image = ImageFile(**{**body["image"], "boot": ImageBoot(body["image"]["boot"])})
        return lambda: self.twin.offer_image(name, place, image)

    def _device(self, body: Any) -> Action:
        name, release = str(body["switch"]), str(body["release"])
        return lambda: self.twin.replace_device(name, release)

    def _answer(self, requests: dict[str, Callable[[Any], Action]]) -> None:
        """Read the request for this path, then carry it out."""
        request = requests.get(self.path)
        if request is None:
            self._refuse(
                HTTPStatus.NOT_FOUND,
                LabError(self.path, "is not a path of the control server", f"Use one of {', '.join(requests)}"),
            )
            return
        try:
            action = request(self._body())
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            problem = f"the request is not valid ({str(error).splitlines()[0]})"
            self._refuse(HTTPStatus.BAD_REQUEST, LabError(self.path, problem, "Check the body"))
            return
        try:
            answer = action()
        except RailfabError as error:
            self._refuse(HTTPStatus.CONFLICT, error)
        except Exception as error:  # any defect of the twin: the client gets an answer, and the log the traceback
            logger.exception("%s failed", self.path)
            problem = f"failed in the twin ({type(error).__name__}: {error})"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, LabError(self.path, problem, "Report what the twin logged"))
        else:
            self._send_json(HTTPStatus.OK, answer)

    def _body(self) -> Any:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BYTES:
            raise ValueError("the body is too long")
        return json.loads(self.rfile.read(length)) if length else None

    def _allowed(self) -> bool:
        given = self.headers.get("Authorization", "").encode()
        if hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            return True
        self._refuse(HTTPStatus.FORBIDDEN, LabError(self.path, "needs the token", "Read it from the control file"))
        return False

    def _refuse(self, status: HTTPStatus, error: RailfabError) -> None:
        self._send_json(status, {"where": error.where, "problem": error.problem, "remedy": error.remedy})

    def _send_json(self, status: HTTPStatus, value: Any) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

"""The client of a running twin's control server: HTTP on this machine, with a token that only the owner can read."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

from railfab.endpoints import STATE_DIR, state_option
from railfab.errors import DeviceError, EndpointError
from railfab.intent import Job
from railfab.platforms.shared.virtual_images import ImageFile
from railfab.topology import PortKey
from railfab.twin.files import twin_files
from railfab.twin.link_parts import Direction
from railfab.twin.status import PassingFlow, SwitchOperation, TwinStatus
from railfab.workload import RecordedJob

TIMEOUT_S = 30
JOB_WITHIN_S = 300
"""Time in which a job starts: of the largest a twin makes 200,000 transfers."""
RECORDED = "recorded"
"""Key of the path of a recorded job."""
METRICS_WITHIN_S = 5.0
"""Less than Prometheus waits for a scrape."""


class OtherReleaseError(EndpointError):
    """A twin was started by another release of railfab, and does not answer as this one's do."""


@dataclass(frozen=True, slots=True)
class Control:
    """A client of a running twin. url: without a slash at its end. state: the directory with the twin's files."""

    fabric: str
    url: str
    token: str = field(repr=False)
    state: Path = STATE_DIR

    @property
    def metrics_url(self) -> str:
        """The URL of the metrics of the job and of the twin, for Prometheus."""
        return f"{self.url}/metrics"

    def status(self) -> TwinStatus:
        """The status. Raises OtherReleaseError for a twin that an earlier or a later release of railfab has started."""
        document = self._call("GET", "/status")
        try:
            return TwinStatus.from_json(document)
        except (KeyError, TypeError, ValueError):
            stop = f"railfab twin stop{state_option(self.state)}"
            problem = "its twin was started by another release of railfab"
            raise OtherReleaseError(self.fabric, problem, f"Stop it with {stop}, and start it again") from None

    def flows_through(self, node: str, interface: str) -> tuple[PassingFlow, ...]:
        """The flows that are under way and leave by a port now."""
        flows = self._call("POST", "/flows", {"node": node, "interface": interface})
        return tuple(map(PassingFlow.from_json, flows))

    def switch_job(self, job: Job | RecordedJob | None) -> None:
        """Start this job in place of the one that runs; None stops it. Raises DeviceError when it does not fit.

        The twin reads the files of a recorded job itself.
        """
        if job is None or isinstance(job, Job):
            body = None if job is None else job.model_dump(mode="json", exclude_unset=True)
        else:
            body = {RECORDED: str(job.path.absolute())}
        self._call("POST", "/job", body, within_s=JOB_WITHIN_S)

    def set_link(
        self,
        node: str,
        interface: str,
        *,
        up: bool,
        direction: Direction = Direction.BOTH,
        detected: bool = True,
    ) -> None:
        """Cut or restore the link at this port, or the fibre by which it receives or transmits.

        detected: whether a receiver that gets nothing notices, so that both ports go down; else both stay up.
        """
        part = {"direction": direction, "detected": detected}
        self._call("POST", "/link", {"node": node, "interface": interface, "up": up, **part})

    def set_host_rate(self, host: str, rx_gbps: float | None, *, interface: str | None = None) -> None:
        """Let a host take packets from its NIC at this rate [Gb/s] only; 0: none, None: all at once."""
        self._call("POST", "/host", {"host": host, "interface": interface, "rx_gbps": rx_gbps})

    def exchange_cables(self, one: PortKey, other: PortKey) -> None:
        """Let two ports (node and interface) exchange their far ends, as cables plugged the wrong way; the same call
        undoes it. A job that runs begins its present stage again."""
        self._call("POST", "/cable", {"one": one, "other": other})

    def set_optic_loss(self, node: str, interface: str, *, loss_db: float) -> None:
        """Let the receiver of a port miss this much light [dB], as behind a dirty connector; 0 cleans it."""
        self._call("POST", "/optic", {"node": node, "interface": interface, "loss_db": loss_db})

    def stop_switch(self, name: str) -> None:
        """Stop a switch's gNMI server; the switch continues to forward."""
        self.operate(name, SwitchOperation.STOP)

    def start_switch(self, name: str) -> None:
        """Start a switch's gNMI server again, on the port that it had."""
        self.operate(name, SwitchOperation.START)

    def operate(self, name: str, operation: SwitchOperation) -> None:
        """Stop or start the servers of a switch, have its control plane hang or resume, or switch its power."""
        self._call("POST", "/switch", {"name": name, "operation": operation})

    def offer_image(self, name: str, place: str, image: ImageFile) -> None:
        """Put an image on the flash of a switch, or at a URL from which it can fetch it."""
        self._call("POST", "/image", {"switch": name, "place": place, "image": asdict(image)})

    def replace_device(self, name: str, release: str = "") -> None:
        """Put a new device in the place of a switch, with this release of its software."""
        self._call("POST", "/device", {"switch": name, "release": release})

    def _call(self, method: str, path: str, body: Any = None, *, within_s: float = TIMEOUT_S) -> Any:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=json.dumps(body).encode() if method == "POST" else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with _opener().open(request, timeout=within_s) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            said = json.load(error)
            raise DeviceError(said["where"], said["problem"], said["remedy"]) from None
        except (urllib.error.URLError, HTTPException, OSError):
            raise not_running(self.fabric, self.state) from None


def connect(state: Path, fabric: str) -> Control:
    """The control of the twin of this fabric. Raises EndpointError when none is running."""
    control = _last_control(state, fabric)
    control.status()
    return control


def metrics_text(state: Path, fabric: str) -> str:
    """The metrics of the job and of the twin of this fabric, as text. Raises EndpointError when none is running."""
    url = _last_control(state, fabric).metrics_url
    try:
        with _opener().open(url, timeout=METRICS_WITHIN_S) as response:
            return str(response.read().decode())
    except (urllib.error.URLError, HTTPException, OSError):
        raise not_running(fabric, state) from None


def _last_control(state: Path, fabric: str) -> Control:
    """The control of the twin that was started last, which may have been killed since."""
    try:
        document = json.loads(twin_files(state, fabric).control.read_text())
        return Control(fabric, document["url"], document["token"], state)
    except (OSError, ValueError, KeyError):
        raise not_running(fabric, state) from None


def _opener() -> urllib.request.OpenerDirector:
    """An opener without a proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def running(state: Path, fabric: str) -> Control | None:
    """The control of the twin of this fabric; None when none is running, whatever files a killed one has left."""
    try:
        return connect(state, fabric)
    except EndpointError:
        return None


def not_running(fabric: str, state: Path) -> EndpointError:
    """The error of a fabric without a running twin."""
    return EndpointError(fabric, "no twin is running", f"Start it with railfab twin FILE{state_option(state)}")

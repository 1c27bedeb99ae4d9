"""A twin under a job, with a collector beside it, for gates that read telemetry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.twin.qos_twin import FAR_LEAF, INTENT, LEAF, SPINE, QosTwin
from tests.twin.twins import made_job, switch, until

from railfab.app.twin_metrics import TwinMetricsRelay
from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.telemetry import MetricsServer, fabric_collector
from railfab.twin import Twin

WINDOW_S = 4
INTERVAL_S = 0.5
GATED = f"{INTENT}change: {{gates: {{window_s: {WINDOW_S}}}}}\n"
INCAST = made_job(
    phases=[
        {"compute": {"ms": 30}},
        {"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}},
    ]
)
ALLREDUCE = made_job(
    phases=[
        {"compute": {"ms": 100}},
        {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "1GB", "group": "rail"}},
    ]
)


@dataclass(slots=True)
class ObservedTwin:
    """A running twin. url: of the collector."""

    qos: QosTwin
    url: str

    @property
    def fabric(self) -> Design:
        return self.qos.design

    def run(self, job: Job | None) -> None:
        """Let the hosts run a job, and wait for its first steps."""
        self.qos.twin.switch_job(job)
        if job is not None:
            until(lambda: self.qos.twin.status().steps >= 3)


@cache
def gated(intent: str = GATED) -> Design:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.yml"
        path.write_text(intent)
        return design(path)


@contextmanager
def observed(state: Path, intent: str = GATED) -> Iterator[ObservedTwin]:
    with ExitStack() as stack:
        fabric = gated(intent)
        twin = stack.enter_context(Twin(fabric, state=state, base_port=0, configured=True))
        switches = {name: stack.enter_context(switch(twin, name)) for name in (LEAF, FAR_LEAF, SPINE)}
        collector = fabric_collector(
            fabric.topology, twin.endpoints, classes=fabric.traffic_classes, interval_s=INTERVAL_S
        )
        server = stack.enter_context(MetricsServer(collector.exposition, collector, port=0))
        stack.enter_context(collector)
        collector.registry.register(TwinMetricsRelay(state, fabric.intent.fabric))
        assert collector.wait_until_up(30)
        yield ObservedTwin(QosTwin(fabric, twin, state, switches), server.url)

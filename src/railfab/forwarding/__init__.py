"""What switches conclude from configurations and links: sessions, routes, effective QoS; and a fabric that lives."""

from railfab.forwarding.conclude import Conclusion, Marking, conclude
from railfab.forwarding.course import JobStatus, Step
from railfab.forwarding.jobs import Stage, stages
from railfab.forwarding.live import LiveFabric
from railfab.forwarding.paths import Transfer
from railfab.forwarding.samples import Sample
from railfab.forwarding.sessions import Session
from railfab.forwarding.wiring import Wiring

__all__ = [
    "Conclusion",
    "JobStatus",
    "LiveFabric",
    "Marking",
    "Sample",
    "Session",
    "Stage",
    "Step",
    "Transfer",
    "Wiring",
    "conclude",
    "stages",
]

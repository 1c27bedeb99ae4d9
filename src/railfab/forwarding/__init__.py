"""What switches conclude from configurations and links: sessions, routes, effective QoS; and a fabric that lives."""

from railfab.forwarding.converge import Conclusion, Marking, conclude
from railfab.forwarding.sessions import BgpSession
from railfab.forwarding.wiring import Wiring

__all__ = [
    "BgpSession",
    "Conclusion",
    "Marking",
    "Wiring",
    "conclude",
]

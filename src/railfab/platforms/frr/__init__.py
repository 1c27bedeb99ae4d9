"""FRRouting on Linux: integrated configuration, pushed with frr-reload.py over SSH."""

from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import data
from railfab.platforms.contract import Platform, Session
from railfab.platforms.frr.lines import text_of
from railfab.platforms.frr.parse import NAME, parse
from railfab.platforms.frr.render import render

__all__ = ["PLATFORM"]


def _session(endpoint: Endpoint, credentials: Credentials) -> Session:
    """netmiko is imported on use."""
    from railfab.platforms.frr.session import FrrSession

    return FrrSession(endpoint, credentials)


PLATFORM = Platform(
    name=NAME,
    render=render,
    text=text_of,
    parse=parse,
    session=_session,
    telemetry=data.telemetry(__name__),
    capabilities=data.capabilities(__name__),
    dialect=data.dialect(__name__),
    lab=data.lab(__name__),
    suffix="conf",
)

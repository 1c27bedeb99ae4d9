"""Nokia SR Linux: JSON over gNMI."""

from __future__ import annotations

from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import data
from railfab.platforms.contract import Platform, Session
from railfab.platforms.srlinux.parse import PLATFORM_NAME, parse
from railfab.platforms.srlinux.render import render
from railfab.platforms.srlinux.tree import difference, lines, startup, text

__all__ = ["PLATFORM", "difference", "lines", "startup"]


def _session(endpoint: Endpoint, credentials: Credentials) -> Session:
    from railfab.platforms.srlinux.session import GnmiSession

    return GnmiSession(endpoint, credentials)


PLATFORM = Platform(
    name=PLATFORM_NAME,
    render=render,
    text=text,
    parse=parse,
    session=_session,
    telemetry=data.telemetry(__name__),
    capabilities=data.capabilities(__name__),
    dialect=data.dialect(__name__),
    lab=data.lab(__name__),
    suffix="json",
    startup=startup,
)

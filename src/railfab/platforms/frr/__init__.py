"""FRRouting on Linux: integrated configuration, pushed with frr-reload.py over SSH."""

from functools import partial

from railfab.device import DeviceModel, Lag, Port
from railfab.endpoints import Credentials, Endpoint
from railfab.platforms.contract import Platform
from railfab.platforms.frr.aligned import aligned
from railfab.platforms.frr.commands import refusals
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.frr.names import device_name
from railfab.platforms.frr.parse import NAME, differences, parse
from railfab.platforms.frr.render import render
from railfab.platforms.frr.system import PortSettings, comments
from railfab.platforms.session import Session
from railfab.platforms.shared import yaml_files

__all__ = ["PLATFORM"]


def _session(endpoint: Endpoint, credentials: Credentials) -> Session:
    """A session; imports paramiko on use."""
    from railfab.platforms.frr.session import FrrSession

    return FrrSession(endpoint, credentials)


def _external(model: DeviceModel) -> str:
    """Settings that Linux makes for the ports of a planned model, as comments."""
    ports = {
        device_name(found.name): PortSettings(found.mtu_bytes, found.enabled)
        for found in model.interfaces
        if isinstance(found, Port | Lag) and found.mtu_bytes
    }
    return comments(ports)


PLATFORM = Platform(
    name=NAME,
    render=render,
    text=FORMAT.text,
    external=_external,
    parse=parse,
    session=_session,
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    dialect=yaml_files.dialect(__name__),
    lab=yaml_files.lab(__name__),
    suffix="conf",
    differences=differences,
    hazards=partial(yaml_files.hazards, __name__),
    refusals=refusals,
    aligned=aligned,
)

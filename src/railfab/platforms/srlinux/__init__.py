"""Nokia SR Linux: JSON over gNMI."""

from __future__ import annotations

from functools import partial

from railfab.endpoints import Credentials, Endpoint
from railfab.platforms.contract import Platform
from railfab.platforms.session import Session
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.json_tree import text
from railfab.platforms.srlinux.alignment import aligned
from railfab.platforms.srlinux.differences import differences
from railfab.platforms.srlinux.parse import PLATFORM_NAME, parse
from railfab.platforms.srlinux.render import render
from railfab.platforms.srlinux.schema import refusals
from railfab.platforms.srlinux.set_request import scoped
from railfab.platforms.srlinux.tree import startup, tree_of
from railfab.platforms.srlinux.twin import TWIN

__all__ = ["PLATFORM"]


def _session(endpoint: Endpoint, credentials: Credentials) -> Session:
    from railfab.platforms.srlinux.session import GnmiSession

    return GnmiSession(endpoint, credentials)


def _scoped(configuration: str, intended: str) -> str:
    return text(scoped(tree_of(configuration), tree_of(intended)))


PLATFORM = Platform(
    name=PLATFORM_NAME,
    render=render,
    text=text,
    parse=parse,
    session=_session,
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    dialect=yaml_files.dialect(__name__),
    lab=yaml_files.lab(__name__),
    suffix="json",
    differences=differences,
    hazards=partial(yaml_files.hazards, __name__),
    refusals=refusals,
    aligned=aligned,
    startup=startup,
    scoped=_scoped,
    twin=TWIN,
)

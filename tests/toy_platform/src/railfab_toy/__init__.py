"""Toy OS: a switch operating system with a CLI of lines, a candidate, and commits that revert by themselves."""

from functools import partial

from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import Platform, Session
from railfab.platforms.shared import yaml_files
from railfab_toy.lines import FORMAT
from railfab_toy.parse import NAME, differences, parse
from railfab_toy.render import render
from railfab_toy.virtual import TWIN

DIALECT = yaml_files.dialect(__name__)


def _session(endpoint: Endpoint, credentials: Credentials) -> Session:
    """A session; imports netmiko on use."""
    from railfab_toy.session import ToySession

    return ToySession(endpoint, credentials, DIALECT)


PLATFORM = Platform(
    name=NAME,
    render=render,
    text=FORMAT.text,
    parse=parse,
    session=_session,
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    dialect=DIALECT,
    lab=yaml_files.lab(__name__),
    suffix="toy",
    differences=differences,
    hazards=partial(yaml_files.hazards, __name__),
    twin=lambda: TWIN,
)

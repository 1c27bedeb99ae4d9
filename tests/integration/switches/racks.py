"""Sessions with the switches of a rack, and deploys to them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from tests.twin.twins import netmiko_login

from railfab.device import DeviceModel
from railfab.endpoints import Credentials, Endpoint, read_credentials
from railfab.platforms import ChangeName, Session, platform

SYSTEMS = ("srlinux", "eos", "nxos", "junos", "cumulus", "sonic")
OVER_SSH = SYSTEMS[1:]
LISTING: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "eos": ("arista_eos", ("enable", "show configuration sessions | include railfab.* pending")),
    "nxos": ("cisco_nxos", ("dir bootflash: | include railfab",)),
    "cumulus": ("linux", ("ls /run/railfab 2> /dev/null", "sudo nv config diff")),
    "sonic": (
        "linux",
        (
            "ls /run/railfab 2> /dev/null",
            "ls /etc/sonic/checkpoints 2> /dev/null",
            *(f"systemctl is-active railfab-{unit}.timer | grep -v inactive" for unit in ("apply", "revert")),
        ),
    ),
}
"""Driver of netmiko, and the commands that show what a deploy has left; on other platforms that is a commit alone."""
Railfab = Callable[..., subprocess.CompletedProcess[str]]
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
WITHIN_S = 120
REVERTED_WITHIN_S = 30.0


@contextmanager
def opened(endpoint: Endpoint, login: Credentials | None = None) -> Iterator[Session]:
    """A new session, as a new process would have it."""
    connect = platform(endpoint.platform).session_factory(endpoint.name)
    with connect(endpoint, login or read_credentials(endpoint)) as session:
        yield session


def name(deploy: str) -> ChangeName:
    return ChangeName(deploy=deploy, user="tester", host="here")


def rendered(model: DeviceModel, **changes: object) -> str:
    """The configuration of a model, or of one whose first interface is otherwise."""
    first, *rest = model.interfaces
    changed = replace(model, interfaces=(replace(first, **changes), *rest))  # type: ignore[arg-type]
    system = platform(model.platform)
    return system.text(system.render(changed))


def deployed(endpoint: Endpoint, configuration: str, deploy: str) -> str:
    """Commit and confirm; the differences."""
    with opened(endpoint) as session:
        staged = session.stage(configuration)
        if staged.diff:
            session.commit(staged, name(deploy), WITHIN_S)
            session.confirm(name(deploy))
    return staged.diff


def left_behind(endpoint: Endpoint) -> str:
    """What deploys have left on a switch; the note of how changes ended is meant to stay."""
    if endpoint.platform not in LISTING:
        return ""
    driver, lines = LISTING[endpoint.platform]
    with netmiko_login(endpoint, driver) as connection:
        shown = [str(connection.send_command(line, expect_string=r"[#>$] ?$")) for line in lines]
    return " ".join(word for text in shown for word in text.split() if word != "ended")

"""Sessions with the switches of a rack, and deploys to them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from railfab.device import DeviceModel
from railfab.endpoints import Credentials, Endpoint, read_credentials
from railfab.platforms import ChangeName, Session, platform

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

"""The laws of a session, on every installed platform that has sessions and that the twin serves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import update_wrapper
from types import FunctionType
from typing import Any

import pytest

from railfab.platforms import platform, platform_names
from railfab.platforms.junos import commits
from railfab.platforms.nxos import replace_limits
from railfab.testing.sessions import SessionLaws

SERVED = [name for name in platform_names() if platform(name).twin is not None and platform(name).session is not None]


@pytest.fixture(autouse=True, scope="module")
def short_times() -> Iterator[None]:
    """Give a minute of Junos, the unit of its timer, 12 seconds, and have NX-OS take less than its 30 seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "MINUTE_S", 12.0)
        patch.setattr(replace_limits, "LEAST_S", 1)
        yield


LAWS = [name for name in vars(SessionLaws) if name.startswith("test_")]


def law(name: str) -> FunctionType:
    """A law of its own, marked `matrix`."""
    stated = vars(SessionLaws)[name]
    copied = FunctionType(stated.__code__, stated.__globals__, name, stated.__defaults__, stated.__closure__)
    return pytest.mark.matrix(update_wrapper(copied, stated))


def laws_of(place: int) -> dict[str, Any]:
    """The laws of a platform at this place: with every second in `make test`, the others on the platforms beside it."""
    return {name: law(name) for number, name in enumerate(LAWS) if (number + place) % 2}


globals().update(
    {
        f"Test_{name}": type(f"Test_{name}", (SessionLaws,), {"name": name, **laws_of(place)})
        for place, name in enumerate(SERVED)
    }
)

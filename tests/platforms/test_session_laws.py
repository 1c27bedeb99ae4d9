"""The laws of a session, on every installed platform that has sessions and that the twin serves."""

from __future__ import annotations

from collections.abc import Iterator

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


globals().update({f"Test_{name}": type(f"Test_{name}", (SessionLaws,), {"name": name}) for name in SERVED})

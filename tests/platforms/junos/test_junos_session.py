"""The session with a Junos switch, held by the laws of every session on a virtual switch with Junos's CLI."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from railfab.platforms.junos import commits
from railfab.testing.sessions import SessionLaws


@pytest.fixture(autouse=True, scope="module")
def short_minutes() -> Iterator[None]:
    """Minutes of `commit confirmed` that last some seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "MINUTE_S", 12.0)
        yield


class TestJunosSession(SessionLaws):
    name = "junos"

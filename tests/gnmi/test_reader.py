"""A refresh that has ended is not waited for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from railfab.gnmi import reader
from railfab.gnmi.reader import ViewReader


def test_a_call_between_the_end_of_a_refresh_and_its_callback_does_not_block_the_event_loop() -> None:
    """Awaiting a future that is done does not yield to the loop: its callbacks would never run."""
    fresh: Any = object()
    target: Any = SimpleNamespace(view=lambda max_age_s: None, refresh=lambda: fresh)
    found: list[object] = []

    async def ask() -> None:
        asked = ViewReader(target, workers)
        ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        ended.set_result(object())
        asked._refresh = reader._Refresh(0.0, ended)
        found.append(await asked.view(0.0))

    with ThreadPoolExecutor(1) as workers:
        thread = threading.Thread(target=lambda: asyncio.run(ask()), daemon=True)
        thread.start()
        thread.join(20)
    if not found:
        pytest.fail("the event loop is blocked")
    assert found == [fresh]

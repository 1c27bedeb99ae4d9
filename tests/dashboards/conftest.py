"""A Grafana to push to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.dashboards.grafana_server import Grafana, serve


@pytest.fixture
def grafana() -> Iterator[Grafana]:
    memory = Grafana()
    with serve(memory):
        yield memory
    assert memory.problems == []

"""What a deploy asks of a switch of the twin."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.twin.twins import LEAF, pod64, started

from railfab.deploy import apply_all, new_change, nornir_of, preview_all
from railfab.endpoints import Endpoints
from railfab.gnmi import answers, server
from railfab.gnmi.target import GnmiTarget
from railfab.platforms import platform
from railfab.twin import Twin

MOST_GETS = 8
"""Get requests of a deploy to one switch, preview and read-back included."""


@pytest.fixture
def gets(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Get requests that the servers have answered, by switch."""
    counted: Counter[str] = Counter()
    answer = answers.get_response

    def counting(target: GnmiTarget, *arguments: Any) -> Any:
        counted[target.name] += 1
        return answer(target, *arguments)

    monkeypatch.setattr(server, "get_response", counting)
    return counted


def deployed(twin: Twin, text: str) -> None:
    """Show the differences of one switch, and apply them, as `railfab deploy` does."""
    leaf = Endpoints(fabric="pod64", backend="twin", nodes=(twin.endpoints.by_name()[LEAF],))
    (shown,) = preview_all(nornir_of(pod64(), leaf), {LEAF: text}, lambda _: None)
    assert shown.changed
    outcomes = apply_all(
        nornir_of(pod64(), leaf), {LEAF: text}, new_change(), lambda _: None, approved={LEAF: shown.diff}
    )
    assert [(found.result, found.error) for found in outcomes] == [("changed", None)]


@pytest.mark.parametrize("configured", [True, False], ids=["one change", "the first deploy"])
def test_a_deploy_costs_few_get_requests(tmp_path: Path, gets: Counter[str], configured: bool) -> None:
    model = pod64().models[LEAF]
    changed = replace(model, qos=replace(model.qos, ports=tuple(replace(port, pfc=False) for port in model.qos.ports)))
    srlinux = platform("srlinux")
    with started(tmp_path, configured=configured) as twin:
        deployed(twin, srlinux.text(srlinux.render(changed if configured else model)))
    assert 0 < gets[LEAF] <= MOST_GETS
